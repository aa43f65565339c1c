/** Databases with tables, triggers or columns that the program did not create. `npm test` builds the program first. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import SQLite from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually } from '../support/eventually.ts';
import { preparing } from '../support/prepared.ts';
import { failed, type Program } from '../support/program.ts';

const test = suite('foreign schema');
let program: Program;

const at = (name: string): string => join(program.folder, name);

const prepared = preparing(async (first) => {
  assert.is((await first.run(['user', 'add', 'admin', '--staff', '--data', 'data'])).code, 0);
});
test.before.each(async () => {
  ({ program } = await prepared());
});
test.after.each(() => program.end());

/** Changes a database directly, without the program. */
function change(file: string, script: string): void {
  const db = new SQLite(file);
  db.exec(script);
  db.close();
}

const makesStaff =
  'CREATE TRIGGER make_staff AFTER INSERT ON user BEGIN UPDATE user SET is_staff = 1 WHERE id = NEW.id; END';
const reason = "The schema of the database is not this program's: trigger make_staff does not belong to it";
const litestream = `CREATE TABLE IF NOT EXISTS _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER);
  CREATE TABLE IF NOT EXISTS _litestream_lock (id INTEGER); INSERT INTO _litestream_seq VALUES (1, 7); ANALYZE`;

test('rejects a backup with a foreign trigger, and restores one of a replicated database', async () => {
  change(at('data/tenantry.db'), litestream);
  assert.is((await program.run(['backup', 'good', '--data', 'data'])).code, 0);
  writeFileSync(at('copy.db'), gunzipSync(readFileSync(at('good'))));
  change(at('copy.db'), makesStaff);
  writeFileSync(at('bad'), gzipSync(readFileSync(at('copy.db'))));
  assert.equal(
    await program.run(['restore', 'bad', '--data', 'bad-data']),
    failed(`cannot restore ${at('bad')}: ${reason}`),
  );
  assert.not(existsSync(at('bad-data')));
  assert.is((await program.run(['restore', 'good', '--data', 'good-data'])).code, 0);
  assert.is((await program.run(['doctor', '--data', 'good-data'])).stdout, 'no problems\n');
});

test('does not write a backup that restore would reject', async () => {
  change(at('data/tenantry.db'), makesStaff);
  assert.equal(await program.run(['backup', 'file', '--data', 'data']), failed(`cannot write the backup: ${reason}`));
  assert.not(existsSync(at('file')));
});

test('reports foreign, missing and different parts of a schema in doctor, and repairs nothing then', async () => {
  change(
    at('data/tenantry.db'),
    `${makesStaff}; DROP INDEX token_user; ALTER TABLE ssh_key ADD COLUMN further TEXT;
     UPDATE quota SET usage = 7 WHERE name = 'nc_global_customer_count'`,
  );
  const lines = [
    'schema: table ssh_key is defined differently',
    'schema: trigger make_staff does not belong to it',
    'schema: index token_user is missing',
    'quota nc_global_customer_count of global 0: usage 7, counted 0',
  ];
  const expected = { code: 1, stdout: `${lines.join('\n')}\n`, stderr: '' };
  assert.equal(await program.run(['doctor', '--data', 'data']), expected);
  assert.equal(await program.run(['doctor', '--repair', '--data', 'data']), expected);
  change(at('data/tenantry.db'), 'DROP TRIGGER make_staff; CREATE INDEX token_user ON token (user_id)');
  assert.is((await program.run(['doctor', '--data', 'data'])).code, 1, 'the extra column remains');
});

test('keeps serving the previous copy when a new one has a foreign trigger, and promotes neither', async () => {
  change(at('data/tenantry.db'), litestream);
  const follower = await program.serve([
    ...['--follow', 'data', '--data', 'copy', '--follow-interval', '1s', '--admin-listen', '127.0.0.1:0'],
  ]);
  const copyCheck = async (): Promise<string> =>
    ((await (await fetch(`${follower.startup.admin}/readyz`)).json()) as { checks: { copy: string } }).checks.copy;
  assert.is(await copyCheck(), 'ok');
  change(at('data/tenantry.db'), makesStaff);
  await eventually('the copy is rejected', async () => (await copyCheck()).endsWith(reason), 30);
  assert.is((await fetch(`${follower.url}/api/version/`)).status, 200, 'the previous copy is served');
  await follower.stop();
  const { code, stderr } = await program.run(['promote', '--follow', 'data', '--data', 'copy']);
  assert.equal([code, stderr], [1, `tenantry: ${reason}\n`]);
  const first = await program.run(['serve', '--port', '0', '--follow', 'data', '--data', 'other']);
  assert.is(first.code, 1);
  assert.match(first.stderr, reason);
});

test.run();
