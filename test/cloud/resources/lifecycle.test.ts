import * as assert from 'uvu/assert';
import { sql } from '../../../src/kernel/db/sql.ts';
import { type Droplets, dropletService } from '../../support/droplets.ts';
import { by, inCustomer, inJobOf, inProject } from '../../support/expected-event.ts';
import type { Json, RecordedEvent } from '../../support/fixture.ts';
import { createPersonas, type Personas } from '../../support/personas.ts';
import {
  collectStates,
  type SimulatedService,
  setOptions,
  simulatedService,
  step,
  work,
} from '../../support/simulated.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer(
  'the life of a resource: states, requests, events (services.md 8.1, 8.2, 8.6)',
);
let people: Personas;
let cloud: Droplets;
let office: SimulatedService;

test.before(async () => {
  people = await createPersonas(fixture);
  cloud = await dropletService(fixture, people);
  office = await simulatedService(fixture, 'jira', people, { name: 'Office' });
});
test.after.each(async () => {
  await setOptions(fixture, cloud.settings, { simulator_failures: null });
  for (const { url } of (await fixture.staff.get('/api/resources/')).body) await fixture.staff.post(`${url}unlink/`);
  fixture.events();
});

const fail = (failures: string): Promise<void> => setOptions(fixture, cloud.settings, { simulator_failures: failures });
const present = async ({ url }: Json): Promise<Json> => (await fixture.staff.get(url)).body;
const act = async ({ url }: Json, name: string, body?: unknown): Promise<unknown[]> => {
  const response = await people.clients.admin.post(`${url}${name}/`, body);
  return [response.status, response.body];
};
const alertsAbout = async ({ url }: Json): Promise<string[]> =>
  (await fixture.staff.get('/api/alerts/?opened')).body
    .filter(({ scope }: Json) => scope === url)
    .map(({ alert_type: type }: Json) => type);
const rejection = (text: string): unknown[] => [409, { detail: text }];
const onlyOk = rejection('Valid states for operation: OK.');
const pullable = rejection('Valid states for operation: OK, Erred.');

/** The context of a droplet's events, without the actor. */
const about = (droplet: Json): Record<string, string> => ({
  resource_uuid: droplet.uuid,
  resource_name: droplet.name,
  resource_full_name: `DigitalOcean Droplet ${droplet.name}`,
  resource_type: 'DigitalOcean.Droplet',
  service_uuid: cloud.service.uuid,
  service_name: 'Cloud',
  service_type: 'DigitalOcean',
  settings_uuid: cloud.settings.uuid,
  settings_name: 'Cloud',
  service_settings_type: 'DigitalOcean',
  ...inCustomer(people.customer),
  ...inProject(people.project, people.customer),
});
const reports = (
  type: string,
  message: string,
  droplet: Json,
  more: Record<string, string> = {},
  level = 'info',
): RecordedEvent => ({ type, level, message, context: { ...inJobOf(people.users.admin), ...about(droplet), ...more } });
const byAdmin = (): Record<string, string> => by(people.users.admin);

test('a creation passes from Creation Scheduled through Creating to OK, with its events', async () => {
  const droplet = await cloud.begin({}, people.clients.admin);
  assert.equal(await collectStates(fixture, droplet.url), ['Creation Scheduled', 'Creating provisioning', 'OK online']);
  assert.equal(fixture.events(), [
    reports('resource_creation_scheduled', 'Resource web creation has been scheduled.', droplet, byAdmin()),
    reports('resource_creation_succeeded', 'Resource web has been created.', droplet),
  ]);
});

test('a failed creation is Erred with the message, has no backend_id, and records an error event', async () => {
  await fail('create');
  const droplet = await cloud.begin({}, people.clients.admin);
  assert.equal(await collectStates(fixture, droplet.url), ['Creation Scheduled', 'Creating provisioning', 'Erred']);
  const text = 'Simulated failure of create';
  const { action, backend_id, error_message, runtime_state } = await present(droplet);
  assert.equal([error_message, backend_id, runtime_state, action], [text, '', '', '']);
  assert.equal(fixture.events().slice(1), [
    reports('resource_creation_failed', 'Resource web creation has failed.', droplet, { error_message: text }, 'error'),
  ]);
});

test('nothing is created while the settings are Erred', async () => {
  await fail('ping');
  fixture.clock.advance(30 * 60);
  await work(fixture);
  const { body, status } = await people.clients.admin.post('/api/digitalocean-droplets/', cloud.body());
  assert.equal([status, body], rejection('Cannot create resource if its service is in erred state.'));
  await setOptions(fixture, cloud.settings, { simulator_failures: null });
  fixture.clock.advance(30 * 60);
  await work(fixture);
});

test('start, stop and restart require OK and their runtime state, respond 202, and pass through Updating', async () => {
  const droplet = await cloud.make();
  fixture.events();
  assert.equal(await act(droplet, 'start'), rejection('Valid runtime states for operation: offline.'));
  for (const [name, running, after, done] of [
    ['stop', 'Updating online', 'OK offline', 'stopped'],
    ['start', 'Updating offline', 'OK online', 'started'],
    ['restart', 'Updating online', 'OK online', 'restarted'],
  ] as const) {
    const before = (await present(droplet)).runtime_state;
    assert.equal(await act(droplet, name), [202, { status: `${name} was scheduled` }]);
    assert.equal(await act(droplet, name), onlyOk, 'the second sees the new state');
    assert.equal(
      await collectStates(fixture, droplet.url),
      [`Update Scheduled ${before}`, running, after].filter((state, i, all) => state !== all[i - 1]),
    );
    assert.equal(fixture.events(), [
      reports(`resource_${name}_scheduled`, `Resource web has been scheduled to ${name}.`, droplet, byAdmin()),
      reports(`resource_${name}_succeeded`, `Resource web has been ${done}.`, droplet),
    ]);
  }
  await act(droplet, 'stop');
  await work(fixture);
  for (const name of ['stop', 'restart'])
    assert.equal(await act(droplet, name), rejection('Valid runtime states for operation: online.'));
});

test('action and action_details show the running action and its parameters until it ends', async () => {
  const droplet = await cloud.make();
  await act(droplet, 'stop');
  await work(fixture);
  await act(droplet, 'resize', { size: cloud.catalogue.large, disk: true });
  const reports = async (): Promise<unknown[]> => {
    const { action, action_details: details, state } = await present(droplet);
    return [state, action, typeof details];
  };
  assert.equal(await reports(), ['Update Scheduled', '', 'object']);
  await step(fixture);
  assert.equal(await reports(), ['Updating', 'resize', 'object']);
  await work(fixture);
  const { action, action_details: details, cores } = await present(droplet);
  assert.equal([action, details, cores], ['', {}, 2]);
  const events = fixture.events();
  assert.equal(events.at(-1)?.message, 'DigitalOcean Droplet web has been updated.', 'any other action is an update');
});

for (const name of ['start', 'stop', 'restart'] as const) {
  test(`a failed ${name} is Erred, keeps the runtime state, and records an error event`, async () => {
    const droplet = await cloud.make();
    if (name === 'start') {
      await act(droplet, 'stop');
      await work(fixture);
    }
    const before = (await present(droplet)).runtime_state;
    await fail(name);
    fixture.events();
    await act(droplet, name);
    await work(fixture);
    const { action, error_message, runtime_state, state } = await present(droplet);
    assert.equal([state, runtime_state, error_message, action], ['Erred', before, `Simulated failure of ${name}`, '']);
    assert.equal(fixture.events().slice(1), [
      reports(`resource_${name}_failed`, `Resource web ${name} has failed.`, droplet, { error_message }, 'error'),
    ]);
    for (const action of ['start', 'stop', 'restart']) assert.equal(await act(droplet, action), onlyOk);
    assert.equal((await people.clients.admin.patch(droplet.url, { name: 'x' })).body, onlyOk[1]);
  });
}

test('other failed actions record no event', async () => {
  const droplet = await cloud.make();
  await act(droplet, 'stop');
  await work(fixture);
  await fail('resize');
  fixture.events();
  await act(droplet, 'resize', { size: cloud.catalogue.large, disk: false });
  await work(fixture);
  assert.equal([(await present(droplet)).state, fixture.events()], ['Erred', []]);
});

test('accepts a pull in OK and Erred, which clears the failure of a healthy resource', async () => {
  const droplet = await cloud.make();
  await fail('stop');
  await act(droplet, 'stop');
  await work(fixture);
  fixture.events();
  assert.equal(await act(droplet, 'pull'), [202, { detail: 'Pull operation was successfully scheduled.' }]);
  assert.equal(await act(droplet, 'pull'), pullable);
  assert.equal((await present(droplet)).state, 'Update Scheduled');
  await work(fixture);
  const { error_message, state } = await present(droplet);
  assert.equal([state, error_message], ['OK', '']);
  assert.equal(fixture.events(), [], 'a pull is no update');
  assert.equal(
    await act(droplet, 'pull'),
    [202, { detail: 'Pull operation was successfully scheduled.' }],
    'also in OK',
  );
});

test('a pull that does not find the object is Erred and raises an alert; finding it again closes it', async () => {
  const droplet = await cloud.make();
  const { db } = fixture.server.app;
  const alerts = (): Promise<string[]> => alertsAbout(droplet);
  db.script(`UPDATE simulated_object SET backend_id = 'gone' WHERE backend_id = '${droplet.backend_id}'`);
  await act(droplet, 'pull');
  await work(fixture);
  const lost = await present(droplet);
  assert.equal(
    [lost.state, lost.runtime_state, lost.error_message, await alerts()],
    ['Erred', '', 'Does not exist at backend.', ['resource_disappeared_from_backend']],
  );
  db.script(`UPDATE simulated_object SET backend_id = '${droplet.backend_id}' WHERE backend_id = 'gone'`);
  await act(droplet, 'pull');
  await work(fixture);
  const matches = await present(droplet);
  assert.equal([matches.state, matches.runtime_state, matches.error_message, await alerts()], ['OK', 'online', '', []]);
});

test('a pull that fails for any other reason raises no alert', async () => {
  const droplet = await cloud.make();
  await fail('pull');
  await act(droplet, 'pull');
  await work(fixture);
  const { error_message, state } = await present(droplet);
  assert.equal([state, error_message, await alertsAbout(droplet)], ['Erred', 'Simulated failure of pull', []]);
});

test('a deletion passes through Deletion Scheduled and Deleting until the row is removed', async () => {
  const droplet = await cloud.make();
  fixture.events();
  const { admin } = people.clients;
  const response = await admin.delete(droplet.url);
  assert.equal([response.status, response.body], [202, { detail: 'Deletion was scheduled.' }]);
  const again = await admin.delete(droplet.url);
  assert.equal([again.status, again.body], pullable);
  assert.equal(await collectStates(fixture, droplet.url), ['Deletion Scheduled online', 'Deleting online', 'gone']);
  assert.equal(fixture.events(), [
    reports('resource_deletion_scheduled', 'Resource web deletion has been scheduled.', droplet, byAdmin()),
    reports('resource_deletion_succeeded', 'DigitalOcean Droplet web has been deleted.', droplet),
  ]);
});

test('a failed deletion is Erred with an error event; a deletion from Erred is forced and always removes the row', async () => {
  const droplet = await cloud.make();
  await fail('delete');
  fixture.events();
  await people.clients.admin.delete(droplet.url);
  await work(fixture);
  const { error_message, state } = await present(droplet);
  assert.equal([state, error_message], ['Erred', 'Simulated failure of delete']);
  assert.equal(fixture.events().slice(1), [
    reports('resource_deletion_failed', 'Resource web deletion has failed.', droplet, { error_message }, 'error'),
  ]);
  assert.is((await people.clients.admin.delete(droplet.url)).status, 202);
  await work(fixture);
  assert.is((await fixture.staff.get(droplet.url)).status, 404);
  assert.equal(
    fixture.events().map(({ type }) => type),
    ['resource_deletion_scheduled', 'resource_deletion_succeeded'],
  );
});

test('deletes a resource without backend_id without calling the provider', async () => {
  await fail('create,delete');
  const droplet = await cloud.make();
  assert.equal([droplet.state, droplet.backend_id], ['Erred', '']);
  await people.clients.admin.delete(droplet.url);
  await work(fixture);
  assert.is((await fixture.staff.get(droplet.url)).status, 404);
});

test('PUT and PATCH of local values keep the state OK, and record one event with the changes', async () => {
  const droplet = await cloud.make();
  fixture.events();
  const { admin } = people.clients;
  const changed = await admin.patch(droplet.url, { name: 'api', description: 'Back' });
  assert.equal([changed.status, changed.body], [200, { ...droplet, name: 'api', description: 'Back' }]);
  assert.equal(fixture.events(), [
    reports(
      'resource_update_succeeded',
      "DigitalOcean Droplet api has been updated. Name has been changed from 'web' to 'api'. Description has been changed from '' to 'Back'.",
      { ...droplet, name: 'api' },
      byAdmin(),
    ),
  ]);
  await admin.put(droplet.url, { name: 'api', description: 'Back', tags: [] });
  assert.equal(fixture.events(), [], 'no change, no event');
  await admin.delete(droplet.url);
  const late = await admin.put(droplet.url, { name: 'late' });
  assert.equal([late.status, late.body], onlyOk);
});

test('a changed name for the provider passes through Update Scheduled, and records the event after the provider has accepted it', async () => {
  const template = (await fixture.staff.get('/api/jira-project-templates/')).body[0].url;
  const { admin } = people.clients;
  const project = (
    await admin.post('/api/jira-projects/', {
      service_project_link: office.link.url,
      name: 'Plan',
      key: 'PLAN',
      template,
    })
  ).body;
  await work(fixture);
  fixture.events();
  const described = await admin.patch(project.url, { description: 'What to do' });
  assert.equal([described.body.state, fixture.events().length], ['OK', 1], 'a description stays here');
  const renamed = await admin.patch(project.url, { name: 'Roadmap' });
  assert.equal(
    [renamed.status, renamed.body.name, renamed.body.state, fixture.events()],
    [200, 'Roadmap', 'Update Scheduled', []],
  );
  assert.equal(await collectStates(fixture, project.url), ['Update Scheduled', 'Updating', 'OK']);
  assert.equal(
    fixture.events().map(({ context, message }) => [message, context.user_username]),
    [["JIRA Project Roadmap has been updated. Name has been changed from 'Plan' to 'Roadmap'.", 'admin.of.project']],
  );
  await setOptions(fixture, office.settings, { simulator_failures: 'update' });
  await admin.patch(project.url, { name: 'Never' });
  await work(fixture);
  assert.equal([(await present(project)).state, fixture.events()], ['Erred', []]);
  await setOptions(fixture, office.settings, { simulator_failures: null });
});

test('unlink removes only the local row, in any state, with its job', async () => {
  const { db } = fixture.server.app;
  for (const prepare of [
    async (): Promise<Json> => cloud.begin(),
    async (): Promise<Json> => {
      const droplet = await cloud.begin();
      await step(fixture);
      assert.is((await present(droplet)).state, 'Creating');
      return droplet;
    },
    async (): Promise<Json> => cloud.make(),
    async (): Promise<Json> => {
      const droplet = await cloud.make();
      await people.clients.admin.delete(droplet.url);
      return droplet;
    },
  ]) {
    const droplet = await prepare();
    fixture.events();
    const response = await people.clients.owner.post(`${droplet.url}unlink/`);
    assert.equal([response.status, response.body], [204, undefined]);
    assert.equal(fixture.events(), [
      reports(
        'resource_deletion_succeeded',
        'DigitalOcean Droplet web has been deleted.',
        droplet,
        by(people.users.owner),
      ),
    ]);
    await work(fixture);
    assert.equal(
      [(await fixture.staff.get(droplet.url)).status, db.value(sql`SELECT count(*) FROM job`), fixture.events()],
      [404, 0, []],
    );
  }
  assert.ok(
    (db.value<number>(sql`SELECT count(*) FROM simulated_object`) as number) > 0,
    'the provider keeps its objects',
  );
});

test('actions respond 404 to users who cannot see the resource, 405 to other methods', async () => {
  const droplet = await cloud.make();
  for (const name of ['start', 'stop', 'restart', 'resize', 'pull', 'unlink']) {
    assert.is((await people.clients.stranger.post(`${droplet.url}${name}/`)).status, 404);
    assert.is((await fixture.staff.get(`${droplet.url}${name}/`)).status, 405);
  }
});

test('serialises requests for one row: accepts one of many simultaneous ones', async () => {
  const droplet = await cloud.make();
  const responses = await Promise.all(
    Array.from({ length: 10 }, () => people.clients.admin.post(`${droplet.url}stop/`)),
  );
  assert.equal(responses.map(({ status }) => status).sort(), [202, ...Array(9).fill(409)]);
  assert.is(fixture.server.app.db.value(sql`SELECT count(*) FROM job`), 1);
});

test.run();
