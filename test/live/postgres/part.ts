import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, createReadStream, createWriteStream, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as assert from 'uvu/assert';
import { Program } from '../../support/program.ts';
import type { Steps } from '../steps.ts';

const run = promisify(execFile);

/** Debian's folder with the programs of PostgreSQL. */
function programs(): string {
  const root = '/usr/lib/postgresql';
  const [version] = readdirSync(root).sort().reverse();
  return join(root, version ?? '', 'bin');
}

/** PostgreSQL imports the export of the sample data with the same number of rows. */
export async function postgres(steps: Steps): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'tenantry-postgres-'));
  const program = new Program(join(root, 'native'));
  const cluster = join(root, 'cluster');
  mkdirSync(cluster);
  // PostgreSQL refuses to run as root.
  const [, , uid = '0', gid = '0'] = (await run('getent', ['passwd', 'postgres'])).stdout.split(':');
  const who = process.getuid?.() === 0 ? { uid: Number(uid), gid: Number(gid) } : {};
  if (who.uid !== undefined) {
    chownSync(cluster, who.uid, who.gid);
    chownSync(root, who.uid, who.gid);
  }
  const tool = (name: string, ...words: string[]) => run(join(programs(), name), words, { ...who, cwd: root });
  const ask = async (query: string): Promise<string> =>
    (await run('psql', ['-h', cluster, '-d', 'postgres', '-Atc', query], { ...who, cwd: root })).stdout.trim();
  try {
    await steps.step('PostgreSQL starts', async () => {
      await tool('initdb', '-D', join(cluster, 'data'), '-A', 'trust');
      const options = `-c listen_addresses= -c unix_socket_directories=${cluster}`;
      await tool('pg_ctl', '-D', join(cluster, 'data'), '-l', join(cluster, 'log'), '-o', options, '-w', 'start');
    });
    await steps.step('imports the export of the sample data with every reference', async () => {
      await program.run(['demo', '--quiet', '--data', 'data']);
      const child = program.start(['export', '--to', 'postgres', '--data', 'data']);
      const script = join(program.folder, 'all.sql');
      child.stdout?.pipe(createWriteStream(script));
      await once(child, 'close');
      const psql = spawn('psql', ['-h', cluster, '-d', 'postgres', '-q', '-v', 'ON_ERROR_STOP=1', '-f', '-'], {
        ...who,
        cwd: root,
        stdio: ['pipe', 'ignore', 'inherit'],
      });
      createReadStream(script).pipe(psql.stdin);
      assert.equal(await once(psql, 'close'), [0, null]);
    });
    await steps.step('every table has as many rows, and instants are timestamps', async () => {
      const { stdout } = await program.run(['export', '--to', 'ndjson', '--data', 'data']);
      const counts = new Map<string, number>();
      for (const line of stdout.trimEnd().split('\n').slice(1, -1)) {
        const { table } = JSON.parse(line);
        if (table !== 'sqlite_sequence') counts.set(table, (counts.get(table) ?? 0) + 1);
      }
      for (const [table, count] of counts)
        assert.is(await ask(`SELECT count(*) FROM tenantry."${table}"`), String(count), table);
      assert.match(await ask('SELECT to_timestamp(min(created) / 1000000.0) FROM tenantry.customer'), /^20\d\d-/);
    });
  } finally {
    await tool('pg_ctl', '-D', join(cluster, 'data'), '-m', 'fast', 'stop').catch(() => undefined);
    await program.end();
    rmSync(root, { recursive: true });
  }
}
