import * as assert from 'uvu/assert';
import { affecting, expectedEvent, inCustomer, inProject } from '../../support/expected-event.ts';
import { type Json, start } from '../../support/fixture.ts';
import { createPersonas, type Personas } from '../../support/personas.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('roles that expire (core.md 8.4)');
const end = '2018-02-01T00:00:00Z';
const before = '2018-01-31T23:59:59Z';
const after = '2018-02-01T00:00:01Z';
let people: Personas;
let count = 0;

test.before(async () => {
  people = await createPersonas(fixture);
});
test.before.each(() => fixture.clock.set(start));

async function member(scope: Json, role: string, expiration: string | null = end): Promise<{ user: Json; role: Json }> {
  const user = await fixture.user(`member.${count++}`);
  const permission = await fixture.grant(scope, user, role, expiration);
  fixture.events();
  return { user, role: permission };
}
const userCount = async (): Promise<number> =>
  (await fixture.staff.get(people.customer.url)).body.quotas.find((quota: Json) => quota.name === 'nc_user_count')
    .usage;
const lost = (user: Json, role_name: string, structure_type: string): Json =>
  structure_type === 'customer'
    ? expectedEvent(
        'role_revoked',
        `User ${user.username} has lost role of ${role_name} in customer Alice.`,
        inCustomer(people.customer),
        affecting(user),
        { structure_type, role_name },
      )
    : expectedEvent(
        'role_revoked',
        `User ${user.username} has lost role of ${role_name} in project Rocket.`,
        inProject(people.project, people.customer),
        affecting(user),
        { structure_type, role_name },
      );

test('a role has its full effect until its end and none from then on', async () => {
  const owner = await member(people.customer, 'owner');
  const admin = await member(people.project, 'admin');
  const asks = async () => {
    const [first, second] = [fixture.as(owner.user.username), fixture.as(admin.user.username)];
    return [
      (await first.get(people.customer.url)).status,
      (await first.patch(people.project.url, { description: String(fixture.clock.now()) })).status,
      (await second.get(people.project.url)).status,
      (await second.get('/api/projects/')).body.length,
      (await second.get('/api/projects/?can_admin')).body.length,
    ];
  };
  fixture.clock.set(before);
  assert.equal(await asks(), [200, 200, 200, 1, 1]);
  fixture.clock.set(end);
  assert.equal(await asks(), [404, 404, 404, 0, 0]);
});

test('the first request after the end, of any kind, finds the role ended', async () => {
  for (const [method, path] of [
    ['GET', '/api/'],
    ['OPTIONS', '/api/users/'],
    ['DELETE', '/api/nothing/'],
    ['POST', '/api-auth/logout/'],
  ] as const) {
    fixture.clock.set(start);
    const { user } = await member(people.project, 'support');
    const token = fixture.as('stranger');
    fixture.clock.set(end);
    await token.send(method, path);
    assert.equal(
      fixture.events().filter(({ type }) => type === 'role_revoked'),
      [lost(user, 'Support', 'project')],
      `${method} ${path}`,
    );
  }
});

test('the record moves to the log with its expiry as its end, however late that is processed', async () => {
  for (const [structure, scope] of [
    ['customer', people.customer],
    ['project', people.project],
  ] as const) {
    fixture.clock.set(start);
    const { role } = await member(scope, 'support', '2018-02-01T00:00:00.000001Z');
    fixture.clock.set(after);
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE'])
      assert.is((await fixture.staff.send(method, role.url, method === 'GET' ? undefined : {})).status, 404);
    const { body } = await fixture.staff.get(`/api/${structure}-permissions-log/${role.pk}/`);
    assert.equal(body, { ...role, url: role.url.replace('permissions', 'permissions-log') });
  }
});

test('the timer ends a role without a request: the event has no actor, and the user count follows', async () => {
  const owner = await member(people.customer, 'owner');
  const manager = await member(people.project, 'manager', '2018-01-20T00:00:00Z');
  const counted = await userCount();
  fixture.clock.set(before);
  fixture.server.tick();
  assert.equal(fixture.events(), [lost(manager.user, 'Manager', 'project')]);
  fixture.clock.set(end);
  fixture.server.tick();
  assert.equal(fixture.events(), [lost(owner.user, 'Owner', 'customer')]);
  fixture.server.tick();
  assert.equal(fixture.events(), []);
  assert.is(await userCount(), counted - 2);
});

test('an expiry that a request triggers also has no actor', async () => {
  const { user } = await member(people.customer, 'support');
  fixture.clock.set(after);
  await fixture.staff.get('/api/');
  assert.equal(fixture.events(), [lost(user, 'Support', 'customer')]);
});

test('uses the current expiry after it was moved, cleared or set later', async () => {
  const [moved, cleared, set] = [
    await member(people.project, 'admin'),
    await member(people.project, 'admin'),
    await member(people.project, 'admin', null),
  ];
  await fixture.staff.patch(moved.role.url, { expiration_time: '2018-03-01T00:00:00Z' });
  await fixture.staff.patch(cleared.role.url, { expiration_time: null });
  await fixture.staff.patch(set.role.url, { expiration_time: end });
  const active = async () =>
    (await Promise.all([moved, cleared, set].map(({ role }) => fixture.staff.get(role.url)))).map(
      ({ status }) => status,
    );
  fixture.clock.set(end);
  assert.equal(await active(), [200, 200, 404]);
  fixture.clock.set('2018-03-01T00:00:00Z');
  assert.equal(await active(), [404, 200, 404]);
});

test('a user can be granted a role again after its end', async () => {
  const { user, role } = await member(people.project, 'admin');
  fixture.clock.set(end);
  const again = await fixture.grant(people.project, user, 'admin');
  assert.ok(again.pk > role.pk);
});

test('an owner whose role has just ended cannot grant roles', async () => {
  const { user } = await member(people.customer, 'owner');
  const other = await fixture.user('never.granted');
  const client = fixture.as(user.username);
  fixture.clock.set(end);
  const { status, body } = await client.post('/api/project-permissions/', {
    project: people.project.url,
    user: other.url,
    role: 'admin',
  });
  assert.is(status, 400);
  assert.equal(body, { project: ['Invalid hyperlink - Object does not exist.'] });
});

test('ends several due roles in the order of their expiry', async () => {
  const ends = ['2018-02-03T00:00:00Z', '2018-02-01T00:00:00Z', '2018-02-02T00:00:00Z'];
  const members: { user: Json; role: Json }[] = [];
  for (const one of ends) members.push(await member(people.project, 'admin', one));
  fixture.events();
  fixture.clock.set('2018-02-10T00:00:00Z');
  await fixture.staff.get('/api/');
  assert.equal(
    fixture.events().map(({ context }) => context.affected_user_username),
    [members[1], members[2], members[0]].map((one) => one?.user.username),
  );
});

test('a role of an inactive user also expires', async () => {
  // A time that no other test uses: for another test's time, the timer may already have run.
  const { user } = await member(people.customer, 'support', '2018-02-05T00:00:00Z');
  await fixture.staff.patch(user.url, { is_active: false });
  fixture.events();
  fixture.clock.set('2018-02-05T00:00:00Z');
  fixture.server.tick();
  assert.equal(fixture.events(), [lost(user, 'Support', 'customer')]);
});

test.run();
