import * as assert from 'uvu/assert';
import { type Droplets, dropletService } from '../../support/droplets.ts';
import type { Json } from '../../support/fixture.ts';
import { asEachPersona, createPersonas, type Personas } from '../../support/personas.ts';
import { simulatedService } from '../../support/simulated.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('service-project links (services.md 5)');
let people: Personas;
let cloud: Droplets;
let second: Json;
const path = '/api/digitalocean-service-project-link/';

test.before(async () => {
  people = await createPersonas(fixture);
  cloud = await dropletService(fixture, people);
  second = await fixture.project('Sledge', people.customer);
});

const rejection = async (fields: Readonly<Record<string, unknown>>, client = fixture.staff): Promise<unknown[]> => {
  const { body, status } = await client.post(path, fields);
  return [status, body];
};

test('a link shows project, service and the quotas of its machines', async () => {
  const { link, service } = cloud;
  const quota = (name: string): Json => ({
    ...link.quotas.find((one: Json) => one.name === name),
    name,
    limit: -1,
    usage: 0,
  });
  const expected = {
    url: `${fixture.url}${path}${link.uuid}/`,
    uuid: link.uuid,
    project: people.project.url,
    project_name: 'Rocket',
    project_uuid: people.project.uuid,
    service: service.url,
    service_name: 'Cloud',
    service_uuid: service.uuid,
    quotas: [quota('ram'), quota('storage'), quota('vcpu')],
  };
  const { body } = await people.clients.observer.get(link.url);
  assert.equal(body, expected);
  assert.equal(Object.keys(body), Object.keys(expected));
  assert.equal(Object.keys(body.quotas[0]), ['url', 'uuid', 'name', 'limit', 'usage']);
});

test('links of types without machines have no quotas', async () => {
  for (const prefix of ['jira', 'gitlab', 'oracle']) {
    const { link, service } = await simulatedService(fixture, prefix, people, { name: prefix });
    assert.equal([link.url.includes(`/api/${prefix}-service-project-link/`), link.quotas], [true, []]);
    await fixture.staff.delete(service.url);
  }
  for (const prefix of ['openstack', 'aws']) {
    const { link, service } = await simulatedService(fixture, prefix, people, { name: prefix });
    assert.equal(
      link.quotas.map(({ name }: Json) => name),
      ['ram', 'storage', 'vcpu'],
    );
    await fixture.staff.delete(service.url);
  }
});

test('staff and owners edit quotas of a link', async () => {
  const [{ url }] = cloud.link.quotas;
  const statuses = await asEachPersona(people, async (client) => (await client.patch(url, { limit: -1 })).status);
  assert.equal(statuses, {
    staff: 200,
    support: 403,
    owner: 200,
    helper: 403,
    manager: 403,
    admin: 403,
    observer: 403,
    stranger: 404,
  });
});

test('POST links a project to a service of its customer, once', async () => {
  assert.equal(await rejection({}), [
    400,
    { project: ['This field is required.'], service: ['This field is required.'] },
  ]);
  const created = await people.clients.owner.post(path, { project: second.url, service: cloud.service.url });
  assert.equal(
    [created.status, created.body.project_name, created.headers.get('location')],
    [201, 'Sledge', created.body.url],
  );
  assert.equal(fixture.events(), [], 'links emit no events');
  assert.equal(await rejection({ project: second.url, service: cloud.service.url }), [
    400,
    { non_field_errors: ['This service project link already exists.'] },
  ]);
  const bob = await fixture.customer('Bob');
  const boat = await fixture.project('Boat', bob);
  assert.equal(await rejection({ project: boat.url, service: cloud.service.url }), [
    400,
    { non_field_errors: ["Service customer doesn't match project customer."] },
  ]);
  const jira = await simulatedService(fixture, 'jira', people, { name: 'Office' });
  assert.equal(await rejection({ project: second.url, service: jira.service.url }), [
    400,
    { service: ['Invalid hyperlink - Incorrect URL match.'] },
  ]);
  await fixture.staff.delete(created.body.url);
  await fixture.staff.delete(jira.service.url);
});

test('POST is for staff and owners; other viewers are 403, strangers 400', async () => {
  const statuses = await asEachPersona(people, async (client) => {
    const response = await client.post(path, { project: second.url, service: cloud.service.url });
    if (response.status === 201) await fixture.staff.delete(response.body.url);
    return response.status;
  });
  assert.equal(
    statuses,
    { staff: 201, support: 403, owner: 201, helper: 403, manager: 400, admin: 400, observer: 400, stranger: 400 },
    'those of another project do not see this one',
  );
  const third = await fixture.staff.post('/api/jira/', {
    name: 'Office',
    customer: people.customer.url,
    project: second.url,
    simulator_latency: '0',
  });
  await fixture.staff.delete(third.body.url);
  for (const part of ['manager', 'admin', 'observer'] as const) {
    const { link } = cloud;
    const response = await people.clients[part].post(path, { project: link.project, service: link.service });
    assert.is(response.status, 400, 'the link exists');
    assert.is((await people.clients[part].delete(link.url)).status, 403);
  }
});

test('a project manager who can see service and project may not link them', async () => {
  const manager = people.users.manager;
  await fixture.grant(second, manager, 'manager');
  const response = await people.clients.manager.post(path, { project: second.url, service: cloud.service.url });
  assert.equal(
    [response.status, response.body],
    [403, { detail: 'You do not have permission to perform this action.' }],
  );
});

test('does not serve PUT and PATCH; DELETE is for staff and owners, and is rejected while resources exist', async () => {
  for (const method of ['PUT', 'PATCH']) assert.is((await fixture.staff.send(method, cloud.link.url, {})).status, 405);
  const created = (await fixture.staff.post(path, { project: second.url, service: cloud.service.url })).body;
  const droplet = await cloud.begin({ service_project_link: created.url });
  const { owner } = people.clients;
  const denial = await owner.delete(created.url);
  assert.equal(
    [denial.status, denial.body],
    [409, { detail: 'Cannot delete service project link with existing droplets' }],
  );
  assert.equal((await owner.options(created.url)).body.actions, {
    destroy: {
      title: 'Destroy',
      method: 'DELETE',
      destructive: true,
      url: created.url,
      reason: 'Cannot delete service project link with existing droplets',
      enabled: false,
    },
  });
  await fixture.staff.post(`${droplet.url}unlink/`);
  assert.is((await owner.delete(created.url)).status, 204);
});

test('users who can see the project can see the link', async () => {
  const statuses = await asEachPersona(people, async (client) => (await client.get(cloud.link.url)).status);
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
});

test('POST counts links of project and customer', async () => {
  const quota = second.quotas.find(({ name }: Json) => name === 'nc_service_project_link_count');
  await fixture.staff.patch(quota.url, { limit: 0 });
  assert.equal(await rejection({ project: second.url, service: cloud.service.url }), [
    409,
    {
      detail: 'One or more quotas were exceeded: nc_service_project_link_count quota limit: 0.0, requires 1.0 (Sledge)',
    },
  ]);
  await fixture.staff.patch(quota.url, { limit: -1 });
});

test('lists links in order of creation, and filters them by service, project and customer', async () => {
  await fixture.staff.post(path, { project: second.url, service: cloud.service.url });
  const names = async (query = ''): Promise<string[]> =>
    (await fixture.staff.get(`${path}?${query}`)).body.map(({ project_name: name }: Json) => name);
  assert.equal(await names(), ['Rocket', 'Sledge']);
  assert.equal(await names(`project_uuid=${second.uuid}`), ['Sledge']);
  assert.equal(await names(`project=${second.url}`), ['Sledge']);
  assert.equal(await names(`service_uuid=${cloud.service.uuid}`), ['Rocket', 'Sledge']);
  assert.equal(await names(`service=${cloud.service.url}`), ['Rocket', 'Sledge']);
  assert.equal(await names(`customer_uuid=${people.customer.uuid}`), ['Rocket', 'Sledge']);
  assert.equal(await names(`customer_uuid=${'0'.repeat(32)}`), []);
  assert.equal((await fixture.staff.get(`${path}?project_uuid=x`)).body, {
    project_uuid: ['"x" is not a valid UUID.'],
  });
});

test('describes the fields of a creation in OPTIONS of the list', async () => {
  const { actions } = (await people.clients.owner.options(path)).body;
  const select = (path: string, label: string): Json => ({
    type: 'select',
    required: true,
    label,
    url: `${fixture.url}${path}`,
    value_field: 'url',
    display_name_field: 'name',
  });
  assert.equal(actions, {
    POST: { project: select('/api/projects/', 'Project'), service: select('/api/digitalocean/', 'Service') },
  });
});

test.run();
