import * as assert from 'uvu/assert';
import { type Droplets, dropletService } from '../../support/droplets.ts';
import type { Client, Json } from '../../support/fixture.ts';
import { asEachPersona, createPersonas, type PersonaName, type Personas } from '../../support/personas.ts';
import { simulatedService, usages, work } from '../../support/simulated.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('services (services.md 4.1, 4.2)');
let people: Personas;
let cloud: Droplets;

test.before(async () => {
  people = await createPersonas(fixture);
  cloud = await dropletService(fixture, people);
});

const path = '/api/digitalocean/';
const rejection = async (
  fields: Readonly<Record<string, unknown>>,
  client: Client = fixture.staff,
): Promise<unknown[]> => {
  const { body, status } = await client.post(path, fields);
  return [status, body];
};
const valid = (fields: Readonly<Record<string, unknown>> = {}): Record<string, unknown> => ({
  name: 'Ocean',
  customer: people.customer.url,
  simulator_latency: '0',
  ...fields,
});
const required = ['This field is required.'];

test('a service has the members in the order of the table', async () => {
  const { service, settings } = cloud;
  const expected = {
    url: service.url,
    uuid: service.uuid,
    is_simulated: true,
    name: 'Cloud',
    service_type: 'DigitalOcean',
    state: 'In Sync',
    error_message: '',
    shared: false,
    projects: [{ url: people.project.url, uuid: people.project.uuid, name: 'Rocket' }],
    customer: people.customer.url,
    customer_uuid: people.customer.uuid,
    customer_name: 'Alice',
    customer_native_name: '',
    settings: settings.url,
    settings_uuid: settings.uuid,
    resources_count: 0,
    available_for_all: false,
    homepage: '',
    terms_of_services: '',
    certifications: [],
    geolocations: [],
    quotas: [{ url: service.quotas[0].url, uuid: service.quotas[0].uuid, name: 'droplet_count', limit: 50, usage: 0 }],
  };
  assert.equal(service, expected);
  assert.equal(Object.keys(service), Object.keys(expected));
  assert.match(service.url, /\/api\/digitalocean\/[0-9a-f]{32}\/$/);
  assert.equal((await fixture.staff.get(path)).body, [expected]);
  assert.equal((await fixture.staff.get('/api/services/')).body, [expected], 'the summary has the same items');
});

test('counts the projects and resources that the caller sees', async () => {
  const second = await fixture.project('Sledge', people.customer);
  await fixture.staff.post('/api/digitalocean-service-project-link/', {
    project: second.url,
    service: cloud.service.url,
  });
  const droplet = await cloud.make();
  const seen = async (client: Client): Promise<unknown[]> => {
    const { projects, resources_count: count } = (await client.get(cloud.service.url)).body;
    return [projects.map(({ name }: Json) => name), count];
  };
  assert.equal(await seen(people.clients.owner), [['Rocket', 'Sledge'], 1]);
  assert.equal(await seen(people.clients.manager), [['Rocket'], 1]);
  const guest = await fixture.user('guest');
  await fixture.grant(second, guest, 'admin');
  assert.equal(await seen(fixture.as('guest')), [['Sledge'], 0]);
  await fixture.staff.post(`${droplet.url}unlink/`);
  await fixture.staff.delete(second.url);
});

test('members of its customer and of linked projects can see a service', async () => {
  const statuses = await asEachPersona(people, async (client) => (await client.get(cloud.service.url)).status);
  assert.equal(statuses, {
    staff: 200,
    support: 200,
    owner: 200,
    helper: 200,
    manager: 200,
    admin: 200,
    observer: 200,
    stranger: 404,
  });
  const counts = await asEachPersona(people, async (client) => (await client.get('/api/services/')).body.length);
  assert.equal(counts, { staff: 1, support: 1, owner: 1, helper: 1, manager: 1, admin: 1, observer: 1, stranger: 0 });
  const unlinked = (await fixture.staff.post('/api/jira/', valid({ name: 'Unlinked' }))).body;
  assert.is((await people.clients.manager.get(unlinked.url)).status, 404);
  assert.is((await people.clients.helper.get(unlinked.url)).status, 200);
  await fixture.staff.delete(unlinked.url);
});

test('a service exists only under the path of its type; the summary is read-only', async () => {
  assert.is((await fixture.staff.get(cloud.service.url.replace('digitalocean', 'jira'))).status, 404);
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
    assert.is((await fixture.staff.send(method, '/api/services/', {})).status, 405);
});

test('requires a name and a customer, and rejects placeholders as the only credentials', async () => {
  const unnamed = { name: ['Name cannot be empty'] };
  assert.equal(await rejection({ simulator_seed: 1 }), [400, { ...unnamed, customer: required }], 'all at once');
  assert.equal(await rejection({ customer: people.customer.url, simulator_seed: 1 }), [
    400,
    { name: ['Name cannot be empty'] },
  ]);
  for (const name of ['', '  ', null])
    assert.equal(await rejection(valid({ name })), [400, { name: ['Name cannot be empty'] }]);
  const neither = [400, { non_field_errors: ['Either service settings or credentials must be supplied.'] }];
  assert.equal(
    await rejection({ name: 'Ocean', customer: people.customer.url, token: '********', username: '' }),
    neither,
  );
});

test('creates simulated settings of every type when no address and no credentials are given', async () => {
  const types = Object.entries<Json>((await fixture.staff.get('/api/service-metadata/')).body);
  assert.is(types.length, 6);
  for (const [type, { url }] of types)
    for (const empty of [{}, { backend_url: '' }, { backend_url: null, token: '', username: null }]) {
      const named = { name: `${type} without an address`, customer: people.customer.url, ...empty };
      const { body, status } = await people.clients.owner.post(url, named);
      assert.equal(
        [status, body.name, body.service_type, body.is_simulated, body.state, body.shared],
        [201, named.name, type, true, 'Creation Scheduled', false],
        JSON.stringify([named, body]),
      );
      const settings = (await people.clients.owner.get(body.settings)).body;
      assert.equal(
        [settings.backend_url, settings.username, settings.password, settings.token, settings.customer],
        [null, null, null, null, people.customer.url],
      );
      await work(fixture);
      assert.is((await people.clients.owner.get(body.url)).body.state, 'In Sync');
      assert.is((await fixture.staff.delete(body.url)).status, 204);
    }
});

test('credentials create private settings with the same name, and queue their job', async () => {
  fixture.events();
  const { body, status, headers } = await people.clients.owner.post(
    path,
    valid({ token: 'secret', homepage: 'https://ocean.example.com', available_for_all: true }),
  );
  assert.equal(
    [status, headers.get('location'), body.name, body.homepage, body.state, body.available_for_all],
    [201, body.url, 'Ocean', 'https://ocean.example.com', 'Creation Scheduled', true],
  );
  assert.equal(
    body.projects.map(({ name }: Json) => name),
    ['Rocket'],
    'available for all projects',
  );
  const settings = (await people.clients.owner.get(body.settings)).body;
  assert.equal(
    [settings.name, settings.type, settings.customer, settings.shared, settings.token, settings.simulator_latency],
    ['Ocean', 'DigitalOcean', people.customer.url, false, '********', '0'],
  );
  assert.equal(fixture.events(), [], 'services emit no events');
  await fixture.staff.delete(body.url);
});

test('accepts a creation as a form and as multipart', async () => {
  const form = new FormData();
  for (const [name, value] of Object.entries(valid())) form.set(name, String(value));
  for (const body of [form, new URLSearchParams(valid() as Record<string, string>)]) {
    const created = await fixture.staff.send('POST', path, body);
    assert.is(created.status, 201);
    await fixture.staff.delete(created.body.url);
  }
});

test('settings may be shared ones of the type, or private ones of the type and the customer', async () => {
  const bob = await fixture.customer('Bob');
  const settings = async (fields: Readonly<Record<string, unknown>>): Promise<string> =>
    (
      await fixture.staff.post('/api/service-settings/', {
        name: 'S',
        type: 'DigitalOcean',
        simulator_latency: '0',
        ...fields,
      })
    ).body.url;
  const missing = { settings: ['Invalid hyperlink - Object does not exist.'] };
  for (const fields of [
    { customer: bob.url },
    { customer: people.customer.url, type: 'JIRA' },
    { shared: true, type: 'JIRA' },
    {},
  ]) {
    const url = await settings(fields);
    assert.equal(
      await rejection({ name: 'Ocean', customer: people.customer.url, settings: url }),
      [400, missing],
      JSON.stringify(fields),
    );
    await fixture.staff.delete(url);
  }
  for (const fields of [{ shared: true }, { customer: people.customer.url }]) {
    const url = await settings(fields);
    const created = await fixture.staff.post(path, { name: 'Ignored', customer: people.customer.url, settings: url });
    assert.equal([created.status, created.body.name], [201, 'S']);
    const duplicate = { non_field_errors: ['The fields customer, settings must make a unique set.'] };
    assert.equal(await rejection({ name: 'Ocean', customer: people.customer.url, settings: url }), [400, duplicate]);
    await fixture.staff.delete(created.body.url);
    await fixture.staff.delete(url);
  }
  await fixture.staff.delete(bob.url);
});

test("a project is linked at once, if it is the customer's", async () => {
  const bob = await fixture.customer('Bob');
  const boat = await fixture.project('Boat', bob);
  assert.equal(await rejection(valid({ project: boat.url })), [
    400,
    { project: ['Service cannot be connected to project that does not belong to services customer.'] },
  ]);
  const { body } = await fixture.staff.post(path, valid({ project: people.project.url }));
  assert.equal(
    body.projects.map(({ name }: Json) => name),
    ['Rocket'],
  );
  await fixture.staff.delete(body.url);
  await fixture.staff.delete(boat.url);
  await fixture.staff.delete(bob.url);
});

test('checks credentials within the request, after the right, and stores nothing if they are wrong', async () => {
  const before = (await fixture.staff.get('/api/service-settings/')).body.length;
  const wrong = valid({ simulator_failures: 'ping' });
  assert.equal(await rejection(wrong), [400, { non_field_errors: ['Wrong settings: Simulated failure of ping.'] }]);
  assert.equal(await rejection(wrong, people.clients.helper), [
    403,
    { detail: 'You do not have permission to perform this action.' },
  ]);
  assert.is((await fixture.staff.get('/api/service-settings/')).body.length, before);
});

test('a provider without a response within ten seconds counts as unresponsive', async () => {
  const real = globalThis.setTimeout;
  // A hundred times as fast.
  globalThis.setTimeout = ((work: () => void, delay = 0, ...rest: []) =>
    real(work, delay / 100, ...rest)) as typeof setTimeout;
  try {
    assert.equal(await rejection(valid({ simulator_latency: 'ping=9000' })).then(([status]) => status), 201);
    assert.equal(await rejection(valid({ simulator_latency: 'ping=20000' })), [
      400,
      { non_field_errors: ['Wrong settings: Backend does not respond.'] },
    ]);
  } finally {
    globalThis.setTimeout = real;
  }
  for (const { name, url } of (await fixture.staff.get(path)).body)
    if (name === 'Ocean') await fixture.staff.delete(url);
});

test('PUT and PATCH require nothing; name renames private settings and is ignored for shared ones', async () => {
  const { owner } = people.clients;
  const put = await owner.put(cloud.service.url, {});
  assert.equal([put.status, put.body], [200, (await owner.get(cloud.service.url)).body]);
  const renamed = await owner.patch(cloud.service.url, { name: 'Renamed', token: 'ignored' });
  assert.equal(
    [renamed.status, renamed.body.name, (await owner.get(cloud.settings.url)).body.token],
    [200, 'Renamed', null],
  );
  await owner.patch(cloud.service.url, { name: 'Cloud' });
  const settings = (
    await fixture.staff.post('/api/service-settings/', {
      name: 'Common',
      type: 'DigitalOcean',
      shared: true,
      simulator_latency: '0',
    })
  ).body;
  const created = (await fixture.staff.post(path, { name: 'x', customer: people.customer.url, settings: settings.url }))
    .body;
  assert.is((await owner.patch(created.url, { name: 'Mine' })).body.name, 'Common');
  await fixture.staff.delete(settings.url);
});

test('DELETE also removes links and private settings, unless resources exist', async () => {
  const own = await simulatedService(fixture, 'digitalocean', people, { name: 'Brief' });
  const droplet = await cloud.begin({ service_project_link: own.link.url });
  const denial = await people.clients.owner.delete(own.service.url);
  assert.equal([denial.status, denial.body], [409, { detail: 'Cannot delete service with existing droplets' }]);
  await fixture.staff.post(`${droplet.url}unlink/`);
  assert.is((await people.clients.owner.delete(own.service.url)).status, 204);
  assert.equal(
    await Promise.all(
      [own.service, own.link, own.settings].map(async ({ url }) => (await fixture.staff.get(url)).status),
    ),
    [404, 404, 404],
  );
});

test('POST counts against nc_service_count, and the link against nc_service_project_link_count', async () => {
  const limit = (name: string, value: number): Promise<Json> =>
    fixture.staff.patch(people.customer.quotas.find((quota: Json) => quota.name === name).url, { limit: value });
  await limit('nc_service_count', 1);
  assert.equal(await rejection(valid()), [
    409,
    { detail: 'One or more quotas were exceeded: nc_service_count quota limit: 1.0, requires 2.0 (Alice (ALC))' },
  ]);
  await limit('nc_service_count', -1);
  await limit('nc_service_project_link_count', 1);
  assert.equal(await rejection(valid({ project: people.project.url })), [
    409,
    {
      detail:
        'One or more quotas were exceeded: nc_service_project_link_count quota limit: 1.0, requires 2.0 (Alice (ALC))',
    },
  ]);
  await limit('nc_service_project_link_count', -1);
  const { nc_service_count } = await usages(fixture, people.customer);
  assert.is(nc_service_count, 1, 'nothing is stored');
});

const statuses = (
  ask: (client: Client, part: PersonaName) => Promise<{ status: number }>,
): Promise<Record<PersonaName, number>> =>
  asEachPersona(people, async (client, part) => (await ask(client, part)).status);

test('staff and owners create services; other viewers of the customer get 403, other users 400', async () => {
  const created: string[] = [];
  const responses = await statuses(async (client) => {
    const response = await client.post(path, valid());
    if (response.status === 201) created.push(response.body.url);
    return response;
  });
  assert.equal(responses, {
    staff: 201,
    support: 403,
    owner: 201,
    helper: 403,
    manager: 403,
    admin: 403,
    observer: 403,
    stranger: 400,
  });
  for (const url of created) await fixture.staff.delete(url);
});

test('staff and owners change and delete services', async () => {
  const writes = {
    staff: 200,
    support: 403,
    owner: 200,
    helper: 403,
    manager: 403,
    admin: 403,
    observer: 403,
    stranger: 404,
  };
  assert.equal(await statuses((client) => client.put(cloud.service.url, {})), writes);
  assert.equal(await statuses((client) => client.patch(cloud.service.url, {})), writes);
  const denial = await statuses(async (client, part) =>
    writes[part] === 200 ? { status: 200 } : client.delete(cloud.service.url),
  );
  assert.equal(denial, writes);
});

test('filters and orderings of services', async () => {
  const jira = await simulatedService(fixture, 'jira', people, { name: 'Ant', available_for_all: true });
  const bob = await fixture.customer('Bob');
  const shared = (
    await fixture.staff.post('/api/service-settings/', {
      name: 'Common',
      type: 'GitLab',
      shared: true,
      simulator_latency: '0',
    })
  ).body;
  const common = (await fixture.staff.post('/api/gitlab/', { name: 'x', customer: bob.url, settings: shared.url }))
    .body;
  const names = async (query: string, list = '/api/services/'): Promise<string[]> =>
    (await fixture.staff.get(`${list}?${query}`)).body.map(({ name }: Json) => name);
  assert.equal(await names(''), ['Ant', 'Cloud', 'Common'], 'by name');
  assert.equal(await names('service_type=JIRA&service_type=GitLab'), ['Ant', 'Common']);
  assert.equal(await names('service_type=Azure'), []);
  for (const parameter of ['customer', 'customer_uuid'])
    assert.equal(await names(`${parameter}=${bob.uuid}`), ['Common']);
  assert.equal(await names(`project_uuid=${people.project.uuid}`), ['Ant', 'Cloud']);
  assert.equal(await names(`project=${people.project.url}`), ['Ant', 'Cloud']);
  assert.equal(await names(`settings_uuid=${jira.settings.uuid}`), ['Ant']);
  assert.equal(await names(`settings=${jira.settings.url}`), ['Ant']);
  assert.equal(await names(`service_uuid=${common.uuid}`), ['Common']);
  assert.equal(await names('name=o'), ['Cloud', 'Common']);
  assert.equal(await names('name_exact=Common'), ['Common']);
  assert.equal(await names('name_exact=Common&name_exact=Ant'), ['Ant'], 'the last one counts');
  assert.equal(await names('shared=true'), ['Common']);
  assert.equal(await names('state=In+Sync'), ['Ant', 'Cloud']);
  assert.equal(await names('state=In+Sync&state=Creation+Scheduled'), ['Ant', 'Cloud', 'Common']);
  assert.equal(await names('service_type=JIRA', path), ['Cloud'], 'ignored where there is one type');
  assert.equal(await names('o=-name'), ['Common', 'Cloud', 'Ant']);
  assert.equal(await names('o=service_type'), ['Cloud', 'Common', 'Ant']);
  assert.equal(await names('o=-state,name'), ['Ant', 'Cloud', 'Common']);
  for (const parameter of ['customer', 'customer_uuid', 'project_uuid', 'settings_uuid', 'service_uuid']) {
    const { body, status } = await fixture.staff.get(`/api/services/?${parameter}=x`);
    assert.equal([status, body], [400, { [parameter]: ['"x" is not a valid UUID.'] }]);
  }
  assert.equal((await fixture.staff.get('/api/services/?settings=/api/projects/')).body, {
    settings: ['Invalid hyperlink - Incorrect URL match.'],
  });
});

test('field= selects members; ignores unknown names', async () => {
  const chosen = (await fixture.staff.get('/api/services/?field=state&field=name&field=x&name=Cloud')).body;
  assert.equal(JSON.stringify(chosen), JSON.stringify([{ name: 'Cloud', state: 'In Sync' }]));
  assert.equal(
    (await fixture.staff.get(`${cloud.service.url}?field=x`)).body,
    (await fixture.staff.get(cloud.service.url)).body,
  );
});

test('HEAD counts, and pages are linked', async () => {
  const response = await fixture.staff.send('HEAD', '/api/services/?page_size=1');
  assert.is(response.headers.get('x-result-count'), '3');
  assert.match(response.headers.get('link') ?? '', /rel="next"/);
});

test.run();
