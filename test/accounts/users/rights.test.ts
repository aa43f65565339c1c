import * as assert from 'uvu/assert';
import type { Client, Json } from '../../support/fixture.ts';
import { asEachPersona, createPersonas, type PersonaName, type Personas } from '../../support/personas.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('who sees and changes users (core.md 4.3)');
const forbidden = { detail: 'You do not have permission to perform this action.' };
const notFound = { detail: 'Not found.' };
const password = { password: 'secret123' };
let people: Personas;
let plain: Json;
let inactive: Json;
let staff: Json;

test.before(async () => {
  people = await createPersonas(fixture);
  plain = await fixture.user('plain', { organization: 'ALC' });
  inactive = await fixture.user('inactive', { is_active: false });
  staff = await fixture.user('second.staff', { is_staff: true });
});

/** Expected statuses by user: a default, and the exceptions. */
const statuses = (rest: number, named: Partial<Record<PersonaName, number>>): Record<PersonaName, number> => ({
  staff: rest,
  support: rest,
  owner: rest,
  helper: rest,
  manager: rest,
  admin: rest,
  observer: rest,
  stranger: rest,
  ...named,
});
const ask = (request: (client: Client) => Promise<{ status: number }>) =>
  asEachPersona(people, async (client) => (await request(client)).status);

test('staff and global support can see all users', async () => {
  const all = [
    'admin',
    'admin.of.project',
    'helper',
    'inactive',
    'manager',
    'observer',
    'owner',
    'plain',
    'second.staff',
    'stranger',
    'support',
  ];
  for (const part of ['staff', 'support'] as const) {
    const { body } = await people.clients[part].get('/api/users/?page_size=300');
    assert.equal(
      body.map((user: Json) => user.username),
      all,
    );
    for (const user of [plain, inactive, staff])
      assert.is((await people.clients[part].get(user.url)).body.uuid, user.uuid);
  }
});

test('other users can see all active users who are not staff', async () => {
  const visible = ['admin.of.project', 'helper', 'manager', 'observer', 'owner', 'plain', 'stranger', 'support'];
  for (const part of ['owner', 'helper', 'manager', 'admin', 'observer', 'stranger'] as const) {
    const { body, headers } = await people.clients[part].get('/api/users/?page_size=300');
    assert.equal(
      body.map((user: Json) => user.username),
      visible,
    );
    assert.is(headers.get('x-result-count'), '8');
    assert.is((await people.clients[part].get(plain.url)).body.uuid, plain.uuid);
    for (const user of [inactive, staff]) {
      const response = await people.clients[part].get(user.url);
      assert.is(response.status, 404);
      assert.equal(response.body, notFound);
    }
  }
});

test('callers without a token cannot see any user', async () => {
  for (const path of ['/api/users/', plain.url, `${plain.url}password/`]) {
    for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS']) {
      const { status, body } = await fixture.anonymous.send(method, path);
      assert.is(status, 401);
      assert.equal(body, { detail: 'Authentication credentials were not provided.' });
    }
  }
});

test('only staff create users', async () => {
  let count = 0;
  assert.equal(
    await ask((client) => client.post('/api/users/', { username: `made.${count++}` })),
    statuses(403, { staff: 201 }),
  );
});

test('only staff change other users; callers who can see them are rejected before the body is read', async () => {
  const broken = '{"full_name": ';
  for (const method of ['PUT', 'PATCH']) {
    assert.equal(
      await ask((client) => client.send(method, plain.url, { full_name: 'x' })),
      statuses(403, { staff: 200 }),
    );
    for (const part of ['support', 'owner', 'stranger'] as const) {
      const { status, body } = await people.clients[part].send(method, plain.url, broken, {
        'Content-Type': 'application/json',
      });
      assert.is(status, 403);
      assert.equal(body, forbidden);
    }
  }
  for (const method of ['PUT', 'PATCH', 'DELETE']) {
    assert.equal(await ask((client) => client.send(method, `/api/users/${'0'.repeat(32)}/`)), statuses(404, {}));
  }
});

test('an invisible user is not found by any method', async () => {
  for (const user of [inactive, staff]) {
    for (const [method, path] of [
      ['PUT', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', 'password/'],
      ['POST', 'claim_organization/'],
      ['POST', 'approve_organization/'],
      ['POST', 'reject_organization/'],
      ['POST', 'remove_organization/'],
      ['OPTIONS', ''],
      ['OPTIONS', 'password/'],
    ]) {
      const { status, body } = await people.clients.owner.send(method as string, user.url + path);
      assert.is(status, 404, `${method} ${path}`);
      assert.equal(body, notFound);
    }
  }
});

test('users change their own account and password, global support too', async () => {
  for (const [name, user] of Object.entries(people.users)) {
    const me = people.clients[name as PersonaName];
    assert.is((await me.put(user.url, { agree_with_policy: true, job_title: 'Own' })).status, 200);
    assert.is((await me.patch(user.url, { job_title: 'Own' })).status, 200);
    assert.is((await me.post(`${user.url}claim_organization/`, { organization: 'Own' })).status, 200);
    assert.is((await me.post(`${user.url}password/`, password)).status, 200);
  }
});

test('only staff set the password and the organization of another user', async () => {
  assert.equal(await ask((client) => client.post(`${plain.url}password/`, password)), statuses(403, { staff: 200 }));
  assert.equal(
    await ask((client) => client.post(`${plain.url}claim_organization/`, { organization: 'ALC' })),
    statuses(403, { staff: 200 }),
  );
  const { body } = await people.clients.owner.post(`${plain.url}password/`, 'nonsense');
  assert.equal(body, forbidden);
});

test('only staff delete users; users cannot delete themselves', async () => {
  for (const part of ['support', 'owner', 'stranger'] as const) {
    const { status, body } = await people.clients[part].delete(people.users[part].url);
    assert.is(status, 403);
    assert.equal(body, forbidden);
  }
  const victim = await fixture.user('victim');
  assert.equal(await ask((client) => client.delete(victim.url)), statuses(404, { staff: 204 }));
});

test('staff can delete any account, including their own', async () => {
  const boss = await fixture.user('leaving', { is_staff: true });
  const client = fixture.as('leaving');
  assert.is((await client.delete(staff.url)).status, 204);
  assert.is((await client.delete(boss.url)).status, 204);
  assert.equal((await client.get('/api/users/')).body, { detail: 'Invalid token.' });
});

test('OPTIONS describes the fields to staff, and of their own account to any user', async () => {
  const described = async (client: Client, url: string) => Object.keys((await client.options(url)).body.actions ?? {});
  assert.equal(await described(fixture.staff, '/api/users/'), ['POST']);
  assert.equal(await described(fixture.staff, plain.url), ['PUT']);
  for (const part of ['support', 'owner'] as const) {
    assert.equal(await described(people.clients[part], '/api/users/'), []);
    assert.equal(await described(people.clients[part], plain.url), []);
    assert.equal(await described(people.clients[part], people.users[part].url), ['PUT']);
  }
});

test('rights follow the current flags', async () => {
  const user = await fixture.user('promoted');
  const me = fixture.as('promoted');
  assert.is((await me.post('/api/users/', { username: 'by.promoted' })).status, 403);
  await fixture.staff.patch(user.url, { is_staff: true });
  assert.is((await me.post('/api/users/', { username: 'by.promoted' })).status, 201);
  await fixture.staff.patch(user.url, { is_staff: false, is_support: true });
  assert.is((await me.post('/api/users/', { username: 'by.support' })).status, 403);
  assert.is((await me.get(inactive.url)).status, 200);
  await fixture.staff.patch(user.url, { is_support: false });
  assert.is((await me.get(inactive.url)).status, 404);
});

test.run();
