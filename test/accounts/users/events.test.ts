import * as assert from 'uvu/assert';
import { affecting, by, expectedEvent } from '../../support/expected-event.ts';
import { type Json, start } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('events of users (events.md 4.2)');
let admin: Json;

test.before(async () => {
  admin = (await fixture.staff.get('/api/users/?current')).body[0];
});
test.before.each(() => {
  fixture.events();
});

const updated = (user: Json, actor = admin) =>
  expectedEvent('user_update_succeeded', `User ${user.username} has been updated.`, by(actor), affecting(user));
const lifetime = (user: Json, value: string, actor = admin) =>
  expectedEvent(
    'user_token_lifetime_updated',
    `Token lifetime has been changed for ${user.username} to ${value}`,
    by(actor),
    affecting(user),
    value === 'unlimited' ? {} : { affected_user_token_lifetime: value },
  );

async function newUser(username: string, fields: Readonly<Record<string, unknown>> = {}): Promise<Json> {
  const user = await fixture.user(username, fields);
  fixture.events();
  return user;
}

test('creation records one event, whatever the body contains', async () => {
  const user = await fixture.user('created', {
    full_name: 'Full',
    native_name: 'Native',
    is_active: false,
    token_lifetime: 60,
    organization: 'O',
    agree_with_policy: true,
  });
  assert.equal(fixture.events(), [
    expectedEvent('user_creation_succeeded', 'User created has been created.', by(admin), affecting(user)),
  ]);
});

test('every changed field except is_active records an update with the new names', async () => {
  const user = await newUser('changing');
  const changes = {
    full_name: 'Full',
    native_name: 'Native',
    job_title: 'Job',
    email: 'a@example.com',
    phone_number: '1',
    organization: 'O',
    description: 'D',
    is_staff: true,
    is_support: true,
    preferred_language: 'et',
    agree_with_policy: true,
  };
  for (const [name, value] of Object.entries(changes)) {
    const { body } = await fixture.staff.patch(user.url, { [name]: value });
    assert.equal(fixture.events(), [updated(body)], name);
  }
});

test('a changed token lifetime records its own event, then the update', async () => {
  const user = await newUser('long.lived');
  await fixture.staff.patch(user.url, { token_lifetime: 3600 });
  assert.equal(fixture.events(), [lifetime(user, '3600'), updated(user)]);
  await fixture.staff.patch(user.url, { token_lifetime: null });
  assert.equal(fixture.events(), [lifetime(user, 'unlimited'), updated(user)]);
});

test('a change of only is_active records no update', async () => {
  const user = await newUser('switched');
  await fixture.staff.patch(user.url, { is_active: false });
  assert.equal(fixture.events(), [
    expectedEvent('user_deactivated', 'User switched has been deactivated.', by(admin), affecting(user)),
  ]);
  await fixture.staff.patch(user.url, { is_active: true });
  assert.equal(fixture.events(), [
    expectedEvent('user_activated', 'User switched has been activated.', by(admin), affecting(user)),
  ]);
});

test('records token lifetime, deactivation and update in this order', async () => {
  const user = await newUser('all.at.once');
  const { body } = await fixture.staff.put(user.url, { full_name: 'Once', is_active: false, token_lifetime: 61 });
  assert.equal(fixture.events(), [
    lifetime(body, '61'),
    expectedEvent('user_deactivated', 'User all.at.once has been deactivated.', by(admin), affecting(body)),
    updated(body),
  ]);
});

test('an update that changes nothing records no event', async () => {
  const user = await newUser('stable', { full_name: 'Stable', email: 'stable@example.com', civil_number: 'ST' });
  await fixture.staff.put(user.url, user);
  await fixture.staff.patch(user.url, {});
  await fixture.staff.patch(user.url, {
    full_name: '  Stable ',
    is_active: 'yes',
    is_staff: 0,
    username: 'other',
    civil_number: 'x',
  });
  assert.equal(fixture.events(), []);
});

test('a rejected request records no event', async () => {
  const user = await newUser('rejected');
  await fixture.as('rejected').patch(user.url, { full_name: 'x' });
  await fixture.as('rejected').delete(user.url);
  await fixture.staff.patch(user.url, { full_name: 'ok', email: 'wrong' });
  await fixture.staff.post('/api/users/', { username: 'rejected' });
  await fixture.staff.post(`${user.url}password/`, { password: 'short' });
  assert.equal(fixture.events(), []);
});

test("the actor of a change of the caller's own account is the caller", async () => {
  const user = await newUser('own.actor', { full_name: 'Before' });
  const { body } = await fixture
    .as('own.actor')
    .patch(user.url, { agree_with_policy: true, full_name: 'After', token_lifetime: 99 });
  assert.is(body.agreement_date, start);
  assert.equal(fixture.events(), [lifetime(body, '99', user), updated(body, user)]);
});

test('keeps braces and brackets in a name unchanged', async () => {
  const user = await newUser('braces', { full_name: '{ip_address} [x] $& {user_uuid}' });
  const { body } = await fixture.staff.patch(user.url, { job_title: 'x' });
  assert.equal(fixture.events(), [updated(body)]);
});

test.run();
