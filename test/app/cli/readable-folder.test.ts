/** doctor and backup with a read-only data folder. `npm test` builds the program first. */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { preparing } from '../../support/prepared.ts';
import { builtProgram, type Ended, failed, nativeCache, type Program } from '../../support/program.ts';

// Root can write despite file modes, but not to a read-only mount. A namespace allows such a mount without root.
const canMount = spawnSync('unshare', ['-Urm', 'true']).status === 0;
const suiteOf = suite('read-only data folder');
const test = canMount ? suiteOf : suiteOf.skip;
let program: Program;
const path = (name = ''): string => join(program.folder, name);
const run: Program['run'] = (...args) => program.run(...args);

const prepared = preparing(async (first) => {
  assert.is((await first.run(['user', 'add', 'bob', '--staff', '--data', 'data'])).code, 0);
});
suiteOf.before.each(async () => {
  ({ program } = await prepared());
  mkdirSync(path('mount'));
  mkdirSync(path('temporary'));
});
suiteOf.after.each(() => program.end());

/** Runs the program with the data mounted read-only at `mount`. */
async function runReading(words: readonly string[]): Promise<Ended> {
  const script = 'mount --bind data mount && mount -o remount,ro,bind mount && exec "$@"';
  const command = ['-Urm', 'sh', '-c', script, 'sh', process.execPath, builtProgram, ...words, '--data', 'mount'];
  const child = spawn('unshare', command, {
    cwd: program.folder,
    env: { PATH: process.env.PATH, TENANTRY_NATIVE_CACHE: nativeCache, TMPDIR: path('temporary') },
  });
  const texts = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream].on('data', (chunk: Buffer) => (texts[stream] += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...texts };
}

/** Every file of the data with a digest of its contents. */
const content = (): string[] =>
  readdirSync(path('data'), { recursive: true, encoding: 'utf8' })
    .map((name) => join(path('data'), name))
    .filter((file) => statSync(file).isFile())
    .sort()
    .map((file) => `${file} ${createHash('sha256').update(readFileSync(file)).digest('hex')}`);

/** Serves, adds a user and kills the server, so that its write is only in the WAL. */
async function killed(): Promise<void> {
  const server = await program.serve();
  assert.is((await run(['user', 'add', 'late'])).code, 0);
  await server.kill();
  copyFileSync(path('data/tenantry.db'), path('without-log'));
  const db = new SQLite(path('without-log'));
  assert.not(db.prepare('SELECT username FROM user').pluck().all().includes('late'));
  db.close();
}

test('lets doctor and backup read the WAL, and changes nothing', async () => {
  await killed();
  for (const hasIndex of [true, false]) {
    if (!hasIndex) rmSync(path('data/tenantry.db-shm'));
    const before = content();
    assert.equal(await runReading(['doctor']), { code: 0, stdout: 'no problems\n', stderr: '' });
    assert.equal(await runReading(['backup', 'b', '--quiet']), { code: 0, stdout: '', stderr: '' });
    assert.equal(content(), before);
    assert.equal(readdirSync(path('temporary')), [], 'the copy is removed');
    assert.is((await run(['restore', 'b', '--data', 'c'])).code, 0);
    assert.match((await run(['token', 'late', '--data', 'c'])).stdout, /^[0-9a-f]{40}\n$/);
    for (const name of ['b', 'c']) rmSync(path(name), { recursive: true });
  }
});

test('lets doctor and backup read a consistent database beside a server that writes', async () => {
  const server = await program.serve();
  const token = (await run(['token', 'bob'])).stdout.trim();
  const headers = { Authorization: `Token ${token}`, 'Content-Type': 'application/json' };
  let isWriting = true;
  const writing = (async () => {
    for (let i = 0; isWriting; i++)
      await fetch(`${server.url}/api/customers/`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ name: `C ${i}` }),
      });
  })();
  for (let i = 0; i < 3; i++)
    assert.equal(await runReading(['doctor']), { code: 0, stdout: 'no problems\n', stderr: '' });
  assert.is((await runReading(['backup', 'b', '--quiet'])).stderr, '');
  isWriting = false;
  await writing;
  assert.is(await server.stop(), 0);
});

test('fails writing commands in one line, and reports damage with the name of the file', async () => {
  const rejection = failed(`cannot use the data folder ${path('mount')}: read-only file system`);
  for (const words of [['doctor', '--repair'], ['token', 'bob'], ['rotate-key'], ['user', 'add', 'eve']])
    assert.equal(await runReading(words), rejection, words[0]);
  const db = new SQLite(path('data/tenantry.db'));
  db.exec(`UPDATE quota SET usage = 7 WHERE name = 'nc_global_user_count'; PRAGMA user_version = 3`);
  db.close();
  const { stderr } = await runReading(['doctor']);
  assert.ok(
    stderr.startsWith(`tenantry: ${path('mount/tenantry.db')}: The database has schema 3, older than this version's`),
    stderr,
  );
});

suiteOf.run();
