import * as assert from 'uvu/assert';
import { createPersonas, type Personas } from '../../support/personas.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('GET /api/stats/creation-time/ (events.md 6.1)');
let setup: Personas;

/** 2018-03-01T00:00:00Z; customers are created 0, 0.9, 10 and 20 seconds later. */
const begin = 1519862400;
const path = '/api/stats/creation-time/';

test.before(async () => {
  setup = await createPersonas(fixture);
  for (const [i, seconds] of [0, 0.9, 10, 20].entries()) {
    fixture.clock.set(Math.round((begin + seconds) * 1_000_000));
    const customer = await fixture.customer(`Customer ${i}`);
    if (i === 2) {
      await fixture.grant(customer, setup.users.stranger, 'owner');
      await fixture.project('Late', customer);
    }
  }
});

const ask = (query: string, client = fixture.staff) => client.get(`${path}?${query}`);

test('returns as many objects of to, from and value as datapoints, ascending', async () => {
  const { status, body } = await ask(`type=customer&from=1&to=1415912629&datapoints=3`);
  assert.is(status, 200);
  assert.equal(
    body.map((each: object) => Object.entries(each)),
    [
      [
        ['to', 471970877],
        ['from', 1],
        ['value', 0],
      ],
      [
        ['to', 943941753],
        ['from', 471970877],
        ['value', 0],
      ],
      [
        ['to', 1415912629],
        ['from', 943941753],
        ['value', 0],
      ],
    ],
  );
});

test('a part includes its start and excludes its end, except the last; times are truncated to whole seconds', async () => {
  fixture.clock.hold();
  assert.equal((await ask(`type=customer&from=${begin}&to=${begin + 20}&datapoints=2`)).body, [
    { to: begin + 10, from: begin, value: 2 },
    { to: begin + 20, from: begin + 10, value: 2 },
  ]);
  assert.equal((await ask(`type=customer&from=${begin + 1}&to=${begin + 19}&datapoints=1`)).body, [
    { to: begin + 19, from: begin + 1, value: 1 },
  ]);
  assert.equal((await ask(`type=customer&from=${begin - 1}&to=${begin}&datapoints=1`)).body, [
    { to: begin, from: begin - 1, value: 2 },
  ]);
});

test('parts can be shorter than a second; those without a whole second count nothing', async () => {
  assert.equal((await ask(`type=customer&from=${begin}&to=${begin + 1}&datapoints=3`)).body, [
    { to: begin, from: begin, value: 0 },
    { to: begin, from: begin, value: 0 },
    { to: begin + 1, from: begin, value: 2 },
  ]);
  const { body } = await ask(`type=customer&from=${begin - 1}&to=${begin + 20}&datapoints=1000`);
  assert.is(body.length, 1000);
  assert.is(
    body.reduce((sum: number, each: { value: number }) => sum + each.value, 0),
    4,
  );
});

test('defaults to six parts of the last 30 days', async () => {
  const now = begin + 20;
  const { body } = await ask('type=customer');
  assert.equal(
    body.map((each: { from: number }) => each.from),
    [0, 1, 2, 3, 4, 5].map((i) => now - 2592000 + i * 432000),
  );
  assert.is(body[5].to, now);
  assert.equal(
    body.map((each: { value: number }) => each.value),
    [0, 0, 0, 0, 0, 4],
  );
  assert.equal((await ask('type=customer&from=&to=&datapoints=&page=7&page_size=1')).body, body);
});

test('counts the objects that the caller can read', async () => {
  const range = `from=0&to=${begin + 20}&datapoints=1`;
  const value = async (type: string, client = fixture.staff): Promise<number> =>
    (await ask(`type=${type}&${range}`, client)).body[0].value;
  const { clients } = setup;
  assert.equal(
    [
      await value('customer'),
      await value('customer', clients.support),
      await value('customer', clients.owner),
      await value('customer', clients.manager),
      await value('customer', clients.stranger),
    ],
    [5, 5, 1, 1, 1],
  );
  assert.equal(
    [
      await value('project'),
      await value('project', clients.owner),
      await value('project', clients.observer),
      await value('project', clients.stranger),
    ],
    [2, 1, 1, 1],
  );
  const none = await fixture.user('nobody');
  assert.is(await value('customer', fixture.as(none.username)), 0);
});

test('reports all errors of the parameters together', async () => {
  const rejection = async (query: string, errors: unknown): Promise<void> => {
    const { status, body } = await ask(query);
    assert.equal([status, body], [400, errors], query);
  };
  await rejection('', { type: ['This field is required.'] });
  await rejection('type=user', { type: ['"user" is not a valid choice.'] });
  await rejection('type=toString', { type: ['"toString" is not a valid choice.'] });
  await rejection('type=x&from=a&to=-1&datapoints=0', {
    type: ['"x" is not a valid choice.'],
    from: ['A valid integer is required.'],
    to: ['Ensure this value is greater than or equal to 0.'],
    datapoints: ['Ensure this value is greater than or equal to 1.'],
  });
  await rejection('type=customer&from=1.5&datapoints=1001', {
    from: ['A valid integer is required.'],
    datapoints: ['Ensure this value is less than or equal to 1000.'],
  });
  await rejection('type=customer&from=5&to=5', { non_field_errors: ['End must occur after start.'] });
  await rejection(`type=customer&from=${begin + 21}`, { non_field_errors: ['End must occur after start.'] });
});

test('any user can use it, and only GET', async () => {
  assert.is((await fixture.anonymous.get(`${path}?type=customer`)).status, 401);
  const { status, headers } = await fixture.staff.post(path, {});
  assert.equal([status, headers.get('allow')], [405, 'GET, HEAD, OPTIONS']);
});

test.run();
