import * as assert from 'uvu/assert';
import { affecting, by, expectedEvent } from '../../support/expected-event.ts';
import type { Client, Json, RecordedEvent } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('the organization of a user (core.md 4.3, 4.4)');
const forbidden = { detail: 'You do not have permission to perform this action.' };
let admin: Json;

test.before(async () => {
  admin = (await fixture.staff.get('/api/users/?current')).body[0];
});

const act = (client: Client, user: Json, action: string, body?: unknown) =>
  client.post(`${user.url}${action}_organization/`, body);
const state = async (user: Json) => {
  const { organization, organization_approved } = (await fixture.staff.get(user.url)).body;
  return [organization, organization_approved];
};
const updated = (user: Json, actor: Json) =>
  expectedEvent('user_update_succeeded', `User ${user.username} has been updated.`, by(actor), affecting(user));
const about = (type: string, message: string, organization: string, user: Json, actor: Json): RecordedEvent =>
  expectedEvent(`user_organization_${type}`, message, by(actor), affecting(user), {
    affected_organization: organization,
  });

test('a claim sets the organization as not approved, and overwrites a pending one', async () => {
  const user = await fixture.user('claiming');
  const me = fixture.as('claiming');
  fixture.events();
  const first = await act(me, user, 'claim', { organization: ' Alpha ' });
  assert.is(first.status, 200);
  assert.equal(first.body, { detail: 'User request for joining the organization has been successfully submitted.' });
  assert.equal(await state(user), ['Alpha', false]);
  const claimed = (name: string) =>
    about('claimed', `User claiming has claimed organization ${name}.`, name, user, user);
  assert.equal(fixture.events(), [updated(user, user), claimed('Alpha')]);
  await act(me, user, 'claim', { organization: 'Alpha' });
  assert.equal(fixture.events(), [claimed('Alpha')]);
  await act(me, user, 'claim', { organization: 'Beta' });
  assert.equal(fixture.events(), [updated(user, user), claimed('Beta')]);
  assert.equal(await state(user), ['Beta', false]);
});

test('requires an organization that is not blank and has at most 80 characters', async () => {
  const user = await fixture.user('wrong.claim');
  const claim = async (body: unknown) => (await act(fixture.staff, user, 'claim', body)).body;
  assert.equal(await claim({}), { organization: ['This field is required.'] });
  assert.equal(await claim(undefined), { organization: ['This field is required.'] });
  assert.equal(await claim({ organization: ' ' }), { organization: ['This field may not be blank.'] });
  assert.equal(await claim({ organization: null }), { organization: ['This field may not be null.'] });
  assert.equal(await claim({ organization: [] }), { organization: ['Not a valid string.'] });
  assert.equal(await claim({ organization: 'x'.repeat(81) }), {
    organization: ['Ensure this field has no more than 80 characters.'],
  });
  assert.is((await act(fixture.staff, user, 'claim', { organization: 'ж'.repeat(80) })).status, 200);
});

test('an approved user must leave before they claim another organization', async () => {
  const user = await fixture.user('settled', { organization: 'Alpha' });
  await act(fixture.staff, user, 'approve');
  fixture.events();
  for (const organization of ['Alpha', 'Beta']) {
    const { status, body } = await act(fixture.staff, user, 'claim', { organization });
    assert.is(status, 409);
    assert.equal(body, { detail: 'User has approved organization. Remove it before claiming a new one.' });
  }
  assert.equal((await act(fixture.staff, user, 'claim', {})).body, { organization: ['This field is required.'] });
  assert.equal(await state(user), ['Alpha', true]);
  assert.equal(fixture.events(), []);
});

test('approves the organization', async () => {
  const user = await fixture.user('approved', { organization: 'Alpha' });
  fixture.events();
  const approval = about('approved', 'User approved has been approved for organization Alpha.', 'Alpha', user, admin);
  const { status, body } = await act(fixture.staff, user, 'approve', { ignored: true });
  assert.is(status, 200);
  assert.equal(body, { detail: 'User request for joining the organization has been successfully approved.' });
  assert.equal(await state(user), ['Alpha', true]);
  assert.equal(fixture.events(), [updated(user, admin), approval]);
  await act(fixture.staff, user, 'approve');
  assert.equal(fixture.events(), [approval]);
});

test('rejection clears the organization and records the old one', async () => {
  const user = await fixture.user('rejected', { organization: 'Alpha' });
  fixture.events();
  const { status, body } = await act(fixture.staff, user, 'reject');
  assert.is(status, 200);
  assert.equal(body, { detail: 'User has been successfully rejected from the organization.' });
  assert.equal(await state(user), ['', false]);
  assert.equal(fixture.events(), [
    updated(user, admin),
    about('rejected', 'User rejected claim for organization Alpha has been rejected.', 'Alpha', user, admin),
  ]);
});

test('removal clears the organization, approved or not, and records the old one', async () => {
  const user = await fixture.user('removed', { organization: 'Alpha' });
  await act(fixture.staff, user, 'approve');
  fixture.events();
  const { status, body } = await act(fixture.staff, user, 'remove');
  assert.is(status, 200);
  assert.equal(body, { detail: 'User has been successfully removed from the organization.' });
  assert.equal(await state(user), ['', false]);
  assert.equal(fixture.events(), [
    updated(user, admin),
    about('removed', 'User removed has been removed from organization Alpha.', 'Alpha', user, admin),
  ]);
});

test('actions without a body ignore any body, even a malformed one', async () => {
  const user = await fixture.user('bodies', { organization: 'Alpha' });
  for (const action of ['approve', 'reject', 'remove']) {
    const { status } = await fixture.staff.send('POST', `${user.url}${action}_organization/`, '{', {
      'Content-Type': 'application/json',
    });
    assert.is(status, 200);
  }
});

test('staff, owners and support of the only customer with that abbreviation decide, other users cannot', async () => {
  const customer = await fixture.customer('Gamma Ltd', { abbreviation: 'GAM' });
  const project = await fixture.project('Gamma project', customer);
  const user = await fixture.user('applicant');
  const roles = {
    'gamma.owner': [customer, 'owner'],
    'gamma.support': [customer, 'support'],
    'gamma.manager': [project, 'manager'],
    'gamma.none': undefined,
  } as const;
  for (const [name, role] of Object.entries(roles)) {
    const member = await fixture.user(name, { is_support: name === 'gamma.none' });
    if (role) await fixture.grant(role[0], member, role[1]);
  }
  for (const action of ['approve', 'reject', 'remove']) {
    for (const name of ['gamma.owner', 'gamma.support']) {
      await fixture.staff.patch(user.url, { organization: 'GAM' });
      assert.is((await act(fixture.as(name), user, action)).status, 200, `${name} ${action}`);
    }
    await fixture.staff.patch(user.url, { organization: 'GAM' });
    for (const name of ['gamma.manager', 'gamma.none']) {
      const { status, body } = await act(fixture.as(name), user, action);
      assert.is(status, 403, `${name} ${action}`);
      assert.equal(body, forbidden);
    }
    for (const organization of ['Gam', 'GAM Ltd', 'Gamma Ltd', '']) {
      await fixture.staff.patch(user.url, { organization });
      assert.is((await act(fixture.as('gamma.owner'), user, action)).status, 403, organization);
    }
  }
});

test('only staff decide if two customers have that abbreviation', async () => {
  const customers = [
    await fixture.customer('One', { abbreviation: 'TWO' }),
    await fixture.customer('Other', { abbreviation: 'TWO' }),
  ];
  const owner = await fixture.user('two.owner');
  for (const customer of customers) await fixture.grant(customer, owner, 'owner');
  const user = await fixture.user('two.applicant', { organization: 'TWO' });
  assert.is((await act(fixture.as('two.owner'), user, 'approve')).status, 403);
  assert.is((await act(fixture.staff, user, 'approve')).status, 200);
});

test('an ended role gives no right to decide', async () => {
  const customer = await fixture.customer('Brief', { abbreviation: 'BRF' });
  const member = await fixture.user('brief.owner');
  const soon = new Date(fixture.clock.now() / 1000 + 60_000).toISOString();
  await fixture.grant(customer, member, 'owner', soon);
  const user = await fixture.user('brief.applicant', { organization: 'BRF' });
  assert.is((await act(fixture.as('brief.owner'), user, 'approve')).status, 200);
  fixture.clock.advance(60);
  assert.is((await act(fixture.as('brief.owner'), user, 'reject')).status, 403);
});

test('users can leave while they are not approved, but cannot approve or reject themselves', async () => {
  const user = await fixture.user('leaver', { organization: 'Anywhere' });
  const me = fixture.as('leaver');
  assert.is((await act(me, user, 'approve')).status, 403);
  assert.is((await act(me, user, 'reject')).status, 403);
  assert.is((await act(me, user, 'remove')).status, 200);
  await fixture.staff.patch(user.url, { organization: 'Anywhere' });
  await act(fixture.staff, user, 'approve');
  const { status, body } = await act(me, user, 'remove');
  assert.is(status, 403);
  assert.equal(body, forbidden);
  assert.equal(await state(user), ['Anywhere', true]);
});

test('a member approves themselves in their own customer', async () => {
  const customer = await fixture.customer('Selfish', { abbreviation: 'SLF' });
  const user = await fixture.user('selfish', { organization: 'SLF' });
  await fixture.grant(customer, user, 'owner');
  assert.is((await act(fixture.as('selfish'), user, 'approve')).status, 200);
  assert.is((await act(fixture.as('selfish'), user, 'remove')).status, 200);
});

test.run();
