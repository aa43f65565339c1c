import * as assert from 'uvu/assert';
import { affecting, by, expectedEvent } from '../../support/expected-event.ts';
import { start } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('agreement with the policy (core.md 4.2)');

test.before.each(() => fixture.clock.set(start));

const rejection = { agree_with_policy: ['User must agree with the policy.'] };

test("the first change of the caller's own account requires agree_with_policy, with PUT and PATCH", async () => {
  const user = await fixture.user('newcomer');
  const me = fixture.as('newcomer');
  for (const body of [
    {},
    { full_name: 'New' },
    ...[false, 'no', 0, '', null, 'maybe', 5, [], [true], {}].map((agree_with_policy) => ({
      full_name: 'New',
      agree_with_policy,
    })),
  ]) {
    for (const response of [await me.put(user.url, body), await me.patch(user.url, body)]) {
      assert.is(response.status, 400);
      assert.equal(response.body, rejection);
    }
  }
  assert.equal((await fixture.staff.get(user.url)).body, user);
});

test('reports invalid fields before the missing agreement', async () => {
  const user = await fixture.user('faulty');
  assert.equal((await fixture.as('faulty').patch(user.url, { full_name: null })).body, {
    full_name: ['This field may not be null.'],
  });
});

test('sets the agreement date once', async () => {
  const user = await fixture.user('agreeing');
  const me = fixture.as('agreeing');
  fixture.events();
  const { status, body } = await me.patch(user.url, { agree_with_policy: 'True' });
  assert.is(status, 200);
  assert.is(body.agreement_date, start);
  assert.not.ok('agree_with_policy' in body);
  assert.equal(fixture.events(), [
    expectedEvent('user_update_succeeded', 'User agreeing has been updated.', by(user), affecting(user)),
  ]);
  fixture.clock.advance(60);
  assert.is((await me.patch(user.url, { agree_with_policy: true })).body.agreement_date, start);
  assert.equal(fixture.events(), []);
});

test('ignores the key after the agreement, whatever its value', async () => {
  const user = await fixture.user('agreed');
  const me = fixture.as('agreed');
  await me.put(user.url, { agree_with_policy: true });
  for (const agree_with_policy of [false, null, 'maybe', {}, []]) {
    const { status, body } = await me.patch(user.url, { agree_with_policy });
    assert.is(status, 200);
    assert.is(body.agreement_date, start);
  }
  assert.is((await me.patch(user.url, { full_name: 'Agreed' })).body.full_name, 'Agreed');
});

test('staff must also agree for their own account', async () => {
  const user = await fixture.user('boss', { is_staff: true });
  const boss = fixture.as('boss');
  assert.equal((await boss.patch(user.url, { full_name: 'Boss' })).body, rejection);
  assert.is((await boss.patch(user.url, { full_name: 'Boss', agree_with_policy: true })).status, 200);
});

test('staff who update another user need not send it; true sets a missing date', async () => {
  const user = await fixture.user('other');
  assert.is((await fixture.staff.patch(user.url, { full_name: 'Other' })).body.agreement_date, null);
  assert.is((await fixture.staff.patch(user.url, { agree_with_policy: false })).body.agreement_date, null);
  assert.is((await fixture.staff.patch(user.url, { agree_with_policy: true })).body.agreement_date, start);
  fixture.clock.advance(60);
  assert.is((await fixture.staff.patch(user.url, { agree_with_policy: true })).body.agreement_date, start);
});

test('creation accepts the key and ignores it', async () => {
  for (const [name, agree_with_policy] of [
    ['yes', true],
    ['no', false],
    ['nonsense', {}],
  ] as const) {
    const { status, body } = await fixture.staff.post('/api/users/', { username: `create.${name}`, agree_with_policy });
    assert.is(status, 201);
    assert.is(body.agreement_date, null);
  }
});

test.run();
