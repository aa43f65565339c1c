import * as assert from 'uvu/assert';
import { type Droplets, dropletService } from '../../support/droplets.ts';
import type { Json } from '../../support/fixture.ts';
import { asEachPersona, createPersonas, type Personas, sameExcept } from '../../support/personas.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('SLA and monitoring items (services.md 7.4)');
let people: Personas;
let cloud: Droplets;
let web: Json;
let db: Json;

const sla = '/api/resource-sla/';
const items = '/api/monitoring-items/';

test.before(async () => {
  people = await createPersonas(fixture);
  cloud = await dropletService(fixture, people);
  web = await cloud.make({ name: 'web' });
  db = await cloud.make({ name: 'db' });
});

const put = async (path: string, body: Readonly<Record<string, unknown>>): Promise<unknown[]> => {
  const response = await fixture.staff.put(path, body);
  return [response.status, response.body];
};

test('writes and overwrites the SLA of a resource and period', async () => {
  const row = { scope: web.url, period: '2018-01', value: 99.5, agreed_value: null };
  assert.equal(
    await put(sla, { scope: web.url, period: '2018-01', value: 99.5 }),
    [201, row],
    'absent is null on a new row',
  );
  assert.equal(
    await put(sla, { scope: web.url, period: '2018-01', agreed_value: 95 }),
    [200, { ...row, agreed_value: 95 }],
    'and unchanged on an old one',
  );
  assert.equal(await put(sla, { scope: web.url, period: '2018-01', value: null }), [
    200,
    { ...row, value: null, agreed_value: 95 },
  ]);
  assert.equal(await put(sla, { scope: web.url, period: '2018', value: 100, agreed_value: 0 }), [
    201,
    { scope: web.url, period: '2018', value: 100, agreed_value: 0 },
  ]);
  assert.is(
    JSON.stringify((await put(sla, { scope: web.url, period: '2017-12', value: 90 }))[1]),
    JSON.stringify({ scope: web.url, period: '2017-12', value: 90, agreed_value: null }),
  );
});

test('writes and overwrites a monitoring item of a resource', async () => {
  assert.equal(await put(items, { scope: web.url, name: 'cpu.load_1-min', value: 0.25 }), [
    201,
    { scope: web.url, name: 'cpu.load_1-min', value: 0.25 },
  ]);
  assert.equal(await put(items, { scope: web.url, name: 'cpu.load_1-min', value: -3 }), [
    200,
    { scope: web.url, name: 'cpu.load_1-min', value: -3 },
  ]);
  assert.equal((await fixture.staff.get(web.url)).body.monitoring_items, { 'cpu.load_1-min': -3 });
});

test('validates bodies field by field', async () => {
  const required = ['This field is required.'];
  assert.equal(await put(sla, {}), [400, { scope: required, period: required }]);
  assert.equal(await put(items, {}), [400, { scope: required, name: required, value: required }]);
  const scope = web.url;
  for (const period of ['2018-13', '2018-1', '18', 'x', '2018-01-01']) {
    const [status, body] = (await put(sla, { scope, period })) as [number, Json];
    assert.equal([status, Object.keys(body)], [400, ['period']], period);
  }
  assert.equal(await put(sla, { scope, period: '2018-13' }), [400, { period: ['Enter a period as YYYY-MM or YYYY.'] }]);
  assert.equal(await put(sla, { scope, period: '2018', value: 101, agreed_value: -1 }), [
    400,
    {
      value: ['Ensure this value is less than or equal to 100.'],
      agreed_value: ['Ensure this value is greater than or equal to 0.'],
    },
  ]);
  assert.equal(await put(sla, { scope, period: '2018', value: 'much' }), [
    400,
    { value: ['A valid number is required.'] },
  ]);
  assert.equal(await put(items, { scope, name: 'a b', value: 'x' }), [
    400,
    { name: ['Enter a name of letters, digits, "_", "." and "-".'], value: ['A valid number is required.'] },
  ]);
  assert.equal(await put(items, { scope, name: 'x'.repeat(151), value: null }), [
    400,
    { name: ['Ensure this field has no more than 150 characters.'], value: ['This field may not be null.'] },
  ]);
  for (const value of [Number.MAX_VALUE, 1e-300])
    assert.is((await put(items, { scope, name: 'edge', value }))[0], value === Number.MAX_VALUE ? 201 : 200);
  const overflow = await fixture.staff.send('PUT', items, `{"scope":"${scope}","name":"edge","value":1e999}`, {
    'Content-Type': 'application/json',
  });
  assert.equal([overflow.status, overflow.body], [400, { value: ['A valid number is required.'] }]);
  await fixture.staff.delete(`${items}?scope=${scope}&name=edge`);
});

test('a scope is a resource', async () => {
  const project = people.project.url;
  const unrelated = { scope: [`${project} object does not support such relationship.`] };
  assert.equal(await put(sla, { scope: project, period: '2018' }), [400, unrelated]);
  assert.equal(await put(items, { scope: project, name: 'a', value: 1 }), [400, unrelated]);
  for (const path of [`${sla}?scope=${project}`, `${items}?scope=${project}`]) {
    const listed = await fixture.staff.get(path);
    assert.equal([listed.status, listed.body], [400, unrelated]);
  }
  const removed = await fixture.staff.delete(`${sla}?scope=${project}&period=2018`);
  assert.equal([removed.status, removed.body], [400, unrelated]);
});

test('lists and filters rows of visible resources, by period descending or by name', async () => {
  await put(sla, { scope: db.url, period: '2018-01', value: 50 });
  await put(items, { scope: db.url, name: 'alive', value: 1 });
  const periods = async (query = '', client = people.clients.observer): Promise<string[]> =>
    (await client.get(sla + query)).body.map(
      ({ period, scope }: Json) => `${period} ${scope === web.url ? 'web' : 'db'}`,
    );
  assert.equal(await periods(), ['2018-01 web', '2018-01 db', '2018 web', '2017-12 web']);
  assert.equal(await periods(`?scope=${db.url}`), ['2018-01 db']);
  assert.equal(await periods('?period=2018'), ['2018 web'], 'exactly that period');
  assert.equal(await periods('', people.clients.stranger), []);
  const malformed = await fixture.staff.get(`${sla}?period=x`);
  assert.equal([malformed.status, malformed.body], [400, { period: ['Enter a period as YYYY-MM or YYYY.'] }]);
  const listed = (await people.clients.observer.get(items)).body;
  assert.equal(listed, [
    { scope: db.url, name: 'alive', value: 1 },
    { scope: web.url, name: 'cpu.load_1-min', value: -3 },
  ]);
  assert.equal((await people.clients.observer.get(`${items}?name=alive`)).body, [listed[0]]);
  const page = await fixture.staff.get(`${sla}?page_size=3&page=2`);
  assert.equal([page.headers.get('x-result-count'), page.body.length], ['4', 1]);
  const unseen = await people.clients.stranger.get(`${sla}?scope=${web.url}`);
  assert.equal([unseen.status, unseen.body], [400, { scope: [`Can't restore object from url: ${web.url}`] }]);
});

test('sla shows the row of exactly the selected period; the default is the current month in UTC', async () => {
  const value = async (query = ''): Promise<unknown> => (await fixture.staff.get(web.url + query)).body.sla;
  assert.equal(await value(), { value: null, agreed_value: 95, period: '2018-01' });
  assert.is(JSON.stringify(await value('?period=2018')), '{"value":100,"agreed_value":0,"period":"2018"}');
  assert.equal(await value('?period=2016'), null);
  assert.equal((await fixture.staff.get('/api/resources/?period=2017-12&name=web')).body[0].sla, {
    value: 90,
    agreed_value: null,
    period: '2017-12',
  });
  assert.equal(
    (await fixture.staff.get('/api/resources/?period=2016')).body.length,
    2,
    'a period never shortens the list',
  );
});

test('values of a month are no longer shown after its end', async () => {
  const sees = async (path: string): Promise<unknown> => {
    const { body, headers } = await fixture.staff.get(path);
    return [(Array.isArray(body) ? body[0] : body).sla?.period, headers.get('etag')];
  };
  const paths = [
    web.url,
    '/api/resources/?name=web',
    '/api/digitalocean-droplets/?name=web',
    '/api/resources/?name=web&period=2018',
  ];
  fixture.clock.set('2018-01-31T23:59:59Z');
  const before = await Promise.all(paths.map(sees));
  assert.equal(
    before.map((one) => (one as unknown[])[0]),
    ['2018-01', '2018-01', '2018-01', '2018'],
  );
  assert.equal(await Promise.all(paths.map(sees)), before);
  fixture.clock.set('2018-02-01T00:00:00Z');
  const after = (await Promise.all(paths.map(sees))) as [string, string][];
  assert.equal(
    after.map(([period]) => period),
    [undefined, undefined, undefined, '2018'],
  );
  assert.is.not(after[0]?.[1], (before[0] as string[])[1]);
});

test('DELETE requires both parameters and a row', async () => {
  const remove = async (query: string): Promise<unknown[]> => {
    const { body, status } = await fixture.staff.delete(query);
    return [status, body];
  };
  const required = ['This field is required.'];
  assert.equal(await remove(sla), [400, { scope: required, period: required }]);
  assert.equal(await remove(`${items}?scope=${web.url}`), [400, { name: required }]);
  assert.equal(await remove(`${sla}?scope=${web.url}&period=2015`), [404, { detail: 'Not found.' }]);
  assert.equal(await remove(`${sla}?scope=${web.url}&period=x`), [
    400,
    { period: ['Enter a period as YYYY-MM or YYYY.'] },
  ]);
  assert.equal(await remove(`${sla}?scope=${web.url}&period=2018`), [204, undefined]);
  assert.equal(await remove(`${items}?scope=${web.url}&name=cpu.load_1-min`), [204, undefined]);
  assert.equal((await fixture.staff.get(web.url)).body.monitoring_items, {});
});

test('only staff write; others are rejected before any other check', async () => {
  for (const path of [sla, items]) {
    for (const method of ['PUT', 'DELETE']) {
      const statuses = await asEachPersona(people, async (client) => (await client.send(method, path, {})).status);
      assert.equal(statuses, sameExcept(403, { staff: 400 }));
    }
    for (const method of ['POST', 'PATCH']) assert.is((await fixture.staff.send(method, path, {})).status, 405);
    assert.equal(Object.keys((await fixture.staff.options(path)).body.actions ?? {}), ['PUT']);
    assert.is((await people.clients.owner.options(path)).body.actions, undefined);
  }
});

test('deleting a resource deletes its rows', async () => {
  await fixture.staff.post(`${db.url}unlink/`);
  assert.equal((await fixture.staff.get(items)).body, []);
  assert.equal((await fixture.staff.get(`${sla}?period=2018-01`)).body.length, 1);
});

test.run();
