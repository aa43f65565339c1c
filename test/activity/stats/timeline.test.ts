import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Client, Json } from '../../support/fixture.ts';
import { link, setQuota } from '../../support/links.ts';
import { createPersonas, type Personas } from '../../support/personas.ts';
import { suiteWithServerPerTest } from '../../support/suite.ts';

const { test, fixture } = suiteWithServerPerTest('GET /api/stats/quota/timeline/ (events.md 6.3)');
let people: Personas;

test.before.each(async () => {
  people = await createPersonas(fixture);
});

const seconds = (time: string): number => Date.parse(time) / 1000;
const at = (time: string): void => fixture.clock.set(time);
const timeline = async (query: string, client: Client = fixture.staff): Promise<Json> =>
  (await client.get(`/api/stats/quota/timeline/?${query}`)).body;
const between = (from: string, to: string, rest = '') => timeline(`from=${seconds(from)}&to=${seconds(to)}&${rest}`);
/** Returns the borders of a range in its buckets. */
const borders = async (from: string, to: string, interval: string): Promise<string[]> => {
  const buckets: { from: number; to: number }[] = await between(from, to, `interval=${interval}`);
  for (const [i, bucket] of buckets.slice(1).entries())
    assert.is(bucket.from, buckets[i]?.to, 'one begins where the other ends');
  const iso = (second: number | undefined): string => new Date((second as number) * 1000).toISOString().slice(0, 19);
  return buckets.length === 0 ? [] : [iso(buckets[0]?.from), ...buckets.map(({ to }) => iso(to))];
};

test('the documented example: averages over the day, weighted by time, summed over the links', async () => {
  at('2018-01-02T00:00:00Z');
  const id = link(fixture, people.project, { vcpu: { limit: 10, usage: 2 } });
  link(fixture, people.project, { vcpu: { limit: 100, usage: 7 } });
  at('2018-01-02T18:00:00Z');
  setQuota(fixture, 'link', id, 'vcpu', { usage: 6 });
  at('2018-02-01T00:00:00Z');
  assert.is(
    JSON.stringify(await timeline('from=1514851200&to=1514937600&item=vcpu')),
    '[{"from":1514851200,"to":1514937600,"vcpu_limit":110,"vcpu_usage":10}]',
  );
});

test('a row has from, to, then limit and usage of vcpu, ram, storage in this order; other quotas of links are excluded', async () => {
  at('2018-01-02T00:00:00Z');
  link(fixture, people.project, {
    storage: { limit: 3, usage: 1 },
    ram: { usage: 1024 },
    vcpu: { limit: 8 },
    other: { usage: 5 },
  });
  at('2018-01-03T00:00:00Z');
  const [row] = await timeline('interval=day');
  assert.is(
    JSON.stringify(row),
    '{"from":1514851200,"to":1514937600,"vcpu_limit":8,"vcpu_usage":0,"ram_limit":-1,"ram_usage":1024,"storage_limit":3,"storage_usage":1}',
  );
  assert.equal(Object.keys((await timeline('item=storage&item=vcpu'))[0]), [
    'from',
    'to',
    'vcpu_limit',
    'vcpu_usage',
    'storage_limit',
    'storage_usage',
  ]);
  assert.equal(await timeline('item=other&item=nothing'), [{ from: 1514851200, to: 1514937600 }], 'unknown: no values');
});

test('the range defaults to the last day', async () => {
  fixture.clock.hold();
  at('2018-01-05T04:47:04.999Z');
  assert.equal(await timeline(''), [
    { from: seconds('2018-01-04T04:47:04Z'), to: seconds('2018-01-05T00:00:00Z') },
    { from: seconds('2018-01-05T00:00:00Z'), to: seconds('2018-01-05T04:47:04Z') },
  ]);
});

test('borders are UTC hours, days, Mondays, first days of months; the first and last bucket are clipped', async () => {
  assert.equal(await borders('2018-01-01T22:30:00Z', '2018-01-02T01:00:01Z', 'hour'), [
    '2018-01-01T22:30:00',
    '2018-01-01T23:00:00',
    '2018-01-02T00:00:00',
    '2018-01-02T01:00:00',
    '2018-01-02T01:00:01',
  ]);
  assert.equal(await borders('2018-02-27T12:00:00Z', '2018-03-02T00:00:00Z', 'day'), [
    '2018-02-27T12:00:00',
    '2018-02-28T00:00:00',
    '2018-03-01T00:00:00',
    '2018-03-02T00:00:00',
  ]);
  assert.equal(await borders('2018-01-03T00:00:00Z', '2018-01-16T12:00:00Z', 'week'), [
    '2018-01-03T00:00:00',
    '2018-01-08T00:00:00',
    '2018-01-15T00:00:00',
    '2018-01-16T12:00:00',
  ]);
  assert.equal(
    await borders('2018-01-07T23:59:59Z', '2018-01-08T00:00:00Z', 'week'),
    ['2018-01-07T23:59:59', '2018-01-08T00:00:00'],
    'a Sunday belongs to the week before',
  );
  assert.equal(await borders('1970-01-01T00:00:00Z', '1970-01-13T00:00:00Z', 'week'), [
    '1970-01-01T00:00:00',
    '1970-01-05T00:00:00',
    '1970-01-12T00:00:00',
    '1970-01-13T00:00:00',
  ]);
  assert.equal(await borders('2015-12-31T00:00:00Z', '2016-03-01T00:00:00Z', 'month'), [
    '2015-12-31T00:00:00',
    '2016-01-01T00:00:00',
    '2016-02-01T00:00:00',
    '2016-03-01T00:00:00',
  ]);
  assert.equal(await borders('9999-11-30T00:00:00Z', '9999-12-31T23:59:59Z', 'month'), [
    '9999-11-30T00:00:00',
    '9999-12-01T00:00:00',
    '9999-12-31T23:59:59',
  ]);
});

test('no bucket is empty; an empty or reversed range returns an empty list', async () => {
  assert.equal(await borders('2018-01-01T00:00:00Z', '2018-01-03T00:00:00Z', 'day'), [
    '2018-01-01T00:00:00',
    '2018-01-02T00:00:00',
    '2018-01-03T00:00:00',
  ]);
  assert.equal(await between('2018-01-01T00:00:00Z', '2018-01-01T00:00:00Z'), []);
  assert.equal(await between('2018-01-02T00:00:00Z', '2018-01-01T00:00:00Z'), []);
});

test('returns 5,000 buckets and rejects more with 400, however many there would be', async () => {
  const limit = { interval: ['The range holds more than 5000 intervals.'] };
  const full = await timeline(`interval=hour&from=0&to=${5000 * 3600}&page=2&page_size=10`);
  assert.equal([full.length, full[4999]], [5000, { from: 4999 * 3600, to: 5000 * 3600 }]);
  assert.equal(await timeline(`interval=hour&from=0&to=${5000 * 3600 + 1}`), limit);
  for (const interval of ['hour', 'day', 'week', 'month'])
    assert.equal(await timeline(`interval=${interval}&from=0&to=253402300799`), limit);
});

test('returns 400 for invalid values under their names', async () => {
  const responses: Record<string, Json> = {
    'from=x': { from: ['Value "x" should be valid UNIX timestamp.'] },
    'to=1.5': { to: ['Value "1.5" should be valid UNIX timestamp.'] },
    'interval=year': { interval: ['"year" is not a valid choice.'] },
    'interval=Day': { interval: ['"Day" is not a valid choice.'] },
    'aggregate=user': { aggregate: ['"user" is not a valid choice.'] },
    'uuid=x': { uuid: ['"x" is not a valid UUID.'] },
    'from=5&to=5&uuid=x': { uuid: ['"x" is not a valid UUID.'] },
  };
  for (const [query, body] of Object.entries(responses)) {
    const response = await fixture.staff.get(`/api/stats/quota/timeline/?${query}`);
    assert.equal([response.status, response.body], [400, body], query);
  }
  assert.is((await fixture.anonymous.get('/api/stats/quota/timeline/')).status, 401);
  assert.is((await fixture.staff.post('/api/stats/quota/timeline/')).status, 405);
});

test('averages over the part of the bucket in which the quota existed', async () => {
  at('2018-01-02T12:00:00Z');
  const id = link(fixture, people.project, { vcpu: { limit: 10, usage: 4 } });
  at('2018-01-02T18:00:00Z');
  setQuota(fixture, 'link', id, 'vcpu', { usage: 8, limit: 20 });
  at('2018-02-01T00:00:00Z');
  assert.equal(await between('2018-01-01T00:00:00Z', '2018-01-04T00:00:00Z'), [
    { from: seconds('2018-01-01T00:00:00Z'), to: seconds('2018-01-02T00:00:00Z') },
    { from: seconds('2018-01-02T00:00:00Z'), to: seconds('2018-01-03T00:00:00Z'), vcpu_limit: 15, vcpu_usage: 6 },
    { from: seconds('2018-01-03T00:00:00Z'), to: seconds('2018-01-04T00:00:00Z'), vcpu_limit: 20, vcpu_usage: 8 },
  ]);
});

test('excludes the future from a bucket, and a bucket in the future has no values', async () => {
  at('2018-01-02T00:00:00Z');
  const id = link(fixture, people.project, { vcpu: { limit: 10, usage: 4 } });
  at('2018-01-02T03:00:00Z');
  setQuota(fixture, 'link', id, 'vcpu', { usage: 0 });
  at('2018-01-02T04:00:00Z');
  assert.equal(await between('2018-01-02T00:00:00Z', '2018-01-04T00:00:00Z'), [
    { from: seconds('2018-01-02T00:00:00Z'), to: seconds('2018-01-03T00:00:00Z'), vcpu_limit: 10, vcpu_usage: 3 },
    { from: seconds('2018-01-03T00:00:00Z'), to: seconds('2018-01-04T00:00:00Z') },
  ]);
});

test('a change at the border of a bucket belongs to the later one', async () => {
  at('2018-01-01T00:00:00Z');
  const id = link(fixture, people.project, { vcpu: { limit: 10, usage: 4 } });
  at('2018-01-02T00:00:00Z');
  setQuota(fixture, 'link', id, 'vcpu', { usage: 5, limit: -1 });
  at('2018-02-01T00:00:00Z');
  const rows = await between('2018-01-01T00:00:00Z', '2018-01-03T00:00:00Z');
  assert.equal(
    rows.map(({ vcpu_limit, vcpu_usage }: Json) => [vcpu_limit, vcpu_usage]),
    [
      [10, 4],
      [-1, 5],
    ],
  );
});

test('a link that is unlimited at the end of the part is unlimited; otherwise its limit is averaged over the time with a limit', async () => {
  at('2018-01-01T00:00:00Z');
  const id = link(fixture, people.project, { vcpu: {} });
  for (const [time, limit] of [
    ['01T12:00', 10],
    ['01T18:00', 20],
    ['02T06:00', -1],
    ['02T12:00', 40],
    ['03T12:00', -1],
  ] as const) {
    at(`2018-01-${time}:00Z`);
    setQuota(fixture, 'link', id, 'vcpu', { limit });
  }
  at('2018-02-01T00:00:00Z');
  const limits = async (query = '') =>
    (await between('2018-01-01T00:00:00Z', '2018-01-04T00:00:00Z', query)).map(({ vcpu_limit }: Json) => vcpu_limit);
  assert.equal(await limits(), [15, 33.33, -1]);
  link(fixture, people.project, { ram: { limit: 5 } });
  assert.equal(await limits(), [15, 33.33, -1], 'a link without the quota changes nothing');
});

test('the limit of the bucket is -1 if any link is unlimited', async () => {
  at('2018-01-01T00:00:00Z');
  link(fixture, people.project, { vcpu: { limit: 5, usage: 1 } });
  link(fixture, people.project, { vcpu: { usage: 2 } });
  link(fixture, people.project, { vcpu: { limit: 7, usage: 3 } });
  at('2018-01-02T00:00:00Z');
  assert.equal(await between('2018-01-01T00:00:00Z', '2018-01-02T00:00:00Z'), [
    { from: 1514764800, to: 1514851200, vcpu_limit: -1, vcpu_usage: 6 },
  ]);
});

test('rounds numbers to 2 decimals', async () => {
  at('2018-01-01T00:00:00Z');
  const id = link(fixture, people.project, { vcpu: { limit: 1, usage: 0 } });
  at('2018-01-01T16:00:00Z');
  setQuota(fixture, 'link', id, 'vcpu', { usage: 1, limit: 2 });
  at('2018-01-02T00:00:00Z');
  assert.equal(await between('2018-01-01T00:00:00Z', '2018-01-02T00:00:00Z'), [
    { from: 1514764800, to: 1514851200, vcpu_limit: 1.33, vcpu_usage: 0.33 },
  ]);
});

test('averages each of many buckets with many changes separately', async () => {
  at('2018-01-01T00:00:00Z');
  const id = link(fixture, people.project, { vcpu: { limit: 100, usage: 0 } });
  for (let i = 1; i < 96; i++) {
    at(new Date(Date.UTC(2018, 0, 1, 0, 30 * i)).toISOString());
    setQuota(fixture, 'link', id, 'vcpu', { usage: i });
  }
  at('2018-01-03T00:00:00Z');
  const rows: Json[] = await between('2018-01-01T00:00:00Z', '2018-01-03T00:00:00Z', 'interval=hour');
  assert.equal(
    rows.map(({ vcpu_usage }) => vcpu_usage),
    Array.from({ length: 48 }, (_, hour) => 2 * hour + 0.5),
  );
  const late: Json[] = await between('2018-01-02T10:15:00Z', '2018-01-02T11:00:00Z', 'interval=hour');
  assert.equal(
    late.map(({ vcpu_usage }) => vcpu_usage),
    [Math.round(((68 * 15 + 69 * 30) / 45) * 100) / 100],
  );
});

test('aggregate and uuid select the links as in stats/quota; without a readable link the buckets have only from and to', async () => {
  at('2018-01-01T00:00:00Z');
  const sibling = await fixture.project('Sibling', people.customer);
  const other = await fixture.customer('Other');
  const remote = await fixture.project('Remote', other);
  for (const [project, usage] of [
    [people.project, 1],
    [sibling, 2],
    [remote, 4],
  ] as const)
    link(fixture, project, { vcpu: { usage } });
  at('2018-01-02T00:00:00Z');
  const usage = async (query: string, client?: Client) =>
    (await timeline(`from=1514764800&to=1514851200&${query}`, client)).map(({ vcpu_usage }: Json) => vcpu_usage);
  assert.equal(await usage(''), [7]);
  assert.equal(await usage(`uuid=${people.customer.uuid}`), [3]);
  assert.equal(await usage(`aggregate=project&uuid=${sibling.uuid}`), [2]);
  assert.equal(await usage('', people.clients.owner), [3]);
  assert.equal(await usage('', people.clients.observer), [1]);
  assert.equal(await timeline('from=1514764800&to=1514851200', people.clients.stranger), [
    { from: 1514764800, to: 1514851200 },
  ]);
  assert.equal(await timeline(`from=1514764800&to=1514851200&uuid=${'0'.repeat(32)}`), [
    { from: 1514764800, to: 1514851200 },
  ]);
  assert.equal(await usage(`uuid=${other.uuid}`, people.clients.owner), [undefined]);
});

test('returns the largest numbers as numbers', async () => {
  at('2018-01-01T00:00:00Z');
  for (const limit of [1.7e308, 1.7e308]) link(fixture, people.project, { vcpu: { limit, usage: 9e18 } });
  at('2018-01-02T00:00:00Z');
  assert.equal(await between('2018-01-01T00:00:00Z', '2018-01-02T00:00:00Z'), [
    { from: 1514764800, to: 1514851200, vcpu_limit: Number.MAX_VALUE, vcpu_usage: 1.8e19 },
  ]);
});

test.run();

const forgotten = suite('timeline and quota_history_retention');

forgotten('buckets before the removed history have no values, later ones are correct', async () => {
  await fixture.open({ quota_history_retention: 86_400_000_000 });
  try {
    people = await createPersonas(fixture);
    at('2018-01-06T00:00:00Z');
    const id = link(fixture, people.project, { vcpu: { limit: 10, usage: 1 } });
    at('2018-01-07T00:00:00Z');
    setQuota(fixture, 'link', id, 'vcpu', { usage: 2 });
    at('2018-01-09T00:00:00Z');
    fixture.server.tick();
    await fixture.server.settled();
    const rows = await between('2018-01-06T00:00:00Z', '2018-01-08T00:00:00Z');
    assert.equal(
      rows.map(({ vcpu_usage }: Json) => vcpu_usage),
      [undefined, 2],
    );
  } finally {
    await fixture.close();
  }
});

forgotten.run();
