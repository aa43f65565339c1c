import * as assert from 'uvu/assert';
import { affecting, by, expectedEvent, inCustomer, inProject } from '../../support/expected-event.ts';
import { type Json, start } from '../../support/fixture.ts';
import { createPersonas, type Personas } from '../../support/personas.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('PUT, PATCH and DELETE of permissions (core.md 8.4)');
const forbidden = { detail: 'You do not have permission to perform this action.' };
const end = '2018-06-01T00:00:00Z';
let people: Personas;
let admin: Json;
let count = 0;

test.before(async () => {
  people = await createPersonas(fixture);
  admin = (await fixture.staff.get('/api/users/?current')).body[0];
});
test.before.each(() => fixture.clock.set(start));

/** Returns a new user with a role, and the permission. */
async function member(
  scope: Json,
  role: string,
  expiration: string | null = null,
): Promise<{ user: Json; role: Json }> {
  const user = await fixture.user(`member.${count++}`);
  const permission = await fixture.grant(scope, user, role, expiration);
  fixture.events();
  return { user, role: permission };
}
const userCount = async (): Promise<number> =>
  (await fixture.staff.get(people.customer.url)).body.quotas.find((quota: Json) => quota.name === 'nc_user_count')
    .usage;

test('PUT and PATCH set the expiration time, return the record and record no event', async () => {
  for (const scope of [people.customer, people.project]) {
    for (const method of ['PUT', 'PATCH']) {
      const { role } = await member(scope, 'support');
      const { status, body } = await fixture.staff.send(method, role.url, {
        expiration_time: '2018-06-01 02:00:00+02:00',
      });
      assert.is(status, 200);
      assert.equal(body, { ...role, expiration_time: end });
      assert.equal((await fixture.staff.get(role.url)).body, body);
      assert.equal(fixture.events(), []);
    }
  }
});

test('null or empty text clears the expiration time; a missing value keeps it', async () => {
  for (const method of ['PUT', 'PATCH']) {
    for (const [body, expected] of [
      [{ expiration_time: null }, null],
      [{ expiration_time: '' }, null],
      [{}, end],
      [undefined, end],
    ] as const) {
      const { role } = await member(people.project, 'admin', end);
      assert.is((await fixture.staff.send(method, role.url, body)).body.expiration_time, expected);
    }
  }
});

test('updates use only the expiration time; the complete record can be PUT back', async () => {
  const { role } = await member(people.project, 'admin', end);
  const other = await member(people.project, 'support');
  assert.equal((await fixture.staff.put(role.url, role)).body, role);
  const { status, body } = await fixture.staff.put(role.url, {
    role: 'nonsense',
    user: other.user.url,
    project: 5,
    created_by: null,
    pk: 'x',
  });
  assert.is(status, 200);
  assert.equal(body, role);
});

test('rejects an expiration time that is not in the future or not a time', async () => {
  const { role } = await member(people.customer, 'owner', end);
  for (const method of ['PUT', 'PATCH']) {
    for (const expiration_time of [start, '2017-01-01T00:00:00Z']) {
      const { status, body } = await fixture.staff.send(method, role.url, { expiration_time });
      assert.is(status, 400);
      assert.equal(body, { expiration_time: ['Expiration time should be greater than current time.'] });
    }
    for (const expiration_time of ['soon', 5, true, [], {}]) {
      const { body } = await fixture.staff.send(method, role.url, { expiration_time });
      assert.match(body.expiration_time[0], /^Datetime has wrong format\./);
    }
  }
  assert.is((await fixture.staff.get(role.url)).body.expiration_time, end);
});

test('no user can change their own permission, not even staff; deleting it is possible', async () => {
  const staff = await fixture.user('staff.member', { is_staff: true });
  for (const [scope, role, name] of [
    [people.customer, 'owner', 'staff.member'],
    [people.project, 'admin', 'staff.member'],
  ] as const) {
    const permission = await fixture.grant(scope, staff, role);
    const me = fixture.as(name);
    for (const method of ['PUT', 'PATCH']) {
      for (const body of [{}, { expiration_time: end }, { expiration_time: 'soon' }]) {
        const response = await me.send(method, permission.url, body);
        assert.is(response.status, 403);
        assert.equal(response.body, forbidden);
      }
    }
    assert.is((await me.delete(permission.url)).status, 204);
  }
});

test('rejects callers who can never manage a record before the body, others after it', async () => {
  const owner = await member(people.customer, 'owner', end);
  const client = fixture.as(owner.user.username);
  const { role } = await member(people.project, 'admin');
  const broken = { expiration_time: 'soon' };
  assert.is((await people.clients.manager.patch(role.url, broken)).status, 403);
  assert.is((await people.clients.stranger.patch(role.url, broken)).status, 404);
  assert.is((await client.patch(role.url, broken)).status, 400);
  assert.is((await client.patch(role.url, { expiration_time: null })).status, 403);
  assert.is((await client.patch(role.url, { expiration_time: end })).status, 200);
});

test('DELETE ends the role now and moves the record from the permissions to the log', async () => {
  const { customer, project } = people;
  for (const [structure, scope, role, role_name, place, context] of [
    ['customer', customer, 'owner', 'Owner', 'customer Alice', inCustomer(customer)],
    ['project', project, 'manager', 'Manager', 'project Rocket', inProject(project, customer)],
  ] as const) {
    const one = await member(scope, role);
    const before = await userCount();
    fixture.clock.advance(90);
    const { status, body } = await fixture.staff.delete(one.role.url);
    assert.is(status, 204);
    assert.is(body, undefined);
    assert.equal(fixture.events(), [
      expectedEvent(
        'role_revoked',
        `User ${one.user.username} has lost role of ${role_name} in ${place}.`,
        by(admin),
        context,
        affecting(one.user),
        { structure_type: structure, role_name },
      ),
    ]);
    assert.is(await userCount(), before - 1);
    assert.is((await fixture.staff.get(one.role.url)).status, 404);
    assert.is((await fixture.staff.patch(one.role.url, {})).status, 404);
    assert.is((await fixture.staff.delete(one.role.url)).status, 404);
    const log = await fixture.staff.get(`/api/${structure}-permissions-log/${one.role.pk}/`);
    assert.is(log.body.expiration_time, '2018-01-05T04:48:34Z');
    assert.equal(fixture.events(), []);
    fixture.clock.set(start);
  }
});

test('a role with an end that is revoked earlier ends when it is revoked', async () => {
  const { user, role } = await member(people.project, 'admin', end);
  fixture.clock.advance(1);
  await fixture.staff.delete(role.url);
  assert.is(
    (await fixture.staff.get(`/api/project-permissions-log/${role.pk}/`)).body.expiration_time,
    '2018-01-05T04:47:05Z',
  );
  fixture.events();
  fixture.clock.set('2018-07-01T00:00:00Z');
  fixture.server.tick();
  await fixture.staff.get('/api/');
  assert.equal(
    fixture.events().filter(({ context }) => context.affected_user_uuid === user.uuid),
    [],
  );
});

test('a user with another role in the customer still counts after one is revoked', async () => {
  const { user, role } = await member(people.customer, 'support');
  await fixture.grant(people.project, user, 'admin');
  const before = await userCount();
  await fixture.staff.delete(role.url);
  assert.is(await userCount(), before);
});

test('DELETE and POST change a role; the new grant is a new record with a new pk', async () => {
  const { user, role } = await member(people.project, 'admin');
  await fixture.staff.delete(role.url);
  const again = await fixture.grant(people.project, user, 'manager');
  assert.ok(again.pk > role.pk);
  await fixture.staff.delete(again.url);
  const third = await fixture.grant(people.project, user, 'manager');
  assert.ok(third.pk > again.pk);
  const log = (await fixture.staff.get(`/api/project-permissions-log/?user=${user.uuid}`)).body;
  assert.equal(
    log.map((record: Json) => [record.pk, record.role]),
    [
      [again.pk, 'manager'],
      [role.pk, 'admin'],
    ],
  );
  assert.equal((await fixture.staff.get(`/api/project-permissions/?user=${user.uuid}`)).body, [third]);
});

test('the pk of a role that was deleted with its customer is never reused', async () => {
  const customer = await fixture.customer('Short lived');
  const { role } = await member(customer, 'owner');
  await fixture.staff.delete(customer.url);
  assert.ok((await member(people.customer, 'support')).role.pk > role.pk);
});

test('past roles are deleted with their project, customer or user', async () => {
  const customer = await fixture.customer('Vanishing');
  const project = await fixture.project('Vanishing too', customer);
  const [first, second] = [await member(customer, 'owner'), await member(project, 'admin')];
  for (const { role } of [first, second]) await fixture.staff.delete(role.url);
  const logged = async (structure: string, role: Json) =>
    (await fixture.staff.get(`/api/${structure}-permissions-log/${role.pk}/`)).status;
  assert.equal([await logged('customer', first.role), await logged('project', second.role)], [200, 200]);
  await fixture.staff.delete(project.url);
  assert.equal([await logged('customer', first.role), await logged('project', second.role)], [200, 404]);
  await fixture.staff.delete(customer.url);
  assert.is(await logged('customer', first.role), 404);
});

test('simultaneous grants and revocations take effect exactly once', async () => {
  const user = await fixture.user('contested');
  fixture.events();
  const body = { project: people.project.url, user: user.url, role: 'admin' };
  const grants = await Promise.all([1, 2, 3, 4].map(() => fixture.staff.post('/api/project-permissions/', body)));
  assert.equal(grants.map(({ status }) => status).sort(), [201, 400, 400, 400]);
  const role = grants.find(({ status }) => status === 201)?.body;
  const revocations = await Promise.all([1, 2, 3, 4].map(() => fixture.staff.delete(role.url)));
  assert.equal(revocations.map(({ status }) => status).sort(), [204, 404, 404, 404]);
  assert.equal(
    fixture.events().map(({ type }) => type),
    ['role_granted', 'role_revoked'],
  );
});

test('forms grant and change roles like JSON', async () => {
  const user = await fixture.user('formal');
  const form = new URLSearchParams({
    customer: people.customer.url,
    user: user.url,
    role: 'owner',
    expiration_time: '',
  });
  const { status, body } = await fixture.staff.post('/api/customer-permissions/', form);
  assert.is(status, 201);
  assert.is(body.expiration_time, null);
  const parts = new FormData();
  parts.set('expiration_time', end);
  assert.is((await fixture.staff.patch(body.url, parts)).body.expiration_time, end);
  parts.set('expiration_time', new Blob([end]), 'time.txt');
  assert.is((await fixture.staff.patch(body.url, parts)).status, 400);
});

test.run();
