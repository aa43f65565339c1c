/** The history of monitoring items: GET /api/monitoring-items/history/ (services.md 7.4). */
import * as assert from 'uvu/assert';
import { raw } from '../../../src/kernel/db/sql.ts';
import { type Droplets, dropletService } from '../../support/droplets.ts';
import type { Json } from '../../support/fixture.ts';
import { createPersonas, type Personas } from '../../support/personas.ts';
import { suiteWithServerPerTest } from '../../support/suite.ts';

const { test, fixture } = suiteWithServerPerTest('history of monitoring items');
const path = '/api/monitoring-items/';
let people: Personas;
let service: Droplets;
let droplet: Json;

test.before.each(async () => {
  people = await createPersonas(fixture);
  service = await dropletService(fixture, people);
  droplet = await service.make();
});

const report = (value: number, name = 'load', scope = droplet.url) => fixture.staff.put(path, { scope, name, value });
const now = (): number => Math.floor(fixture.clock.now() / 1_000_000);
const history = (query: string, client = people.clients.observer) => client.get(`${path}history/?${query}`);
const stored = (): number => fixture.server.app.db.count(raw('SELECT count(*) FROM monitoring_value'));

test('each point has the value at the end of its second; points before the first value are empty', async () => {
  const start = now();
  await report(1.5);
  fixture.clock.advance(60);
  await report(2);
  fixture.clock.advance(60);
  const points = [start - 1, start, start + 59, start + 60, start + 200];
  const { body, status } = await history(`scope=${droplet.url}&${points.map((point) => `point=${point}`).join('&')}`);
  const values = [undefined, 1.5, 1.5, 2, 2].map((value, i) => ({
    point: points[i],
    ...(value !== undefined && { value }),
  }));
  assert.equal([status, body], [200, [{ scope: droplet.url, name: 'load', history: values }]]);
  const spread = await history(`start=${start}&end=${start + 100}&points_count=2`);
  assert.equal(spread.body[0].history, [
    { point: start, value: 1.5 },
    { point: start + 100, value: 2 },
  ]);
});

test('lists the visible items by name, filtered by scope and name', async () => {
  const other = await service.make({ name: 'other' });
  await report(1);
  await report(2, 'alive');
  await report(3, 'load', other.url);
  const requests = async (query: string, client = people.clients.observer): Promise<unknown> =>
    (await history(`point=${now()}&${query}`, client)).body.map(({ history: [{ value }], name, scope }: Json) => [
      name,
      scope === other.url ? 'other' : 'web',
      value,
    ]);
  const all = [
    ['alive', 'web', 2],
    ['load', 'web', 1],
    ['load', 'other', 3],
  ];
  assert.equal(await requests(''), all);
  assert.equal(await requests('', fixture.staff), all);
  assert.equal(await requests(`scope=${other.url}`), [['load', 'other', 3]]);
  assert.equal(await requests('name=alive'), [['alive', 'web', 2]]);
  assert.equal(await requests('name=lo'), []);
  assert.equal(await requests('', people.clients.stranger), []);
});

test('rejects invalid parameters, with all errors at once', async () => {
  const rejection = async (query: string, client = people.clients.observer): Promise<unknown> => {
    const { body, status } = await history(query, client);
    return [status, body];
  };
  const few =
    'Not enough parameters for historical data. (Either "point" or "start" + "end" + "points_count" parameters have to be provided).';
  assert.equal(await rejection(''), [400, { non_field_errors: [few] }]);
  assert.equal(await rejection('point=x'), [400, { point: ['Value "x" should be valid UNIX timestamp.'] }]);
  assert.equal(await rejection(`point=1&scope=${people.project.url}`), [
    400,
    { scope: [`${people.project.url} object does not support such relationship.`] },
  ]);
  assert.equal(await rejection(`point=1&scope=${droplet.url}`, people.clients.stranger), [
    400,
    { scope: [`Can't restore object from url: ${droplet.url}`] },
  ]);
  for (let i = 0; i < 11; i++) await report(i, `item-${i}`);
  const many = 'More than 300 items, or 10000 values, are asked for: name a scope, or fewer points.';
  assert.equal(await rejection('start=0&end=1000&points_count=1000'), [400, { non_field_errors: [many] }]);
  assert.is((await history('start=0&end=1000&points_count=900')).status, 200);
});

test('stores the newest 1,000 values of an item, and deletes them with the item or the resource', async () => {
  await report(7, 'other');
  for (let i = 0; i < 1002; i++) {
    fixture.clock.advance(1);
    await report(i);
  }
  assert.is(stored(), 1001);
  const { body } = await history(`name=load&point=${now() - 1000}&point=${now() - 999}`);
  assert.equal(
    body[0].history.map(({ value }: Json) => value),
    [undefined, 2],
  );
  assert.is((await fixture.staff.delete(`${path}?scope=${droplet.url}&name=load`)).status, 204);
  assert.is(stored(), 1);
  await fixture.staff.post(`${droplet.url}unlink/`);
  assert.is(stored(), 0);
});

test('a rejected value is not part of the history', async () => {
  for (const value of ['x', null, true]) await fixture.staff.put(path, { scope: droplet.url, name: 'load', value });
  assert.is((await people.clients.owner.put(path, { scope: droplet.url, name: 'load', value: 1 })).status, 403);
  assert.is(stored(), 0);
});

test.run();
