import { providerKit } from 'tenantry';
import * as assert from 'uvu/assert';
import { examine } from '../../../src/app/doctor/doctor.ts';
import type { DriverCall, Step } from '../../../src/cloud/catalogue/driver.ts';
import { sql } from '../../../src/kernel/db/sql.ts';
import { type Droplets, dropletService } from '../../support/droplets.ts';
import type { Json } from '../../support/fixture.ts';
import { setOptions, step, work } from '../../support/simulated.ts';
import { suiteWithServerPerTest } from '../../support/suite.ts';

const { ProviderError, SimulatorDriver } = providerKit;
const { test, fixture } = suiteWithServerPerTest(
  'jobs: throttle, polling, leases, retries, time limits (services.md 8.3)',
);
let cloud: Droplets;
let place: { readonly customer: Json; readonly project: Json };

test.before.each(async () => {
  const customer = await fixture.customer('Alice');
  place = { customer, project: await fixture.project('Rocket', customer) };
  cloud = await dropletService(fixture, place);
});
test.after.each(() => {
  for (const [name, method] of Object.entries(methods)) Object.assign(SimulatorDriver.prototype, { [name]: method });
  assert.equal(examine(fixture.server.app, false).problems, []);
});

const { create, delete: remove, action, pull, ping } = SimulatorDriver.prototype;
const methods = { create, delete: remove, action, pull, ping };

const present = async ({ url }: Json): Promise<Json> => (await fixture.staff.get(url)).body;
const job = (): Json => fixture.server.app.db.get(sql`SELECT * FROM job`);
const count = async (state: string): Promise<number> =>
  Number((await fixture.staff.get(`/api/resources/?state=${state}`)).headers.get('x-result-count'));
const many = async (n: number): Promise<Json[]> => {
  const created = [];
  for (let i = 0; i < n; i++) created.push(await cloud.begin({ name: `web-${i}` }));
  return created;
};

/** Replaces the provider's implementation of an operation; returns the recorded calls. */
function provider(
  operation: keyof typeof methods,
  behave: (call: DriverCall, requests: number) => Promise<Step> | Step,
): DriverCall[] {
  const calls: DriverCall[] = [];
  const replaced = async (...input: unknown[]): Promise<Step> => {
    const call = input.at(-1) as DriverCall;
    calls.push(call);
    return behave(call, calls.length);
  };
  Object.assign(SimulatorDriver.prototype, { [operation]: replaced });
  return calls;
}

test('stores a job with the request that causes it, and starts it job_delay later', async () => {
  const droplet = await cloud.begin();
  const { db } = fixture.server.app;
  assert.is(db.value(sql`SELECT count(*) FROM job`), 1);
  fixture.server.tick();
  await fixture.server.settled();
  assert.is((await present(droplet)).state, 'Creation Scheduled');
  await step(fixture);
  assert.is((await present(droplet)).state, 'Creating');
  const rejection = await fixture.staff.post('/api/digitalocean-droplets/', cloud.body({ name: '_' }));
  assert.equal([rejection.status, db.value(sql`SELECT count(*) FROM job`)], [400, 1], 'a refused request leaves none');
});

test('at most four of one kind are in Creating on the same settings, the rest wait in Creation Scheduled', async () => {
  await setOptions(fixture, cloud.settings, { simulator_latency: 'sync=0,*=60000' });
  await many(10);
  await step(fixture);
  assert.equal([await count('Creating'), await count('Creation+Scheduled')], [4, 6]);
  await step(fixture);
  assert.equal([await count('Creating'), await count('Creation+Scheduled')], [4, 6]);
  fixture.clock.advance(60);
  await step(fixture);
  await step(fixture);
  assert.equal([await count('OK'), await count('Creating'), await count('Creation+Scheduled')], [4, 4, 2]);
});

test('does not delay other settings or other operations', async () => {
  const droplet = await cloud.make({ name: 'ready' });
  const other = await dropletService(fixture, place, { name: 'Other' });
  await setOptions(fixture, cloud.settings, { simulator_latency: 'sync=0,*=60000' });
  await many(5);
  await step(fixture);
  const remote = await other.begin({ name: 'elsewhere' });
  await fixture.staff.post(`${droplet.url}stop/`);
  await step(fixture);
  await step(fixture);
  assert.equal(
    [(await present(remote)).state, (await present(droplet)).state, await count('Creation+Scheduled')],
    ['OK', 'Updating', 1],
  );
});

test('a long queue of creations delays neither running nor other due operations', async () => {
  const ready = await cloud.make({ name: 'ready' });
  await fixture.staff.patch(cloud.service.quotas[0].url, { limit: 100 });
  await setOptions(fixture, cloud.settings, { simulator_latency: 'sync=0,*=1000' });
  await many(60);
  await step(fixture);
  await fixture.staff.post(`${ready.url}stop/`);
  for (let i = 0; i < 5; i++) await step(fixture);
  assert.is((await present(ready)).state, 'OK');
  assert.ok((await count('OK')) > 4, 'creations end');
  for (let i = 0; i < 60; i++) await step(fixture);
  assert.equal([await count('OK'), await count('Creating'), await count('Creation+Scheduled')], [61, 0, 0]);
});

test('polls a waiting operation at its requested time, not earlier', async () => {
  await cloud.begin();
  const calls = provider('create', (_, requests) =>
    requests < 3
      ? { kind: 'wait', milliseconds: 5000, memo: { asked: requests } }
      : { kind: 'done', values: { backend_id: '1' } },
  );
  for (let second = 1; second <= 12; second++) await step(fixture);
  assert.equal(
    calls.map(({ memo }) => memo),
    [{}, { asked: 1 }, { asked: 2 }],
  );
  assert.is((await fixture.staff.get('/api/resources/?state=OK')).body[0].backend_id, '1');
});

test('a creation that takes more than 30 minutes is timed out', async () => {
  const droplet = await cloud.begin();
  provider('create', () => ({ kind: 'wait', milliseconds: 5000, memo: {} }));
  await step(fixture);
  fixture.clock.advance(30 * 60);
  await step(fixture);
  const { error_message, state } = await present(droplet);
  assert.equal([state, error_message], ['Erred', 'Provisioning is timed out.']);
  assert.is(fixture.events().at(-1)?.type, 'resource_creation_failed');
});

test('the time in the queue does not count for the timeout of a creation', async () => {
  await setOptions(fixture, cloud.settings, { simulator_latency: 'create=600000,*=0' });
  await many(5);
  for (let i = 0; i < 5; i++) {
    fixture.clock.advance(600);
    await step(fixture);
  }
  assert.equal([await count('OK'), await count('Erred')], [5, 0]);
});

for (const [name, minutes] of [
  ['stop', 25],
  ['delete', 5],
] as const) {
  test(`a ${name} that takes more than ${minutes} minutes is timed out`, async () => {
    const droplet = await cloud.make();
    provider(name === 'stop' ? 'action' : 'delete', () => ({ kind: 'wait', milliseconds: 5000, memo: {} }));
    if (name === 'stop') await fixture.staff.post(`${droplet.url}stop/`);
    else await fixture.staff.delete(droplet.url);
    await step(fixture);
    fixture.clock.advance(minutes * 60 - 10);
    await step(fixture);
    assert.is((await present(droplet)).state, name === 'stop' ? 'Updating' : 'Deleting');
    fixture.clock.advance(10);
    await step(fixture);
    const { error_message, state } = await present(droplet);
    assert.equal([state, error_message], ['Erred', 'Operation is timed out.']);
  });
}

test('a forced deletion that fails or times out still removes the row', async () => {
  const droplet = await cloud.make();
  await setOptions(fixture, cloud.settings, { simulator_failures: 'stop' });
  await fixture.staff.post(`${droplet.url}stop/`);
  await work(fixture);
  provider('delete', () => ({ kind: 'wait', milliseconds: 5000, memo: {} }));
  await fixture.staff.delete(droplet.url);
  await step(fixture);
  fixture.clock.advance(5 * 60);
  await step(fixture);
  assert.is((await fixture.staff.get(droplet.url)).status, 404);
});

test('a runtime state of failure fails a waiting operation', async () => {
  const droplet = await cloud.begin();
  provider('create', () => ({ kind: 'wait', milliseconds: 5000, memo: {}, values: { runtime_state: 'error' } }));
  await step(fixture);
  const { error_message, runtime_state, state } = await present(droplet);
  assert.equal([state, runtime_state, error_message], ['Erred', 'error', 'Droplet runtime state become erred: error']);
});

test("a failure keeps at most 2000 characters of the vendor's text", async () => {
  const [reports, thrown] = [await cloud.begin({ name: 'told' }), await cloud.begin({ name: 'thrown' })];
  provider('create', ({ values }) => {
    if (values.name === 'thrown') throw new ProviderError('invalid', 'y'.repeat(3000));
    return { kind: 'fail', text: 'x'.repeat(3000) };
  });
  await work(fixture);
  assert.equal(
    [(await present(reports)).error_message, (await present(thrown)).error_message],
    ['x'.repeat(2000), 'y'.repeat(2000)],
  );
});

for (const [type, text] of [
  ['unauthorized', 'No entry'],
  ['invalid', 'Wrong size'],
  ['conflict', 'Busy'],
  ['not_found', 'No such image'],
] as const) {
  test(`an operation that the provider rejects as ${type} fails with its message at once`, async () => {
    const droplet = await cloud.begin();
    const calls = provider('create', () => {
      throw new ProviderError(type, text);
    });
    await work(fixture);
    const { error_message, state } = await present(droplet);
    assert.equal([state, error_message, calls.length], ['Erred', text, 1]);
  });
}

test('reports a malformed response as unexpected', async () => {
  const droplet = await cloud.begin();
  provider('create', () => {
    throw new ProviderError('malformed', 'Unexpected token < in JSON');
  });
  await work(fixture);
  assert.is((await present(droplet)).error_message, 'Unexpected answer of backend');
});

test('retries an unavailable provider after 1, 2 and 4 seconds', async () => {
  fixture.clock.hold();
  const droplet = await cloud.make();
  await fixture.staff.post(`${droplet.url}stop/`);
  const at: number[] = [];
  provider('action', () => {
    at.push(fixture.clock.now() / 1_000_000);
    throw new ProviderError('unavailable', 'connect ECONNREFUSED 192.0.2.1:443');
  });
  for (let i = 0; i < 12; i++) await step(fixture);
  assert.equal(
    at.map((time) => time - (at[0] as number)),
    [0, 1, 3, 7],
  );
  const { error_message, state } = await present(droplet);
  assert.equal([state, error_message], ['Erred', 'Backend does not respond']);
});

test('retries a rate-limited call after the requested time, at most five minutes, five times', async () => {
  fixture.clock.hold();
  const droplet = await cloud.make();
  await fixture.staff.post(`${droplet.url}stop/`);
  const at: number[] = [];
  const waits = [2000, undefined, 3_600_000, 1000, 1000, 1000];
  provider('action', (_, requests) => {
    at.push(fixture.clock.now() / 1_000_000);
    throw new ProviderError('limited', 'Too many requests', waits[requests - 1]);
  });
  for (let i = 0; i < 330; i++) await step(fixture);
  assert.equal(
    at.map((time) => time - (at[0] as number)),
    [0, 2, 12, 312, 313, 314],
  );
  const { error_message, state } = await present(droplet);
  assert.equal([state, error_message], ['Erred', 'Too many requests']);
});

test('a successful retry is a success', async () => {
  const droplet = await cloud.make();
  await fixture.staff.post(`${droplet.url}stop/`);
  provider('action', (_, requests) => {
    if (requests < 3) throw new ProviderError('unavailable', 'reset');
    return { kind: 'done', values: { runtime_state: 'offline' } };
  });
  await step(fixture);
  const [{ attempts, error_message, state }] = (await fixture.staff.get('/api/jobs/')).body;
  assert.equal([state, attempts, error_message], ['failing', 1, 'Backend does not respond']);
  for (let i = 0; i < 6; i++) await step(fixture);
  assert.equal((await fixture.staff.get('/api/jobs/')).body, []);
  assert.equal([(await present(droplet)).state, (await present(droplet)).runtime_state], ['OK', 'offline']);
});

test('deleting an object that the provider does not have succeeds', async () => {
  const droplet = await cloud.make();
  provider('delete', () => {
    throw new ProviderError('not_found', 'No such droplet');
  });
  await fixture.staff.delete(droplet.url);
  await work(fixture);
  assert.is((await fixture.staff.get(droplet.url)).status, 404);
});

test('pulling an object that the provider does not have reports it as missing', async () => {
  const droplet = await cloud.make();
  provider('pull', () => {
    throw new ProviderError('not_found', 'No such droplet');
  });
  await fixture.staff.post(`${droplet.url}pull/`);
  await work(fixture);
  const { error_message, runtime_state, state } = await present(droplet);
  assert.equal([state, runtime_state, error_message], ['Erred', '', 'Does not exist at backend.']);
});

test('a job is leased during a call, and no other worker claims it', async () => {
  fixture.clock.hold();
  // On a moving clock, the timer has already run later than the held instant.
  fixture.clock.advance(1);
  await cloud.begin();
  let release: (step: Step) => void = () => undefined;
  const calls = provider('create', () => new Promise<Step>((resolve) => (release = resolve)));
  const { clock, server } = fixture;
  clock.advance(1);
  server.tick();
  await new Promise((resolve) => server.app.db.afterCommit(resolve));
  assert.is(job().lease, clock.now() + 600_000_000);
  for (let i = 0; i < 3; i++) {
    clock.advance(5);
    server.tick();
  }
  assert.is(calls.length, 1);
  release({ kind: 'done', values: { backend_id: '1' } });
  await server.settled();
  assert.is(job(), undefined);
});

test('takes over a job whose process ended, and informs the driver that a call may have been made', async () => {
  fixture.clock.hold();
  // On a moving clock, the timer has already run later than the held instant.
  fixture.clock.advance(1);
  const droplet = await cloud.begin();
  const {
    clock,
    server: {
      app: { db },
    },
  } = fixture;
  const calls = provider('create', (_, requests) =>
    requests === 1
      ? { kind: 'wait', milliseconds: 1000, memo: { id: 7 } }
      : { kind: 'done', values: { backend_id: '7' } },
  );
  await step(fixture);
  db.write(() => db.run(sql`UPDATE job SET lease = ${clock.now() + 600_000_000}`));
  clock.advance(599);
  await step(fixture);
  assert.is(calls.length, 1, 'not before the lease has ended');
  clock.advance(1);
  await step(fixture);
  assert.equal(
    calls.map(({ isRepeated, memo }) => [isRepeated, memo]),
    [
      [false, {}],
      [true, { id: 7 }],
    ],
  );
  assert.is((await present(droplet)).state, 'OK');
});

test('a driver bug causes no Erred state: retries the job a minute later', async () => {
  const droplet = await cloud.begin();
  provider('create', (_, requests) => {
    if (requests === 1) throw new TypeError('a bug');
    return { kind: 'done', values: { backend_id: '1' } };
  });
  await work(fixture);
  assert.is((await present(droplet)).state, 'Creating');
  fixture.clock.advance(60);
  await step(fixture);
  assert.is((await present(droplet)).state, 'OK');
});

test('drops the result for a resource unlinked during the call', async () => {
  const droplet = await cloud.begin();
  let release: (step: Step) => void = () => undefined;
  provider('create', () => new Promise<Step>((resolve) => (release = resolve)));
  fixture.clock.advance(1);
  fixture.server.tick();
  await new Promise((resolve) => setImmediate(resolve));
  assert.is((await fixture.staff.post(`${droplet.url}unlink/`)).status, 204);
  fixture.events();
  release({ kind: 'done', values: { backend_id: '1' } });
  await fixture.server.settled();
  assert.equal([(await fixture.staff.get('/api/resources/')).body, fixture.events()], [[], []]);
});

test("a driver's new id is stored before it is asked again", async () => {
  const droplet = await cloud.begin();
  provider('create', (_, requests) =>
    requests === 1 ? { kind: 'wait', milliseconds: 60_000, memo: {}, values: { backend_id: '42' } } : { kind: 'done' },
  );
  await step(fixture);
  const { backend_id, state } = await present(droplet);
  assert.equal([state, backend_id], ['Creating', '42']);
});

test('an unavailable provider does not delay the synchronisation of others, and makes its settings Erred after the last retry', async () => {
  let pings = 0;
  Object.assign(SimulatorDriver.prototype, {
    ping: async function (this: { settings: { name: string } }) {
      if (this.settings.name !== 'Cloud') return;
      pings++;
      throw new ProviderError('unavailable', 'timeout');
    },
  });
  const other = await dropletService(fixture, place, { name: 'Other' });
  fixture.clock.advance(30 * 60);
  await step(fixture);
  await step(fixture);
  assert.equal([(await present(cloud.settings)).state, (await present(other.settings)).state], ['Syncing', 'In Sync']);
  for (let i = 0; i < 9; i++) await step(fixture);
  const { error_message, state } = await present(cloud.settings);
  assert.equal([state, error_message, pings], ['Erred', 'Backend does not respond', 4]);
});

test('an account can be deleted during a call to its provider, with its jobs and without log entries', async () => {
  const droplet = await cloud.make();
  const { log } = fixture.server.app;
  const { error } = log;
  const reports: unknown[] = [];
  Object.assign(log, { error: (...input: unknown[]) => reports.push(input) });
  const calls = provider('pull', async () => {
    assert.is((await fixture.staff.post(`${cloud.service.url}unlink/`)).status, 204);
    throw new Error('FOREIGN KEY constraint failed');
  });
  assert.is((await fixture.staff.post(`${droplet.url}pull/`)).status, 202);
  await work(fixture);
  Object.assign(log, { error });
  assert.equal([calls.length, reports, job()], [1, [], undefined]);
  assert.is((await fixture.staff.get(droplet.url)).status, 404);
});

test.run();
