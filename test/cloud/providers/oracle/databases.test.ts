import * as assert from 'uvu/assert';
import { raw } from '../../../../src/kernel/db/sql.ts';
import { catalogue } from '../../../support/catalogue.ts';
import type { Client, Json } from '../../../support/fixture.ts';
import { asEachPersona, createPersonas, type Personas } from '../../../support/personas.ts';
import { publicKeys } from '../../../support/public-keys.ts';
import {
  collectStates,
  type SimulatedService,
  setOptions,
  simulatedService,
  step,
  usages,
  work,
} from '../../../support/simulated.ts';
import { suiteWithServer } from '../../../support/suite.ts';

const { test, fixture } = suiteWithServer('Oracle: properties and databases (providers.md 9)');
let people: Personas;
let cloud: SimulatedService;
let admin: Client;
let zone: Json;
let template: Json;
let database: Json;

test.before(async () => {
  people = await createPersonas(fixture);
  cloud = await simulatedService(fixture, 'oracle', people);
  admin = people.clients.admin;
  zone = (await admin.get('/api/oracle-zones/')).body[0];
  template = (await admin.get('/api/oracle-templates/?name=small')).body[0];
});

const create = (fields: Readonly<Record<string, unknown>> = {}): Promise<Json> =>
  admin.post('/api/oracle-databases/', {
    service_project_link: cloud.link.url,
    name: 'ledger',
    zone: zone.url,
    template: template.url,
    username: 'SYSTEM',
    password: 'tiger-tiger',
    ...fields,
  });
const rejection = async (response: Promise<Json>): Promise<unknown[]> => [
  (await response).status,
  (await response).body,
];
const act = (action: string): Promise<unknown[]> => rejection(admin.post(`${database.url}${action}/`));
const present = async (object: Json): Promise<Json> => (await fixture.staff.get(object.url)).body;
const messages = (): string[] => fixture.events().map(({ message }) => message);
const now = (): string => new Date(fixture.clock.now() / 1000).toISOString().replace('.000', '');

test('a real driver requires username and password', () => {
  const { missingCredentials: missing } = catalogue.type('Oracle');
  const required = ['This field is required.'];
  assert.equal(missing({}), { username: required, password: required });
  assert.equal(missing({ username: 'sysman' }), { password: required });
  assert.equal(missing({ username: 'sysman', password: 'secret' }), {});
});

test('zones have url, uuid, name and settings', async () => {
  const zones = (await admin.get('/api/oracle-zones/')).body;
  assert.equal(
    zones,
    ['Zone A', 'Zone B'].map((name, i) => ({
      url: `${fixture.url}/api/oracle-zones/${zones[i].uuid}/`,
      uuid: zones[i].uuid,
      name,
      settings: cloud.settings.url,
    })),
  );
  assert.equal((await admin.get(zones[0].url)).body, zones[0]);
});

test('templates also have a type, which is a filter', async () => {
  const templates = (await admin.get('/api/oracle-templates/')).body;
  assert.equal(
    templates,
    [
      ['Database large', 'Database Platform Template'],
      ['Database small', 'Database Platform Template'],
      ['Schema small', 'Schema Platform Template'],
    ].map(([name, type], i) => ({
      url: `${fixture.url}/api/oracle-templates/${templates[i].uuid}/`,
      uuid: templates[i].uuid,
      name,
      type,
      settings: cloud.settings.url,
    })),
  );
  assert.equal((await admin.get('/api/oracle-templates/?type=Schema Platform Template')).body, [templates[2]]);
});

test('users who can see the settings or a service on them can read these properties; no one can write them', async () => {
  const counts = await asEachPersona(people, async (client) => (await client.get('/api/oracle-zones/')).body.length);
  assert.equal(counts, { staff: 2, support: 2, owner: 2, helper: 2, manager: 2, admin: 2, observer: 2, stranger: 0 });
  assert.is((await people.clients.stranger.get(zone.url)).status, 404);
  assert.is((await fixture.staff.post('/api/oracle-zones/', { name: 'Zone C' })).status, 405);
});

test('zone, template, username, password, name and link are required', async () => {
  const required = ['This field is required.'];
  assert.equal(await rejection(admin.post('/api/oracle-databases/', {})), [
    400,
    {
      name: required,
      service_project_link: required,
      zone: required,
      template: required,
      username: required,
      password: required,
    },
  ]);
});

test('zone and template belong to the same settings', async () => {
  const other = await simulatedService(fixture, 'oracle', people, { name: 'Other' });
  const foreign = (await admin.get(`/api/oracle-zones/?settings_uuid=${other.settings.uuid}`)).body[0];
  assert.equal(await rejection(create({ zone: foreign.url })), [
    400,
    { non_field_errors: ['Zone and template must belong to the same service settings.'] },
  ]);
});

test('requires a template of databases', async () => {
  const schema = (await admin.get('/api/oracle-templates/?name=Schema')).body[0];
  assert.equal(await rejection(create({ template: schema.url })), [
    400,
    { template: ['Invalid hyperlink - Object does not exist.'] },
  ]);
});

test('SID and service name are short and have Latin letters, digits and _', async () => {
  const sid = ['database_sid must be less than 8 chars and contain only latin letters and digits'];
  const service = ['service_name must be less than 28 chars and contain only latin letters and digits'];
  for (const [backend_database_sid, backend_service_name] of [
    ['too_long_', 's'.repeat(29)],
    ['é', 'a-b'],
  ]) {
    assert.equal(await rejection(create({ backend_database_sid, backend_service_name })), [
      400,
      { backend_database_sid: sid, backend_service_name: service },
    ]);
  }
});

test('accepts a creation and counts it as an application', async () => {
  const key = (await admin.post('/api/keys/', { name: 'laptop', public_key: publicKeys.ed25519 })).body;
  fixture.events();
  const created = await create({
    backend_database_sid: 'LEDGER_1',
    backend_service_name: 'L'.repeat(28),
    ssh_public_key: key.url,
    tags: ['env:prod'],
  });
  assert.is(created.status, 201);
  database = created.body;
  const {
    access_url,
    backend_database_sid,
    backend_service_name,
    resource_type,
    runtime_state,
    start_time,
    state,
    template_name,
    zone_name,
  } = database;
  assert.equal(
    {
      access_url,
      backend_database_sid,
      backend_service_name,
      resource_type,
      runtime_state,
      start_time,
      state,
      template_name,
      zone_name,
    },
    {
      access_url: null,
      backend_database_sid: 'LEDGER_1',
      backend_service_name: 'L'.repeat(28),
      resource_type: 'Oracle.Database',
      runtime_state: '',
      start_time: null,
      state: 'Creation Scheduled',
      template_name: 'Database small',
      zone_name: 'Zone A',
    },
  );
  assert.not.ok(['zone', 'template', 'username', 'password', 'ssh_public_key'].some((name) => name in database));
  assert.equal(await usages(fixture, people.project), {
    nc_app_count: 1,
    nc_resource_count: 1,
    nc_service_project_link_count: 2,
  });
  assert.equal([(await present(cloud.link)).quotas, (await present(cloud.service)).quotas], [[], []]);
});

test('SID and service name are optional', async () => {
  const { body } = await create({ name: 'plain' });
  assert.equal([body.backend_database_sid, body.backend_service_name], ['', '']);
  await work(fixture);
  await admin.delete(body.url);
  await work(fixture);
  database = await present(database);
});

test('creates the database: INITIATED, then RUNNING', async () => {
  fixture.events();
  database = (await create({ name: 'books' })).body;
  assert.equal(await collectStates(fixture, database.url), ['Creation Scheduled', 'Creating INITIATED', 'OK RUNNING']);
  const { backend_id, start_time } = await present(database);
  assert.equal([backend_id, start_time], ['3', now()]);
  assert.equal(messages(), ['Resource books creation has been scheduled.', 'Resource books has been created.']);
});

test('encrypts the password, and never shows it or the user', async () => {
  const displayed = [
    await present(database),
    (await admin.get('/api/resources/')).body,
    (await admin.options(database.url)).body,
    (await admin.options('/api/oracle-databases/')).body,
    (await fixture.staff.get('/api/events/?page_size=100')).body,
  ];
  assert.not.match(JSON.stringify(displayed), 'tiger-tiger');
  await fixture.staff.post(`${database.url}pull/`);
  await work(fixture);
  const { db } = fixture.server.app;
  const tables = db.values<string>(
    raw("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'event_words%'"),
  );
  for (const table of tables) {
    assert.not.match(JSON.stringify(db.all(raw(`SELECT * FROM "${table}"`))), 'tiger-tiger', table);
  }
  const row = db.get<{ uuid: string; secrets: Uint8Array }>(
    raw("SELECT uuid, secrets FROM resource WHERE name = 'books'"),
  );
  assert.is(
    fixture.server.app.secrets.open(row?.secrets as Uint8Array, row?.uuid as string),
    '{"password":"tiger-tiger"}',
  );
});

test('rejects starting a running database', async () => {
  assert.equal(await act('start'), [409, { detail: 'Valid runtime states for operation: STOPPED.' }]);
});

test('restart: STOPPING, STARTING, RUNNING, with a new start time', async () => {
  fixture.events();
  assert.equal(await act('restart'), [202, { status: 'restart was scheduled' }]);
  assert.equal(await collectStates(fixture, database.url), [
    'Update Scheduled RUNNING',
    'Updating STOPPING',
    'Updating STARTING',
    'OK RUNNING',
  ]);
  assert.is((await present(database)).start_time, now());
  assert.equal(messages(), ['Resource books has been scheduled to restart.', 'Resource books has been restarted.']);
});

test('stop: STOPPING, then STOPPED, without a start time', async () => {
  assert.equal(await act('stop'), [202, { status: 'stop was scheduled' }]);
  assert.equal(await collectStates(fixture, database.url), [
    'Update Scheduled RUNNING',
    'Updating STOPPING',
    'OK STOPPED',
  ]);
  assert.is((await present(database)).start_time, null);
  assert.equal(messages(), ['Resource books has been scheduled to stop.', 'Resource books has been stopped.']);
});

test('rejects stopping or restarting a stopped database', async () => {
  for (const action of ['stop', 'restart'])
    assert.equal(await act(action), [409, { detail: 'Valid runtime states for operation: RUNNING.' }]);
});

test('start: STARTING, then RUNNING', async () => {
  assert.equal(await act('start'), [202, { status: 'start was scheduled' }]);
  assert.equal(await collectStates(fixture, database.url), [
    'Update Scheduled STOPPED',
    'Updating STARTING',
    'OK RUNNING',
  ]);
  assert.equal(messages(), ['Resource books has been scheduled to start.', 'Resource books has been started.']);
});

test('a failed restart leaves the database unchanged, and Erred', async () => {
  await setOptions(fixture, cloud.settings, { simulator_failures: 'Database.restart' });
  await act('restart');
  assert.equal(await collectStates(fixture, database.url), [
    'Update Scheduled RUNNING',
    'Updating STOPPING',
    'Updating STARTING',
    'Erred RUNNING',
  ]);
  assert.is((await present(database)).error_message, 'Simulated failure of restart');
  await setOptions(fixture, cloud.settings, { simulator_failures: null });
  await act('pull');
  assert.equal((await collectStates(fixture, database.url)).at(-1), 'OK RUNNING');
  fixture.events();
});

test('an operation times out after 60 minutes', async () => {
  await setOptions(fixture, cloud.settings, { simulator_latency: 'start=600000,stop=600000,*=0' });
  await act('stop');
  await step(fixture);
  assert.is((await present(database)).state, 'Updating');
  await fixture.advance(59 * 60);
  assert.is((await present(database)).state, 'OK', 'ten minutes of latency are over, and sixty are not');
  await act('start');
  await step(fixture);
  await fixture.advance(61 * 60);
  const { error_message, state } = await present(database);
  assert.equal([state, error_message], ['Erred', 'Operation is timed out.']);
  await setOptions(fixture, cloud.settings, { simulator_latency: '0' });
  await act('pull');
  await work(fixture);
  fixture.events();
});

test('update is local', async () => {
  const { body, status } = await admin.patch(database.url, { name: 'accounts', password: 'other', username: 'other' });
  assert.equal([status, body.name, body.state], [200, 'accounts', 'OK']);
  assert.equal(messages(), [
    "Oracle Database accounts has been updated. Name has been changed from 'books' to 'accounts'.",
  ]);
});

test('OPTIONS lists the actions, without resize', async () => {
  assert.equal(Object.keys((await admin.options(database.url)).body.actions), [
    'destroy',
    'pull',
    'restart',
    'start',
    'stop',
    'unlink',
    'update',
  ]);
});

test('databases cannot be imported', async () => {
  for (const method of ['GET', 'POST'])
    assert.is(
      (await people.clients.owner.send(method, `${cloud.service.url}link/`, method === 'POST' ? {} : undefined)).status,
      405,
    );
});

test('destroy: DELETING until it is removed', async () => {
  const { runtime_state: before } = await present(database);
  assert.equal(await rejection(admin.delete(database.url)), [202, { detail: 'Deletion was scheduled.' }]);
  assert.equal(await collectStates(fixture, database.url), [
    `Deletion Scheduled ${before}`,
    'Deleting DELETING',
    'gone',
  ]);
  assert.equal(messages(), [
    'Resource accounts deletion has been scheduled.',
    'Oracle Database accounts has been deleted.',
  ]);
});

test('a creation times out after 60 minutes, a deletion after 25', async () => {
  await setOptions(fixture, cloud.settings, { simulator_latency: 'create=600000,delete=600000,*=0' });
  const slow = (await create({ name: 'slow' })).body;
  await step(fixture);
  fixture.clock.advance(45 * 60);
  assert.equal((await collectStates(fixture, slow.url)).at(-1), 'OK RUNNING');
  for (const [minutes, state] of [
    [26, 'Erred DELETING'],
    [24, 'gone'],
  ] as const) {
    await admin.delete(slow.url);
    await step(fixture);
    fixture.clock.advance(minutes * 60);
    assert.equal((await collectStates(fixture, slow.url)).at(-1), state);
    if (state !== 'gone') await admin.post(`${slow.url}pull/`);
    await work(fixture);
  }
  await setOptions(fixture, cloud.settings, { simulator_latency: '0' });
});

test('rejects deleting a parent with databases, and names the kind', async () => {
  assert.equal(await rejection(people.clients.owner.delete(people.project.url)), [
    409,
    { detail: 'Cannot delete project with existing databases' },
  ]);
});

test('service metadata names its kinds and properties', async () => {
  const { Oracle } = (await admin.get('/api/service-metadata/')).body;
  const at = (path: string): string => `${fixture.url}/api/${path}/`;
  assert.equal(Oracle, {
    url: at('oracle'),
    service_project_link_url: at('oracle-service-project-link'),
    resources: { Database: at('oracle-databases') },
    properties: { Template: at('oracle-templates'), Zone: at('oracle-zones') },
    is_public_service: false,
  });
});

test.run();
