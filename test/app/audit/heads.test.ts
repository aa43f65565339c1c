/** Signed heads of the audit trail and the keys that sign them (audit.md 5). */
import { createHash, createPublicKey, verify } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { canonicalJson } from '../../../src/activity/audit/append.ts';
import { Fixture, type Json } from '../../support/fixture.ts';
import { nativeCache, Program } from '../../support/program.ts';

const test = suite('audit heads');
const fixture = new Fixture();
let folder: string;

const open = (): Promise<void> => fixture.open({ ephemeral: false, data: folder });
const heads = (): Json[] =>
  readFileSync(join(folder, 'audit-heads.log'), 'utf8')
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line));
const newest = async (): Promise<Json> => (await fixture.staff.get('/api/audit/?page_size=1')).body[0];

/** Whether a head is signed with the key of a public key. */
function isSigned({ signature, ...unsigned }: Json, publicKey: string): boolean {
  const x = Buffer.from(publicKey, 'base64').toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  return verify(null, Buffer.from(canonicalJson(unsigned)), key, Buffer.from(signature, 'base64'));
}

test.before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tenantry-heads-'));
  await open();
});
test.after(async () => {
  await fixture.close();
  rmSync(folder, { recursive: true });
});

test('signs the newest record once an hour, if there are new ones', async () => {
  const { app } = fixture.server;
  app.db.commit();
  await fixture.customer('Alice');
  fixture.clock.advance(3601);
  fixture.server.tick();
  const count = heads().length;
  const record = await newest();
  const head = heads().at(-1);
  const { body: keys } = await fixture.staff.get('/api/audit/key/');
  assert.is(keys.length, 1);
  assert.equal(Object.keys(keys[0]), ['key', 'public_key', 'from']);
  const digest = createHash('sha256').update(Buffer.from(keys[0].public_key, 'base64')).digest('hex');
  assert.is(keys[0].key, digest.slice(0, 32));
  const { chain, hash, sequence } = record;
  assert.equal({ ...head, at: '', signature: '' }, { chain, sequence, hash, at: '', key: keys[0].key, signature: '' });
  assert.ok(isSigned(head, keys[0].public_key));
  fixture.clock.advance(3601);
  fixture.server.tick();
  assert.is(heads().length, count, 'no record since the last head');
  assert.is(statSync(join(folder, 'audit.key')).mode & 0o777, 0o600);
});

test('signs the newest record at shutdown, and continues with the same key', async () => {
  await fixture.customer('Bob');
  const { hash, sequence } = await newest();
  await fixture.close();
  const head = heads().at(-1);
  assert.equal([head.sequence, head.hash], [sequence, hash]);
  await open();
  const { body: keys } = await fixture.staff.get('/api/audit/key/');
  assert.equal(
    keys.map(({ key }: Json) => key),
    [head.key],
  );
});

test('lists keys for staff and owners', async () => {
  const customer = await fixture.customer('Carol');
  const owner = await fixture.user('olga');
  await fixture.grant(customer, owner, 'owner');
  await fixture.user('pete');
  assert.is((await fixture.as('olga').get('/api/audit/key/')).status, 200);
  assert.is((await fixture.as('pete').get('/api/audit/key/')).status, 403);
});

test('completes a line that a crash truncated', async () => {
  await fixture.close();
  const log = join(folder, 'audit-heads.log');
  const before = heads();
  writeFileSync(log, `${readFileSync(log, 'utf8')}{"chain":"`);
  await open();
  await fixture.customer('Dan');
  await fixture.close();
  const lines = readFileSync(log, 'utf8').split('\n');
  assert.equal(lines.slice(before.length, before.length + 1), ['{"chain":"']);
  assert.is(JSON.parse(lines.at(-2) ?? '').chain, before[0].chain);
  const program = new Program(nativeCache);
  const { code } = await program.run(['audit', 'verify', '--data', folder]);
  assert.is(code, 0);
  await open();
  await program.end();
});

test('a new key follows the last head of the old one, which names it', async () => {
  await fixture.close();
  const program = new Program(nativeCache);
  const old = heads().at(-1).key;
  assert.is((await program.run(['rotate-key', '--prune', '--data', folder])).code, 0);
  const last = heads().at(-1);
  assert.is(last.key, old);
  await open();
  const { body: keys } = await fixture.staff.get('/api/audit/key/');
  assert.equal(
    keys.map(({ key }: Json) => key),
    [old, last.next_key],
  );
  assert.ok(isSigned(last, keys[0].public_key));
  await fixture.customer('Frank');
  await fixture.close();
  assert.is(heads().at(-1).key, last.next_key);
  writeFileSync(join(program.folder, 'keys'), `${keys[0].public_key}\n`);
  assert.is((await program.run(['audit', 'verify', '--data', folder, '--key', 'keys'])).code, 0, 'by the successor');
  writeFileSync(join(program.folder, 'keys'), `${keys[1].public_key}\n`);
  assert.match(
    (await program.run(['audit', 'verify', '--data', folder, '--key', 'keys'])).stdout,
    /^The signature of head \d+ is invalid\.\n$/,
  );
  await program.end();
  await open();
});

test('exports the records on disk, with a head signed at that moment', async () => {
  const customer = await fixture.customer('Erin');
  const response = await fetch(`${fixture.server.url}/api/audit/export/`, {
    headers: { Authorization: `Token ${fixture.staff.token}` },
  });
  assert.equal([response.status, response.headers.get('Content-Type')], [200, 'application/x-ndjson']);
  const lines = (await response.text())
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line));
  const { head } = lines.at(-1);
  const record = lines.at(-2);
  assert.equal(record, await newest());
  assert.equal(record.actor.kind, 'user', 'the download itself is recorded');
  const { object, operation } = lines.at(-3);
  assert.equal([operation, object], ['createCustomer', { type: 'customers', uuid: customer.uuid }]);
  const { body: keys } = await fixture.staff.get('/api/audit/key/');
  const { chain, hash, sequence } = record;
  assert.equal(
    { ...head, at: '', signature: '' },
    { chain, sequence, hash, at: '', records: lines.length - 1, key: keys.at(-1).key, signature: '' },
  );
  assert.ok(isSigned(head, keys.at(-1).public_key));
  const part = await fixture.staff.get('/api/audit/export/?first=2&last=3');
  assert.is(part.status, 200);
  const rejected = async (query: string) => (await fixture.staff.get(`/api/audit/export/?${query}`)).body;
  assert.equal(await rejected(`chain=${'0'.repeat(32)}`), { chain: [`"${'0'.repeat(32)}" is not a valid choice.`] });
  assert.equal(await rejected('first=3&last=2'), { last: ['Ensure this value is greater than or equal to 3.'] });
});

test.run();
