import * as assert from 'uvu/assert';
import { examine } from '../../../src/app/doctor/doctor.ts';
import { sql } from '../../../src/kernel/db/sql.ts';
import { type Droplets, dropletService } from '../../support/droplets.ts';
import type { Json } from '../../support/fixture.ts';
import { asEachPersona, createPersonas, type Personas } from '../../support/personas.ts';
import { setOptions, simulatedService, usages, work } from '../../support/simulated.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('managed resources, import and unlinking of services (services.md 4.2)');
let people: Personas;
let cloud: Droplets;

test.before(async () => {
  people = await createPersonas(fixture);
  cloud = await dropletService(fixture, people, { simulator_inventory: 3 });
});

const importable = async (query = ''): Promise<Json[]> =>
  (await people.clients.owner.get(`${cloud.service.url}link/${query}`)).body;
const take = async (fields: Readonly<Record<string, unknown>>, client = people.clients.owner): Promise<Json> =>
  client.post(`${cloud.service.url}link/`, fields);
const alerts = async (): Promise<string[]> =>
  (await fixture.staff.get('/api/alerts/?opened')).body.map(({ alert_type: type }: Json) => type);
const synchronise = async (): Promise<void> => {
  fixture.clock.advance(30 * 60);
  await work(fixture);
};

test('GET link lists unmanaged objects of the last synchronisation', async () => {
  const items = await importable();
  assert.equal(items[0], {
    backend_id: '1000001',
    name: 'unmanaged-droplet-1',
    resource_type: 'DigitalOcean.Droplet',
    created: null,
    cores: 1,
    ram: 1024,
    disk: 25600,
    flavor_name: 's-1vcpu-1gb',
  });
  assert.equal(
    items.map(({ name }) => name),
    ['unmanaged-droplet-1', 'unmanaged-droplet-2', 'unmanaged-droplet-3'],
  );
  assert.equal((await importable('?resource_type=DigitalOcean.Droplet')).length, 3);
  assert.equal(await importable('?resource_type=JIRA.Project'), []);
  const page = await people.clients.owner.get(`${cloud.service.url}link/?page_size=2&page=2`);
  assert.equal([page.headers.get('x-result-count'), page.body.length], ['3', 1]);
});

test('an inventory of private settings raises service_has_unmanaged_resources', async () => {
  assert.equal(await alerts(), ['service_has_unmanaged_resources']);
});

test('POST link requires an existing unmanaged object, and a project of the service', async () => {
  const other = await fixture.project('Sledge', people.customer);
  const project = people.project.url;
  const cases: [Json, Json][] = [
    [{}, { backend_id: ['This field is required.'], project: ['This field is required.'] }],
    [{ backend_id: '999', project }, { backend_id: ["Can't find droplet with ID 999"] }],
    [{ backend_id: '1000001', project: other.url }, { project: ['Service is not connected to this project.'] }],
    [
      { backend_id: '1000001', project, resource_type: 'JIRA.Project' },
      { resource_type: ['"JIRA.Project" is not a valid choice.'] },
    ],
  ];
  for (const [input, expected] of cases) {
    const { body, status } = await take(input);
    assert.equal([status, body], [400, expected], JSON.stringify(input));
  }
  await fixture.staff.delete(other.url);
});

test('an imported object is a resource in state OK, counted, with an event', async () => {
  fixture.events();
  const response = await take({ backend_id: '1000001', project: people.project.url });
  const { created, name, state, url, uuid } = response.body;
  assert.equal(
    [response.status, Object.keys(response.body), name, state, created],
    [200, ['url', 'uuid', 'name', 'state', 'created'], 'unmanaged-droplet-1', 'OK', '2018-01-05T04:47:10Z'],
  );
  const [event, ...more] = fixture.events();
  assert.equal(more, []);
  assert.equal(
    [event?.type, event?.level, event?.message],
    ['resource_import_succeeded', 'info', 'Resource DigitalOcean Droplet unmanaged-droplet-1 has been imported.'],
  );
  assert.equal([event?.context.resource_uuid, event?.context.user_username], [uuid, 'owner']);
  const droplet = (await people.clients.owner.get(url)).body;
  assert.equal(
    [
      droplet.backend_id,
      droplet.runtime_state,
      droplet.cores,
      droplet.ram,
      droplet.disk,
      droplet.region_name,
      droplet.external_ips,
      droplet.access_url,
    ],
    ['1000001', 'online', 1, 1024, 25600, 'Frankfurt 1', ['198.18.0.1'], ['198.18.0.1']],
  );
  assert.equal(await usages(fixture, cloud.link), { ram: 1024, storage: 25600, vcpu: 1 });
  assert.equal(
    (await importable()).map(({ backend_id: id }) => id),
    ['1000002', '1000003'],
  );
  const again = await take({ backend_id: '1000001', project: people.project.url });
  assert.equal([again.status, again.body], [400, { backend_id: ['This resource is already linked.'] }]);
});

test('rejects an import above a quota', async () => {
  const quota = cloud.link.quotas.find(({ name }: Json) => name === 'vcpu');
  await fixture.staff.patch(quota.url, { limit: 1 });
  const rejection = await take({ backend_id: '1000002', project: people.project.url });
  assert.equal(
    [rejection.status, rejection.body],
    [409, { detail: 'One or more quotas were exceeded: vcpu quota limit: 1.0, requires 2.0 (Cloud | Rocket)' }],
  );
  await fixture.staff.patch(quota.url, { limit: -1 });
});

test('managed_resources are the visible resources that the last synchronisation found', async () => {
  const young = await cloud.make({ name: 'young' });
  const managed = async (client = people.clients.helper): Promise<Json[]> =>
    (await client.get(`${cloud.service.url}managed_resources/`)).body;
  const { uuid } = (await fixture.staff.get('/api/resources/?name=unmanaged-droplet-1')).body[0];
  const item = {
    uuid,
    name: 'unmanaged-droplet-1',
    resource_type: 'DigitalOcean.Droplet',
    project_name: 'Rocket',
    project_uuid: people.project.uuid,
    customer_uuid: people.customer.uuid,
    customer_name: 'Alice',
  };
  assert.equal(await managed(), [item], 'young is not known to the last synchronisation');
  await synchronise();
  assert.equal(
    (await managed()).map(({ name }) => name),
    ['unmanaged-droplet-1', 'young'],
  );
  assert.equal(Object.keys((await managed())[0]), Object.keys(item));
  await fixture.staff.post(`${young.url}unlink/`);
});

test('the next synchronisation finds an unlinked object again', async () => {
  await synchronise();
  assert.equal((await importable()).map(({ name }) => name).sort(), [
    'unmanaged-droplet-2',
    'unmanaged-droplet-3',
    'young',
  ]);
});

test('importing the last unmanaged object closes service_has_unmanaged_resources, and no other alert', async () => {
  await setOptions(fixture, cloud.settings, { simulator_failures: 'ping' });
  await synchronise();
  assert.equal((await alerts()).sort(), ['service_has_unmanaged_resources', 'service_unavailable']);
  for (const { backend_id } of await importable()) {
    assert.ok((await alerts()).includes('service_has_unmanaged_resources'));
    assert.is((await take({ backend_id, project: people.project.url })).status, 200);
  }
  assert.equal(await alerts(), ['service_unavailable']);
  await setOptions(fixture, cloud.settings, { simulator_failures: null });
  await synchronise();
  assert.equal(await alerts(), []);
});

test('link and unlink are for staff and owners, managed_resources for all users who can see the service', async () => {
  const statuses = (ask: (client: Json) => Promise<{ status: number }>): Promise<unknown> =>
    asEachPersona(people, async (client) => (await ask(client)).status);
  const writers = {
    staff: 200,
    support: 403,
    owner: 200,
    helper: 403,
    manager: 403,
    admin: 403,
    observer: 403,
    stranger: 404,
  };
  assert.equal(await statuses((client) => client.get(`${cloud.service.url}link/`)), writers);
  assert.equal(await statuses((client) => client.post(`${cloud.service.url}link/`, {})), {
    ...writers,
    staff: 400,
    owner: 400,
  });
  const readers = {
    staff: 200,
    support: 200,
    owner: 200,
    helper: 200,
    manager: 200,
    admin: 200,
    observer: 200,
    stranger: 404,
  };
  assert.equal(await statuses((client) => client.get(`${cloud.service.url}managed_resources/`)), readers);
  for (const part of ['support', 'helper', 'manager', 'admin', 'observer', 'stranger'] as const) {
    assert.is((await people.clients[part].post(`${cloud.service.url}unlink/`)).status, part === 'stranger' ? 404 : 403);
  }
});

test('only staff import and unlink on shared settings, whose services raise no alert about unmanaged resources', async () => {
  const common = (
    await fixture.staff.post('/api/service-settings/', {
      name: 'Common',
      type: 'DigitalOcean',
      shared: true,
      simulator_latency: '0',
      simulator_inventory: 2,
    })
  ).body;
  await work(fixture);
  const service = (await fixture.staff.get(`/api/digitalocean/?settings_uuid=${common.uuid}`)).body[0];
  const text = 'Only staff users are allowed to import resources from shared services.';
  for (const [method, tail] of [
    ['GET', 'link/'],
    ['POST', 'link/'],
    ['POST', 'unlink/'],
  ] as const) {
    const { body, status } = await people.clients.owner.send(method, service.url + tail);
    assert.equal([status, body], [403, { detail: text }], `${method} ${tail}`);
    assert.is(
      (await people.clients.manager.send(method, service.url + tail)).body.detail,
      'You do not have permission to perform this action.',
    );
  }
  const { actions } = (await people.clients.owner.options(service.url)).body;
  assert.equal(
    [actions.unlink.reason, actions.unlink.enabled, actions.link.reason, actions.update.enabled],
    [text, false, text, true],
  );
  const imported = await fixture.staff.post(`${service.url}link/`, {
    backend_id: '1000001',
    project: people.project.url,
  });
  assert.is(imported.status, 200);
  assert.equal(await alerts(), []);
  assert.is((await fixture.staff.post(`${service.url}unlink/`)).status, 204);
  assert.is((await fixture.staff.get(common.url)).status, 200, 'shared settings stay');
  await fixture.staff.delete(common.url);
});

test('a type that imports several kinds requires resource_type; one without imports has no link', async () => {
  const gitlab = await simulatedService(fixture, 'gitlab', people, { name: 'Code' });
  const rejection = await fixture.staff.post(`${gitlab.service.url}link/`, {
    backend_id: '1',
    project: people.project.url,
  });
  assert.equal([rejection.status, rejection.body], [400, { resource_type: ['This field is required.'] }]);
  const oracle = await simulatedService(fixture, 'oracle', people, { name: 'Base' });
  for (const method of ['GET', 'POST']) {
    const { body, status } = await fixture.staff.send(method, `${oracle.service.url}link/`);
    assert.equal([status, body], [405, { detail: `Method "${method}" not allowed.` }]);
  }
  await fixture.staff.delete(gitlab.service.url);
  await fixture.staff.delete(oracle.service.url);
});

test('unlinks a service with links, resources, jobs and private settings, also during operations', async () => {
  const { settings, service, link } = cloud;
  await cloud.begin({ name: 'coming' });
  const rocket = (await fixture.staff.get('/api/digitalocean-droplets/?name=young')).body[0];
  assert.is((await people.clients.admin.post(`${rocket.url}stop/`)).status, 202);
  fixture.events();
  const { status, body } = await people.clients.owner.post(`${service.url}unlink/`);
  assert.equal([status, body], [204, undefined]);
  const events = fixture.events();
  assert.equal([...new Set(events.map(({ type }) => type))], ['resource_deletion_succeeded']);
  assert.equal(events.map(({ message }) => message).sort(), [
    'DigitalOcean Droplet coming has been deleted.',
    'DigitalOcean Droplet unmanaged-droplet-1 has been deleted.',
    'DigitalOcean Droplet unmanaged-droplet-2 has been deleted.',
    'DigitalOcean Droplet unmanaged-droplet-3 has been deleted.',
    'DigitalOcean Droplet young has been deleted.',
  ]);
  assert.equal(
    await Promise.all([settings, service, link, rocket].map(async ({ url }) => (await fixture.staff.get(url)).status)),
    [404, 404, 404, 404],
  );
  const { db } = fixture.server.app;
  assert.equal(
    [
      db.value(sql`SELECT count(*) FROM job`),
      db.value(sql`SELECT count(*) FROM simulated_object`),
      db.value(sql`SELECT count(*) FROM inventory`),
    ],
    [0, 0, 0],
  );
  assert.equal(examine(fixture.server.app, false).problems, []);
});

test.run();
