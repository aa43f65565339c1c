import * as assert from 'uvu/assert';
import { sql } from '../../../src/kernel/db/sql.ts';
import type { Json } from '../../support/fixture.ts';
import { setOptions, step, work } from '../../support/simulated.ts';
import { suiteWithServerPerTest } from '../../support/suite.ts';

const { test, fixture } = suiteWithServerPerTest('states of service settings (services.md 2.3)');
let customer: Json;

test.before.each(async () => {
  customer = await fixture.customer('Alice');
});

const make = async (fields: Readonly<Record<string, unknown>> = {}): Promise<Json> =>
  (
    await fixture.staff.post('/api/service-settings/', {
      name: 'Ocean',
      type: 'DigitalOcean',
      simulator_latency: '0',
      ...fields,
    })
  ).body;
const state = async ({ url }: Json): Promise<string[]> => {
  const { error_message: message, state: present } = (await fixture.staff.get(url)).body;
  return message === '' ? [present] : [present, message];
};
const alerts = async (): Promise<Json[]> =>
  (await fixture.staff.get('/api/alerts/?opened')).body.map(({ alert_type: type, message, scope }: Json) => [
    type,
    message,
    scope,
  ]);

test('POST leaves settings in Creation Scheduled; the job makes them Creating and then In Sync', async () => {
  const settings = await make({ simulator_latency: 'sync=50,*=0' });
  assert.equal(await state(settings), ['Creation Scheduled']);
  fixture.clock.advance(1);
  fixture.server.tick();
  assert.equal(await state(settings), ['Creating'], 'seen while the provider is asked');
  await fixture.server.settled();
  assert.equal(await state(settings), ['In Sync']);
});

test('the job starts job_delay after the commit, not before', async () => {
  const settings = await make();
  await fixture.advance(0.9);
  assert.equal(await state(settings), ['Creation Scheduled']);
  fixture.clock.advance(0.1);
  fixture.server.tick();
  await step(fixture);
  assert.equal(await state(settings), ['In Sync']);
});

test('every settings_sync_interval they are Sync Scheduled, Syncing, and In Sync again', async () => {
  const settings = await make({ simulator_latency: 'sync=50,*=0' });
  await work(fixture);
  fixture.clock.advance(29 * 60);
  await step(fixture);
  assert.equal(await state(settings), ['In Sync']);
  fixture.clock.advance(61);
  fixture.server.tick();
  assert.equal(await state(settings), ['Sync Scheduled']);
  fixture.clock.advance(1);
  fixture.server.tick();
  assert.equal(await state(settings), ['Syncing']);
  await fixture.server.settled();
  assert.equal(await state(settings), ['In Sync']);
});

test('users who see them can read the times of the last and the next synchronisation', async () => {
  fixture.clock.hold();
  const settings = await make();
  const times = async (): Promise<Json> => (await fixture.staff.get(`${settings.url}sync/`)).body;
  assert.equal(await times(), { last_sync: null, next_sync: null });
  await step(fixture);
  const { last_sync, next_sync } = await times();
  assert.is(Date.parse(next_sync) - Date.parse(last_sync), 30 * 60 * 1000);
  assert.is(Date.parse(last_sync), Math.floor(fixture.clock.now() / 1000));
  fixture.clock.advance(30 * 60);
  fixture.server.tick();
  assert.equal(await times(), { last_sync, next_sync: null });
});

test('a failure makes them Erred with its message and raises service_unavailable on each service; success clears both', async () => {
  const settings = await make({ customer: customer.url, simulator_failures: 'ping' });
  const service = (
    await fixture.staff.post('/api/digitalocean/', { name: 'Ocean', customer: customer.url, settings: settings.url })
  ).body;
  await work(fixture);
  assert.equal(await state(settings), ['Erred', 'Simulated failure of ping']);
  assert.equal(await alerts(), [['service_unavailable', 'Service account Ocean is not responding', service.url]]);
  await setOptions(fixture, settings, { simulator_failures: null });
  fixture.clock.advance(30 * 60);
  await work(fixture);
  assert.equal(await state(settings), ['In Sync']);
  assert.equal(await alerts(), []);
});

test('a failed synchronisation makes settings Erred, and others continue', async () => {
  const [bad, good] = [await make({ customer: customer.url }), await make({ name: 'Sea' })];
  await work(fixture);
  await setOptions(fixture, bad, { simulator_failures: 'sync' });
  fixture.clock.advance(30 * 60);
  await work(fixture);
  assert.equal([await state(bad), await state(good)], [['Erred', 'Simulated failure of sync'], ['In Sync']]);
});

test('retries Erred settings every settings_sync_interval', async () => {
  const settings = await make({ simulator_failures: 'ping' });
  await work(fixture);
  fixture.clock.advance(30 * 60);
  fixture.server.tick();
  assert.is((await state(settings))[0], 'Sync Scheduled');
});

test('imported settings are New, and the timer schedules their creation', async () => {
  const settings = await make();
  const { db } = fixture.server.app;
  db.write(() => {
    db.run(sql`DELETE FROM job`);
    db.run(sql`UPDATE service_settings SET state = 'New'`);
  });
  assert.equal(await state(settings), ['New']);
  fixture.clock.advance(1);
  fixture.server.tick();
  assert.equal(await state(settings), ['Creation Scheduled']);
  await work(fixture);
  assert.equal(await state(settings), ['In Sync']);
});

test('takes over a job whose lease is older than ten minutes', async () => {
  fixture.clock.hold();
  const settings = await make();
  const {
    clock,
    server: {
      app: { db },
    },
  } = fixture;
  clock.advance(1);
  // A process claimed the job and never reported back.
  db.write(() => {
    db.run(sql`UPDATE service_settings SET state = 'Creating'`);
    db.run(sql`UPDATE job SET started = ${clock.now()}, lease = ${clock.now() + 600_000_000}`);
  });
  clock.advance(599);
  await step(fixture);
  assert.equal(await state(settings), ['Creating']);
  clock.advance(2);
  await step(fixture);
  assert.equal(await state(settings), ['In Sync']);
});

test.run();
