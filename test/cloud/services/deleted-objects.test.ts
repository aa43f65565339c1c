/** Imports do not offer deleted objects (services.md 4.2). */
import { providerKit } from 'tenantry';
import * as assert from 'uvu/assert';
import { type Droplets, dropletService } from '../../support/droplets.ts';
import { eventually } from '../../support/eventually.ts';
import type { Json } from '../../support/fixture.ts';
import { setOptions, step, work } from '../../support/simulated.ts';
import { suiteWithServerPerTest } from '../../support/suite.ts';

const { SimulatorDriver } = providerKit;
const { test, fixture } = suiteWithServerPerTest('imports of deleted objects');
let cloud: Droplets;
let project: Json;
let droplet: Json;

test.before.each(async () => {
  const customer = await fixture.customer('Alice');
  project = await fixture.project('Rocket', customer);
  cloud = await dropletService(fixture, { customer, project });
  droplet = await cloud.make();
  fixture.clock.advance(30 * 60);
  await work(fixture);
});

const importable = async (): Promise<string[]> =>
  (await fixture.staff.get(`${cloud.service.url}link/`)).body.map(({ backend_id }: Json) => backend_id);
const importIt = async (): Promise<[number, Json]> => {
  const { body, status } = await fixture.staff.post(`${cloud.service.url}link/`, {
    backend_id: droplet.backend_id,
    project: project.url,
  });
  return [status, body];
};

test('a deleted resource cannot be imported back', async () => {
  assert.is((await fixture.staff.delete(droplet.url)).status, 202);
  await work(fixture);
  assert.is((await fixture.staff.get(droplet.url)).status, 404);
  assert.equal(await importable(), []);
  assert.equal(await importIt(), [400, { backend_id: [`Can't find droplet with ID ${droplet.backend_id}`] }]);
});

test('nor after a synchronisation that listed it before its deletion', async () => {
  const { ping } = SimulatorDriver.prototype;
  let response: () => void = () => undefined;
  const responded = new Promise<void>((resolve) => {
    response = resolve;
  });
  SimulatorDriver.prototype.ping = async function () {
    await responded;
    return ping.call(this);
  };
  fixture.clock.advance(30 * 60);
  fixture.server.tick();
  // The synchronisation is running. Restore the objects that it will report, below.
  const { db } = fixture.server.app;
  const stored = db.get<Json>({
    text: `SELECT * FROM simulated_object WHERE backend_id = '${droplet.backend_id}'`,
    values: [],
  });
  assert.is((await fixture.staff.delete(droplet.url)).status, 202);
  await eventually('it is deleted before the listing is stored', async () => {
    fixture.clock.advance(1);
    fixture.server.tick();
    return (await fixture.staff.get(droplet.url)).status === 404;
  });
  assert.is((await fixture.staff.get(cloud.settings.url)).body.state, 'Syncing');
  db.write(() => db.insert('simulated_object', stored));
  SimulatorDriver.prototype.ping = ping;
  response();
  await fixture.server.settled();
  assert.is((await fixture.staff.get(cloud.settings.url)).body.state, 'In Sync');
  assert.equal(await importable(), []);
});

test('an unlinked object can be imported again', async () => {
  assert.is((await fixture.staff.post(`${droplet.url}unlink/`)).status, 204);
  assert.equal(await importable(), [droplet.backend_id]);
  assert.is((await importIt())[0], 200);
});

test('a forcibly removed object remains importable, because the provider may still have it', async () => {
  await setOptions(fixture, cloud.settings, { simulator_failures: 'delete' });
  await fixture.staff.delete(droplet.url);
  await work(fixture);
  assert.is((await fixture.staff.get(droplet.url)).body.state, 'Erred');
  await fixture.staff.delete(droplet.url);
  await work(fixture);
  await step(fixture);
  assert.is((await fixture.staff.get(droplet.url)).status, 404);
  assert.equal(await importable(), [droplet.backend_id]);
});

test.run();
