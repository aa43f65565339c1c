/** core.md 2.11, 2.12: recovery of users without their factors, by staff or the operator. */
import * as assert from 'uvu/assert';
import { recoveryUrl } from '../../../../src/app/people/people.ts';
import { Client, type Json } from '../../../support/fixture.ts';
import { enrol } from '../../../support/second-factors.ts';
import { sentMails } from '../../../support/sent-mails.ts';
import { suiteWithServerPerTest } from '../../../support/suite.ts';

const { test, fixture } = suiteWithServerPerTest('recovery', {
  base_url: 'https://cloud.example.com',
  authentication_methods: [],
});
const start = '2018-01-05T04:00:00Z';
const forbidden = { detail: 'You do not have permission to perform this action.' };
const ended = {
  secret: ['This link does not work any more: it was used, its 30 minutes are over, or there is a newer one.'],
};
let alice: Json;

test.before.each(async () => {
  fixture.clock.hold();
  fixture.clock.set(start);
  alice = await fixture.user('alice', { email: 'alice@example.com', token_lifetime: null });
});

const at = (seconds: number): void => fixture.clock.set(new Date(Date.parse(start) + seconds * 1000).toISOString());
const secretOf = (url: string): string => url.split('/').at(-1) ?? '';
const use = (secret: unknown) => fixture.anonymous.post('/api-auth/recover/', { secret });
const link = (): string => recoveryUrl(fixture.server.app, 'Alice');
const reset = (client: Client, user: Json, body: unknown = { reason: 'Lost phone' }) =>
  client.post(`${user.url}reset_second_factors/`, body);

test('a link of the operator logs a user in without a factor, with every login method off', async () => {
  await enrol(fixture, fixture.as('alice'));
  const url = link();
  assert.match(url, /^https:\/\/cloud\.example\.com\/#\/recover\/[0-9a-f]{32}$/);
  fixture.events();
  const { body, status } = await use(secretOf(url));
  assert.is(status, 200);
  assert.equal(
    fixture.events().map(({ type, context }) => [type, context.user_username, context.affected_user_username]),
    [['token_created', 'alice', 'alice']],
  );
  const client = new Client(fixture, body.token);
  const session = (await client.get('/api/sessions/')).body.find((one: Json) => one.is_current);
  assert.equal([session.method, session.expires], ['recovery', '2018-01-05T05:00:00Z']);
  const [factor] = (await client.get('/api/second-factors/')).body;
  assert.is((await client.delete(factor.url)).status, 204, 'the session is confirmed');
  assert.equal((await use(secretOf(url))).body, ended, 'the link works once');
});

test('a recovered session ends after an hour, however often it is used', async () => {
  const client = new Client(fixture, (await use(secretOf(link()))).body.token);
  for (const minutes of [20, 40, 59]) {
    at(minutes * 60);
    assert.is((await client.get('/api/sessions/')).status, 200);
  }
  at(3600);
  assert.equal((await client.get('/api/sessions/')).body, { detail: 'Token has expired.' });
  at(3800);
  assert.equal((await fixture.staff.get(`/api/sessions/?user_uuid=${alice.uuid}`)).body, []);
});

test('a recovered session expires earlier with the lifetime of the user', async () => {
  await fixture.staff.patch(alice.url, { token_lifetime: 600 });
  const client = new Client(fixture, (await use(secretOf(link()))).body.token);
  assert.is((await client.get('/api/sessions/')).body[0].expires, '2018-01-05T04:10:00Z');
  at(600);
  assert.is((await client.get('/api/sessions/')).status, 401);
});

test('a link ends after half an hour, by a newer one, and for an inactive user', async () => {
  const [first, second] = [secretOf(link()), secretOf(link())];
  assert.equal((await use(first)).body, ended);
  at(1800);
  assert.equal((await use(second)).body, ended);
  const third = secretOf(link());
  await fixture.staff.patch(alice.url, { is_active: false });
  assert.equal((await use(third)).body, ended);
  assert.throws(link, 'the user "Alice" is disabled: enable them first');
  assert.throws(() => recoveryUrl(fixture.server.app, 'nobody'), 'there is no user "nobody"');
  assert.equal((await use(undefined)).body, { secret: ['This field is required.'] });
  assert.equal((await use('')).body, { secret: ['This field may not be blank.'] });
  assert.equal((await use({})).body, { secret: ['Not a valid string.'] });
});

test('staff with a factor remove those of another user, whose sessions end', async () => {
  const client = fixture.as('alice');
  await enrol(fixture, client);
  const missing = await reset(fixture.staff, alice);
  assert.equal([missing.status, missing.body], [403, { detail: 'Set up a second factor first.' }]);
  await enrol(fixture, fixture.staff);
  assert.equal((await reset(fixture.staff, alice, {})).body, { reason: ['This field is required.'] });
  assert.equal((await reset(fixture.staff, alice, { reason: 'x'.repeat(501) })).body, {
    reason: ['Ensure this field has no more than 500 characters.'],
  });
  const { body, status } = await reset(fixture.staff, alice);
  assert.equal([status, body], [200, { detail: 'Second factors have been removed.' }]);
  assert.is((await client.get('/api/sessions/')).status, 401);
  assert.is((await fixture.staff.get(alice.url)).body.has_second_factor, false);
  const subjects = (await sentMails(fixture)).map(({ subject }) => subject);
  assert.is(subjects.at(-1), 'A second factor for Tenantry has been removed');
});

test('removes neither the factors of the caller nor those of a user whom the caller may not change', async () => {
  await fixture.user('bob');
  await fixture.user('helper', { is_support: true });
  await enrol(fixture, fixture.staff);
  const admin = (await fixture.staff.get('/api/users/?current')).body[0];
  for (const [client, user] of [
    [fixture.staff, admin],
    [fixture.as('bob'), alice],
    [fixture.as('helper'), alice],
    [fixture.as('alice'), alice],
  ] as const) {
    const { body, status } = await reset(client, user);
    assert.equal([status, body], [403, forbidden]);
  }
});

test('the removal requires a confirmed session', async () => {
  const admin = fixture.as('admin');
  const { app } = await enrol(fixture, admin);
  at(901);
  const denied = await reset(admin, alice);
  assert.equal(denied.body, { detail: 'Confirm your identity first.', methods: ['totp', 'recovery_code'] });
  await admin.post('/api/sessions/confirm/', { code: app.code() });
  assert.is((await reset(admin, alice)).status, 200);
});

test.run();
