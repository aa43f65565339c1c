import * as assert from 'uvu/assert';
import { createPersonas, type Personas } from '../../support/personas.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('counts of events over time (events.md 2.5, 4.6)');
let setup: Personas;

/** 2018-03-01T00:00:00Z; then an event every 10 s: 0, 10, 20, 30 seconds. */
const begin = 1519862400;
const paths = ['/api/events/count_history/', '/api/events/count/history/'];

test.before(async () => {
  setup = await createPersonas(fixture);
  for (const [i, level] of ['info', 'error', 'info', 'info'].entries()) {
    fixture.clock.set((begin + 10 * i) * 1_000_000);
    await fixture.staff.post('/api/events/', {
      level,
      message: `Tick ${i}`,
      ...(i < 2 && { scope: setup.customer.url }),
    });
  }
});

const only = 'event_type=custom_notification';
const history = (...counts: [number, number][]) => counts.map(([point, count]) => ({ point, object: { count } }));

test('each point counts the events before it, in the order of the request, also before the first event', async () => {
  const points = [begin + 11, begin - 1, begin, begin + 1, begin + 10, begin + 11, 0, 253402300799];
  for (const path of paths) {
    const { status, body } = await fixture.staff.get(
      `${path}?${only}&${points.map((point) => `point=${point}`).join('&')}`,
    );
    assert.is(status, 200);
    assert.equal(
      body,
      history(
        [begin + 11, 2],
        [begin - 1, 0],
        [begin, 0],
        [begin + 1, 1],
        [begin + 10, 1],
        [begin + 11, 2],
        [0, 0],
        [253402300799, 4],
      ),
    );
  }
});

test('start, end and points_count give evenly spaced points, rounded down, including both ends', async () => {
  for (const path of paths) {
    assert.equal(
      (await fixture.staff.get(`${path}?${only}&start=${begin}&end=${begin + 40}&points_count=4`)).body,
      history([begin, 0], [begin + 13, 2], [begin + 26, 3], [begin + 40, 4]),
    );
    assert.equal(
      (await fixture.staff.get(`${path}?${only}&start=${begin}&end=${begin + 1}&points_count=3`)).body,
      history([begin, 0], [begin, 0], [begin + 1, 1]),
    );
  }
});

test('filters restrict the counted events; from and to limit them', async () => {
  const ask = async (filter: string, client = fixture.staff) =>
    (
      await client.get(
        `/api/events/count_history/?point=${begin + 5}&point=${begin + 15}&point=${begin + 100}&${filter}`,
      )
    ).body.map((each: { object: { count: number } }) => each.object.count);
  assert.equal(await ask(only), [1, 2, 4]);
  assert.equal(await ask('search=tick'), [1, 2, 4]);
  assert.equal(await ask('search=very high'), [0, 1, 1]);
  assert.equal(await ask(`${only}&scope=${setup.customer.url}`), [1, 2, 2]);
  assert.equal(await ask(`${only}&from=${begin + 10}`), [0, 1, 3]);
  assert.equal(await ask(`${only}&to=${begin + 20}`), [1, 2, 2]);
  assert.equal(await ask(`search=tick&from=${begin + 10}&to=${begin + 20}`), [0, 1, 1]);
  assert.equal(await ask(`${only}&from=${begin + 60}`), [0, 0, 0]);
  assert.equal(await ask('event_type=role_updated'), [0, 0, 0]);
  assert.equal(await ask('search=!!!'), [0, 0, 0]);
  assert.equal(await ask(only, setup.clients.owner), [1, 2, 2]);
  assert.equal(await ask(`${only}&search=tick`, setup.clients.owner), [1, 2, 2]);
  assert.equal(await ask(only, setup.clients.manager), [0, 0, 0]);
});

test('rejects missing parameters, both styles together, and invalid values with 400', async () => {
  const rule = '(Either "point" or "start" + "end" + "points_count" parameters have to be provided).';
  const notEnough = { non_field_errors: [`Not enough parameters for historical data. ${rule}`] };
  const tooMany = { non_field_errors: [`Too many parameters for historical data. ${rule}`] };
  const cases: [string, unknown][] = [
    ['', notEnough],
    ['point=', notEnough],
    ['start=1&end=2', notEnough],
    ['points_count=2', notEnough],
    ['point=1&start=1', tooMany],
    ['point=1&start=1&end=2&points_count=2', tooMany],
    ['point=x&point=1', { point: ['Value "x" should be valid UNIX timestamp.'] }],
    [
      'start=a&end=b&points_count=c',
      {
        start: ['Value "a" should be valid UNIX timestamp.'],
        end: ['Value "b" should be valid UNIX timestamp.'],
        points_count: ['A valid integer is required.'],
      },
    ],
    ['start=1&end=2&points_count=1', { points_count: ['Ensure this value is greater than or equal to 2.'] }],
    ['start=1&end=2&points_count=1001', { points_count: ['Ensure this value is less than or equal to 1000.'] }],
    ['start=2&end=2&points_count=2', { non_field_errors: ['Start timestamp has to be earlier than end timestamp.'] }],
    [
      Array.from({ length: 1001 }, (_, i) => `point=${i}`).join('&'),
      { point: ['Ensure this field has no more than 1000 elements.'] },
    ],
  ];
  for (const path of paths) {
    for (const [query, errors] of cases) {
      const { status, body } = await fixture.staff.get(`${path}?${query}`);
      assert.equal([status, body], [400, errors], query);
    }
    assert.is(
      (await fixture.staff.get(`${path}?${Array.from({ length: 1000 }, (_, i) => `point=${i}`).join('&')}`)).body
        .length,
      1000,
    );
  }
});

test('POST accepts the parameters as members of the body: lists or single values, numbers or strings; ignores the query string', async () => {
  const post = (body: unknown, query = '') => fixture.staff.post(`/api/events/count/history/${query}`, body);
  const response = history([begin + 11, 2], [begin, 0]);
  for (const body of [
    { point: [begin + 11, begin], event_type: ['custom_notification'] },
    { point: [String(begin + 11), begin], event_type: 'custom_notification', unknown: { x: 1 }, scope: null, from: '' },
    {
      point: [begin + 11, begin],
      event_type: ['custom_notification', 'role_updated'],
      to: begin + 11,
      from: String(begin),
    },
  ]) {
    const { status, body: input } = await post(body, '?point=5&event_type=role_granted&from=7');
    assert.equal([status, input], [200, response]);
  }
  assert.equal((await post({ point: begin + 11, event_type: 'custom_notification' })).body, history([begin + 11, 2]));
  assert.equal(
    (await post({ start: begin, end: String(begin + 40), points_count: 2, feature: [], search: 'tick' })).body,
    history([begin, 0], [begin + 40, 4]),
  );
  const form = await fixture.staff.send(
    'POST',
    '/api/events/count/history/',
    `point=${begin + 11}&point=${begin}&${only}`,
    { 'Content-Type': 'application/x-www-form-urlencoded' },
  );
  assert.equal([form.status, form.body], [200, response]);
  assert.equal(
    (
      await setup.clients.manager.post('/api/events/count/history/', {
        point: begin + 99,
        event_type: 'custom_notification',
      })
    ).body,
    history([begin + 99, 0]),
  );
});

test('accepts a list in a form as JSON text or as a repeated field', async () => {
  const post = async (body: string): Promise<unknown> => {
    const response = await fixture.staff.send('POST', '/api/events/count/history/', body, {
      'Content-Type': 'application/x-www-form-urlencoded',
    });
    return [response.status, response.body];
  };
  const list = (...items: unknown[]): string => encodeURIComponent(JSON.stringify(items));
  const response = [200, history([begin + 11, 2], [begin, 0])];
  assert.equal(
    await post(`point=${list(begin + 11, String(begin))}&event_type=${list('custom_notification')}`),
    response,
  );
  assert.equal(
    await post(`point=${list(begin + 11, begin)}&event_type=custom_notification&event_type=role_updated`),
    response,
  );
  assert.equal(
    await post(
      `point=${begin + 11}&point=${begin}&exclude_features=${list('users', 'customers', 'projects', 'ssh')}&${only}`,
    ),
    response,
  );
  assert.equal(await post(`point=${list()}`), await post(''));
  assert.equal(await post(`point=${encodeURIComponent('[1')}`), [
    400,
    { point: ['Value "[1" should be valid UNIX timestamp.'] },
  ]);
  assert.equal(
    await post(`point=${begin + 11}&search=${list('tick')}&${only}`),
    [200, history([begin + 11, 2])],
    'a single value is never a list',
  );
});

test('POST rejects what GET rejects', async () => {
  const rejection = async (body: unknown, errors: unknown): Promise<void> => {
    const response = await fixture.staff.post('/api/events/count/history/', body);
    assert.equal([response.status, response.body], [400, errors]);
  };
  await rejection(
    { point: [1.5, 'x', [1]] },
    { point: ['1.5', 'x', '[1]'].map((value) => `Value "${value}" should be valid UNIX timestamp.`) },
  );
  await rejection({ point: 1, from: 'x' }, { from: ['Value "x" should be valid UNIX timestamp.'] });
  await rejection({ point: 1, from: 6, to: 5 }, { non_field_errors: ['End must occur after start.'] });
  await rejection({ point: 1, scope: 'x' }, { scope: ['URL is invalid: x.'] });
  await rejection([], { non_field_errors: ['Invalid data. Expected a dictionary, but got list.'] });
  assert.is((await fixture.anonymous.post('/api/events/count/history/', { point: 1 })).status, 401);
});

test.run();
