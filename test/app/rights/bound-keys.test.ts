/**
 * core.md 2.10: two databases that differ only in objects outside a key's binding respond identically. The requests are derived
 * from the declarations of the API: lists with every filter, objects, their sub-resources, and OPTIONS.
 */
import { repeatableRandom } from 'tenantry';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { documented } from '../../support/catalogue.ts';
import { EventReader, type Frame } from '../../support/event-stream.ts';
import { Client, Fixture, type Json } from '../../support/fixture.ts';

const test = suite('twin databases');
const maxObjectsOfList = 6;
const comparedHeaders = [
  'allow',
  'cache-control',
  'content-type',
  'etag',
  'link',
  'location',
  'retry-after',
  'vary',
  'x-permitted',
  'x-refusal',
  'x-result-count',
];

/** One of the databases, with clients of the same keys. */
interface Twin {
  readonly fixture: Fixture;
  readonly acme: Json;
  readonly web: Json;
  readonly keys: readonly Client[];
}

let left: Twin;
let right: Twin;
/** Uuids of objects that only one database has, by the name of a filter for them. */
const foreign: Record<string, string> = {};
let hasOtherIds = false;

/** Creates the objects of both databases. */
async function createTwin(): Promise<Twin> {
  const fixture = new Fixture();
  const [ids, otherIds] = [repeatableRandom('twins'), repeatableRandom('others')];
  await fixture.open({
    base_url: 'https://cloud.example.com',
    random: (bytes) => (hasOtherIds ? otherIds : ids)(bytes),
  });
  fixture.clock.hold();
  const olivia = await fixture.user('olivia');
  const paul = await fixture.user('paul');
  const acme = await fixture.customer('Acme', { abbreviation: 'ACM' });
  const web = await fixture.project('Web', acme);
  await fixture.project('Mail', acme);
  await fixture.grant(acme, olivia, 'owner');
  await fixture.grant(web, paul, 'manager');
  await fill(fixture, acme, web);
  const scopes = ['*:write', 'operation:write', 'audit:read'];
  const keyOf = async (name: string, bounds: Json): Promise<Client> => {
    const body = { name: 'Key', scopes, ...bounds };
    return new Client(fixture, (await fixture.as(name).post('/api/api-keys/', body)).body.key);
  };
  const keys = [await keyOf('olivia', { customers: [acme.url] }), await keyOf('paul', { projects: [web.url] })];
  return { fixture, acme, web, keys };
}

/** Creates objects of many kinds in a customer and a project. */
async function fill(fixture: Fixture, customer: Json, project: Json): Promise<void> {
  const post = async (path: string, body: Json): Promise<Json> => {
    const response = await fixture.staff.post(path, body);
    assert.is(response.status, 201, `${path} ${JSON.stringify(response.body)}`);
    return response.body;
  };
  const name = `Cloud of ${customer.name}`;
  const service = await post('/api/digitalocean/', { name, customer: customer.url });
  await post('/api/digitalocean-service-project-link/', { service: service.url, project: project.url });
  await post('/api/user-invitations/', {
    link_template: 'https://cloud.example.com/{uuid}',
    email: `guest@${customer.name.toLowerCase()}.example.com`,
    customer: customer.url,
    customer_role: 'owner',
  });
  await post('/api/service-accounts/', { name: 'Robot', project: project.url, role: 'admin' });
  for (const scope of [customer, project]) {
    await post('/api/alerts/', { scope: scope.url, alert_type: 'noise', message: 'Loud.', severity: 'Info' });
    await post('/api/events/', { level: 'info', message: `News of ${scope.name}`, scope: scope.url });
  }
  await fixture.advance(60);
}

/**
 * Creates the objects of only one database: another customer of the same owner, with the same objects as the first one, and other
 * users.
 */
async function addForeign({ fixture, acme }: Twin): Promise<void> {
  hasOtherIds = true;
  const users = (await fixture.staff.get('/api/users/?page_size=300')).body;
  const named = (username: string): Json => users.find((user: Json) => user.username === username);
  const bolt = await fixture.customer('Bolt', { abbreviation: 'BLT', email: 'info@bolt.example.com' });
  const ship = await fixture.project('Ship', bolt);
  const bert = await fixture.user('bert', { organization: 'Bolt', email: 'bert@bolt.example.com' });
  for (const [scope, user, role] of [
    [bolt, named('olivia'), 'owner'],
    [ship, named('paul'), 'manager'],
    [bolt, bert, 'owner'],
    [ship, bert, 'admin'],
  ] as const)
    await fixture.grant(scope, user, role);
  await fill(fixture, bolt, ship);
  await fixture.staff.patch(bolt.url, { name: 'Bolt & Co' });
  await fixture.as('bert').post('/api/keys/', { name: 'bert', public_key: publicKey });
  const hook = { email: 'bert@bolt.example.com', event_types: ['project_creation_succeeded'] };
  await fixture.as('bert').post('/api/hooks-email/', hook);
  Object.assign(foreign, { customer: bolt.uuid, project: ship.uuid, user: bert.uuid, acme: acme.uuid });
  hasOtherIds = false;
}

const publicKey =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ3p2TQFxOQb9RNxsGSJmvVrSJSlmr4wJeqhCpVBRHPh bert@bolt.example.com';

test.before(async () => {
  left = await createTwin();
  right = await createTwin();
  await addForeign(right);
  await left.fixture.advance(60);
});

test.after(async () => {
  await left?.fixture.close();
  await right?.fixture.close();
});

const reads = documented.filter(
  (endpoint) => endpoint.operations.GET && endpoint.path.startsWith('/api/') && endpoint.path !== '/api/events/stream/',
);

/** A value for a filter that selects what only one database has. */
function foreignValue(filter: string): string {
  const uuid = Object.keys(foreign).find((name) => filter.includes(name));
  if (uuid !== undefined && /uuid|^(customer|project|user)$/.test(filter)) return foreign[uuid] ?? '';
  return /email/.test(filter) ? 'bert@bolt.example.com' : 'Bolt';
}

/** Returns the paths of every list with each filter, and of every object and its sub-resources, as staff see them. */
async function paths(): Promise<string[]> {
  const all: string[] = [];
  for (const { operations, path } of reads) {
    if (path.includes(':')) continue;
    const needed = path === '/api/stats/creation-time/' ? '&type=customer' : '';
    all.push(`${path}?page_size=300${needed}`, `${path}?page_size=1${needed}`);
    for (const filter of Object.keys(operations.GET?.filters ?? {}))
      all.push(`${path}?${filter}=${encodeURIComponent(foreignValue(filter))}${needed}`);
    const { body } = await right.fixture.staff.get(`${path}?page_size=300`);
    if (!Array.isArray(body)) continue;
    const keys = body
      .map(({ url }: Json) => (typeof url === 'string' ? url.split(path)[1]?.split('/')[0] : undefined))
      .filter((key) => key !== undefined);
    const sample = [...new Set([...keys.slice(0, maxObjectsOfList / 2), ...keys.slice(-maxObjectsOfList / 2)])];
    const below = reads.filter((other) => other.path.startsWith(`${path}:key/`) && other.path.split(':').length === 2);
    for (const key of sample) for (const other of below) all.push(other.path.replace(':key', key));
  }
  return all;
}

/** Returns every writing operation on every object that only one database has. */
async function operationsElsewhere(): Promise<[string, string][]> {
  const all: [string, string][] = [];
  const keysIn = async ({ fixture }: Twin, path: string): Promise<string[]> => {
    const { body } = await fixture.staff.get(`${path}?page_size=300`);
    if (!Array.isArray(body)) return [];
    return body.flatMap(({ url }: Json) => (typeof url === 'string' ? (url.split(path)[1]?.split('/')[0] ?? []) : []));
  };
  for (const { path } of reads) {
    if (path.includes(':')) continue;
    const common = await keysIn(left, path);
    const keys = (await keysIn(right, path)).filter((key) => !common.includes(key));
    const below = documented.filter(
      (other) => !other.open && other.path.startsWith(`${path}:key/`) && other.path.split(':').length === 2,
    );
    for (const key of keys)
      for (const other of below)
        for (const method of Object.keys(other.operations))
          if (method !== 'GET') all.push([method, other.path.replace(':key', key)]);
  }
  return all;
}

const described = ({ body, headers, status }: Awaited<ReturnType<Client['get']>>): unknown => [
  status,
  Object.fromEntries(comparedHeaders.map((name) => [name, headers.get(name)])),
  body,
];

for (const [i, owner] of ['the owner of two customers', 'the manager of two projects'].entries()) {
  const pair = (): readonly [Client, Client] => [left.keys[i] as Client, right.keys[i] as Client];

  test(`a bound key of ${owner} reads the same in both`, async () => {
    const [one, two] = pair();
    const all = await paths();
    assert.ok(all.length > 300, String(all.length));
    let visibleCount = 0;
    for (const path of all) {
      const [first, second] = [await one.get(path), await two.get(path)];
      assert.equal(described(first), described(second), path);
      if (first.status === 200) visibleCount++;
      const etag = first.headers.get('etag');
      if (etag !== null && !path.includes('?'))
        assert.is((await two.get(path, { 'If-None-Match': etag })).status, 304, path);
      if (path.includes('?')) continue;
      assert.equal(described(await one.options(path)), described(await two.options(path)), path);
    }
    assert.ok(visibleCount > 100, String(visibleCount));
  });

  test(`a bound key of ${owner} writes the same in both`, async () => {
    const [one, two] = pair();
    const { acme, web } = left;
    const bolt = { url: `https://cloud.example.com/api/customers/${foreign.customer}/` };
    const ship = { url: `https://cloud.example.com/api/projects/${foreign.project}/` };
    const bert = { url: `https://cloud.example.com/api/users/${foreign.user}/` };
    const writes: [string, string, Json][] = [
      ['POST', '/api/projects/', { name: 'New', customer: acme.url }],
      ['POST', '/api/projects/', { name: 'New', customer: bolt.url }],
      ['PATCH', web.url, { name: 'Site' }],
      ['PATCH', bolt.url, { name: 'x' }],
      ['DELETE', ship.url, undefined],
      ['POST', '/api/project-permissions/', { project: web.url, user: bert.url, role: 'admin' }],
      ['POST', '/api/project-permissions/', { project: ship.url, user: bert.url, role: 'support' }],
      ['POST', '/api/alerts/', { scope: ship.url, alert_type: 'x', message: 'x', severity: 'Info' }],
      ['POST', '/api/customers/', { name: 'Bolt' }],
      ['POST', '/api/operation/doctor/', {}],
    ];
    for (const [method, path, body] of writes)
      assert.equal(
        described(await one.send(method, path, body)),
        described(await two.send(method, path, body)),
        `${method} ${path}`,
      );
  });

  test(`no operation changes an object to which a key of ${owner} is not bound`, async () => {
    const [one, two] = pair();
    const all = await operationsElsewhere();
    assert.ok(all.length > 100, String(all.length));
    for (const [method, path] of all) {
      const body = method === 'DELETE' ? undefined : {};
      const [first, second] = [await one.send(method, path, body), await two.send(method, path, body)];
      assert.equal(described(second), described(first), `${method} ${path}`);
      assert.ok([403, 404].includes(second.status), `${method} ${path}: ${second.status}`);
    }
  });

  test(`a stream of a bound key of ${owner} sends the same in both`, async () => {
    const readers = await Promise.all(
      [left, right].map(({ fixture }, at) => EventReader.open(fixture, pair()[at] as Client)),
    );
    const started = await Promise.all(readers.map((reader) => reader.frame()));
    assert.equal(started[0], started[1]);
    hasOtherIds = true;
    await right.fixture.staff.patch(`/api/projects/${foreign.project}/`, { name: `Ship ${i}` });
    await right.fixture.staff.patch(`/api/customers/${foreign.customer}/`, { name: `Bolt ${i}` });
    hasOtherIds = false;
    const sent: (Frame | undefined)[] = [];
    for (const [at, { fixture, web }] of [left, right].entries()) {
      await fixture.staff.patch(web.url, { name: `Web ${i}` });
      sent.push(await readers[at]?.event());
      readers[at]?.leave();
    }
    assert.ok(sent[0]);
    assert.equal(sent[0], sent[1]);
  });
}

test.run();
