/** core.md 2.14: staff and global support have their rights only in their networks. */
import * as assert from 'uvu/assert';
import { sql } from '../../../src/kernel/db/sql.ts';
import { EventReader } from '../../support/event-stream.ts';
import { Client, type Json } from '../../support/fixture.ts';
import { nativeCache, Program } from '../../support/program.ts';
import { enrol } from '../../support/second-factors.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('staff_networks', {
  staff_networks: ['127.0.0.0/8', '2001:db8::/32', '::ffff:198.51.100.0/120'],
  trusted_proxies: ['127.0.0.1'],
});
const outside = { 'X-Forwarded-For': '192.0.2.7' };
const inside = { 'X-Forwarded-For': '2001:db8::7' };
const restricted = [403, { detail: 'Staff rights do not apply at this address.' }];
const notFound = [404, { detail: 'Not found.' }];
let acme: Json;
let bolt: Json;
let web: Json;
let stan: Json;

const at = ({ token }: Client, headers: Record<string, string>): Client => new Client(fixture, token, headers);
const names = async (client: Client, path: string): Promise<string[]> =>
  (await client.get(path)).body.map(({ name }: Json) => name).sort();
const reports = async (promise: Promise<{ status: number; body: Json }>): Promise<unknown[]> => {
  const { body, status } = await promise;
  return [status, body];
};

test.before(async () => {
  fixture.clock.hold();
  acme = await fixture.customer('Acme');
  bolt = await fixture.customer('Bolt');
  web = await fixture.project('Web', acme);
  stan = await fixture.user('stan', { is_staff: true });
  await fixture.user('gina', { is_support: true });
  await fixture.grant(bolt, stan, 'support');
});

test('a network of IPv4 mapped into IPv6 is that of IPv4', async () => {
  for (const [address, count] of [
    ['198.51.100.7', 2],
    ['::ffff:198.51.100.7', 2],
    ['198.51.101.7', 1],
  ] as const) {
    const stan = at(fixture.as('stan'), { 'X-Forwarded-For': address });
    assert.is((await names(stan, '/api/customers/')).length, count, address);
  }
});

test('a session of staff acts like another user elsewhere, also after cached responses', async () => {
  const stanIn = at(fixture.as('stan'), inside);
  const stanOut = at(stanIn, outside);
  for (let round = 0; round < 3; round++) {
    assert.equal(await names(stanIn, '/api/customers/'), ['Acme', 'Bolt']);
    assert.equal(await names(stanOut, '/api/customers/'), ['Bolt']);
  }
  const { headers } = await stanIn.get('/api/customers/');
  const etag = headers.get('etag') ?? '';
  assert.is((await stanIn.get('/api/customers/', { 'If-None-Match': etag })).status, 304);
  const changed = await stanOut.get('/api/customers/', { 'If-None-Match': etag });
  assert.equal([changed.status, changed.headers.get('x-result-count')], [200, '1']);
  assert.equal(await reports(stanOut.get(acme.url)), notFound);
  assert.equal(await reports(stanOut.patch(acme.url, { name: 'x' })), notFound);
  assert.is((await stanOut.patch(bolt.url, { name: 'x' })).status, 403);
  assert.is((await stanOut.post('/api/customers/', { name: 'x' })).status, 403);
  assert.is((await stanOut.get('/api/operation/')).status, 403);
  assert.is((await stanIn.get('/api/operation/')).status, 200);
  assert.equal(
    [(await stanIn.get(stan.url)).body.is_staff, (await stanOut.get(stan.url)).body.is_staff],
    [true, undefined],
  );
  const permitted = async (client: Client): Promise<unknown> =>
    (await client.options(bolt.url)).headers.get('x-permitted');
  assert.equal([await permitted(stanIn), await permitted(stanOut)], ['PUT, PATCH, DELETE', '']);
  const ginaOut = at(fixture.as('gina'), outside);
  assert.equal(await names(ginaOut, '/api/customers/'), []);
  assert.equal(await names(at(ginaOut, inside), '/api/customers/'), ['Acme', 'Bolt']);
});

test('API keys act without staff rights elsewhere, bound or not', async () => {
  const keyOf = async (fields: Json): Promise<Client> => {
    const body = { name: JSON.stringify(fields).slice(0, 100), scopes: ['*:write'], ...fields };
    const { body: made, status } = await fixture.as('stan').post('/api/api-keys/', body);
    assert.is(status, 201, JSON.stringify(made));
    return new Client(fixture, made.key);
  };
  const namesAt = async (key: Client, path: string): Promise<unknown> => [
    await names(at(key, inside), path),
    await names(at(key, outside), path),
    await names(at(key, inside), path),
  ];
  assert.equal(await namesAt(await keyOf({}), '/api/customers/'), [['Acme', 'Bolt'], ['Bolt'], ['Acme', 'Bolt']]);
  const both = await keyOf({ customers: [acme.url, bolt.url] });
  assert.equal(await namesAt(both, '/api/customers/'), [['Acme', 'Bolt'], ['Bolt'], ['Acme', 'Bolt']]);
  const project = await keyOf({ projects: [web.url] });
  assert.equal(await namesAt(project, '/api/projects/'), [['Web'], [], ['Web']]);
  const role = await fixture.grant(web, stan, 'admin');
  assert.equal(await namesAt(project, '/api/projects/'), [['Web'], ['Web'], ['Web']]);
  const body = { name: 'New', customer: acme.url };
  assert.is((await at(both, outside).post('/api/projects/', body)).status, 403);
  assert.is((await at(both, inside).post('/api/projects/', body)).status, 201);
  await fixture.staff.delete(role.url);
});

test('a stream sends only events visible from its address', async () => {
  const stanIn = await EventReader.open(fixture, at(fixture.as('stan'), inside));
  const stanOut = await EventReader.open(fixture, at(fixture.as('stan'), outside));
  await stanIn.frame();
  await stanOut.frame();
  for (const { name, url } of [acme, bolt])
    await fixture.staff.post('/api/events/', { level: 'info', message: `News of ${name}`, scope: url });
  assert.equal(await stanIn.messages(2), ['News of Acme', 'News of Bolt']);
  assert.equal(await stanOut.messages(1), ['News of Bolt']);
  stanIn.leave();
  stanOut.leave();
});

test('elsewhere, hooks of staff and notifications for staff are invisible', async () => {
  const stanIn = fixture.as('stan');
  const stanOut = at(stanIn, outside);
  const body = { destination_url: 'https://hooks.example.com/', event_groups: ['customers'] };
  assert.equal(await reports(stanOut.post('/api/hooks-web/', body)), restricted);
  assert.not.ok('POST' in ((await stanOut.options('/api/hooks-web/')).body.actions ?? {}));
  const { body: hook } = await stanIn.post('/api/hooks-web/', body);
  assert.equal((await stanOut.get('/api/hooks/')).body, []);
  assert.equal(await reports(stanOut.get(hook.url)), notFound);
  assert.equal(await reports(stanOut.get(`${hook.url}deliveries/`)), notFound);
  assert.equal(await reports(stanOut.patch(hook.url, { is_active: false })), notFound);
  const { db } = fixture.server.app;
  const user = db.value(sql`SELECT id FROM user WHERE username = 'stan'`);
  db.write(() => {
    for (const kind of ['disk_low', 'role_expiring'])
      db.insert('notification', {
        uuid: Buffer.from(kind.padEnd(16)).toString('hex'),
        user_id: Number(user),
        kind,
        level: 'warning',
        message: kind,
        detail: '',
        context: '{}',
        about: '',
        created: 1,
      });
  });
  const kinds = async (client: Client): Promise<string[]> =>
    (await client.get('/api/notifications/')).body.map(({ kind }: Json) => kind).sort();
  assert.equal(await kinds(stanIn), ['disk_low', 'role_expiring']);
  assert.equal(await kinds(stanOut), ['role_expiring']);
});

test('staff impersonate users in their networks only', async () => {
  const client = fixture.as('stan');
  await enrol(fixture, client);
  const alice = await fixture.user('alice');
  const body = { reason: 'Ticket 7' };
  assert.is((await at(client, outside).post(`${alice.url}impersonate/`, body)).status, 403);
  const { body: made, status } = await client.post(`${alice.url}impersonate/`, body);
  assert.is(status, 201, JSON.stringify(made));
  const session = new Client(fixture, made.token);
  assert.is((await session.get('/api/customers/')).status, 200);
  assert.equal(await reports(at(session, outside).get('/api/customers/')), restricted);
});

test('the configuration warns an operator who would lose the rights of staff', async () => {
  const program = new Program(nativeCache);
  const warning = async (networks: string, env: Record<string, string> = {}): Promise<string> =>
    (await program.run(['config', '--staff-networks', networks], { env })).stderr;
  const text = (missing: string): string =>
    `tenantry: warning: staff_networks ${missing}: you will have no staff rights from here\n`;
  assert.is(await warning('10.0.0.0/8'), text('does not contain this machine'));
  assert.is(
    await warning('10.0.0.0/8', { SSH_CONNECTION: '192.0.2.7 50022 10.0.0.1 22' }),
    text('contains neither this machine nor 192.0.2.7'),
  );
  assert.is(await warning('10.0.0.0/8', { SSH_CONNECTION: '10.9.8.7 50022 10.0.0.1 22' }), '');
  assert.is(await warning('10.0.0.0/8,127.0.0.0/8'), '');
  await program.end();
});

test('commands that give access to staff or global support warn of it, and others do not', async () => {
  const program = new Program(nativeCache);
  const warned = async (...words: readonly string[]): Promise<boolean> => {
    const options = ['--data', 'data', '--staff-networks', '10.0.0.0/8', '--base-url', 'https://cloud.example.com'];
    const { code, stderr, stdout } = await program.run([...words, ...options]);
    assert.equal([code, stdout === ''], [0, false], `${words.join(' ')}: ${stderr}`);
    const text =
      'tenantry: warning: staff_networks does not contain this machine: you will have no staff rights from here\n';
    if (stderr !== '') assert.ok(stderr.endsWith(text), stderr);
    return stderr.endsWith(text);
  };
  try {
    assert.ok(await warned('user', 'add', 'stan', '--staff'));
    assert.not(await warned('user', 'add', 'bob'));
    for (const words of [['token'], ['user', 'recover']])
      assert.equal([await warned(...words, 'Stan'), await warned(...words, 'bob')], [true, false], words.join(' '));
    assert.not(await warned('user', 'list'));
    assert.ok(await warned('user', 'grant', 'bob', 'support'));
    assert.not(await warned('user', 'revoke', 'bob', 'support'));
  } finally {
    await program.end();
  }
});

test.run();
