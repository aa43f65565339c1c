import * as assert from 'uvu/assert';
import { type Droplets, dropletService } from '../../support/droplets.ts';
import type { Json } from '../../support/fixture.ts';
import { createPersonas, type Personas } from '../../support/personas.ts';
import { publicKeys } from '../../support/public-keys.ts';
import { simulatedService, work } from '../../support/simulated.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('fields of resources (services.md 7.1)');
let people: Personas;
let cloud: Droplets;

test.before(async () => {
  people = await createPersonas(fixture);
  cloud = await dropletService(fixture, people);
});

const list = '/api/digitalocean-droplets/';
const rejection = async (fields: Readonly<Record<string, unknown>>, client = fixture.staff): Promise<unknown[]> => {
  const { body, status } = await client.post(list, cloud.body(fields));
  return [status, body];
};

test('a virtual machine has the members in the order of the tables, in details with its related resources', async () => {
  const { clients, customer, project } = people;
  const response = await clients.admin.post(
    list,
    cloud.body({ name: 'web-1', description: 'Front', tags: ['b', 'a:1'], user_data: '#!/bin/sh' }),
  );
  const { uuid } = response.body;
  const listed = {
    url: `${fixture.url}${list}${uuid}/`,
    uuid,
    is_simulated: true,
    name: 'web-1',
    description: 'Front',
    service: cloud.service.url,
    service_name: 'Cloud',
    service_uuid: cloud.service.uuid,
    service_settings: cloud.settings.url,
    service_settings_uuid: cloud.settings.uuid,
    service_settings_state: 'In Sync',
    service_settings_error_message: '',
    project: project.url,
    project_name: 'Rocket',
    project_uuid: project.uuid,
    customer: customer.url,
    customer_uuid: customer.uuid,
    customer_name: 'Alice',
    customer_native_name: '',
    customer_abbreviation: 'ALC',
    service_project_link: cloud.link.url,
    resource_type: 'DigitalOcean.Droplet',
    state: 'Creation Scheduled',
    runtime_state: '',
    error_message: '',
    backend_id: '',
    created: '2018-01-05T04:47:10Z',
    access_url: null,
    tags: ['a:1', 'b'],
    sla: null,
    monitoring_items: {},
    is_link_valid: true,
    action: '',
    action_details: {},
    start_time: null,
    cores: 1,
    ram: 1024,
    disk: 25600,
    min_ram: 0,
    min_disk: 20480,
    image_name: 'Debian 9 x64',
    key_name: '',
    key_fingerprint: '',
    user_data: '#!/bin/sh',
    external_ips: [],
    internal_ips: [],
    latitude: null,
    longitude: null,
    region_name: 'New York 3',
  };
  const { action_details: details, ...before } = listed;
  const detailed = { ...before, action_details: details, related_resources: [] };
  assert.equal([response.status, response.headers.get('location')], [201, listed.url]);
  assert.equal(response.body, detailed);
  assert.equal((await clients.observer.get(listed.url)).body, detailed);
  const keys = Object.keys(listed);
  const withRelated = [
    ...keys.slice(0, keys.indexOf('action_details') + 1),
    'related_resources',
    ...keys.slice(keys.indexOf('action_details') + 1),
  ];
  assert.equal(Object.keys(response.body), withRelated);
  for (const path of [list, '/api/resources/']) {
    const [item] = (await clients.observer.get(path)).body;
    assert.equal(item, listed, 'summary items are the typed items');
    assert.equal(Object.keys(item), keys);
  }
});

test('after its creation it has its id, addresses, and the instant at which it went online', async () => {
  await work(fixture);
  const [droplet] = (await fixture.staff.get(list)).body;
  assert.equal(
    [
      droplet.state,
      droplet.runtime_state,
      droplet.backend_id,
      droplet.external_ips,
      droplet.internal_ips,
      droplet.access_url,
      droplet.start_time,
    ],
    ['OK', 'online', '1000001', ['198.18.0.1'], ['10.0.0.1'], ['198.18.0.1'], '2018-01-05T04:47:12Z'],
  );
});

test('start_time is null while it is offline, and set again when it is online', async () => {
  const [droplet] = (await fixture.staff.get(list)).body;
  const present = async (): Promise<unknown[]> => {
    const { runtime_state: state, start_time: time } = (await fixture.staff.get(droplet.url)).body;
    return [state, time];
  };
  await fixture.staff.post(`${droplet.url}stop/`);
  await work(fixture);
  assert.equal(await present(), ['offline', null]);
  await fixture.staff.post(`${droplet.url}start/`);
  await work(fixture);
  assert.equal(await present(), ['online', '2018-01-05T04:47:24Z']);
});

test('a kind without runtime state does not show one', async () => {
  const office = await simulatedService(fixture, 'jira', people, { name: 'Office' });
  const template = (await fixture.staff.get('/api/jira-project-templates/')).body[0].url;
  const { body, status } = await fixture.staff.post('/api/jira-projects/', {
    service_project_link: office.link.url,
    name: 'Plan',
    key: 'PLAN',
    template,
  });
  assert.is(status, 201);
  assert.equal(
    ['runtime_state', 'cores', 'start_time', 'user_data'].filter((name) => name in body),
    [],
  );
  assert.equal([body.resource_type, body.access_url], ['JIRA.Project', null]);
  await fixture.staff.post(`${office.service.url}unlink/`);
});

test('requires name, link and the fields of the kind; a blank name has its own message', async () => {
  const required = ['This field is required.'];
  const empty = await fixture.staff.post(list, {});
  assert.equal(
    [empty.status, empty.body],
    [400, { name: required, service_project_link: required, region: required, image: required, size: required }],
  );
  assert.equal(await rejection({ name: ' ' }), [
    400,
    { name: ['Ensure that name has at least one non-whitespace character.'] },
  ]);
  assert.equal(await rejection({ name: 'x'.repeat(151), description: 'x'.repeat(501) }), [
    400,
    {
      name: ['Ensure this field has no more than 150 characters.'],
      description: ['Ensure this field has no more than 500 characters.'],
    },
  ]);
});

test("the link is one that is seen, of the kind's type", async () => {
  const office = await simulatedService(fixture, 'jira', people, { name: 'Office' });
  assert.equal(await rejection({ service_project_link: office.link.url }), [
    400,
    { service_project_link: ['Invalid hyperlink - Incorrect URL match.'] },
  ]);
  const missing = { service_project_link: ['Invalid hyperlink - Object does not exist.'] };
  assert.equal(await rejection({ service_project_link: cloud.link.url.replace(cloud.link.uuid, '0'.repeat(32)) }), [
    400,
    missing,
  ]);
  assert.equal(await rejection({}, people.clients.stranger), [400, missing]);
  await fixture.staff.delete(office.service.url);
});

test('PUT requires the name; PUT and PATCH change only name, description and tags', async () => {
  const droplet = await cloud.make({ name: 'old', user_data: 'x' });
  const denial = await fixture.staff.put(droplet.url, { description: 'x' });
  assert.equal([denial.status, denial.body], [400, { name: ['This field is required.'] }]);
  const change = { name: 'new', description: 'Text', tags: ['t'] };
  const put = await people.clients.admin.put(droplet.url, {
    ...droplet,
    ...change,
    user_data: 'y',
    service_project_link: 'z',
    cores: 8,
    state: 'Erred',
  });
  assert.equal([put.status, put.body], [200, { ...droplet, ...change }]);
  const patched = await people.clients.manager.patch(droplet.url, { tags: [] });
  assert.equal([patched.status, patched.body], [200, { ...droplet, ...change, tags: [] }]);
  await fixture.staff.post(`${droplet.url}unlink/`);
});

test("the key to inject is one of the caller's own, for staff any; name and fingerprint are copied", async () => {
  const { admin, manager } = people.clients;
  const key = (await admin.post('/api/keys/', { name: 'laptop', public_key: publicKeys.ed25519 })).body;
  const missing = [400, { ssh_public_key: ['Invalid hyperlink - Object does not exist.'] }];
  assert.equal(await rejection({ ssh_public_key: key.url }, manager), missing);
  assert.equal(await rejection({ ssh_public_key: key.url.replace(key.uuid, '0'.repeat(32)) }), missing);
  for (const client of [admin, fixture.staff]) {
    const { body } = await client.post(list, cloud.body({ ssh_public_key: key.url }));
    assert.equal([body.key_name, body.key_fingerprint, 'ssh_public_key' in body], ['laptop', key.fingerprint, false]);
    await fixture.staff.post(`${body.url}unlink/`);
  }
});

test('latitude and longitude come from the options of the settings', async () => {
  const [droplet] = (await fixture.staff.get(list)).body;
  assert.equal([droplet.latitude, droplet.longitude], [null, null]);
});

test('field= selects members, in the normal order, in summary, lists and details; ignores unknown names', async () => {
  const [droplet] = (await fixture.staff.get(list)).body;
  const chosen = { name: droplet.name, state: 'OK', cores: 1 };
  for (const path of ['/api/resources/', list]) {
    assert.is(
      JSON.stringify((await fixture.staff.get(`${path}?field=cores&field=state&field=name&field=x`)).body),
      JSON.stringify([chosen]),
      path,
    );
  }
  assert.is(
    JSON.stringify((await fixture.staff.get(`${droplet.url}?field=cores&field=state&field=name`)).body),
    JSON.stringify(chosen),
  );
  assert.equal((await fixture.staff.get(`${list}?field=x`)).body, [droplet]);
});

test('a creation may be a form; tags in it are JSON text', async () => {
  const form = new URLSearchParams({ ...(cloud.body() as Record<string, string>), tags: '["x", "y"]' });
  const creation = await fixture.staff.send('POST', list, form);
  assert.equal([creation.status, creation.body.tags], [201, ['x', 'y']]);
  await fixture.staff.post(`${creation.body.url}unlink/`);
});

test('values copied from settings follow them', async () => {
  const [droplet] = (await fixture.staff.get(list)).body;
  await fixture.staff.patch(cloud.settings.url, { simulator_failures: 'ping' });
  fixture.clock.advance(30 * 60);
  await work(fixture);
  const reports = (await fixture.staff.get(droplet.url)).body as Json;
  assert.equal(
    [reports.service_settings_state, reports.service_settings_error_message],
    ['Erred', 'Simulated failure of ping'],
  );
});

test.run();
