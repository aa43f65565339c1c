import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { day } from '../../../src/kernel/clock.ts';
import { sql } from '../../../src/kernel/db/sql.ts';
import type { Json } from '../../support/fixture.ts';
import { change, idOf, setQuota } from '../../support/links.ts';
import { suiteWithServerPerTest } from '../../support/suite.ts';

const { test, fixture } = suiteWithServerPerTest('history of quotas (events.md 2.5)');
let customer: Json;
/** The path of the customer's nc_vm_count, a quota that nothing changes automatically. */
let url: string;

test.before.each(async () => {
  fixture.clock.set('2018-01-01T00:00:00Z');
  customer = await fixture.customer('Alice');
  url = customer.quotas.find(({ name }: Json) => name === 'nc_vm_count').url;
});

const seconds = (time: string): number => Date.parse(time) / 1000;
const created = seconds('2018-01-01T00:00:00Z');

const history = async (query: string): Promise<Json> => (await fixture.staff.get(`${url}history/?${query}`)).body;
/** Returns limit and usage at points; undefined before the quota existed. */
const values = async (...points: number[]): Promise<(readonly [number, number] | undefined)[]> =>
  (await history(points.map((point) => `point=${point}`).join('&'))).map(
    ({ object }: Json) => object && [object.limit, object.usage],
  );
const use = (usage: number): void =>
  setQuota(fixture, 'customer', idOf(fixture, 'customer', customer), 'nc_vm_count', { usage });
const rejection = (text: string) => ({ non_field_errors: [text] });
const needed = '(Either "point" or "start" + "end" + "points_count" parameters have to be provided).';

test('an item has the point and the quota with its limit and usage at that time and other fields as now; no object before the first version', async () => {
  fixture.clock.set('2018-01-02T00:00:00Z');
  use(1024);
  await fixture.staff.patch(url, { limit: 51200 });
  fixture.clock.set('2018-01-03T00:00:00Z');
  const now = (await fixture.staff.patch(url, { limit: -1, threshold: 5 })).body;
  assert.is(
    JSON.stringify(await history('point=1514851200&point=1514764799')),
    JSON.stringify([{ point: 1514851200, object: { ...now, limit: 51200, usage: 1024 } }, { point: 1514764799 }]),
  );
});

test('stores a version at creation and whenever limit or usage changes, not for a threshold or no change', async () => {
  const { db } = fixture.server.app;
  const versions = () =>
    db.value(sql`SELECT count(*) FROM quota_version v JOIN quota q ON q.id = v.quota_id WHERE q.name = 'nc_vm_count'`);
  assert.equal(await values(created), [[-1, 0]]);
  fixture.clock.advance(10);
  await fixture.staff.patch(url, { threshold: 5 });
  await fixture.staff.patch(url, { limit: -1 });
  assert.is(versions(), 0);
  await fixture.staff.patch(url, { limit: 9 });
  fixture.clock.advance(10);
  use(2);
  assert.is(versions(), 2);
  assert.equal(await values(created + 9, created + 10, created + 19, created + 20), [
    [-1, 0],
    [9, 0],
    [9, 0],
    [9, 2],
  ]);
});

test('returns the points in the order of the request, including repeated ones, without pages', async () => {
  const points = [created + 5, created - 5, created + 5, 0, 253402300799];
  assert.equal(
    (await history(points.map((point) => `point=${point}`).join('&'))).map(({ point }: Json) => point),
    points,
  );
  const many = Array.from({ length: 1000 }, (_, i) => `point=${i}`).join('&');
  const response = await fixture.staff.get(`${url}history/?${many}&page=7&page_size=3`);
  assert.equal([response.status, response.body.length, response.headers.get('link')], [200, 1000, null]);
});

test('points_count points are evenly spaced from start to end, truncated to whole seconds, including both', async () => {
  assert.equal(
    (await history('start=10&end=20&points_count=4')).map(({ point }: Json) => point),
    [10, 13, 16, 20],
  );
  assert.equal(
    (await history('start=0&end=1&points_count=2')).map(({ point }: Json) => point),
    [0, 1],
  );
  assert.equal(
    (await history('start=0&end=1&points_count=5')).map(({ point }: Json) => point),
    [0, 0, 0, 0, 1],
  );
  const all = await history('start=0&end=253402300799&points_count=1000');
  assert.equal([all.length, all[0].point, all[999].point], [1000, 0, 253402300799]);
});

test('selects the latest version at or before the point, in whole seconds', async () => {
  fixture.clock.hold();
  fixture.clock.set(seconds('2018-01-01T00:01:00Z') * 1e6 + 999_999);
  use(3);
  fixture.clock.set(seconds('2018-01-01T00:02:00Z') * 1e6);
  use(4);
  fixture.clock.set(seconds('2018-01-01T00:02:00Z') * 1e6 + 1);
  use(5);
  assert.equal(await values(created + 59, created + 60, created + 119, created + 120), [
    [-1, 0],
    [-1, 3],
    [-1, 3],
    [-1, 5],
  ]);
});

test('a quota created within a second exists at the point of that second', async () => {
  fixture.clock.set(created * 1e6 + 40 * 1e6 + 700_000);
  const later = await fixture.customer('Later');
  const response = await fixture.staff.get(
    `${later.quotas[0].url}history/?point=${created + 40}&point=${created + 39}`,
  );
  assert.equal(
    response.body.map(({ object }: Json) => object?.limit),
    [-1, undefined],
  );
});

test('rejects missing, incomplete or mixed parameters with 400', async () => {
  for (const query of [
    '',
    'point=',
    'start=1',
    'start=1&end=2',
    'start=1&points_count=3',
    'end=2&points_count=3',
    'start=&end=2&points_count=3',
    'points=1',
  ]) {
    const response = await fixture.staff.get(`${url}history/?${query}`);
    assert.equal(
      [response.status, response.body],
      [400, rejection(`Not enough parameters for historical data. ${needed}`)],
      query,
    );
  }
  for (const query of [
    'point=1&start=1',
    'point=1&start=1&end=2&points_count=3',
    'points_count=3&point=1',
    'point=x&end=x',
  ]) {
    const response = await fixture.staff.get(`${url}history/?${query}`);
    assert.equal(
      [response.status, response.body],
      [400, rejection(`Too many parameters for historical data. ${needed}`)],
      query,
    );
  }
  assert.is(
    (await fixture.staff.get(`${url}history/?point=1&start=`)).status,
    200,
    'an empty value counts as not given',
  );
});

test('start must be before end', async () => {
  for (const query of ['start=2&end=2&points_count=2', 'start=3&end=2&points_count=2']) {
    assert.equal(await history(query), rejection('Start timestamp has to be earlier than end timestamp.'));
  }
});

test('reports an invalid value under its parameter', async () => {
  const stamp = (value: string) => [`Value "${value}" should be valid UNIX timestamp.`];
  for (const value of ['x', '-1', '1.5', '253402300800', '1e3', ' ', '9999999999999']) {
    assert.equal(await history(`point=1&point=${encodeURIComponent(value)}`), { point: stamp(value) }, value);
  }
  assert.equal(await history('start=a&end=b&points_count=c'), {
    start: stamp('a'),
    end: stamp('b'),
    points_count: ['A valid integer is required.'],
  });
  assert.equal(await history('start=1&end=2&points_count=1'), {
    points_count: ['Ensure this value is greater than or equal to 2.'],
  });
  assert.equal(await history('start=1&end=2&points_count=1001'), {
    points_count: ['Ensure this value is less than or equal to 1000.'],
  });
  assert.equal(
    await history('start=1&start=9&end=5&end=10&points_count=x&points_count=2'),
    await history('start=9&end=10&points_count=2'),
    'the last of a repeated parameter counts',
  );
  assert.equal(await history(Array.from({ length: 1001 }, (_, i) => `point=${i}`).join('&')), {
    point: ['Ensure this field has no more than 1000 elements.'],
  });
});

test('returns 404 for an unreadable quota before 400', async () => {
  await fixture.user('stranger');
  const response = await fixture.as('stranger').get(`${url}history/`);
  assert.equal([response.status, response.body], [404, { detail: 'Not found.' }]);
  assert.is((await fixture.staff.get('/api/quotas/0123/history/')).status, 404);
});

test('versions exist as long as the quota', async () => {
  use(4);
  const { db } = fixture.server.app;
  assert.is(
    db.value(
      sql`SELECT count(*) FROM quota_version v JOIN quota q ON q.id = v.quota_id WHERE q.scope_kind = 'customer'`,
    ),
    1,
  );
  assert.is((await fixture.staff.delete(customer.url)).status, 204);
  assert.is(db.value(sql`SELECT count(*) FROM quota_version v WHERE v.quota_id NOT IN (SELECT id FROM quota)`), 0);
  assert.is((await fixture.staff.get(`${url}history/?point=1`)).status, 404);
});

test('keeps the last of several changes at the same time', async () => {
  fixture.clock.advance(60);
  for (const usage of [1, 5, 3]) use(usage);
  assert.equal(await values(created + 60), [[-1, 3]]);
});

test('after the clock was set back, no change precedes the previous one', async () => {
  fixture.clock.advance(100);
  use(1);
  fixture.clock.advance(-50);
  use(2);
  fixture.clock.advance(-200);
  use(3);
  fixture.clock.advance(1000);
  assert.equal(await values(created + 99, created + 100, created + 5000), [
    [-1, 0],
    [-1, 3],
    [-1, 3],
  ]);
});

test.run();

const retention = suite('quota_history_retention (events.md 7)');

retention.before.each(async () => {
  await fixture.open({ quota_history_retention: 10 * day });
  fixture.clock.set('2018-01-01T00:00:00Z');
  customer = await fixture.customer('Alice');
  url = customer.quotas.find(({ name }: Json) => name === 'nc_vm_count').url;
});
retention.after.each(() => fixture.close());

const quotaId = (): number =>
  fixture.server.app.db.value<number>(
    sql`SELECT id FROM quota WHERE uuid = ${url.split('/').at(-2) as string}`,
  ) as number;
const storedVersions = (): number =>
  fixture.server.app.db.value<number>(sql`SELECT count(*) FROM quota_version WHERE quota_id = ${quotaId()}`) as number;

retention(
  'removes versions older than the retention; the newest of them becomes the first of the history',
  async () => {
    for (const [date, usage] of [
      ['02', 2],
      ['03', 3],
      ['04', 4],
      ['20', 20],
    ] as const) {
      fixture.clock.set(`2018-01-${date}T00:00:00Z`);
      use(usage);
    }
    fixture.clock.set('2018-01-13T12:00:00Z');
    fixture.server.tick();
    assert.equal(
      await values(
        created,
        seconds('2018-01-02T00:00:00Z'),
        seconds('2018-01-03T00:00:00Z'),
        seconds('2018-01-04T00:00:00Z'),
      ),
      [undefined, undefined, [-1, 3], [-1, 4]],
    );
    fixture.clock.set('2018-01-25T00:00:00Z');
    fixture.server.tick();
    assert.is(storedVersions(), 1);
    assert.equal(
      await values(
        seconds('2018-01-03T00:00:00Z'),
        seconds('2018-01-04T00:00:00Z'),
        seconds('2018-01-19T23:59:59Z'),
        seconds('2018-01-20T00:00:00Z'),
      ),
      [undefined, [-1, 4], [-1, 4], [-1, 20]],
    );
    fixture.clock.set('2019-01-01T00:00:00Z');
    fixture.server.tick();
    assert.is(storedVersions(), 0);
    assert.equal(
      await values(seconds('2018-01-20T00:00:00Z'), seconds('2018-12-31T00:00:00Z')),
      [
        [-1, 20],
        [-1, 20],
      ],
      'the present value is never forgotten',
    );
  },
);

retention('removes them in small batches', async () => {
  const { db } = fixture.server.app;
  change(fixture, () =>
    db.run(sql`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
    INSERT INTO quota_version SELECT ${quotaId()}, ${created * 1e6} + i * 1000000, -1, i FROM n`),
  );
  fixture.clock.set('2018-03-01T00:00:00Z');
  fixture.server.tick();
  assert.is(storedVersions(), 480);
  await fixture.server.settled();
  assert.is(storedVersions(), 0);
  assert.equal(await values(created + 499, created + 500), [undefined, [-1, 500]]);
});

retention('keeps everything for ever without the setting', async () => {
  await fixture.open();
  customer = await fixture.customer('Alice');
  url = customer.quotas.find(({ name }: Json) => name === 'nc_vm_count').url;
  use(1);
  fixture.clock.set('2118-01-01T00:00:00Z');
  fixture.server.tick();
  assert.is(storedVersions(), 1);
});

retention.run();
