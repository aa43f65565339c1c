/** Audit records: their members, hashes, rejections and visibility (audit.md 1 to 4). */
import { createHash } from 'node:crypto';
import * as assert from 'uvu/assert';
import { canonicalJson } from '../../../src/activity/audit/append.ts';
import { sql } from '../../../src/kernel/db/sql.ts';
import type { Json } from '../../support/fixture.ts';
import { suiteWithServerPerTest } from '../../support/suite.ts';

const { test, fixture } = suiteWithServerPerTest('audit records');

const records = async (query = ''): Promise<Json[]> => (await fixture.staff.get(`/api/audit/${query}`)).body;
const newest = async (): Promise<Json> => (await records('?page_size=1'))[0];
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const uuidOf = (link: string): string => link.split('/').at(-2) ?? '';

test('describes a creation, a change and a deletion', async () => {
  const customer = await fixture.customer('Alice');
  const project = await fixture.project('Web', customer);
  await fixture.staff.patch(project.url, { description: 'Shop' });
  const changed = await newest();
  const { private: hidden, ...open } = changed;
  const session = (await fixture.staff.get('/api/sessions/')).body.find(({ is_current: isCurrent }: Json) => isCurrent);
  const { body: users } = await fixture.staff.get('/api/users/?current');
  assert.equal(
    { ...open, chain: '', previous: '', hash: '', private_hash: '', request_id: '', sequence: 0 },
    {
      chain: '',
      sequence: 0,
      previous: '',
      at: open.at,
      operation: 'patchProject',
      outcome: 'done',
      status: 200,
      repeated: null,
      request_id: '',
      actor: { kind: 'user', uuid: users[0].uuid },
      via: { kind: 'session', uuid: session.uuid },
      as: null,
      object: { type: 'projects', uuid: project.uuid },
      customers: [customer.uuid],
      projects: [project.uuid],
      private_hash: '',
      hash: '',
    },
  );
  assert.equal(
    { ...hidden, salt: '', address: '' },
    {
      salt: '',
      actor_name: 'admin',
      object_name: 'Web',
      address: '',
      changes: [{ field: 'description', from: '', to: 'Shop' }],
    },
  );
  await fixture.staff.delete(project.url);
  const deleted = await newest();
  assert.is(deleted.operation, 'deleteProject');
  assert.equal(deleted.private.changes, [
    { field: 'name', from: 'Web', to: null },
    { field: 'description', from: 'Shop', to: null },
  ]);
  await fixture.staff.delete(customer.url);
  assert.is((await newest()).operation, 'deleteCustomer');
});

test('chains the hashes of the canonical JSON', async () => {
  await fixture.customer('Alice \u{1F600} "quoted"');
  const rows = fixture.server.app.db.all<Json>(sql`SELECT * FROM audit_record ORDER BY id`);
  assert.ok(rows.length > 2);
  let previous = '0'.repeat(64);
  for (const [index, row] of rows.entries()) {
    const record = JSON.parse(row.record);
    assert.is(canonicalJson(record), row.record);
    assert.is(canonicalJson(JSON.parse(row.private)), row.private);
    assert.is(sha256(row.record), row.hash);
    assert.is(sha256(row.private), record.private_hash);
    assert.is(record.previous, previous);
    assert.is(record.sequence, index + 1);
    previous = row.hash;
  }
  assert.is(JSON.parse(rows[0].record).operation, 'audit.chain_started');
});

test('a write without a change, and one that is rolled back, leave no record', async () => {
  const customer = await fixture.customer('Alice');
  const { sequence } = await newest();
  await fixture.staff.patch(customer.url, { name: 'Alice' });
  await fixture.staff.patch(customer.url, { name: '' });
  await fixture.staff.post('/api/customers/', { name: 'Bob', agreement_number: 'x' });
  assert.is((await newest()).sequence, sequence);
});

test('names both customers of a moved project', async () => {
  const [alice, bob] = [await fixture.customer('Alice'), await fixture.customer('Bob')];
  const project = await fixture.project('Web', alice);
  const { status } = await fixture.staff.patch(project.url, { customer: bob.url });
  assert.is(status, 200);
  const { customers, private: hidden } = await newest();
  assert.equal([...customers].sort(), [alice.uuid, bob.uuid].sort());
  const links = hidden.changes.map(({ field, from, to }: Json) => [field, uuidOf(from), uuidOf(to)]);
  assert.equal(links, [['customer', alice.uuid, bob.uuid]]);
});

test('conceals secrets and the paths of hook addresses', async () => {
  const customer = await fixture.customer('Alice');
  await fixture.staff.post('/api/hooks-web/', {
    destination_url: 'https://hooks.test/a-secret?key=1',
    event_types: ['role_granted'],
  });
  await fixture.staff.post('/api/service-settings/', {
    name: 'Tracker',
    type: 'JIRA',
    customer: customer.url,
    backend_url: 'simulator://',
    username: 'alice',
    password: 'hidden-password',
    webhook_secret: 'hidden-webhook-secret',
  });
  const user = await fixture.user('carol');
  await fixture.staff.post(`${user.url}password/`, { password: 'hidden-password-1' });
  const texts = fixture.server.app.db.values<string>(sql`SELECT record || private FROM audit_record`).join('\n');
  for (const secret of ['a-secret', 'hidden-password', 'hidden-webhook-secret'])
    assert.not(texts.includes(secret), secret);
  const [settings] = await records('?operation=createServiceSettings');
  const values = Object.fromEntries(settings.private.changes.map(({ field, to }: Json) => [field, to]));
  assert.is(values.password, '***');
  assert.is(values.webhook_secret, '***');
  assert.is(values.username, 'alice');
  const [hook] = await records('?operation=createWebHook');
  assert.equal(
    hook.private.changes.find(({ field }: Json) => field === 'destination_url').to,
    'https://hooks.test/***',
  );
});

test('records logins, and rejections at most once a minute', async () => {
  const user = await fixture.user('carol');
  await fixture.staff.post(`${user.url}password/`, { password: 'secret12' });
  const login = (password: string) => fixture.anonymous.post('/api-auth/password/', { username: 'carol', password });
  await login('secret12');
  const done = await newest();
  assert.equal([done.operation, done.status, done.actor], ['passwordLogin', 200, { kind: 'user', uuid: user.uuid }]);
  assert.is(done.via.kind, 'password');
  await fixture.as('carol').post('/api-auth/logout/');
  assert.is((await newest()).operation, 'logout');
  for (let i = 0; i < 3; i++) await login('wrong');
  const refused = await records('?outcome=refused');
  assert.equal(
    refused.map(({ actor, operation, repeated, status }) => [operation, status, repeated, actor.kind]),
    [['passwordLogin', 401, 0, 'anonymous']],
  );
  fixture.clock.advance(61);
  await login('wrong');
  assert.is((await newest()).repeated, 2);
});

test('records the 403 of a write', async () => {
  const customer = await fixture.customer('Alice');
  const user = await fixture.user('carol');
  await fixture.grant(customer, user, 'support');
  assert.is((await fixture.as('carol').patch(customer.url, { name: 'Mine' })).status, 403);
  const { actor, object, operation, outcome, status } = await newest();
  assert.equal(
    [operation, outcome, status, object, actor],
    ['patchCustomer', 'refused', 403, { type: 'customers', uuid: customer.uuid }, { kind: 'user', uuid: user.uuid }],
  );
});

test('shows owners the records of their customers, without addresses of staff', async () => {
  const [alice, bob] = [await fixture.customer('Alice'), await fixture.customer('Bob')];
  const owner = await fixture.user('olga');
  await fixture.grant(alice, owner, 'owner');
  const client = fixture.as('olga');
  await client.post('/api/projects/', { name: 'Own', customer: alice.url });
  const { body } = await client.get('/api/audit/?page_size=300');
  assert.ok(body.length >= 3);
  for (const { customers } of body) assert.equal(customers, [alice.uuid]);
  assert.not(body.some(({ customers }: Json) => customers.includes(bob.uuid)));
  const addressed = body.map(({ actor, private: hidden }: Json) => [
    actor.uuid === owner.uuid,
    hidden.address !== null,
  ]);
  for (const [isOwn, hasAddress] of addressed) assert.is(hasAddress, isOwn);
  const former = await fixture.user('sam', { is_staff: true });
  await fixture.as('sam').post('/api/projects/', { name: 'Theirs', customer: alice.url });
  assert.is((await fixture.staff.delete(former.url)).status, 204);
  const [latest] = (await client.get('/api/audit/?page_size=1')).body;
  assert.equal([latest.actor.uuid, latest.private.actor_name, latest.private.address], [former.uuid, 'sam', null]);
  await fixture.user('pete');
  assert.is((await fixture.as('pete').get('/api/audit/')).status, 403);
});

test('filters, and pages by Link', async () => {
  const customers: Json[] = [];
  for (const name of ['A', 'B', 'C']) customers.push(await fixture.customer(name));
  const all = await records('?page_size=300');
  let path: string | undefined = '/api/audit/?page_size=2';
  const paged: Json[] = [];
  while (path) {
    const response = await fixture.staff.get(path);
    paged.push(...response.body);
    path = /<([^>]*)>; rel="next"/.exec(response.headers.get('Link') ?? '')?.[1];
  }
  assert.equal(paged, all);
  const ofB = await records(`?object=${customers[1].uuid}`);
  assert.equal(
    ofB.map(({ operation }) => operation),
    ['createCustomer'],
  );
  assert.equal(await records(`?customer=${customers[1].uuid}`), ofB);
  assert.is((await records('?operation=createCustomer&operation=createProject')).length, 3);
  assert.equal(await records('?to=2000-01-01T00:00:00Z'), []);
  assert.is((await fixture.staff.get('/api/audit/?before=x')).status, 400);
});

test('records events of timers, and removals with a count', async () => {
  const customer = await fixture.customer('Alice');
  const user = await fixture.user('carol');
  await fixture.staff.post('/api/customer-permissions/', {
    customer: customer.url,
    user: user.url,
    role: 'support',
    expiration_time: '2018-01-06T00:00:00Z',
  });
  fixture.clock.set('2018-01-07T00:00:00Z');
  await fixture.staff.get('/api/users/?current');
  const [expiry] = (await records('?page_size=5')).filter(({ actor }) => actor.kind === 'job');
  assert.equal(expiry.customers, [customer.uuid]);
  assert.is(expiry.via.kind, 'job');
  assert.equal(expiry.private.changes[0].field, 'event');
});

test.run();
