/** Litestream replicates a server: restores, restores of an instant, followers that apply increments, and planned switch-overs. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import SQLite from 'better-sqlite3';
import * as assert from 'uvu/assert';
import { withWorks } from '../../chaos/replica.ts';
import { eventually } from '../../support/eventually.ts';
import type { Serving } from '../../support/program.ts';
import { installLitestream, litestream } from '../../support/replication.ts';
import { print } from '../python.ts';
import type { Steps } from '../steps.ts';

type Works = Parameters<Parameters<typeof withWorks>[1]>[0];

export async function litestreamPart(steps: Steps): Promise<void> {
  const program = await steps.step('Litestream is installed', installLitestream);
  await steps.step('its version is that of the package', async () => {
    const installed = execFileSync(program, ['version'], { encoding: 'utf8' }).trim();
    const wanted = /==(\S+)/.exec(readFileSync(new URL('requirements.txt', import.meta.url), 'utf8'))?.[1];
    assert.is(installed, wanted);
    print({ version: installed });
  });
  await withWorks('file', (works) => followSteps(steps, works, program, `file://${works.objects}/1`));
  await withWorks('s3', (works) => restoreSteps(steps, works));
}

/** Writes at a server, and returns the version of the last write. */
async function write({ observer }: Works, url: string, count: number): Promise<string> {
  let version = '';
  for (let i = 0; i < count; i++) {
    const response = await observer.write(url);
    assert.is(response.status, 201);
    version = response.headers.get('X-Tenantry-Version') ?? '';
  }
  return version;
}

async function followSteps(steps: Steps, works: Works, litestreamProgram: string, source: string): Promise<void> {
  const { observer, program, server } = works;
  const words = ['--data', 'follower', '--follow', source, '--litestream-program', litestreamProgram];
  mkdirSync(join(program.folder, 'follower'));
  copyFileSync(join(program.folder, 'data/secret.key'), join(program.folder, 'follower/secret.key'));
  const follow = (): Promise<Serving> => program.serve([...words, '--primary', server.url, '--follow-interval', '1s']);
  /** Whether the follower itself has a version. */
  const reads = async ({ url }: Serving, version: string): Promise<void> => {
    const here = (await fetch(url)).headers.get('X-Request-Id')?.split('-')[0];
    await eventually(
      'the follower has the write',
      async () => {
        const headers = { Authorization: `Token ${observer.token}`, 'X-Tenantry-Version': version };
        const response = await fetch(`${url}/api/customers/?page_size=1`, { headers });
        await response.text();
        return response.headers.get('X-Request-Id')?.split('-')[0] === here;
      },
      30,
    );
  };
  let follower = await steps.step('a follower restores the replica', follow);
  await steps.step('it applies increments', async () => {
    await reads(follower, await write(works, server.url, 10));
    const times: number[] = [];
    for (let i = 0; i < 10; i++) {
      const version = await write(works, server.url, 1);
      const begun = performance.now();
      await reads(follower, version);
      times.push(performance.now() - begun);
    }
    times.sort((a, b) => a - b);
    print({ 'milliseconds from a write to the follower, median': Math.round(times[5] ?? 0) });
    assert.is(followed(program.folder).length, 1, 'one restore');
  });
  await steps.step('killed during a restore -f, it restores again', async () => {
    const [before] = followed(program.folder);
    const parents = [...program.running].map(({ pid }) => String(pid)).join();
    const restoring = Number(execFileSync('pgrep', ['-P', parents, 'litestream'], { encoding: 'utf8' }));
    process.kill(restoring, 'SIGKILL');
    await reads(follower, await write(works, server.url, 5));
    assert.is.not(followed(program.folder)[0], before);
  });
  await steps.step('killed itself, the next start restores again', async () => {
    await follower.kill();
    follower = await follow();
    await reads(follower, await write(works, server.url, 5));
  });
  await steps.step('a planned switch-over loses nothing', async () => {
    await follower.stop();
    await write(works, server.url, 20);
    await server.stop();
    await litestream('sync', '-wait', '-socket', join(program.folder, 'litestream.sock'), databaseOf(works));
    const promoted = await program.run(['promote', ...words]);
    assert.is(promoted.code, 0, promoted.stderr);
    const next = await program.serve(['--data', 'follower']);
    await observer.requireAll(next.url);
    await next.stop();
    assert.is((await program.run(['doctor', '--data', 'follower'])).stdout, 'no problems\n');
  });
}

const databaseOf = ({ program }: Works): string => join(program.folder, 'data/tenantry.db');

/** The folders in which Litestream applies increments. */
const followed = (folder: string): string[] =>
  readdirSync(join(folder, 'follower/copies')).filter((name) => name.startsWith('increments-'));

async function restoreSteps(steps: Steps, works: Works): Promise<void> {
  const { config, observer, program, server } = works;
  const restore = async (name: string, ...words: readonly string[]): Promise<number> => {
    const folder = join(program.folder, name);
    mkdirSync(folder);
    copyFileSync(join(program.folder, 'data/secret.key'), join(folder, 'secret.key'));
    const file = join(folder, 'tenantry.db');
    await litestream('restore', '-no-expand-env', '-config', config, ...words, '-o', file, databaseOf(works));
    assert.is((await program.run(['doctor', '--data', name])).stdout, 'no problems\n');
    const db = new SQLite(file, { readonly: true });
    try {
      return Number(db.prepare('SELECT count(*) FROM customer').pluck().get());
    } finally {
      db.close();
    }
  };
  const instant = await steps.step('S3: writes before and after an instant', async () => {
    await write(works, server.url, 10);
    // Instants have seconds, and an increment has that of its upload.
    await pause(3000);
    const at = `${new Date().toISOString().slice(0, 19)}Z`;
    await pause(3000);
    await write(works, server.url, 10);
    await pause(3000);
    return at;
  });
  await steps.step('S3: a restore has all writes', async () => {
    assert.is(await restore('all'), observer.acknowledged.size);
  });
  await steps.step('S3: a restore of the instant has those before it', async () => {
    assert.is(await restore('before', '-timestamp', instant), 10);
  });
}
