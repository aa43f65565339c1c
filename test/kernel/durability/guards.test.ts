/** The watch of the file of an open database. */
import { copyFileSync, mkdtempSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { watchFile } from '../../../src/kernel/durability/guards.ts';

const test = suite('the watch of a database file');
let folder: string;

test.before(() => {
  folder = mkdtempSync(join(tmpdir(), 'guards-'));
});
test.after(() => rmSync(folder, { recursive: true }));

/** Creates a database whose log has lost the transaction that had enlarged the file. Returns its path. */
function withShortenedLog(): string {
  const original = join(folder, 'original.db');
  const copy = join(folder, 'copy.db');
  const db = new SQLite(original);
  db.pragma('journal_mode = WAL');
  db.pragma('wal_autocheckpoint = 0');
  db.exec('CREATE TABLE thing (content BLOB)');
  db.pragma('wal_checkpoint(TRUNCATE)');
  // The first page is in the log, too.
  db.exec('BEGIN; INSERT INTO thing VALUES (1); PRAGMA user_version = 1; COMMIT');
  const { size } = statSync(`${original}-wal`);
  db.exec('INSERT INTO thing VALUES (zeroblob(200000))');
  db.pragma('wal_checkpoint(PASSIVE)');
  for (const ending of ['', '-wal']) copyFileSync(original + ending, copy + ending);
  truncateSync(`${copy}-wal`, size);
  db.close();
  return copy;
}

test('accepts that a checkpoint shortens the file after its log has lost transactions, but no other cut', () => {
  const file = withShortenedLog();
  const db = new SQLite(file);
  assert.is(db.prepare('SELECT count(*) FROM thing').pluck().get(), 1);
  const failures: string[] = [];
  const watch = watchFile(file, (error) => failures.push(error.message));
  const before = statSync(file).size;
  db.pragma('wal_checkpoint(TRUNCATE)');
  const { size } = statSync(file);
  assert.ok(size < before);
  watch();
  assert.equal(failures, []);
  truncateSync(file, size - 1);
  watch();
  assert.equal(failures, [`${file} was cut from ${size} to ${size - 1} bytes while it was served: restore a backup`]);
  db.close();
});

test.run();
