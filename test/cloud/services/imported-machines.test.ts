import * as assert from 'uvu/assert';
import { raw } from '../../../src/kernel/db/sql.ts';
import { type Droplets, dropletService } from '../../support/droplets.ts';
import type { Json } from '../../support/fixture.ts';
import { createPersonas } from '../../support/personas.ts';
import { work } from '../../support/simulated.ts';
import { suiteWithServerPerTest } from '../../support/suite.ts';

const { test, fixture } = suiteWithServerPerTest('start_time of imported machines (services.md 7.1)');
let people: Json;
let cloud: Droplets;

test.before.each(async () => {
  people = await createPersonas(fixture);
  cloud = await dropletService(fixture, people, { simulator_inventory: 1 });
});

/** Changes a value that the provider reports of its machine. */
async function report(name: string, value: string): Promise<void> {
  const { db } = fixture.server.app;
  db.write(() => db.run(raw(`UPDATE simulated_object SET "values" = json_set("values", '$.${name}', ${value})`)));
  fixture.clock.advance(30 * 60);
  await work(fixture);
}

async function startTime(): Promise<unknown> {
  const project = people.project.url;
  const { body } = await fixture.staff.post(`${cloud.service.url}link/`, { backend_id: '1000001', project });
  return (await fixture.staff.get(body.url)).body.start_time;
}

test('start_time of a running machine defaults to the time of its import', async () => {
  fixture.clock.hold();
  const now = new Date(fixture.clock.now() / 1000).toISOString().replace('.000Z', 'Z');
  assert.is(await startTime(), now);
});

test('uses the start time of the provider if it reports one', async () => {
  await report('start_time', String(Date.UTC(2017, 5, 1) * 1000));
  assert.is(await startTime(), '2017-06-01T00:00:00Z');
});

test('a stopped machine has no start_time', async () => {
  await report('start_time', String(Date.UTC(2017, 5, 1) * 1000));
  await report('runtime_state', `'offline'`);
  assert.is(await startTime(), null);
});

test('a synchronisation does not change start_time', async () => {
  fixture.clock.hold();
  const now = new Date(fixture.clock.now() / 1000).toISOString().replace('.000Z', 'Z');
  const project = people.project.url;
  const { body } = await fixture.staff.post(`${cloud.service.url}link/`, { backend_id: '1000001', project });
  await report('cores', '2');
  const { cores, start_time: started } = (await fixture.staff.get(body.url)).body;
  assert.equal([cores, started], [2, now]);
});

test.run();
