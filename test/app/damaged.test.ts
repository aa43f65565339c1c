/** Damaged files of a data folder, each reported in one line. `npm test` builds the program first. */
import { closeSync, cpSync, openSync, readFileSync, rmSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { copyDemoData } from '../support/demo-data.ts';
import { failed, nativeCache, Program } from '../support/program.ts';

const test = suite('a damaged data folder');
const program = new Program(nativeCache);
const path = (name = ''): string => join(program.folder, 'data', name);
const run: Program['run'] = (...args) => program.run(...args);
const serve = ['serve', '--port', '0'];

test.before(() => copyDemoData(join(program.folder, 'whole')));
test.before.each(() => cpSync(join(program.folder, 'whole'), path(), { recursive: true }));
test.after.each(() => rmSync(path(), { recursive: true }));
test.after(async () => {
  await program.end();
});

test('rejects an invalid lock file', async () => {
  writeFileSync(path('serve.lock'), 'garbage');
  for (const words of [serve, ['rotate-key'], ['rotate-key', '--prune'], ['demo']])
    assert.equal(await run(words), failed(`${path('serve.lock')}: file is not a database: it is no lock, remove it`));
});

test('rejects a truncated or empty key file, also in backup', async () => {
  truncateSync(path('secret.key'), 20);
  const cut = failed(`${path('secret.key')}: An encryption key must be an id, a colon and the base64 of 32 bytes`);
  for (const words of [serve, ['doctor'], ['rotate-key']]) assert.equal(await run(words), cut);
  assert.equal(await run(['backup', 'b']), { ...cut, stderr: cut.stderr.replace(': ', ': cannot write the backup: ') });
  truncateSync(path('secret.key'));
  for (const words of [serve, ['doctor']]) assert.equal(await run(words), failed(`${path('secret.key')} has no key`));
});

test('rejects a truncated database, and one with another header', async () => {
  const failure = (reason: string) => failed(`${path('tenantry.db')}: ${reason}`);
  const backup = (reason: string) => failed(`cannot write the backup: ${path('tenantry.db')}: ${reason}`);
  truncateSync(path('tenantry.db'), readFileSync(path('tenantry.db')).length >> 1);
  const malformed = 'database disk image is malformed';
  for (const words of [serve, ['doctor'], ['token', 'helena.kask'], ['rotate-key'], ['user', 'add', 'bob']])
    assert.equal(await run(words), failure(malformed), words[0]);
  assert.equal(await run(['backup', 'b']), backup(malformed));
  writeFileSync(path('tenantry.db'), 'XXXX', { flag: 'r+' });
  for (const words of [serve, ['doctor']]) assert.equal(await run(words), failure('file is not a database'));
  assert.equal(await run(['backup', 'b']), backup('The database belongs to another program'));
});

/** Overwrites the first page of a table or index. */
function overwrite(name: string): void {
  const db = new SQLite(path('tenantry.db'));
  const page = db.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').pluck().get(name) as number;
  const bytes = db.pragma('page_size', { simple: true }) as number;
  db.close();
  const file = openSync(path('tenantry.db'), 'r+');
  writeSync(file, Buffer.alloc(bytes, 0x55), 0, bytes, (page - 1) * bytes);
  closeSync(file);
}

test('reports a damaged page with the name of the file in every command that reads it, and in lines of doctor', async () => {
  overwrite('resource');
  assert.equal(await run(['rotate-key']), failed(`${path('tenantry.db')}: database disk image is malformed`));
  for (const words of [['doctor'], ['doctor', '--repair']]) {
    const { code, stderr, stdout } = await run(words);
    const lines = stdout.split('\n').slice(0, -1);
    assert.equal(
      [code, stderr, lines.at(-2)],
      [1, '', 'database: cannot check the rest: database disk image is malformed'],
    );
    assert.ok(
      lines.slice(0, -1).every((line) => line.startsWith('database: ')),
      stdout,
    );
    assert.ok(lines.length > 2);
  }
});

test('lists events with unreadable context in doctor; --repair clears the context', async () => {
  const db = new SQLite(path('tenantry.db'));
  db.exec(`UPDATE event SET context = '{bad' WHERE id IN (2, 3)`);
  const uuids = db.prepare('SELECT uuid FROM event WHERE id IN (2, 3) ORDER BY id').pluck().all();
  db.close();
  const erred = 'DigitalOcean account Field droplets is Erred: Simulated failure of ping\n';
  const report = (mended: string): string =>
    uuids.map((uuid) => `event ${uuid}: its context cannot be read${mended}\n`).join('') + erred;
  for (let i = 0; i < 2; i++) assert.equal(await run(['doctor']), { code: 1, stdout: report(''), stderr: '' });
  // The words of these events are not yet indexed.
  const server = await program.serve();
  assert.is(await server.stop(), 0);
  assert.equal(await run(['doctor', '--repair']), { code: 0, stdout: report(', repaired'), stderr: '' });
  assert.equal(await run(['doctor']), { code: 0, stdout: erred, stderr: '' });
});

test.run();
