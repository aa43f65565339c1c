/** The thread that moves pages of the write-ahead log into the database file. */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import SQLite from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sql } from '../../../src/kernel/db/sql.ts';
import { SqliteDatabase } from '../../../src/kernel/db/sqlite-database.ts';
import { compiled } from '../../support/compiled.ts';
import { invalidationsOf } from '../../support/invalidations.ts';

const checkpoints = suite('checkpoints');
let folder: string;
let db: SqliteDatabase;

checkpoints.before.each(() => {
  folder = mkdtempSync(join(tmpdir(), 'tenantry-checkpoints-'));
  db = SqliteDatabase.open(join(folder, 'test.db'));
  db.script('CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT');
});
checkpoints.after.each(async () => {
  await db.stopCheckpoints();
  db.close();
  rmSync(folder, { recursive: true });
});

const fail = (error: unknown): never => {
  throw error;
};

/** Adds this many items in one commit: one page each. */
function add(items: number): void {
  db.write(() => {
    for (let i = 0; i < items; i++) db.insert('item', { name: 'x'.repeat(4000) });
  });
  db.commit();
}

/** Returns the pages of the log, and how many of them are in the file. */
const log = (): { log: number; checkpointed: number } =>
  db.get<{ log: number; checkpointed: number }>(sql`PRAGMA wal_checkpoint(NOOP)`) as {
    log: number;
    checkpointed: number;
  };

checkpoints('the thread checkpoints the log after enough pages, and the log restarts', async () => {
  db.checkpointInThread(undefined, fail);
  add(1000);
  await db.checkpointed();
  assert.is(log().checkpointed, 0, 'too few pages');
  add(1000);
  await db.checkpointed();
  const moved = log();
  assert.ok(moved.log > 2000, `${moved.log} pages`);
  assert.is(moved.checkpointed, moved.log);
  add(1);
  assert.ok(log().log < 10);
});

checkpoints('does not checkpoint a log that another program replicates, until it is far too long', async () => {
  db.leaveLog();
  db.checkpointInThread(undefined, fail);
  for (let i = 0; i < 10; i++) add(2000);
  await db.checkpointed();
  assert.equal([log().checkpointed, log().log > 20_000], [0, true]);
  await db.stopCheckpoints();
  add(1000);
  assert.is(log().checkpointed, 0);
});

checkpoints('copies pages written during a checkpoint with the next one', async () => {
  db.checkpointInThread(undefined, fail);
  for (let i = 0; i < 4; i++) add(1000);
  await db.checkpointed();
  add(2000);
  await db.checkpointed();
  assert.is(log().checkpointed, log().log);
  assert.is(db.value(sql`SELECT count(*) FROM item`), 6000);
  assert.is(db.pragma('integrity_check'), 'ok');
});

/** Adds items of a million bytes in one commit: few rows, 245 pages each. */
function addLong(items: number): void {
  db.write(() => {
    for (let i = 0; i < items; i++) db.insert('item', { name: 'x'.repeat(1_000_000) });
  });
  db.commit();
}

/** Starts a read of the current state; returns a function that ends it. */
function read(): () => void {
  const outside = new SQLite(join(folder, 'test.db'), { readonly: true });
  outside.exec('BEGIN');
  outside.prepare('SELECT max(id) FROM item').get();
  return () => outside.close();
}

checkpoints(
  'what a long reader has stored in the log the thread moves when it ends, not the writer, and the room is given back',
  async () => {
    db.checkpointInThread(undefined, fail);
    const end = read();
    for (let i = 0; i < 2; i++) {
      addLong(50);
      await db.checkpointed();
    }
    const { checkpointed } = log();
    assert.ok(checkpointed < 10, `${checkpointed} pages were moved in spite of the reader`);
    end();
    add(1);
    assert.is(log().checkpointed, checkpointed, 'the writer has not waited for it');
    await db.checkpointed();
    assert.ok(log().log > 24_000);
    assert.is(log().checkpointed, log().log);
    assert.ok(statSync(join(folder, 'test.db-wal')).size > 100_000_000);
    add(1);
    assert.ok(log().log < 10);
    assert.ok(statSync(join(folder, 'test.db-wal')).size <= 80_000_000);
  },
);

checkpoints(
  'of a log that becomes very long though no one reads, the writer moves what the thread leaves',
  async () => {
    db.checkpointInThread(undefined, fail);
    addLong(50);
    const end = read();
    addLong(30);
    await db.checkpointed();
    assert.ok(log().log > 16_000);
    assert.ok(log().checkpointed < log().log, 'written while the thread worked');
    end();
    add(1);
    assert.is(log().checkpointed, log().log);
  },
);

checkpoints('checkpoints the log after a failed commit, however short, which frees space on a full disk', async () => {
  db.script('CREATE TABLE child (item INTEGER REFERENCES item DEFERRABLE INITIALLY DEFERRED) STRICT');
  db.checkpointInThread(undefined, fail);
  add(1);
  await db.checkpointed();
  assert.ok(log().checkpointed < log().log);
  db.write(() => db.insert('child', { item: 99 }));
  db.commit();
  await db.checkpointed();
  assert.is(log().checkpointed, log().log);
});

checkpoints('a checkpoint by the thread invalidates no caches', async () => {
  db.checkpointInThread(undefined, fail);
  add(2000);
  const invalidations = invalidationsOf(db);
  const { changes } = db.versions;
  await db.checkpointed();
  db.catchUp();
  add(0);
  assert.equal([invalidations(), db.versions.changes], [0, changes]);
});

checkpoints(
  'when it is stopped the log is moved by commits and by closing, and nothing stays beside the file',
  async () => {
    db.checkpointInThread(undefined, fail);
    add(2000);
    await db.stopCheckpoints();
    add(100);
    db.close();
    assert.equal(readdirSync(folder), ['test.db']);
    const outside = new SQLite(join(folder, 'test.db'), { readonly: true });
    assert.is(outside.prepare('SELECT count(*) FROM item').pluck().get(), 2100);
    outside.close();
  },
);

checkpoints('commits checkpoint the log if the thread cannot load the same SQLite', async () => {
  const reports: unknown[] = [];
  db.checkpointInThread({ exports: {}, file: fileURLToPath(import.meta.url), inode: -1, descriptor: -1 }, (error) =>
    reports.push((error as Error).message),
  );
  add(2000);
  await db.checkpointed();
  assert.equal(reports, [`${fileURLToPath(import.meta.url)} differs from the loaded addon`]);
  assert.is(log().checkpointed, 0);
  for (let i = 0; i < 10; i++) add(100);
  assert.ok(log().log < 500, 'it began anew');
});

checkpoints(
  'a disk that is too full for the log to be moved keeps no database from being closed, and nothing is lost',
  () => {
    const program = `
    import { SqliteDatabase } from ${JSON.stringify(compiled(new URL('opened-elsewhere.ts', import.meta.url)))};
    const db = SqliteDatabase.open(process.argv[1]);
    db.script('CREATE TABLE thing (text TEXT)');
    const add = () => (db.write(() => db.run({ text: 'INSERT INTO thing VALUES (?)', values: ['x'.repeat(900_000)] })), db.commit());
    add();
    db.pragma('wal_checkpoint(PASSIVE)');
    add();
    db.close();
  `;
    // The file may be half a million bytes longer than one of the texts: enough for the log, but not for both of them in the
    // file.
    const limited = [
      '-c',
      'ulimit -f 2800; exec "$0" "$@"',
      process.execPath,
      '--input-type=module',
      '-e',
      program,
      join(folder, 'full.db'),
    ];
    const { status, stderr } = spawnSync('sh', limited, { encoding: 'utf8', timeout: 20_000, env: process.env });
    assert.equal([status, stderr], [0, '']);
    const outside = new SQLite(join(folder, 'full.db'));
    assert.equal(outside.prepare('SELECT length(text) FROM thing').pluck().all(), [900_000, 900_000]);
    outside.close();
  },
);

checkpoints('the thread does not keep an idle process alive, and a stop waits for it', () => {
  const program = `
    import { SqliteDatabase } from ${JSON.stringify(compiled(new URL('opened-elsewhere.ts', import.meta.url)))};
    const db = SqliteDatabase.open(process.argv[1]);
    db.script('CREATE TABLE thing (text TEXT)');
    db.checkpointInThread(undefined, console.error);
    db.write(() => { for (let i = 0; i < 2000; i++) db.run({ text: 'INSERT INTO thing VALUES (?)', values: ['x'.repeat(4000)] }); });
    db.commit();
    await new Promise((resolve) => setTimeout(resolve, 50));
    if (process.argv[2] === 'stop') await db.stopCheckpoints().then(() => console.log('stopped'));
    console.log('end');
  `;
  const run = (...words: string[]) => {
    const { status, stderr, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program, ...words], {
      encoding: 'utf8',
      timeout: 20_000,
    });
    return [status, stdout.trim().split('\n'), stderr];
  };
  assert.equal(run(join(folder, 'one.db')), [0, ['end'], '']);
  assert.equal(run(join(folder, 'two.db'), 'stop'), [0, ['stopped', 'end'], '']);
});

checkpoints.run();
