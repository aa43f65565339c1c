/** What is safe after a sync has failed: the short form of the part `syncs` of `npm run chaos`, and what goes on. `npm test` built the program before. */

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import SQLite from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sql } from '../../../src/kernel/db/sql.ts';
import { SqliteDatabase } from '../../../src/kernel/db/sqlite-database.ts';
import { applicationId } from '../../../src/kernel/durability/handle.ts';
import { present } from '../../../src/kernel/present.ts';
import { failEachSync } from '../../chaos/each-sync.ts';
import { reactions } from '../../chaos/each-sync-work.ts';
import { canFail, FaultyDisk } from '../../chaos/faulty-disk.ts';
import { post, serveOn } from '../../chaos/power.ts';
import { compiled } from '../../support/compiled.ts';
import { builtProgram, nativeCache, Program } from '../../support/program.ts';

const syncs = suite('failed syncs');
// Without a C compiler the runner tells that it was skipped.
const onFaultyDisk = canFail ? syncs : syncs.skip;

onFaultyDisk(
  'nothing is lost when the server goes on after a failed sync, is killed, is ended, or a command writes beside it',
  () => {
    const told: string[] = [];
    const { acknowledged, cuts } = failEachSync(
      { reactions, counts: [1], from: 24, step: 100, tearings: 1, moments: 2 },
      (text) => told.push(text),
    );
    assert.equal(told, []);
    assert.ok(acknowledged > 60 && cuts > 100, JSON.stringify({ acknowledged, cuts }));
  },
);

/** Serves on a disk, writes, lets a sync fail, and answers what becomes of that write and of four more, before which something is done. */
async function afterFailedSync(
  prepare: (disk: FaultyDisk, write: () => Promise<number>) => Promise<void>,
  meanwhile: (disk: FaultyDisk) => void = () => undefined,
): Promise<number[]> {
  const disk = new FaultyDisk();
  const { child, token, url } = await serveOn(disk, [builtProgram]);
  try {
    const write = async (): Promise<number> => (await post(url, token, '/api/customers/', { name: 'Customer' })).status;
    await prepare(disk, write);
    disk.failSyncs(disk.syncs, 1);
    const statuses = [await write()];
    meanwhile(disk);
    for (let i = 0; i < 4; i++) statuses.push(await write());
    return statuses;
  } finally {
    child.kill('SIGKILL');
    await once(child, 'close');
    disk.remove();
  }
}

onFaultyDisk('somebody who reads, as a backup does, keeps nothing from being stored after a failed sync', async () => {
  let reader: SQLite.Database | undefined;
  const statuses = await afterFailedSync(async (disk, write) => {
    await write();
    reader = new SQLite(join(disk.folder, 'tenantry.db'), { readonly: true });
    reader.exec('BEGIN; SELECT count(*) FROM customer');
    await write();
  });
  reader?.close();
  assert.equal(statuses, [500, 201, 201, 201, 201]);
});

onFaultyDisk('a disk that is full after a failed sync is full, and answers so', async () => {
  const [first, ...next] = await afterFailedSync(
    async (_disk, write) => {
      // More pages in the log than the file has, which cannot grow.
      for (let i = 0; i < 60; i++) await write();
    },
    (disk) => disk.set('room', true),
  );
  assert.is(first, 500);
  assert.ok(next.includes(507), String(next));
  assert.equal(
    next.filter((status) => status !== 201 && status !== 507),
    [],
  );
});

syncs('a log that is written again stays locked: who opens the database then does not begin its index anew', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-found-'));
  const file = join(folder, 'test.db');
  const elsewhere = (text: string): void => {
    const program = `const SQLite = require('better-sqlite3'); const db = new SQLite(process.argv[1]); ${text}; process.exit()`;
    execFileSync(process.execPath, ['-e', program, file], { cwd: fileURLToPath(new URL('.', import.meta.url)) });
  };
  // What a process leaves that does not close.
  elsewhere(
    `db.pragma('journal_mode = WAL'); db.exec('CREATE TABLE item (id INTEGER); PRAGMA application_id = ${applicationId}')`,
  );
  const db = SqliteDatabase.open(file);
  db.write(() => db.insert('item', { id: 1 }));
  db.commit();
  db.pragma('wal_checkpoint(PASSIVE)');
  elsewhere("db.prepare('SELECT id FROM item').get()");
  const { checkpointed, log } = present(
    db.get<{ log: number; checkpointed: number }>(sql`PRAGMA wal_checkpoint(NOOP)`),
  );
  assert.ok(log > 0 && checkpointed === log, JSON.stringify({ checkpointed, log }));
  db.close();
  rmSync(folder, { recursive: true });
});

onFaultyDisk('a database that is not opened for a failed sync keeps its log, and nothing of that is moved', () => {
  const disk = new FaultyDisk();
  mkdirSync(disk.folder);
  const file = join(disk.folder, 'test.db');
  const here = fileURLToPath(new URL('.', import.meta.url));
  const options = { cwd: here, env: { PATH: process.env.PATH, ...disk.environment } };
  execFileSync(
    process.execPath,
    [
      '-e',
      `const SQLite = require('better-sqlite3'); const db = new SQLite('${file}'); db.pragma('journal_mode = WAL');
      db.exec('PRAGMA application_id = ${applicationId}; CREATE TABLE item (id INTEGER)'); process.exit()`,
    ],
    options,
  );
  const kept = (): readonly [boolean, Buffer] => [existsSync(`${file}-wal`), readFileSync(file)];
  const before = kept();
  const open = `import { SqliteDatabase } from '${compiled(new URL('opened-elsewhere.ts', import.meta.url))}';
    let message = '';
    try { SqliteDatabase.open('${file}'); } catch (error) { message = error.message; }
    console.log(message);
    if (message === '') process.exit();`;
  // What a process has not closed is closed at its end.
  const opened = (): string =>
    execFileSync(process.execPath, ['--input-type=module', '-e', open], options).toString().trim();
  let refused = 0;
  for (let message = 'none'; message !== ''; refused++) {
    disk.failSyncs(disk.syncs + refused, 1);
    message = opened();
    assert.match(message, /^$|EIO|disk I\/O error|fails/);
    assert.equal(kept(), before);
  }
  assert.ok(refused > 2, String(refused));
  disk.remove();
});

onFaultyDisk('a command says that something is done when it is, and else why it is not', async () => {
  const disk = new FaultyDisk();
  const program = new Program(nativeCache);
  mkdirSync(disk.folder);
  const data = ['--data', join(disk.folder, 'data')];
  const run = (...words: string[]): ReturnType<Program['run']> =>
    program.run([...words, ...data], { env: disk.environment });
  assert.is((await run('user', 'add', 'bob')).code, 0);
  const before = disk.syncs;
  assert.is((await run('token', 'bob')).code, 0);
  const each = disk.syncs - before;
  let refused = 0;
  for (let i = 0; i < each; i++) {
    disk.failSyncs(disk.syncs + i, 1);
    const { code, stderr, stdout } = await run('user', 'add', `user${i}`);
    const isThere = (await run('user', 'show', `user${i}`)).code === 0;
    assert.equal([code, stdout !== ''], isThere ? [0, true] : [1, false]);
    if (code === 0) continue;
    assert.match(stderr, /^tenantry: [^\n]+\n$/m);
    refused++;
  }
  assert.ok(refused > 0);
  await program.end();
  disk.remove();
});

syncs.run();
