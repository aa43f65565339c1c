/** A data folder with missing files is not treated as a new installation. `npm test` builds the program first. */
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { preparing } from '../support/prepared.ts';
import { failed, type Program } from '../support/program.ts';

let program: Program;
const test = suite('an incomplete data folder');
const prepared = preparing(async (first) => {
  assert.is((await first.run(['user', 'add', 'bob', '--data', 'data'])).code, 0);
});
test.before.each(async () => {
  ({ program } = await prepared());
});
test.after.each(() => program.end());

const path = (name = ''): string => join(program.folder, 'data', name);
const servers = [
  ['serve', '--port', '0'],
  ['user', 'add', 'alice'],
];

/** Changes the file directly, without the program. */
function corrupt(script: string): void {
  const db = new SQLite(path('tenantry.db'));
  db.exec(script);
  db.close();
}

test('rejects a missing or empty database beside its key, and creates nothing instead', async () => {
  renameSync(path('tenantry.db'), path('elsewhere'));
  const line = (state: string): string =>
    `${path('tenantry.db')}: The database ${state}, but ${path('secret.key')} exists: put the database back, or move the other files away to create a new one`;
  const before = readdirSync(path()).filter((name) => name !== 'serve.lock');
  for (const words of servers) assert.equal(await program.run(words), failed(line('is missing')));
  assert.equal(await program.run(['doctor']), failed(`there is no database in ${path()}`));
  assert.equal(
    readdirSync(path()).filter((name) => name !== 'serve.lock'),
    before,
  );
  writeFileSync(path('tenantry.db'), '');
  for (const words of [...servers, ['doctor']]) assert.equal(await program.run(words), failed(line('is empty')));
  assert.is(readFileSync(path('tenantry.db')).length, 0);
});

test('rejects an empty database beside a WAL', async () => {
  mkdirSync(path('other'));
  writeFileSync(path('other/tenantry.db'), '');
  writeFileSync(path('other/tenantry.db-wal'), 'pages');
  const { code, stderr } = await program.run(['serve', '--port', '0', '--data', path('other')]);
  assert.is(code, 1);
  assert.match(stderr, /The database is empty, but .*tenantry\.db-wal exists/);
});

test('does not serve the folder of a killed restore, and no other command creates a database in it', async () => {
  mkdirSync(path('other/restoring'), { recursive: true });
  const line = `${path('other/tenantry.db')}: The restore into ${path('other')} was not finished: run the command again, or remove ${path('other/restoring')} to start with an empty folder`;
  for (const words of servers) assert.equal(await program.run([...words, '--data', path('other')]), failed(line));
  assert.equal(
    readdirSync(path('other')).filter((name) => name !== 'serve.lock' && name !== 'native'),
    ['restoring'],
  );
  assert.is((await program.run(['backup', 'b'])).code, 0);
  assert.is((await program.run(['restore', 'b', '--data', path('other')])).code, 0);
  assert.equal(readdirSync(path('other')).sort(), ['audit-heads.log', 'secret.key', 'serve.lock', 'tenantry.db']);
});

test('deletes drafts of its key file left by killed commands when a server starts, and nothing else', async () => {
  const drafts = ['secret.key.new', 'secret.key.0c17e2b1-93a5-4a4f-9d25-2f6d3c1b7a10'];
  const others = ['secret.key.bak', 'secret.key.2026-01-05'];
  for (const name of [...drafts, ...others]) writeFileSync(path(name), 'x');
  const keys = readFileSync(path('secret.key'), 'utf8');
  assert.is((await program.run(['token', 'bob'])).code, 0);
  assert.ok(
    drafts.every((name) => readdirSync(path()).includes(name)),
    'they may belong to a running command',
  );
  await (await program.serve()).stop();
  assert.equal(
    readdirSync(path()).filter((name) => name.startsWith('secret.key')),
    ['secret.key', ...others].sort(),
  );
  assert.is(readFileSync(path('secret.key'), 'utf8'), keys);
});

test('does not replace a missing key', async () => {
  renameSync(path('secret.key'), path('elsewhere'));
  for (const words of [...servers, ['doctor']])
    assert.equal(
      await program.run(words),
      failed(
        `${path('secret.key')} is missing, but the database has secrets that only it can decrypt: put it back, or restore a backup`,
      ),
    );
  assert.equal(readdirSync(path()).includes('secret.key'), false);
  renameSync(path('elsewhere'), path('secret.key'));
  assert.equal(await program.run(['doctor']), { code: 0, stdout: 'no problems\n', stderr: '' });
});

test('rejects a wrong key at the start, also one of the same name, and lists in doctor the secrets that it does not decrypt', async () => {
  const [id] = readFileSync(path('secret.key'), 'utf8').split(':');
  corrupt(
    `INSERT INTO service_settings (uuid, name, type, state, token, created) VALUES ('${'a'.repeat(32)}', 'S', 'DigitalOcean', 'OK', x'0161', 0)`,
  );
  const key = `${id}:${Buffer.alloc(32, 7).toString('base64')}`;
  writeFileSync(path('secret.key'), `${key}\n`);
  const says = 'does not have the keys of this database, which cannot be decrypted with it';
  for (const words of servers) assert.equal(await program.run(words), failed(`${path('secret.key')} ${says}`));
  assert.equal(
    await program.run(servers[0] as string[], { env: { TENANTRY_ENCRYPTION_KEYS: key } }),
    failed(`The setting encryption_keys ${says}`),
  );
  assert.equal(await program.run(['doctor']), {
    code: 1,
    stdout:
      'the encryption keys are not those of this database\ntoken of service_settings 1 cannot be opened with the encryption keys\n',
    stderr: '',
  });
});

test('does not migrate the database in doctor', async () => {
  const db = new SQLite(path('tenantry.db'));
  const newest = Number(db.pragma('user_version', { simple: true }));
  db.pragma(`user_version = ${newest - 1}`);
  db.close();
  assert.equal(
    await program.run(['doctor']),
    failed(
      `${path('tenantry.db')}: The database has schema ${newest - 1}, older than this version's ${newest}: the next start of the server brings it up to date`,
    ),
  );
  for (const words of [...servers, ['doctor']]) {
    corrupt('PRAGMA user_version = -1');
    assert.equal(
      await program.run(words),
      failed(`${path('tenantry.db')}: The database has schema -1, which no version has: it is damaged`),
    );
  }
});

test.run();
