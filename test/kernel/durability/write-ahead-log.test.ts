/** A write-ahead log whose bytes were changed: what SQLite would drop of it without a word is refused or told. */
import fs, { copyFileSync, cpSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { breakOf, rejectHeadless } from '../../../src/kernel/durability/write-ahead-log.ts';
import { failed, nativeCache, Program } from '../../support/program.ts';

const test = suite('a changed log');
let program: Program;
let wal: string;

test.before.each(async () => {
  program = new Program(nativeCache);
  const server = await program.serve();
  wal = join(program.folder, 'data/tenantry.db-wal');
  for (const name of ['alice', 'bob', 'carol']) assert.is((await program.run(['user', 'add', name])).code, 0);
  await server.kill();
});
test.after.each(() => program.end());

function change(at: number): void {
  const bytes = readFileSync(wal);
  bytes[at] = (bytes[at] as number) ^ 1;
  writeFileSync(wal, bytes);
}

test('one whose head is damaged is refused, and stays as it is', async () => {
  rejectHeadless(wal);
  change(20);
  const before = readFileSync(wal);
  const line = `The write-ahead log ${wal} is damaged: restore a backup, or move it away to go on without what it holds`;
  for (const words of [['serve', '--port', '0'], ['token', 'admin'], ['doctor']])
    assert.equal(await program.run(words), failed(`${join(program.folder, 'data/tenantry.db')}: ${line}`));
  assert.ok(readFileSync(wal).equals(before));
});

test('one that breaks off in the middle is told by a server and by doctor', async () => {
  assert.is(breakOf(wal), undefined);
  const pageBytes = readFileSync(wal).readUInt32BE(8) + 24;
  change(32 + 3 * pageBytes + 500);
  assert.is(breakOf(wal)?.pages, 3);
  cpSync(join(program.folder, 'data'), join(program.folder, 'other'), { recursive: true });
  assert.match((await program.run(['doctor', '--data', 'other'])).stderr, /the write-ahead log breaks off: /);
  const server = await program.serve();
  await server.stop();
  const told = JSON.parse(server.errors().split('\n')[0] ?? '');
  assert.equal([told.level, told.file, told.pages], [40, wal, 3]);
  assert.ok(told.transactions > 3);
  assert.match(told.msg, /^the write-ahead log breaks off: transactions behind these pages are dropped\. /);
});

test('one that ends early is as a cut of the power leaves it: it is read up to there', async () => {
  copyFileSync(wal, `${wal}.whole`);
  for (const length of [0, 20, 32, 40, readFileSync(wal).length - 100]) {
    copyFileSync(`${wal}.whole`, wal);
    truncateSync(wal, length);
    rejectHeadless(wal);
    assert.is(breakOf(wal), undefined);
  }
});

test('one that another process removes as it closes the database is none', () => {
  const copy = `${wal}.copy`;
  const { openSync, readFileSync } = fs;
  const whenRemoved =
    <A extends unknown[], R>(read: (...given: A) => R) =>
    (...given: A): R => {
      rmSync(copy, { force: true });
      return read(...given);
    };
  Object.assign(fs, { openSync: whenRemoved(openSync), readFileSync: whenRemoved(readFileSync) });
  syncBuiltinESMExports();
  try {
    for (const look of [rejectHeadless, breakOf]) {
      copyFileSync(wal, copy);
      assert.is(look(copy), undefined);
    }
  } finally {
    Object.assign(fs, { openSync, readFileSync });
    syncBuiltinESMExports();
  }
});

test.run();
