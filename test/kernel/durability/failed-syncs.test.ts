/** What happens after a failed sync: the short form of the part `syncs` of `npm run chaos`, and how servers stop. `npm test` built the program before. */

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import SQLite from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sql } from '../../../src/kernel/db/sql.ts';
import { SqliteDatabase } from '../../../src/kernel/db/sqlite-database.ts';
import { applicationId } from '../../../src/kernel/durability/handle.ts';
import { isFailedWrite, StorageError, storageError } from '../../../src/kernel/durability/storage-error.ts';
import { present } from '../../../src/kernel/present.ts';
import { failEachSync } from '../../chaos/each-sync.ts';
import { reactions } from '../../chaos/each-sync-work.ts';
import { canFail, FaultyDisk } from '../../chaos/faulty-disk.ts';
import { post, serveOn, unlessEnded } from '../../chaos/power.ts';
import { compiled } from '../../support/compiled.ts';
import { builtProgram, nativeCache, Program } from '../../support/program.ts';

const syncs = suite('failed syncs');
// Without a C compiler the runner shows that it was skipped.
const onFaultyDisk = canFail ? syncs : syncs.skip;

onFaultyDisk(
  'nothing is lost after a failed sync when the server is started again, killed, or closed, or a command writes beside it',
  () => {
    const reports: string[] = [];
    const { acknowledged, cuts } = failEachSync(
      { reactions, counts: [1], from: 24, step: 100, tearings: 1, moments: 2 },
      (text) => reports.push(text),
    );
    assert.equal(reports, []);
    assert.ok(acknowledged > 60 && cuts > 100, JSON.stringify({ acknowledged, cuts }));
  },
);

/** Statuses of writes until the server has ended with 1 after a failed sync; 0 is a write without a response. */
async function writeUntilEnded({ child, token, url }: Awaited<ReturnType<typeof serveOn>>): Promise<number[]> {
  const ended = once(child, 'close');
  const statuses: number[] = [];
  while (child.exitCode === null)
    statuses.push((await unlessEnded(post(url, token, '/api/customers/', { name: 'Customer' })))?.status ?? 0);
  assert.equal(await ended, [1, null]);
  return statuses;
}

/** Serves on a disk whose sync fails, and serves again; returns the statuses of writes to the second server. */
async function afterFailedSync(
  prepare: (disk: FaultyDisk, write: () => Promise<number>) => Promise<void>,
): Promise<number[]> {
  const disk = new FaultyDisk();
  const first = await serveOn(disk, [builtProgram]);
  let second: typeof first | undefined;
  try {
    const writeTo = async ({ url }: typeof first): Promise<number> =>
      (await post(url, first.token, '/api/customers/', { name: 'Customer' })).status;
    await prepare(disk, () => writeTo(first));
    disk.failNextSync();
    const statuses = await writeUntilEnded(first);
    assert.equal(
      statuses.filter((status) => status !== 500 && status !== 0),
      [],
      'nothing is acknowledged after a failed sync',
    );
    second = await serveOn(disk, [builtProgram]);
    const next = [];
    for (let i = 0; i < 4; i++) next.push(await writeTo(second));
    return next;
  } finally {
    for (const child of [first.child, second?.child]) if (child?.kill('SIGKILL')) await once(child, 'close');
    disk.remove();
  }
}

onFaultyDisk('an open reader, such as a backup, does not prevent the next start from repairing', async () => {
  let reader: SQLite.Database | undefined;
  const statuses = await afterFailedSync(async (disk, write) => {
    await write();
    reader = new SQLite(join(disk.folder, 'tenantry.db'), { readonly: true });
    reader.exec('BEGIN; SELECT count(*) FROM customer');
    await write();
  });
  reader?.close();
  assert.equal(statuses, [201, 201, 201, 201]);
});

onFaultyDisk(
  'after a failed sync the command logs one fatal line, exits with 1, and the next start has everything',
  async () => {
    const disk = new FaultyDisk();
    const server = await serveOn(disk, [builtProgram]);
    let again: typeof server | undefined;
    try {
      const acknowledged = [];
      for (let i = 0; i < 5; i++) {
        const { body, status } = await post(server.url, server.token, '/api/customers/', { name: `Customer ${i}` });
        assert.is(status, 201);
        acknowledged.push(body.uuid);
      }
      disk.failNextSync();
      await writeUntilEnded(server);
      const fatal = server
        .errors()
        .split('\n')
        .filter((line) => line.includes('"level":60'))
        .map((line) => JSON.parse(line));
      assert.equal(
        fatal.map(({ err, file, msg }) => [file, err.message.split(':', 1)[0], msg]),
        [
          [
            join(disk.folder, 'tenantry.db'),
            'the disk fails (SQLITE_IOERR_FSYNC)',
            'the server stops: check the disk, then start the server again: the start repairs the write-ahead log',
          ],
        ],
      );
      assert.not.match(server.errors(), 'nothing can be stored', 'the fatal line is the only one about it');
      again = await serveOn(disk, [builtProgram]);
      for (const uuid of acknowledged) {
        const response = await fetch(`${again.url}/api/customers/${uuid}/`, {
          headers: { Authorization: `Token ${server.token}` },
        });
        assert.is(response.status, 200);
      }
    } finally {
      for (const child of [server.child, again?.child]) if (child?.kill('SIGKILL')) await once(child, 'close');
      disk.remove();
    }
  },
);

onFaultyDisk(
  'an embedded server closes after a failed sync and rejects closed, and another one on the same folder has everything',
  async () => {
    const disk = new FaultyDisk();
    const file = fileURLToPath(new URL('failing-embedded.mjs', import.meta.url));
    const native = `${disk.folder}-native`;
    const child = spawn(process.execPath, [file, builtProgram, disk.folder, native], {
      env: { PATH: process.env.PATH, ...disk.environment },
    });
    const closed = once(child, 'close');
    let errors = '';
    child.stderr.on('data', (part: Buffer) => (errors += part.toString()));
    try {
      const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
      const next = async (): Promise<unknown> => JSON.parse((await lines.next()).value ?? 'null');
      const acknowledged = await next();
      disk.failNextSync();
      child.stdin.write('go on\n');
      assert.equal(await next(), { message: 'the disk fails (SQLITE_IOERR_FSYNC)', reason: 'broken' });
      assert.equal(await next(), { url: 'closed', close: 'the disk fails (SQLITE_IOERR_FSYNC)' });
      assert.equal(await next(), acknowledged);
      assert.equal(await closed, [0, null], errors);
      assert.not.match(errors, /Unhandled|unhandled/);
    } finally {
      child.kill('SIGKILL');
      disk.remove();
    }
  },
);

syncs('a failed write or sync stops all writes, a full disk or an unreadable page does not', () => {
  const isFailed = (code: string): boolean => isFailedWrite(storageError(Object.assign(new Error(code), { code })));
  for (const code of ['IOERR_FSYNC', 'IOERR_DIR_FSYNC', 'IOERR_WRITE', 'IOERR_TRUNCATE', 'IOERR'])
    assert.ok(isFailed(`SQLITE_${code}`), code);
  for (const code of ['FULL', 'BUSY', 'IOERR_READ', 'IOERR_SHORT_READ', 'CORRUPT', 'READONLY', 'CONSTRAINT'])
    assert.not(isFailed(`SQLITE_${code}`), code);
});

syncs('a failed database commits no open transaction, reports once, and keeps its log', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-stopped-'));
  const file = join(folder, 'test.db');
  const lost: string[] = [];
  const db = SqliteDatabase.open(file, undefined, {
    failed: () => undefined,
    lost: (error) => lost.push(error.message),
  });
  db.script(`PRAGMA application_id = ${applicationId}; CREATE TABLE item (id INTEGER)`);
  db.write(() => db.insert('item', { id: 1 }));
  db.store();
  const failure = new StorageError('broken', 'the disk fails');
  db.write(() => db.insert('item', { id: 2 }));
  db.fail(failure, 'check the disk');
  db.fail(new StorageError('broken', 'once more'), 'check the disk');
  const outcomes: unknown[] = [];
  db.afterCommit((error) => outcomes.push(error));
  db.commit();
  assert.equal([outcomes[0] === failure, db.trouble === failure, lost], [true, true, ['the disk fails']]);
  assert.throws(
    () => db.write(() => db.insert('item', { id: 3 })),
    (error: unknown) => error === failure,
  );
  assert.throws(
    () => db.close(),
    (error: unknown) => error === failure,
  );
  assert.ok(existsSync(`${file}-wal`));
  const again = SqliteDatabase.open(file);
  assert.equal(
    again.all<{ id: number }>(sql`SELECT id FROM item`).map(({ id }) => id),
    [1],
  );
  again.close();
  rmSync(folder, { recursive: true });
});

syncs('a rewritten log stays locked, so that another process that opens the database does not reset its index', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-found-'));
  const file = join(folder, 'test.db');
  const remote = (text: string): void => {
    const program = `const SQLite = require('better-sqlite3'); const db = new SQLite(process.argv[1]); ${text}; process.exit()`;
    execFileSync(process.execPath, ['-e', program, file], { cwd: fileURLToPath(new URL('.', import.meta.url)) });
  };
  // What a process leaves that does not close.
  remote(
    `db.pragma('journal_mode = WAL'); db.exec('CREATE TABLE item (id INTEGER); PRAGMA application_id = ${applicationId}')`,
  );
  const db = SqliteDatabase.open(file);
  db.write(() => db.insert('item', { id: 1 }));
  db.commit();
  db.pragma('wal_checkpoint(PASSIVE)');
  remote("db.prepare('SELECT id FROM item').get()");
  const { checkpointed, log } = present(
    db.get<{ log: number; checkpointed: number }>(sql`PRAGMA wal_checkpoint(NOOP)`),
  );
  assert.ok(log > 0 && checkpointed === log, JSON.stringify({ checkpointed, log }));
  db.close();
  rmSync(folder, { recursive: true });
});

onFaultyDisk('a database that fails to open because of a failed sync keeps its log, without a checkpoint', () => {
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
  const stored = (): readonly [boolean, Buffer] => [existsSync(`${file}-wal`), readFileSync(file)];
  const before = stored();
  const open = `import { SqliteDatabase } from '${compiled(new URL('opened-elsewhere.ts', import.meta.url))}';
    let message = '';
    try { SqliteDatabase.open('${file}'); } catch (error) { message = error.message; }
    console.log(message);
    if (message === '') process.exit();`;
  // What a process has not closed is closed at its end.
  const opened = (): string =>
    execFileSync(process.execPath, ['--input-type=module', '-e', open], options).toString().trim();
  let rejection = 0;
  for (let message = 'none'; message !== ''; rejection++) {
    disk.failSyncs(disk.syncs + rejection, 1);
    message = opened();
    assert.match(message, /^$|EIO|disk I\/O error|fails/);
    assert.equal(stored(), before);
  }
  assert.ok(rejection > 2, String(rejection));
  disk.remove();
});

onFaultyDisk('a command reports success only for stored changes, otherwise the reason', async () => {
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
  let rejection = 0;
  for (let i = 0; i < each; i++) {
    disk.failSyncs(disk.syncs + i, 1);
    const { code, stderr, stdout } = await run('user', 'add', `user${i}`);
    const isThere = (await run('user', 'show', `user${i}`)).code === 0;
    assert.equal([code, stdout !== ''], isThere ? [0, true] : [1, false]);
    if (code === 0) continue;
    assert.match(stderr, /^tenantry: [^\n]+\n$/m);
    rejection++;
  }
  assert.ok(rejection > 0);
  await program.end();
  disk.remove();
});

syncs.run();
