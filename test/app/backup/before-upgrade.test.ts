/** The backup before an upgrade, on the command line. `npm test` builds the program first. */
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { embeddedMigrations } from '../../../src/kernel/native/embedded.ts';
import { makeOld, oldSchema } from '../../chaos/kill-migration.ts';
import { nativeCache, Program } from '../../support/program.ts';

const upgrade = suite('backup before an upgrade');
let program: Program;
const path = (name: string): string => join(program.folder, name);
const backups = (): string[] => (existsSync(path('data/backups')) ? readdirSync(path('data/backups')) : []);

upgrade.before.each(() => {
  program = new Program(nativeCache);
  makeOld(path('data'));
});
upgrade.after.each(() => program.end());

function look<T>(file: string, use: (db: SQLite.Database) => T): T {
  const db = new SQLite(file);
  try {
    return use(db);
  } finally {
    db.close();
  }
}

const schemaOf = (file: string): number => look(file, (db) => Number(db.pragma('user_version', { simple: true })));

upgrade('restores the state before a migration', async () => {
  const server = await program.serve(['--log-level', 'info']);
  await server.stop();
  const [file = '', another] = backups();
  assert.match(file, /^before-upgrade-from-15-\d{4}-\d\d-\d\dT[\d.-]+Z$/);
  assert.is(another, undefined);
  assert.match(server.errors(), new RegExp(`"file":"[^"]*/backups/${file}".*"database backed up before its upgrade"`));
  assert.is(schemaOf(path('data/tenantry.db')), embeddedMigrations().length);
  const { code } = await program.run(['restore', path(`data/backups/${file}`), '--data', path('restored')]);
  assert.is(code, 0);
  assert.is(schemaOf(path('restored/tenantry.db')), oldSchema);
  assert.is(
    look(path('restored/tenantry.db'), (db) => db.prepare('SELECT count(*) FROM user').pluck().get()),
    3000,
  );
  await (await program.serve()).stop();
  assert.is(backups().length, 1, 'an up-to-date database is not backed up');
});

upgrade('backs up the database before any command migrates it, and retains the last three', async () => {
  for (let i = 0; i < 4; i++) {
    for (const name of ['tenantry.db', 'tenantry.db-wal', 'tenantry.db-shm', 'secret.key'])
      rmSync(path(`data/${name}`), { force: true });
    makeOld(path('data'));
    assert.is((await program.run(['token', 'user1'])).code, 0);
    // An older backup with another name stays.
    if (i === 0) writeFileSync(path('data/backups/mine'), '');
  }
  assert.equal([backups().length, backups().includes('mine')], [4, true]);
});

upgrade('does not migrate when no backup can be written, unless backups are off', async () => {
  writeFileSync(path('data/backups'), 'a file');
  const { code, stderr } = await program.run(['token', 'user1']);
  assert.is(code, 1);
  assert.match(
    stderr,
    /^tenantry: the database was not upgraded, because its backup failed: [^\n]*\/backups: not a directory[^\n]*--backup-before-upgrade false\n$/,
  );
  assert.is(schemaOf(path('data/tenantry.db')), oldSchema);
  assert.is((await program.run(['token', 'user1', '--backup-before-upgrade', 'false'])).code, 0);
  assert.is(schemaOf(path('data/tenantry.db')), embeddedMigrations().length);
});

upgrade.run();
