/** core.md 2.10: a key bound to customers and projects gets the same responses as a user with only those roles. */
import * as assert from 'uvu/assert';
import { requiredScopes } from '../../../src/app/scopes/required-scopes.ts';
import { catalogue, documented } from '../../support/catalogue.ts';
import { Client, type Json } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('bound API keys', { users_visible: 'connected' });
const denied = [403, { detail: 'This API key is bound to other objects.' }];
const notFound = [404, { detail: 'Not found.' }];
const all = ['*:write', 'operation:write', 'audit:read'];
let acme: Json;
let bolt: Json;
let web: Json;
let mail: Json;
let ship: Json;
const people: Record<string, Json> = {};
/** Returns the objects of every list as staff see them. */
const objects: string[] = [];

/** Every list, without its required parameters. Excludes lists about the caller. */
const lists = documented
  .filter(
    (endpoint) =>
      endpoint.operations.GET &&
      /^\/api\/[a-z-]+\/$/.test(endpoint.path) &&
      Array.isArray(requiredScopes(catalogue, endpoint, 'GET')),
  )
  .map(({ path }) => path)
  .filter(
    (path) =>
      !/^\/api\/(users|keys|user-counters|api-keys|notifications|notification-preferences|events|operation|jobs|outbox|backups|deployment-settings|simulator|audit)\//.test(
        path,
      ),
  );

test.before(async () => {
  fixture.clock.hold();
  acme = await fixture.customer('Acme', { abbreviation: 'ACM' });
  bolt = await fixture.customer('Bolt', { abbreviation: 'BLT' });
  web = await fixture.project('Web', acme);
  mail = await fixture.project('Mail', acme);
  ship = await fixture.project('Ship', bolt);
  for (const name of ['olivia', 'paul', 'nora', 'bert']) people[name] = await fixture.user(name);
  people.stan = await fixture.user('stan', { is_staff: true });
  people.gina = await fixture.user('gina', { is_support: true });
  for (const customer of [acme, bolt]) await fixture.grant(customer, people.olivia, 'owner');
  for (const project of [web, ship]) await fixture.grant(project, people.paul, 'manager');
  await fixture.grant(bolt, people.bert, 'owner');
  for (const customer of [acme, bolt]) {
    await fixture.staff.post('/api/service-settings/', {
      name: `Cloud of ${customer.name}`,
      type: 'DigitalOcean',
      customer: customer.url,
    });
    await fixture.staff.post('/api/user-invitations/', {
      link_template: 'https://app.example.com/{uuid}',
      email: 'guest@example.com',
      customer: customer.url,
      customer_role: 'owner',
    });
  }
  for (const scope of [acme, bolt, web, mail, ship])
    await fixture.staff.post('/api/alerts/', {
      scope: scope.url,
      alert_type: 'noise',
      message: 'Loud.',
      severity: 'Info',
    });
  await fixture.staff.post('/api/service-settings/', { name: 'Shared', type: 'DigitalOcean', shared: true });
  await fixture.advance(60);
});

let count = 0;
async function keyOf(name: string, fields: Json): Promise<Client> {
  count += 1;
  const body = { name: `Key ${count}`, scopes: all, ...fields };
  const response = await fixture.as(name).post('/api/api-keys/', body);
  assert.is(response.status, 201, JSON.stringify(response.body));
  return new Client(fixture, response.body.key);
}

async function twin(roles: readonly (readonly [scope: Json, role: string])[]): Promise<Client> {
  count += 1;
  const user = await fixture.user(`twin${count}`);
  for (const [scope, role] of roles) await fixture.grant(scope, user, role);
  await fixture.advance(1);
  return fixture.as(user.username);
}

const reports = async (client: Client, path: string): Promise<unknown[]> => {
  const { body, headers, status } = await client.get(path);
  return [status, headers.get('x-result-count'), headers.get('link'), body];
};
const metadata = async (client: Client, path: string): Promise<unknown[]> => {
  const { body, headers, status } = await client.options(path);
  return [status, headers.get('x-permitted'), headers.get('x-refusal'), body];
};

/** Compares everything readable. `ownRoles` is a path with the callers' own roles, whose records differ between users. */
async function compare(key: Client, user: Client, ownRoles = ''): Promise<void> {
  objects.length = 0;
  for (const path of lists) {
    if (path === ownRoles) continue;
    const query = path === '/api/stats/creation-time/' ? '?type=customer' : '';
    assert.equal(await reports(key, path + query), await reports(user, path + query), path);
    const { body } = await fixture.staff.get(`${path}?page_size=300`);
    if (Array.isArray(body)) for (const { url } of body) if (typeof url === 'string') objects.push(url);
  }
  assert.ok(objects.length > 40, String(objects.length));
  for (const url of objects) {
    assert.equal(await reports(key, url), await reports(user, url), url);
    assert.equal(await metadata(key, url), await metadata(user, url), url);
  }
  for (const { url } of [acme, bolt, web, mail, ship])
    for (const below of ['counters/', 'users/'])
      assert.equal(await reports(key, url + below), await reports(user, url + below), url + below);
  const named = async (client: Client): Promise<Json[]> =>
    (await client.get('/api/events/?page_size=300')).body.filter((event: Json) => event.customer_uuid);
  const events = await named(user);
  assert.ok(events.length > 0);
  assert.equal(await named(key), events);
  for (const path of ['/api/alerts/stats/', '/api/resources/count/', '/api/hooks/stats/'])
    assert.equal(await reports(key, path), await reports(user, path), path);
}

test('the key of an owner of two customers, bound to one', async () => {
  const key = await keyOf('olivia', { customers: [acme.url] });
  await compare(key, await twin([[acme, 'owner']]));
  assert.is((await key.get(acme.url)).status, 200);
  const { body, status } = await key.get(bolt.url);
  assert.equal([status, body], notFound);
  assert.equal((await key.post('/api/projects/', { name: 'New', customer: bolt.url })).body, {
    customer: ['Invalid hyperlink - Object does not exist.'],
  });
  const project = await key.post('/api/projects/', { name: 'New', customer: acme.url });
  assert.is(project.status, 201);
  assert.is((await key.patch(project.body.url, { name: 'Newer' })).status, 200);
  assert.is((await key.delete(project.body.url)).status, 204);
});

test('the key of an owner, bound to a project', async () => {
  const key = await keyOf('olivia', { projects: [web.url] });
  await compare(key, await twin([[web, 'manager']]), '/api/project-permissions/');
  assert.is((await key.patch(acme.url, { name: 'Other' })).status, 403);
});

test('the key of a manager of two projects, bound to a customer and to a project', async () => {
  await compare(
    await keyOf('paul', { customers: [acme.url] }),
    await twin([[web, 'manager']]),
    '/api/project-permissions/',
  );
  await compare(
    await keyOf('paul', { projects: [ship.url] }),
    await twin([[ship, 'manager']]),
    '/api/project-permissions/',
  );
});

test("shows a manager's own roles in bound projects only", async () => {
  const key = await keyOf('paul', { projects: [ship.url] });
  const { body } = await key.get('/api/project-permissions/');
  assert.equal(
    body.map(({ project, user_username }: Json) => [project, user_username]),
    [[ship.url, 'paul']],
  );
});

test('the keys of staff and global support, bound to a customer', async () => {
  await compare(await keyOf('stan', { customers: [acme.url] }), await twin([[acme, 'owner']]));
  await compare(await keyOf('gina', { customers: [acme.url] }), await twin([[acme, 'support']]));
  await compare(
    await keyOf('stan', { projects: [ship.url] }),
    await twin([[ship, 'manager']]),
    '/api/project-permissions/',
  );
});

test('a role that ends, and staff rights that end, end for the key', async () => {
  const key = await keyOf('nora', { customers: [acme.url] }).catch(() => undefined);
  assert.is(key, undefined, 'an invisible customer is rejected');
  const grant = await fixture.grant(acme, people.nora, 'owner');
  const bound = await keyOf('nora', { customers: [acme.url] });
  assert.is((await bound.get(acme.url)).status, 200);
  await fixture.staff.delete(grant.url);
  const { body, status } = await bound.get(acme.url);
  assert.equal([status, body], notFound);
});

test("sees the owner's user without a token, its SSH keys, and no other users", async () => {
  const key = await keyOf('olivia', { projects: [ship.url] });
  const { body } = await key.get('/api/users/?current');
  assert.equal([body.length, body[0].username, 'token' in body[0]], [1, 'olivia', false]);
  const names = (await key.get('/api/users/?page_size=300')).body.map(({ username }: Json) => username);
  for (const name of ['olivia', 'paul', 'bert']) assert.ok(names.includes(name), name);
  assert.not.ok(names.includes('nora'));
  assert.equal((await key.get('/api/users/?username_exact=nora')).body, []);
  assert.equal(
    (await key.post('/api/project-permissions/', { user: people.nora.url, project: ship.url, role: 'admin' })).status,
    400,
  );
  assert.equal((await key.get('/api/keys/')).body, []);
});

test('operations that concern no bound object are rejected', async () => {
  const key = await keyOf('stan', { customers: [acme.url] });
  const hook = { email: 'hooks@example.com', event_types: ['project_creation_succeeded'] };
  const attempts: [string, string, Json?][] = [
    ['POST', '/api/customers/', { name: 'New' }],
    ['POST', '/api/users/', { username: 'new' }],
    ['PATCH', people.stan.url, { job_title: 'x' }],
    ['POST', '/api/keys/', {}],
    ['POST', '/api/service-certifications/', { name: 'x' }],
    ['POST', '/api/hooks-email/', hook],
    ['GET', '/api/notifications/'],
    ['GET', '/api/operation/'],
    ['GET', '/api/backups/'],
    ['POST', '/api/alerts/', { alert_type: 'noise', message: 'Loud.', severity: 'Info' }],
    ['POST', '/api/events/', { level: 'info', message: 'News' }],
    ['POST', '/api/service-settings/', { name: 'New', type: 'DigitalOcean', shared: true }],
  ];
  for (const [method, path, body] of attempts) {
    const response = await key.send(method, path, body);
    assert.equal([response.status, response.body], denied, `${method} ${path}`);
  }
  const ofProject = await keyOf('stan', { projects: [web.url] });
  const move = await ofProject.patch(web.url, { customer: bolt.url });
  assert.equal([move.status, move.body], denied, 'a key bound to projects moves none');
});

test('the lists are immutable, limited, and never become "not bound"', async () => {
  const temporary = await fixture.customer('Temporary');
  const other = await fixture.project('Other', temporary);
  const owner = fixture.as('stan');
  const body = { name: 'Bound', scopes: ['*:read'], customers: [temporary.url], projects: [other.url, web.url] };
  const { body: made } = await owner.post('/api/api-keys/', body);
  const key = new Client(fixture, made.key);
  assert.equal([made.customers, made.projects], [[temporary.url], [web.url, other.url]]);
  assert.equal((await owner.patch(made.url, { projects: [] })).body, { projects: ['This field cannot be changed.'] });
  assert.is((await owner.patch(made.url, { customers: [temporary.url], projects: [other.url, web.url] })).status, 200);
  assert.equal((await owner.post('/api/api-keys/', { ...body, name: 'x', customers: Array(51).fill(acme.url) })).body, {
    customers: ['Ensure this field has no more than 50 elements.'],
  });
  const single = (
    await owner.post('/api/api-keys/', { ...body, name: 'Single', customers: [temporary.url], projects: [] })
  ).body;
  const lost = new Client(fixture, single.key);
  assert.is((await lost.get(temporary.url)).status, 200);
  await fixture.staff.delete(other.url);
  assert.is((await fixture.staff.delete(temporary.url)).status, 204);
  assert.is((await lost.get('/api/customers/')).status, 401);
  assert.equal((await owner.get(made.url)).body.customers, []);
  assert.is((await key.get(temporary.url)).status, 404);
  assert.equal((await key.get('/api/projects/')).body.length, 1);
  await fixture.advance(2);
  assert.is((await owner.get(single.url)).status, 404);
});

test.run();
