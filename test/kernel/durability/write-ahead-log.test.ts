/** A write-ahead log with changed bytes: the server rejects or reports what SQLite would silently drop. */
import fs, {
  copyFileSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { findGap, LogIndex, rejectDamagedHeader, truncateLog } from '../../../src/kernel/durability/write-ahead-log.ts';
import { preparing } from '../../support/prepared.ts';
import { failed, type Program } from '../../support/program.ts';

const test = suite('a changed log');
let program: Program;
let wal: string;

const prepared = preparing(async (first) => {
  const server = await first.serve();
  for (const name of ['alice', 'bob', 'carol']) assert.is((await first.run(['user', 'add', name])).code, 0);
  await server.kill();
});
test.before.each(async () => {
  ({ program } = await prepared());
  wal = join(program.folder, 'data/tenantry.db-wal');
});
test.after.each(() => program.end());

function change(at: number): void {
  const bytes = readFileSync(wal);
  bytes[at] = (bytes[at] as number) ^ 1;
  writeFileSync(wal, bytes);
}

test('rejects a log with a damaged header, and does not change it', async () => {
  rejectDamagedHeader(wal);
  change(20);
  const before = readFileSync(wal);
  const line = `The write-ahead log ${wal} is damaged: restore a backup, or move it away to continue without its transactions`;
  for (const words of [['serve', '--port', '0'], ['token', 'admin'], ['doctor']])
    assert.equal(await program.run(words), failed(`${join(program.folder, 'data/tenantry.db')}: ${line}`));
  assert.ok(readFileSync(wal).equals(before));
});

test('server and doctor report a log that is damaged in the middle', async () => {
  assert.is(findGap(wal), undefined);
  const pageBytes = readFileSync(wal).readUInt32BE(8) + 24;
  change(32 + 3 * pageBytes + 500);
  assert.is(findGap(wal)?.pages, 3);
  cpSync(join(program.folder, 'data'), join(program.folder, 'other'), { recursive: true });
  assert.match((await program.run(['doctor', '--data', 'other'])).stderr, /the write-ahead log is damaged: /);
  const server = await program.serve();
  await server.stop();
  const reports = JSON.parse(server.errors().split('\n')[0] ?? '');
  assert.equal([reports.level, reports.file, reports.pages], [40, wal, 3]);
  assert.ok(reports.transactions > 3);
  assert.match(reports.msg, /^the write-ahead log is damaged: transactions after these pages are dropped\. /);
});

test('reads a truncated log up to its end, as after a power failure', async () => {
  copyFileSync(wal, `${wal}.whole`);
  for (const length of [0, 20, 32, 40, readFileSync(wal).length - 100]) {
    copyFileSync(`${wal}.whole`, wal);
    truncateSync(wal, length);
    rejectDamagedHeader(wal);
    assert.is(findGap(wal), undefined);
  }
});

test('accepts that another process removes the log when it closes the database', () => {
  const copy = `${wal}.copy`;
  const { openSync, readFileSync } = fs;
  const whenRemoved =
    <A extends unknown[], R>(read: (...input: A) => R) =>
    (...input: A): R => {
      rmSync(copy, { force: true });
      return read(...input);
    };
  Object.assign(fs, { openSync: whenRemoved(openSync), readFileSync: whenRemoved(readFileSync) });
  syncBuiltinESMExports();
  try {
    for (const look of [rejectDamagedHeader, findGap]) {
      copyFileSync(wal, copy);
      assert.is(look(copy), undefined);
    }
  } finally {
    Object.assign(fs, { openSync, readFileSync });
    syncBuiltinESMExports();
  }
});

const index = suite('the index of a log');

index('has the version and the counts of the bundled SQLite, on which checkpoints depend', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-index-'));
  const file = join(folder, 'test.db');
  const db = new SQLite(file);
  db.exec('PRAGMA journal_mode = WAL; CREATE TABLE item (text TEXT)');
  const reader = new SQLite(file, { readonly: true });
  reader.exec('BEGIN; SELECT count(*) FROM item');
  for (let i = 0; i < 20; i++) db.prepare('INSERT INTO item VALUES (?)').run('x'.repeat(4000));
  db.pragma('wal_checkpoint(PASSIVE)');
  const [state] = db.pragma('wal_checkpoint(NOOP)') as { log: number; checkpointed: number }[];
  assert.ok(state && state.checkpointed > 0 && state.checkpointed < state.log, JSON.stringify(state));
  const own = new LogIndex(file);
  own.requireKnownVersion();
  assert.is(own.pages, state.log);
  assert.is(readFileSync(`${file}-shm`).readUInt32LE(96), state.checkpointed);
  own.resetCheckpointed();
  assert.equal(db.pragma('wal_checkpoint(NOOP)'), [{ busy: 0, log: state.log, checkpointed: 0 }]);
  reader.close();
  assert.equal(db.pragma('wal_checkpoint(PASSIVE)'), [{ busy: 0, log: state.log, checkpointed: state.log }]);
  db.close();
  own.close();
  rmSync(folder, { recursive: true });
});

index('does not write to an index of another version', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-index-'));
  const file = join(folder, 'test.db');
  const bytes = Buffer.alloc(32_768);
  bytes.writeUInt32LE(3_999_000);
  writeFileSync(`${file}-shm`, bytes);
  const other = new LogIndex(file);
  assert.throws(() => other.requireKnownVersion(), /version 3999000, this program knows only 3007000/);
  other.close();
  rmSync(folder, { recursive: true });
});

index.run();

const cut = suite('what a failed commit has written');

cut('is truncated from the log, which keeps everything before it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-cut-'));
  const [file, copy] = [join(folder, 'test.db'), join(folder, 'copy.db')];
  const db = new SQLite(file);
  db.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE item (id INTEGER)');
  db.exec('INSERT INTO item VALUES (1)');
  const [before] = db.pragma('wal_checkpoint(NOOP)') as { log: number }[];
  const size = statSync(`${file}-wal`).size;
  db.exec('INSERT INTO item VALUES (2)');
  for (const end of ['', '-wal']) copyFileSync(file + end, copy + end);
  truncateLog(`${copy}-wal`, before?.log ?? 0);
  assert.is(statSync(`${copy}-wal`).size, size);
  truncateLog(`${copy}-wal`, 1000);
  assert.is(statSync(`${copy}-wal`).size, size, 'a shorter log is not made longer');
  const after = new SQLite(copy);
  assert.equal(after.prepare('SELECT id FROM item').pluck().all(), [1]);
  for (const handle of [after, db]) handle.close();
  rmSync(folder, { recursive: true });
});

cut.run();

test.run();
