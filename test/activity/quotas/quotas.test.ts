import * as assert from 'uvu/assert';
import { countQuotas, createQuotas, requireQuotas } from '../../../src/activity/quotas/usage.ts';
import { sql } from '../../../src/kernel/db/sql.ts';
import type { Json } from '../../support/fixture.ts';
import { change, contextOf, link, setQuota, settings } from '../../support/links.ts';
import { asEachPersona, createPersonas, type Personas, personaNames, sameExcept } from '../../support/personas.ts';
import { suiteWithServerPerTest } from '../../support/suite.ts';

const { test, fixture } = suiteWithServerPerTest('quotas: list, read, edit (events.md 2.1, 2.3, 2.4)');
let people: Personas;

test.before.each(async () => {
  people = await createPersonas(fixture);
});

const customerNames = [
  'nc_app_count',
  'nc_private_cloud_count',
  'nc_project_count',
  'nc_resource_count',
  'nc_service_count',
  'nc_service_project_link_count',
  'nc_snapshot_size',
  'nc_storage_count',
  'nc_user_count',
  'nc_vm_count',
  'nc_volume_size',
];
const projectNames = [
  'nc_app_count',
  'nc_private_cloud_count',
  'nc_resource_count',
  'nc_service_project_link_count',
  'nc_snapshot_count',
  'nc_snapshot_size',
  'nc_storage_count',
  'nc_vm_count',
  'nc_volume_count',
  'nc_volume_size',
];

/** Returns a quota's representation, found through its object. */
async function quota(object: Json, name: string): Promise<Json> {
  const { url } = (await fixture.staff.get(object.url)).body.quotas.find((embedded: Json) => embedded.name === name);
  return (await fixture.staff.get(url)).body;
}

const globalQuota = async (name: string): Promise<Json> =>
  (await fixture.staff.get(`/api/quotas/?name=${name}`)).body[0];

/** Creates a quota of shared settings, backend-cached or not. */
function settingsQuota(isBackend: boolean): string {
  const { id } = settings(fixture, 'Cloud');
  const { db } = fixture.server.app;
  return change(fixture, () => {
    createQuotas(contextOf(fixture), 'settings', id, ['openstack_ram']);
    db.run(sql`UPDATE quota SET is_backend = ${Number(isBackend)} WHERE scope_kind = 'settings' AND scope_id = ${id}`);
    return `/api/quotas/${db.value<string>(sql`SELECT uuid FROM quota WHERE scope_kind = 'settings' AND scope_id = ${id}`)}/`;
  });
}

test('creates every quota with its object: limit -1, threshold 0, and the names for its kind of object', async () => {
  const customer = await fixture.customer('Fresh', { quotas: [{ name: 'nc_vm_count', limit: 5 }] });
  const project = await fixture.project('Fresh', customer, { quotas: [{ name: 'nc_vm_count', limit: 5 }] });
  for (const [object, names] of [
    [customer, customerNames],
    [project, projectNames],
  ] as const) {
    assert.equal(
      object.quotas.map(({ name }: Json) => name),
      names,
      'ordered by name',
    );
    assert.equal(
      new Set(object.quotas.map((embedded: Json) => `${embedded.limit} ${embedded.usage}`)),
      new Set(['-1 0']),
    );
    for (const embedded of object.quotas) {
      assert.equal(Object.keys(embedded), ['url', 'uuid', 'name', 'limit', 'usage']);
      assert.is((await fixture.staff.get(embedded.url)).body.threshold, 0);
    }
  }
  const owned = (await fixture.staff.get('/api/quotas/?name=nc_global&page_size=300')).body;
  assert.equal(
    owned.map(({ limit, name, scope }: Json) => [name, limit, scope]),
    [
      ['nc_global_customer_count', -1, null],
      ['nc_global_project_count', -1, null],
    ],
  );
});

test('a quota has url, uuid, name, limit, usage, scope, threshold, in this order; only scope can be null', async () => {
  const displayed = await quota(people.customer, 'nc_project_count');
  assert.is(
    JSON.stringify(displayed),
    JSON.stringify({
      url: `${fixture.url}/api/quotas/${displayed.uuid}/`,
      uuid: displayed.uuid,
      name: 'nc_project_count',
      limit: -1,
      usage: 1,
      scope: people.customer.url,
      threshold: 0,
    }),
  );
  assert.match(displayed.uuid, /^[0-9a-f]{32}$/);
  assert.equal(await globalQuota('nc_global_customer_count'), {
    ...(await globalQuota('nc_global_customer_count')),
    name: 'nc_global_customer_count',
    limit: -1,
    usage: 1,
    scope: null,
    threshold: 0,
  });
  assert.is((await quota(people.project, 'nc_vm_count')).scope, people.project.url);
});

test('lists the quotas that the caller can read by internal id, paginated', async () => {
  const seen = await asEachPersona(people, async (client) =>
    Number((await client.get('/api/quotas/')).headers.get('x-result-count')),
  );
  assert.equal(seen, sameExcept(21, { staff: 23, support: 23, stranger: 0 }));
  const all = (await fixture.staff.get('/api/quotas/?page_size=300')).body;
  const { db } = fixture.server.app;
  assert.equal(
    all.map(({ uuid }: Json) => uuid),
    db.values(sql`SELECT uuid FROM quota ORDER BY id`),
  );
  const page = await fixture.staff.get('/api/quotas/?page=2&o=-name');
  assert.equal(
    page.body.map(({ uuid }: Json) => uuid),
    all.slice(10, 20).map(({ uuid }: Json) => uuid),
    'o is ignored: there are no orderings',
  );
  assert.is((await fixture.anonymous.get('/api/quotas/')).status, 401);
});

test('name matches a substring, ignoring case; ignored for a single quota', async () => {
  const names = async (query: string) =>
    (await fixture.staff.get(`/api/quotas/?page_size=300&${query}`)).body.map(({ name }: Json) => name);
  assert.equal(await names('name=GLOBAL_p'), ['nc_global_project_count']);
  assert.equal(await names('name=nc_user_count'), ['nc_user_count']);
  assert.is((await names('name=')).length, 23);
  assert.equal(await names('name=%25'), []);
  const one = await quota(people.customer, 'nc_vm_count');
  assert.is((await fixture.staff.get(`${one.url}?name=nothing&uuid=x`)).status, 200);
});

test('list, read and history: ST and GS all; CO, CS, PA, PM, PS of readable scopes; UN 404 except shared settings; AN 401', async () => {
  const readers = async (url: string) =>
    asEachPersona(people, async (client) => {
      const responses = [await client.get(url), await client.get(`${url}history/?point=1600000000`)];
      assert.is(responses[0]?.status, responses[1]?.status);
      return responses[0]?.status;
    });
  const connected = sameExcept(200, { stranger: 404 });
  assert.equal(await readers((await quota(people.customer, 'nc_vm_count')).url), connected);
  assert.equal(await readers((await quota(people.project, 'nc_vm_count')).url), connected);
  const shared = settingsQuota(true);
  for (const url of [(await globalQuota('nc_global_project_count')).url, shared])
    assert.equal(
      await readers(url),
      Object.fromEntries(personaNames.map((part) => [part, part === 'staff' || part === 'support' ? 200 : 404])),
    );
  for (const path of [shared, `${shared}history/?point=1`]) assert.is((await fixture.anonymous.get(path)).status, 401);
});

test("shows quotas of a customer's settings only to its owner and support", async () => {
  const { id } = settings(fixture, 'Private', people.customer);
  change(fixture, () => createQuotas(contextOf(fixture), 'settings', id, ['openstack_vcpu']));
  const { uuid } = (await fixture.staff.get('/api/quotas/?name=openstack_vcpu')).body[0];
  assert.equal(await asEachPersona(people, async (client) => (await client.get(`/api/quotas/${uuid}/`)).status), {
    staff: 200,
    support: 200,
    owner: 200,
    helper: 200,
    manager: 404,
    admin: 404,
    observer: 404,
    stranger: 404,
  });
});

test('only staff and the owner of its customer edit a quota of a project', async () => {
  const { url } = await quota(people.project, 'nc_vm_count');
  assert.equal(
    await asEachPersona(people, async (client) => (await client.patch(url, { limit: 7 })).status),
    sameExcept(403, { staff: 200, owner: 200, stranger: 404 }),
  );
  assert.is((await fixture.anonymous.patch(url, { limit: 7 })).status, 401);
  assert.equal(
    (await people.clients.helper.put(url, { limit: 'x' })).body,
    { detail: 'You do not have permission to perform this action.' },
    'the right comes before the body',
  );
  const foreign = await fixture.customer('Foreign');
  await fixture.grant(foreign, people.users.observer, 'owner');
  assert.is(
    (await people.clients.observer.patch(url, { limit: 7 })).status,
    403,
    'an owner of another customer is none of this one',
  );
});

test('only staff edit other quotas: 403 for readers, 404 for other callers', async () => {
  const ofCustomer = (await quota(people.customer, 'nc_vm_count')).url;
  assert.equal(
    await asEachPersona(people, async (client) => (await client.patch(ofCustomer, { limit: 7 })).status),
    sameExcept(403, { staff: 200, stranger: 404 }),
  );
  for (const url of [settingsQuota(false), (await globalQuota('nc_global_project_count')).url])
    assert.equal(
      await asEachPersona(people, async (client) => (await client.patch(url, { limit: 7 })).status),
      sameExcept(404, { staff: 200, support: 403 }),
    );
});

test('limit and threshold are optional in PUT and PATCH; other fields are ignored', async () => {
  const { url } = await quota(people.customer, 'nc_vm_count');
  assert.is((await fixture.staff.put(url, {})).status, 200);
  const changed = await fixture.staff.put(url, { url: 'nowhere', limit: 12.5 });
  assert.equal([changed.status, changed.body.limit, changed.body.threshold], [200, 12.5, 0]);
  const again = await fixture.staff.patch(url, {
    ...changed.body,
    threshold: '3',
    name: 'other',
    usage: 99,
    scope: null,
    uuid: 'x',
  });
  assert.equal([again.status, again.body], [200, { ...changed.body, threshold: 3 }]);
  const form = await fixture.staff.send('PATCH', url, 'limit=20&limit=21&threshold=1e1', {
    'Content-Type': 'application/x-www-form-urlencoded',
  });
  assert.equal([form.status, form.body.limit, form.body.threshold], [200, 21, 10]);
  assert.equal((await fixture.staff.get(url)).body, form.body);
});

test('accepts numeric strings; rejects NaN, infinity, booleans and text with the number message, null with the null message', async () => {
  const { url } = await quota(people.customer, 'nc_vm_count');
  for (const value of [7, '7', ' 7.0 ', '7e0', '+7', '.7e1', 7.0]) {
    assert.is((await fixture.staff.patch(url, { limit: value })).body.limit, 7, JSON.stringify(value));
  }
  for (const value of ['NaN', 'Infinity', '-inf', '1e999', true, false, 'many', [7], { limit: 7 }, '0x7', '7,5']) {
    const response = await fixture.staff.patch(url, { limit: value, threshold: value });
    assert.equal(
      [response.status, response.body],
      [400, { limit: ['A valid number is required.'], threshold: ['A valid number is required.'] }],
      JSON.stringify(value),
    );
  }
  const huge = await fixture.staff.send('PATCH', url, '{"limit":1e999}', { 'Content-Type': 'application/json' });
  assert.equal(huge.body, { limit: ['A valid number is required.'] });
  for (const value of [null, '']) {
    assert.equal((await fixture.staff.patch(url, { limit: value, threshold: value })).body, {
      limit: ['This field may not be null.'],
      threshold: ['This field may not be null.'],
    });
  }
  assert.equal((await fixture.staff.patch(url, { threshold: -0.5 })).body, {
    threshold: ['Ensure this value is greater than or equal to 0.'],
  });
  assert.is((await fixture.staff.get(url)).body.limit, 7);
});

test('stores, shows and counts very large and very small numbers', async () => {
  const { url } = await quota(people.customer, 'nc_project_count');
  for (const value of [9e18, 1e19, 1e21, 1e308, 0.1, 1.5e-7, 2 ** 53 + 2, 123456789.125]) {
    const response = await fixture.staff.patch(url, { limit: value < 1 ? value + 1 : value, threshold: value });
    assert.equal(
      [response.status, response.body.limit, response.body.threshold],
      [200, value < 1 ? value + 1 : value, value],
    );
    assert.equal(
      (await fixture.staff.get(`${url}history/?point=1600000000`)).body[0].object.limit,
      response.body.limit,
    );
    assert.is((await fixture.staff.get(people.customer.url)).status, 200);
  }
  const { body } = await fixture.staff.send(
    'PATCH',
    (await quota(people.customer, 'nc_vm_count')).url,
    '{"limit":-0.0,"threshold":-0}',
    { 'Content-Type': 'application/json' },
  );
  assert.ok(Object.is(body.limit, 0) && Object.is(body.threshold, 0), 'a negative zero is zero');
});

test('a backend-cached quota returns 409 for any body, after the right and the fields are checked', async () => {
  const url = settingsQuota(true);
  const rejection = [409, { detail: 'It is impossible to modify backend quota through this endpoint.' }];
  for (const body of [{}, { limit: 5 }, { threshold: 1 }, { limit: -2 }]) {
    for (const method of ['PUT', 'PATCH']) {
      const response = await fixture.staff.send(method, url, body);
      assert.equal([response.status, response.body], rejection);
    }
  }
  assert.equal((await fixture.staff.patch(url, { limit: 'x' })).body, { limit: ['A valid number is required.'] });
  assert.is((await people.clients.support.patch(url, { limit: 'x' })).status, 403);
  assert.equal(
    [
      (await fixture.staff.get(url)).body.limit,
      (await fixture.staff.get(`${url}history/?point=1600000000`)).body[0].object.limit,
    ],
    [-1, -1],
  );
});

test('rejects a limit below the usage and negative ones other than -1', async () => {
  const { url } = await quota(people.customer, 'nc_user_count');
  for (const value of [4, 4.999, 0, -0.5, -1.5, -2, -1e300]) {
    const response = await fixture.staff.patch(url, { limit: value, threshold: 3 });
    assert.equal(
      [response.status, response.body],
      [400, { limit: ['Current quota usage exceeds new limit.'] }],
      String(value),
    );
  }
  assert.equal((await fixture.staff.get(url)).body, {
    ...(await fixture.staff.get(url)).body,
    limit: -1,
    usage: 5,
    threshold: 0,
  });
  for (const value of [5, -1, 1000]) assert.is((await fixture.staff.patch(url, { limit: value })).body.limit, value);
  const unused = await quota(people.customer, 'nc_vm_count');
  assert.equal((await fixture.staff.patch(unused.url, { limit: -0.001 })).status, 400);
  assert.equal((await fixture.staff.patch(unused.url, { limit: 0 })).status, 200);
});

test('quota changes record no event', async () => {
  const { url } = await quota(people.customer, 'nc_project_count');
  await fixture.staff.patch(url, { limit: 5, threshold: 1 });
  assert.equal(fixture.events(), []);
});

test('usage follows the links of a project in the same transaction; a moved project loses its links', async () => {
  const target = await fixture.customer('Target');
  link(fixture, people.project, { vcpu: { limit: 10, usage: 4 } });
  const counts = async (object: Json) => (await quota(object, 'nc_service_project_link_count')).usage;
  assert.equal([await counts(people.project), await counts(people.customer), await counts(target)], [1, 1, 0]);
  await fixture.staff.patch((await quota(target, 'nc_service_project_link_count')).url, { limit: 0 });
  assert.is((await fixture.staff.patch(people.project.url, { customer: target.url })).status, 200);
  assert.equal([await counts(people.project), await counts(people.customer), await counts(target)], [0, 0, 0]);
});

test('moving a project checks each quota of the target, in order of name, and changes nothing if rejected', async () => {
  const target = await fixture.customer('Target', { abbreviation: 'TG' });
  await fixture.staff.patch((await quota(target, 'nc_user_count')).url, { limit: 2 });
  await fixture.staff.patch((await quota(target, 'nc_project_count')).url, { limit: 0 });
  fixture.events();
  const response = await fixture.staff.patch(people.project.url, { customer: target.url, name: 'Renamed' });
  assert.equal(
    [response.status, response.body],
    [
      409,
      {
        detail:
          'One or more quotas were exceeded: ' +
          'nc_project_count quota limit: 0.0, requires 1.0 (Target (TG)); nc_user_count quota limit: 2.0, requires 3.0 (Target (TG))',
      },
    ],
  );
  assert.equal(fixture.events(), []);
  assert.equal((await fixture.staff.get(people.project.url)).body.name, 'Rocket');
});

test('usage is never below zero', () => {
  const id = link(fixture, people.project, { vcpu: { usage: 2 } });
  change(fixture, () => countQuotas(contextOf(fixture), [{ scope: 'link', id, name: 'vcpu', delta: -5 }]));
  assert.is(fixture.server.app.db.value(sql`SELECT usage FROM quota WHERE scope_kind = 'link' AND name = 'vcpu'`), 0);
  setQuota(fixture, 'link', id, 'vcpu', { usage: 3 });
  assert.is(fixture.server.app.db.value(sql`SELECT usage FROM quota WHERE scope_kind = 'link' AND name = 'vcpu'`), 3);
});

test('adds up changes of the same quota', () => {
  const id = link(fixture, people.project, { vcpu: { limit: 10, usage: 4 } });
  const require = (delta: number) => ({ scope: 'link', id, name: 'vcpu', delta }) as const;
  requireQuotas(fixture.server, [require(3), require(3)]);
  requireQuotas(fixture.server, [require(9), require(-3)]);
  assert.throws(() => requireQuotas(fixture.server, [require(4), require(3)]));
});

test('returns 405 with Allow for creating, deleting or patching quotas', async () => {
  const { url } = await quota(people.customer, 'nc_vm_count');
  for (const [method, path, allow] of [
    ['POST', '/api/quotas/', 'GET, HEAD, OPTIONS'],
    ['DELETE', url, 'GET, PUT, PATCH, HEAD, OPTIONS'],
    ['POST', `${url}history/`, 'GET, HEAD, OPTIONS'],
  ] as const) {
    const response = await fixture.staff.send(method, path, {});
    assert.equal(
      [response.status, response.body, response.headers.get('allow')],
      [405, { detail: `Method "${method}" not allowed.` }, allow],
    );
  }
});

test('OPTIONS shows the writable fields to users who may edit', async () => {
  const { url } = await quota(people.project, 'nc_vm_count');
  const { actions, name } = (await people.clients.owner.options(url)).body;
  assert.is(name, 'Quota Instance');
  assert.equal(
    Object.entries(actions.PUT)
      .filter(([, field]) => !(field as Json).read_only)
      .map(([key]) => key),
    ['limit', 'threshold'],
  );
  assert.equal([actions.PUT.threshold.type, actions.PUT.threshold.min_value], ['float', 0]);
  assert.is((await people.clients.helper.options(url)).body.actions, undefined);
});

test.run();
