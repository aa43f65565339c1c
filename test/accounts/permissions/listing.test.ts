import * as assert from 'uvu/assert';
import type { Json } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('filters and orderings of permissions and logs (core.md 8.5)');
let alpha: Json;
let beta: Json;
let projects: Record<string, Json>;
let users: Record<string, Json>;

const people = {
  anna: { full_name: 'anna Åström', native_name: 'Анна', email: 'z@example.com' },
  bob: { full_name: 'Bob', native_name: 'Боб', email: 'Y@example.com' },
  carol: { full_name: 'Carol 100%', native_name: 'Вера', email: 'x@example.com' },
};

test.before(async () => {
  alpha = await fixture.customer('Alpha');
  beta = await fixture.customer('Beta');
  projects = { first: await fixture.project('First', alpha), second: await fixture.project('Second', beta) };
  users = {};
  for (const [name, fields] of Object.entries(people)) users[name] = await fixture.user(name, fields);
  const { anna, bob, carol } = users;
  const { first, second } = projects as { first: Json; second: Json };
  const grants = [
    [alpha, anna, 'owner', '2018-09-01T00:00:00Z'],
    [alpha, bob, 'support', '2018-07-01T00:00:00Z'],
    [beta, carol, 'owner', '2018-08-01T00:00:00Z'],
    [first, anna, 'manager', '2018-09-01T00:00:00Z'],
    [first, bob, 'support', '2018-07-01T00:00:00Z'],
    [second, carol, 'admin', '2018-08-01T00:00:00Z'],
  ] as const;
  // Each role exists twice: first revoked, then active.
  for (const revoked of [true, false]) {
    for (const [scope, user, role, end] of grants) {
      fixture.clock.advance(1);
      const permission = await fixture.grant(scope, user, role, end);
      if (revoked) await fixture.staff.delete(permission.url);
    }
  }
});

async function matches(path: string, query: string): Promise<string> {
  const { status, body } = await fixture.staff.get(`/api/${path}/?${query}`);
  assert.is(status, 200, JSON.stringify(body));
  return body.map((role: Json) => role.user_username).join(' ');
}
const everywhere = [
  'customer-permissions',
  'project-permissions',
  'customer-permissions-log',
  'project-permissions-log',
] as const;

for (const path of everywhere) {
  const isCustomer = path.startsWith('customer');

  test(`${path} are listed newest first`, async () => {
    assert.is(await matches(path, ''), 'carol bob anna');
  });

  test(`${path} are filtered by the user, their uuid, link and parts of their names`, async () => {
    const { anna, bob } = users;
    for (const [query, names] of [
      [`user=${anna.uuid}`, 'anna'],
      [`user=${anna.uuid.toUpperCase()}`, 'anna'],
      [`user=${'0'.repeat(32)}`, ''],
      [`user_url=${encodeURIComponent(bob.url)}`, 'bob'],
      [`user_url=/api/users/${bob.uuid}`, 'bob'],
      [`user_url=https://elsewhere.example/api/users/${bob.uuid}/`, 'bob'],
      [`user_url=/api/users/${'0'.repeat(32)}/`, ''],
      ['username=A', 'carol anna'],
      ['full_name=B', 'bob'],
      ['full_name=%C3%85STR', 'anna'],
      ['full_name=%25', 'carol'],
      ['native_name=%D0%91%D0%9E', 'bob'],
      [`user=${anna.uuid}&username=b`, ''],
    ] as const) {
      assert.is(await matches(path, query), names, query);
    }
  });

  test(`${path} are filtered by the exact role`, async () => {
    assert.is(await matches(path, 'role=support'), 'bob');
    assert.is(await matches(path, `role=${isCustomer ? 'owner' : 'manager'}`), isCustomer ? 'carol anna' : 'anna');
    for (const role of ['Support', 'supp', 'nonsense']) assert.is(await matches(path, `role=${role}`), '');
  });

  test(`${path} are filtered by the customer${isCustomer ? '' : ' of the project, and by the project'}`, async () => {
    assert.is(await matches(path, `customer=${alpha.uuid}`), 'bob anna');
    assert.is(await matches(path, `customer=${beta.uuid}`), 'carol');
    assert.is(await matches(path, `customer=${projects.first.uuid}`), '');
    if (isCustomer) {
      assert.is(await matches(path, `customer_url=${alpha.url}`), 'bob anna');
      return;
    }
    assert.is(await matches(path, `project=${projects.first.uuid}`), 'bob anna');
    assert.is(await matches(path, `project_url=${projects.second.url}`), 'carol');
    assert.is(await matches(path, `project=${alpha.uuid}`), '');
  });

  test(`${path} reject malformed uuids and links of another kind`, async () => {
    const rejection = async (query: string) => {
      const { status, body } = await fixture.staff.get(`/api/${path}/?${query}`);
      assert.is(status, 400);
      return body;
    };
    for (const name of isCustomer ? ['user', 'customer'] : ['user', 'customer', 'project']) {
      assert.equal(await rejection(`${name}=x`), { [name]: ['"x" is not a valid UUID.'] });
    }
    const link = isCustomer ? 'customer_url' : 'project_url';
    for (const name of ['user_url', link]) {
      assert.equal(await rejection(`${name}=x`), { [name]: ['Invalid hyperlink - No URL match.'] });
      assert.equal(await rejection(`${name}=/api/keys/${'0'.repeat(32)}/`), {
        [name]: ['Invalid hyperlink - Incorrect URL match.'],
      });
    }
  });

  test(`${path} are ordered by every named ordering, without case, in both directions`, async () => {
    for (const [order, names] of [
      ['username', 'anna bob carol'],
      ['full_name', 'anna bob carol'],
      ['native_name', 'anna bob carol'],
      ['email', 'carol bob anna'],
      ['expiration_time', path.endsWith('log') ? 'anna bob carol' : 'bob carol anna'],
      ['created', 'anna bob carol'],
      ['role', isCustomer ? 'anna carol bob' : 'carol anna bob'],
    ] as const) {
      assert.is(await matches(path, `o=${order}`), names, order);
      assert.is(await matches(path, `o=-${order}`), names.split(' ').reverse().join(' '), `-${order}`);
    }
    assert.is(await matches(path, 'o=role,-username'), isCustomer ? 'carol anna bob' : 'carol anna bob');
    assert.equal((await fixture.staff.get(`/api/${path}/?o=user_email`)).body, {
      o: ['"user_email" is not a valid choice.'],
    });
  });

  test(`${path} ignore filters on a detail`, async () => {
    const {
      body: [role],
    } = await fixture.staff.get(`/api/${path}/`);
    assert.equal((await fixture.staff.get(`${role.url}?user=x&role=nonsense&o=nothing`)).body, role);
  });
}

test('orders roles without an end before all others by expiration time', async () => {
  const user = await fixture.user('endless');
  const role = await fixture.grant(alpha, user, 'owner');
  assert.is(await matches('customer-permissions', 'o=expiration_time'), 'endless bob carol anna');
  await fixture.staff.delete(role.url);
});

test('a filter only narrows the roles that the caller can see', async () => {
  const owner = fixture.as('anna');
  const seen = async (path: string) =>
    (await owner.get(`/api/${path}`)).body.map((role: Json) => role.user_username).join(' ');
  assert.is(await seen('customer-permissions/'), 'bob anna');
  assert.is(await seen(`customer-permissions/?customer=${beta.uuid}`), '');
  assert.is(await seen(`project-permissions/?customer_url=${beta.url}`), 'bob anna');
  assert.is(await seen(`project-permissions/?project_url=${projects.second.url}`), '');
  assert.is(await seen(`project-permissions-log/?customer=${alpha.uuid}`), 'bob anna');
  assert.is(await seen(`customer-permissions-log/?user=${users.carol.uuid}`), '');
});

test.run();
