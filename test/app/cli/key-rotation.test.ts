/** rotate-key on the command line. `npm test` builds the program first. */
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import SQLite from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { encryptedColumns } from '../../../src/app/data/encryption.ts';
import { openSecrets } from '../../../src/kernel/security/secrets.ts';
import { copyDemoData } from '../../support/demo-data.ts';
import { failed, nativeCache, Program } from '../../support/program.ts';

const test = suite('rotate-key');
let program: Program;
const data = (name = ''): string => join(program.folder, 'data', name);
const run: Program['run'] = (...args) => program.run(...args);
const keys = (): string[] => readFileSync(data('secret.key'), 'utf8').trim().split('\n');
const idOf = (key = ''): string => key.split(':')[0] as string;

test.before.each(async () => {
  program = new Program(nativeCache);
  await copyDemoData(data());
});
test.after.each(() => program.end());

/** The secrets of the sample data, decrypted with the current keys, in the order of its columns. */
function opened(): string[] {
  const secrets = openSecrets([], data(), () => Buffer.alloc(0));
  const db = new SQLite(data('tenantry.db'), { readonly: true });
  const rows = encryptedColumns.flatMap(
    ({ column, table, uuid }) =>
      db.prepare(`SELECT ${uuid} AS uuid, ${column} AS value FROM ${table} WHERE ${column} IS NOT NULL`).all() as {
        uuid: string;
        value: Buffer;
      }[],
  );
  db.close();
  return rows.map(({ uuid, value }) => secrets.open(value, uuid));
}

/** Returns the columns of all tables that have a value with the prefix of this encryption key. */
function sealedWith(id: string): string[] {
  const db = new SQLite(data('tenantry.db'), { readonly: true });
  const start = Buffer.concat([Buffer.from([id.length]), Buffer.from(id)]);
  const columns = db
    .prepare(
      `SELECT t.name AS "table", c.name AS "column" FROM sqlite_schema t JOIN pragma_table_info(t.name) c
       WHERE t.type = 'table' AND t.sql NOT LIKE 'CREATE VIRTUAL%' AND c.type = 'BLOB'`,
    )
    .all() as { table: string; column: string }[];
  const matches = columns.filter(
    ({ column, table }) =>
      db.prepare(`SELECT 1 FROM "${table}" WHERE substr("${column}", 1, ${start.length}) = ?`).get(start) !== undefined,
  );
  db.close();
  assert.ok(columns.length > 10);
  return matches.map(({ column, table }) => `${table}.${column}`);
}

/** Creates a webhook with an encrypted secret, and a push hook with an encrypted token and its digest. */
async function addHooks(): Promise<void> {
  const server = await program.serve();
  const token = (await run(['token', 'helena.kask'])).stdout.trim();
  for (const [path, body] of [
    ['hooks-web', { destination_url: 'https://example.com/', event_types: ['role_granted'] }],
    ['hooks-push', { type: 'Android', device_id: 'device', token: 'of the device', event_types: ['role_granted'] }],
  ] as const) {
    const response = await fetch(`${server.url}/api/${path}/`, {
      method: 'POST',
      headers: { Authorization: `Token ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    assert.is(response.status, 201, await response.text());
  }
  await server.stop();
}

const accountErred = 'DigitalOcean account Field droplets is Erred: Simulated failure of ping\n';

test('encrypts every secret with the new key and removes the old keys with --prune', async () => {
  await addHooks();
  const [first] = keys();
  const before = opened();
  const count = before.length;
  assert.ok(count > 20);
  assert.equal(await run(['rotate-key']), {
    code: 0,
    stdout: `${count} secrets encrypted with the new key.\n`,
    stderr: '',
  });
  assert.equal([keys().length, keys()[1]], [2, first]);
  assert.equal(await run(['rotate-key', '--prune']), {
    code: 0,
    stdout: `${count} secrets encrypted with the new key. 2 old keys removed.\n`,
    stderr: '',
  });
  assert.is(keys().length, 1);
  assert.equal([opened(), sealedWith(idOf(first))], [before, []]);
  assert.equal(sealedWith(idOf(keys()[0])).sort(), [
    'deployment.key_check',
    'digest_key.sealed',
    'hook.secret',
    'hook.token',
    'resource.secrets',
  ]);
  assert.equal(await run(['doctor']), { code: 0, stdout: accountErred, stderr: '' });
  const server = await program.serve();
  assert.is(await server.stop(), 0);
});

test('rejects a served folder, secrets that no key decrypts, and keys of the settings, and changes nothing', async () => {
  const [first] = keys();
  const server = await program.serve();
  assert.equal(
    await run(['rotate-key', '--prune']),
    failed(`another server uses the data folder ${join(program.folder, 'data')}`),
  );
  await server.stop();
  const env = { TENANTRY_ENCRYPTION_KEYS: first as string };
  assert.equal(
    await run(['rotate-key', '--prune'], { env }),
    failed(
      'the setting encryption_keys defines the keys: run rotate-key without --prune, then remove old keys from the setting',
    ),
  );
  const db = new SQLite(data('tenantry.db'));
  db.exec(`UPDATE service_settings SET token = x'0161' WHERE id = 1`);
  db.close();
  for (const words of [['rotate-key'], ['rotate-key', '--prune']])
    assert.equal(
      await run(words),
      failed('token of service_settings 1 cannot be opened with the encryption keys: nothing was changed'),
    );
  assert.equal(keys(), [first]);
});

test('changes nothing if the signing key of the audit trail cannot be decrypted', async () => {
  const before = [keys(), opened(), sealedWith(idOf(keys()[0]))];
  writeFileSync(data('audit.key'), 'AAAA\n');
  for (const words of [['rotate-key'], ['rotate-key', '--prune']])
    assert.equal(
      await run(words),
      failed(
        `${data('audit.key')} cannot be opened with the encryption keys: move it away to sign the audit trail with a new key`,
      ),
    );
  assert.equal([keys(), opened(), sealedWith(idOf(keys()[0]))], before);
});

test('leaves a usable folder when killed at any moment, and can be repeated', async () => {
  const before = opened();
  const begun = performance.now();
  assert.is((await run(['rotate-key', '--prune'])).code, 0);
  const whole = performance.now() - begun;
  for (const part of [0.3, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 1]) {
    const child = program.start(['rotate-key', '--prune']);
    const ended = once(child, 'close');
    await pause(whole * part);
    child.kill('SIGKILL');
    await ended;
    assert.equal(await run(['doctor']), { code: 0, stdout: accountErred, stderr: '' });
    assert.equal(opened(), before);
  }
  assert.is((await run(['rotate-key', '--prune'])).code, 0);
  assert.equal([keys().length, opened()], [1, before]);
});

test.run();
