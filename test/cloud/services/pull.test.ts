import * as assert from 'uvu/assert';
import { examine } from '../../../src/app/doctor/doctor.ts';
import { sql } from '../../../src/kernel/db/sql.ts';
import { embeddedMigrations } from '../../../src/kernel/native/embedded.ts';
import { type Droplets, dropletService } from '../../support/droplets.ts';
import type { Json } from '../../support/fixture.ts';
import { setOptions, step, work } from '../../support/simulated.ts';
import { suiteWithServerPerTest } from '../../support/suite.ts';

const { test, fixture } = suiteWithServerPerTest('the background pull (services.md 8.4)');
let cloud: Droplets;
let droplet: Json;

test.before.each(async () => {
  const customer = await fixture.customer('Alice');
  cloud = await dropletService(fixture, { customer, project: await fixture.project('Rocket', customer) });
  droplet = await cloud.make();
  fixture.events();
});
test.after.each(() => {
  assert.equal(examine(fixture.server.app, false).problems, []);
});

const present = async (): Promise<Json> => (await fixture.staff.get(droplet.url)).body;
const synchronise = async (): Promise<void> => {
  fixture.clock.advance(30 * 60);
  await work(fixture);
};
/** Changes the droplet at the provider. */
const drift = (values: Readonly<Record<string, unknown>>): void => {
  const { db } = fixture.server.app;
  db.script(
    `UPDATE simulated_object SET "values" = json_patch("values", '${JSON.stringify(values)}') WHERE backend_id = '${droplet.backend_id}'`,
  );
};
const lose = (): void =>
  fixture.server.app.db.script(
    `UPDATE simulated_object SET backend_id = 'lost' WHERE backend_id = '${droplet.backend_id}'`,
  );
const find = (): void =>
  fixture.server.app.db.script(
    `UPDATE simulated_object SET backend_id = '${droplet.backend_id}' WHERE backend_id = 'lost'`,
  );
const alerts = async (): Promise<string[]> =>
  (await fixture.staff.get('/api/alerts/?opened&o=created')).body
    .map(({ alert_type: type, message }: Json) => `${type}: ${message}`)
    .sort();

test("the provider's fields overwrite name, sizes, addresses and runtime state, without an event", async () => {
  drift({
    name: 'renamed',
    cores: 4,
    ram: 8192,
    disk: 163840,
    external_ips: ['198.18.9.9'],
    internal_ips: [],
    runtime_state: 'offline',
  });
  await synchronise();
  const { access_url, cores, disk, external_ips, internal_ips, name, ram, runtime_state, start_time, state } =
    await present();
  assert.equal(
    [name, cores, ram, disk, external_ips, internal_ips, access_url, runtime_state, start_time, state],
    ['renamed', 4, 8192, 163840, ['198.18.9.9'], [], ['198.18.9.9'], 'offline', null, 'OK'],
  );
  assert.equal(fixture.events(), []);
});

test('keeps a locally changed name until the name at the provider changes', async () => {
  await fixture.staff.patch(droplet.url, { name: 'ours' });
  await synchronise();
  await synchronise();
  assert.is((await present()).name, 'ours');
  await fixture.staff.post(`${droplet.url}pull/`);
  await work(fixture);
  await fixture.staff.post(`${droplet.url}stop/`);
  await work(fixture);
  assert.equal([(await present()).name, (await present()).runtime_state], ['ours', 'offline']);
  drift({ name: 'theirs' });
  await fixture.staff.post(`${droplet.url}pull/`);
  await work(fixture);
  assert.is((await present()).name, 'theirs');
  await fixture.staff.patch(droplet.url, { name: 'ours again' });
  await synchronise();
  assert.is((await present()).name, 'ours again');
  drift({ name: 'web' });
  await synchronise();
  assert.is((await present()).name, 'web', 'also when it is the one of the beginning');
});

test('keeps a locally changed description likewise, also of imported objects', async () => {
  drift({ description: 'Theirs' });
  await synchronise();
  assert.is((await present()).description, 'Theirs');
  await fixture.staff.patch(droplet.url, { description: 'Ours' });
  await setOptions(fixture, cloud.settings, { simulator_inventory: 1 });
  await synchronise();
  assert.is((await present()).description, 'Ours');
  const { body } = await fixture.staff.post(`${cloud.service.url}link/`, {
    backend_id: '1000002',
    project: (await present()).project,
  });
  await fixture.staff.patch(body.url, { name: 'taken over', description: 'Ours' });
  await synchronise();
  const { description, name } = (await fixture.staff.get(body.url)).body;
  assert.equal([name, description], ['taken over', 'Ours']);
});

test("resources from before the provider's values were kept have those of its last listing", async () => {
  await synchronise();
  await fixture.staff.patch(droplet.url, { name: 'ours' });
  const { db } = fixture.server.app;
  db.script('ALTER TABLE resource DROP COLUMN backend_name; ALTER TABLE resource DROP COLUMN backend_description');
  const migration = embeddedMigrations().find(({ name }) => name === '0029_backend_names');
  db.script(migration?.sql as string);
  await synchronise();
  assert.is((await present()).name, 'ours');
  drift({ name: 'theirs' });
  await synchronise();
  assert.is((await present()).name, 'theirs');
});

test('keeps values that the provider does not have: description, tags and creation of a droplet', async () => {
  await fixture.staff.patch(droplet.url, { description: 'Ours', tags: ['a'] });
  const before = await present();
  await synchronise();
  assert.equal(await present(), before);
});

test('a pull without news writes nothing', async () => {
  const revision = (): number =>
    fixture.server.app.db.value({ text: 'SELECT revision FROM resource', values: [] }) as number;
  const before = revision();
  await synchronise();
  assert.is(revision(), before);
});

test('a missing object makes its resource Erred, with an alert; when it is back the resource is OK and the alert closed', async () => {
  lose();
  await synchronise();
  const gone = await present();
  assert.equal([gone.state, gone.runtime_state, gone.error_message], ['Erred', '', 'Does not exist at backend.']);
  assert.equal(await alerts(), [
    'resource_disappeared_from_backend: Resource web has disappeared from the backend',
    'service_has_unmanaged_resources: Service Cloud has unmanaged resources',
  ]);
  await synchronise();
  assert.is((await present()).state, 'Erred', 'and stays so');
  find();
  await synchronise();
  const back = await present();
  assert.equal([back.state, back.runtime_state, back.error_message, await alerts()], ['OK', 'online', '', []]);
});

test('an Erred resource that is healthy at the provider becomes OK', async () => {
  await setOptions(fixture, cloud.settings, { simulator_failures: 'stop' });
  await fixture.staff.post(`${droplet.url}stop/`);
  await work(fixture);
  assert.is((await present()).state, 'Erred');
  await synchronise();
  assert.equal([(await present()).state, (await present()).error_message], ['OK', '']);
});

test('an unhealthy resource becomes Erred', async () => {
  drift({ runtime_state: 'error' });
  await synchronise();
  const { error_message, state } = await present();
  assert.equal([state, error_message], ['Erred', 'Droplet runtime state become erred: error']);
});

test('a failed creation without an object stays Erred', async () => {
  await setOptions(fixture, cloud.settings, { simulator_failures: 'create' });
  const failed = await cloud.make({ name: 'failed' });
  await synchronise();
  assert.is((await fixture.staff.get(failed.url)).body.state, 'Erred');
});

test('does not change resources with a running operation', async () => {
  await setOptions(fixture, cloud.settings, { simulator_latency: 'sync=0,ping=0,*=600000' });
  drift({ name: 'renamed' });
  fixture.clock.advance(29 * 60 + 55);
  await fixture.staff.post(`${droplet.url}stop/`);
  for (let i = 0; i < 12; i++) await step(fixture);
  const { name, state } = await present();
  assert.equal([state, name], ['Updating', 'web']);
});

test('does not change resources that were changed after the start of the pull', async () => {
  await setOptions(fixture, cloud.settings, { simulator_latency: 'sync=100,*=0' });
  drift({ name: 'theirs' });
  fixture.clock.advance(30 * 60);
  fixture.server.tick();
  fixture.clock.advance(1);
  fixture.server.tick();
  assert.is((await fixture.staff.get(cloud.settings.url)).body.state, 'Syncing');
  assert.is((await fixture.staff.patch(droplet.url, { name: 'ours' })).status, 200);
  await fixture.server.settled();
  assert.is((await present()).name, 'ours');
  assert.is((await present()).state, 'OK');
  await synchronise();
  assert.is((await present()).name, 'theirs', 'but not by the next one');
});

test('a synchronisation that finds nothing new is not compared again until either side changes', async () => {
  const { unchangedSyncs } = fixture.server.app;
  const observe = unchangedSyncs.observe.bind(unchangedSyncs);
  let compared = 0;
  unchangedSyncs.observe = (...input) => {
    compared++;
    return observe(...input);
  };
  const comparedBy = async (work: () => unknown): Promise<number> => {
    await work();
    compared = 0;
    await synchronise();
    return compared;
  };
  const nothing = (): void => undefined;
  await synchronise();
  await synchronise();
  const { body: before } = await fixture.staff.get(cloud.settings.url);
  assert.is(await comparedBy(nothing), 0);
  const { body: after } = await fixture.staff.get(cloud.settings.url);
  assert.equal([before.state, after.state], ['In Sync', 'In Sync']);
  assert.is(await comparedBy(() => drift({ name: 'theirs' })), 1);
  assert.is((await present()).name, 'theirs');
  await synchronise();
  assert.is(await comparedBy(nothing), 0);
  assert.is(await comparedBy(() => fixture.server.app.db.script("UPDATE resource SET runtime_state = 'offline'")), 1);
  assert.is((await present()).runtime_state, 'online');
  await synchronise();
  assert.is(await comparedBy(() => fixture.server.app.db.script('DELETE FROM inventory')), 1);
  assert.is(fixture.server.app.db.value(sql`SELECT count(*) FROM inventory`), 1);
  assert.equal(fixture.events(), []);
});

test('closes an alert that staff reopened after syncs that changed nothing', async () => {
  lose();
  await synchronise();
  const [alert] = (await fixture.staff.get('/api/alerts/?opened&alert_type=resource_disappeared_from_backend')).body;
  find();
  drift({ runtime_state: 'error' });
  for (let i = 0; i < 3; i++) await synchronise();
  assert.equal([(await present()).state, await alerts()], ['Erred', []]);
  const { status } = await fixture.staff.post(alert.url, { message: 'By hand.', severity: 'Error' });
  assert.is(status, 200);
  assert.equal(await alerts(), ['resource_disappeared_from_backend: By hand.']);
  await synchronise();
  assert.equal(await alerts(), []);
});

test('unmanaged objects can be imported', async () => {
  await setOptions(fixture, cloud.settings, { simulator_inventory: 2 });
  assert.equal((await fixture.staff.get(`${cloud.service.url}link/`)).body, []);
  await synchronise();
  assert.equal(
    (await fixture.staff.get(`${cloud.service.url}link/`)).body.map(({ name }: Json) => name),
    ['unmanaged-droplet-1', 'unmanaged-droplet-2'],
  );
});

test('deletes properties that are missing at the provider, and keeps values copied to resources', async () => {
  fixture.server.app.db.script(
    "INSERT INTO property (uuid, kind, backend, backend_id, name) VALUES (lower(hex(randomblob(16))), 'DigitalOcean.Region', '', 'moon1', 'Moon 1')",
  );
  const regions = async (): Promise<string[]> =>
    (await fixture.staff.get('/api/digitalocean-regions/')).body.map(({ name }: Json) => name);
  assert.ok((await regions()).includes('Moon 1'));
  await synchronise();
  assert.equal(await regions(), ['Amsterdam 3', 'Frankfurt 1', 'New York 3', 'Singapore 1']);
  fixture.server.app.db.script("DELETE FROM property WHERE name = 'New York 3'");
  assert.is((await present()).region_name, 'New York 3');
});

test.run();
