/** Audit records of logins with second factors and recovery links, and of API keys (audit.md 2). */
import * as assert from 'uvu/assert';
import { recoveryUrl } from '../../../src/app/people/people.ts';
import { Client, type Json } from '../../support/fixture.ts';
import { enrol } from '../../support/second-factors.ts';
import { suiteWithServerPerTest } from '../../support/suite.ts';

const { test, fixture } = suiteWithServerPerTest('audit records of logins and keys', {
  trusted_proxies: ['127.0.0.1'],
});
const password = 'correct-horse-7';
let alice: Json;

test.before.each(async () => {
  fixture.clock.hold();
  fixture.clock.set('2018-01-05T04:00:00Z');
  alice = await fixture.user('alice', { email: 'alice@example.com' });
  await fixture.staff.post(`${alice.url}password/`, { password });
});

const records = async (query: string): Promise<Json[]> =>
  (await fixture.staff.get(`/api/audit/?page_size=300&${query}`)).body;
const logIn = (secret = password) =>
  fixture.anonymous.post('/api-auth/password/', { username: 'alice', password: secret });

/** The operation, outcome, status, repetitions, kind of actor and login method of records. */
const shown = (found: readonly Json[]): unknown[] =>
  found.map(({ actor, operation, outcome, repeated, status, via }) => [
    operation,
    outcome,
    status,
    repeated,
    actor.kind,
    via?.kind,
  ]);

test('a login with a second factor has one record, when it is complete, and one for each rejection a minute', async () => {
  const { app } = await enrol(fixture, fixture.as('alice'));
  fixture.clock.advance(60);
  const { body } = await logIn();
  const { token } = body.second_factor;
  const present = (code: string) => fixture.anonymous.post('/api-auth/second-factor/', { token, code });
  assert.equal([(await present(app.wrongCode())).status, (await present(app.wrongCode())).status], [401, 401]);
  assert.equal(
    await records('operation=passwordLogin'),
    [],
    'asking for the factor is neither a login nor a rejection',
  );
  assert.is((await present(app.code())).status, 200);
  assert.equal(shown(await records('operation=secondFactorLogin')), [
    ['secondFactorLogin', 'done', 200, null, 'user', 'password'],
    ['secondFactorLogin', 'refused', 401, 0, 'anonymous', undefined],
  ]);
  fixture.clock.advance(61);
  assert.is((await present(app.code())).status, 401, 'the token was used');
  assert.equal(shown(await records('operation=secondFactorLogin')).slice(0, 1), [
    ['secondFactorLogin', 'refused', 401, 1, 'anonymous', undefined],
  ]);
});

test('rejections of the same network count as one caller, /24 of IPv4 and /48 of IPv6', async () => {
  const from = (address: string) =>
    fixture.anonymous.send(
      'POST',
      '/api-auth/password/',
      { username: 'alice', password: 'wrong' },
      { 'X-Forwarded-For': address },
    );
  for (const address of [
    '192.0.2.1',
    '192.0.2.200',
    '192.0.3.1',
    '2001:db8:1:2::1',
    '2001:db8:1:3::1',
    '2001:db8:2::1',
  ])
    assert.is((await from(address)).status, 401);
  const refused = await records('outcome=refused');
  assert.equal(
    refused.map(({ private: hidden }) => hidden.address),
    ['2001:db8:2::1', '2001:db8:1:2::1', '192.0.3.1', '192.0.2.1'],
  );
});

test('a recovery link that works is a login, and an unknown one a rejection', async () => {
  const secret = recoveryUrl(fixture.server.app, 'alice').split('/').at(-1);
  const use = () => fixture.anonymous.post('/api-auth/recover/', { secret });
  assert.equal([(await use()).status, (await use()).status], [200, 400]);
  assert.equal(shown(await records('operation=recover')), [
    ['recover', 'refused', 400, 0, 'anonymous', undefined],
    ['recover', 'done', 200, null, 'user', 'recovery'],
  ]);
});

test('the first use of a key from each network has a record, by the service account that owns it', async () => {
  const customer = await fixture.customer('Acme');
  const { body: account } = await fixture.staff.post('/api/service-accounts/', {
    name: 'Deploy',
    customer: customer.url,
    role: 'support',
  });
  const { body: key } = await fixture.staff.post('/api/api-keys/', {
    name: 'CI',
    scopes: ['*:write'],
    service_account: account.url,
  });
  const client = new Client(fixture, key.key);
  const use = (address: string) => client.send('GET', '/api/customers/', undefined, { 'X-Forwarded-For': address });
  for (const address of ['192.0.2.1', '192.0.2.9', '2001:db8:1::1', '2001:db8:1:9::1']) {
    assert.is((await use(address)).status, 200);
    await fixture.advance(2);
  }
  await use('192.0.2.1');
  await fixture.advance(2);
  const found = await records('operation=api_key.new_network');
  assert.equal(
    found.map(({ actor, customers, object, private: hidden, via }) => [
      ...[actor.kind, via, object, customers],
      ...[hidden.object_name, hidden.address, hidden.changes],
    ]),
    [
      ['2001:db8:1::1', '2001:db8:1::/48'],
      ['192.0.2.1', '192.0.2.0/24'],
    ].map(([address, network]) => [
      ...['service_account', { kind: 'api_key', uuid: key.uuid }, { type: 'api-keys', uuid: key.uuid }],
      ...[[customer.uuid], 'CI', address, [{ field: 'network', from: null, to: network }]],
    ]),
  );
});

test('the last hundred networks of a key count as known', async () => {
  const { body: key } = await fixture.staff.post('/api/api-keys/', { name: 'CI', scopes: ['*:read'] });
  const client = new Client(fixture, key.key);
  const use = (n: number) => client.send('GET', '/api/customers/', undefined, { 'X-Forwarded-For': `10.0.${n}.1` });
  const count = async (): Promise<number> => {
    await fixture.advance(2);
    return (await records('operation=api_key.new_network')).length;
  };
  for (let n = 0; n <= 100; n++) await use(n);
  assert.is(await count(), 101);
  await use(1);
  assert.is(await count(), 101);
  await use(0);
  assert.is(await count(), 102, 'the first one was forgotten');
});

test.run();
