import * as assert from 'uvu/assert';
import { examine } from '../../../src/app/doctor/doctor.ts';
import { sql } from '../../../src/kernel/db/sql.ts';
import { dropletService } from '../../support/droplets.ts';
import type { Json } from '../../support/fixture.ts';
import { simulatedService, usages, work } from '../../support/simulated.ts';
import { suiteWithServerPerTest } from '../../support/suite.ts';

const { test, fixture } = suiteWithServerPerTest('automatic linking (services.md 2.6)');
let people: { readonly customer: Json; readonly project: Json };

test.before.each(async () => {
  const customer = await fixture.customer('Alice');
  people = { customer, project: await fixture.project('Rocket', customer) };
  fixture.events();
});
test.after.each(() => {
  assert.equal(examine(fixture.server.app, false).problems, [], 'everything is counted as it is');
});

const shared = async (name = 'Common', type = 'DigitalOcean'): Promise<Json> =>
  (await fixture.staff.post('/api/service-settings/', { name, type, shared: true, simulator_latency: '0' })).body;
const services = async (): Promise<Json[]> => (await fixture.staff.get('/api/services/')).body;
const linked = async (): Promise<string[]> =>
  (await services())
    .flatMap(({ customer_name, name, projects }) =>
      projects.map((project: Json) => `${name} of ${customer_name}: ${project.name}`),
    )
    .sort();

test('the creation job of shared settings creates a service for every customer, with a link to each of its projects', async () => {
  const bob = await fixture.customer('Bob');
  await fixture.project('Boat', bob);
  await fixture.project('Barge', bob);
  await shared();
  assert.equal(await services(), [], 'not before the job runs');
  await work(fixture);
  assert.equal(
    (await services()).map(({ available_for_all, customer_name, name, shared: isShared }) => [
      name,
      customer_name,
      available_for_all,
      isShared,
    ]),
    [
      ['Common', 'Alice', true, true],
      ['Common', 'Bob', true, true],
    ],
  );
  assert.equal(await linked(), ['Common of Alice: Rocket', 'Common of Bob: Barge', 'Common of Bob: Boat']);
  assert.equal(await usages(fixture, bob), {
    nc_project_count: 2,
    nc_service_count: 1,
    nc_service_project_link_count: 2,
  });
  assert.equal(
    fixture.events().filter(({ type }) => !/^(customer|project)_/.test(type)),
    [],
    'without events',
  );
});

test('creates a service on all shared settings for a new customer in the same commit', async () => {
  await shared();
  await shared('Office', 'JIRA');
  await fixture.staff.post('/api/service-settings/', {
    name: 'Private',
    type: 'DigitalOcean',
    customer: people.customer.url,
    simulator_latency: '0',
  });
  await work(fixture);
  const bob = await fixture.customer('Bob');
  assert.equal(
    (await services())
      .filter(({ customer }) => customer === bob.url)
      .map(({ available_for_all, name }) => [name, available_for_all]),
    [
      ['Common', true],
      ['Office', true],
    ],
  );
  assert.is((await usages(fixture, bob)).nc_service_count, 2);
});

test('links a new project to every service of its customer that is available for all', async () => {
  await shared();
  await work(fixture);
  await simulatedService(fixture, 'jira', people, { name: 'Private' });
  const project = await fixture.project('Sledge', people.customer);
  assert.equal(
    project.services.map(({ name }: Json) => name),
    ['Common'],
  );
  assert.equal(await usages(fixture, project), { nc_service_project_link_count: 1 });
});

test('links a service to every project when it becomes available for all, and keeps the links afterwards', async () => {
  await fixture.project('Sledge', people.customer);
  const { service } = await simulatedService(fixture, 'jira', people, { name: 'Private' });
  assert.equal(await linked(), ['Private of Alice: Rocket']);
  assert.is((await fixture.staff.patch(service.url, { available_for_all: true })).status, 200);
  assert.equal(await linked(), ['Private of Alice: Rocket', 'Private of Alice: Sledge']);
  await fixture.staff.patch(service.url, { available_for_all: false });
  assert.equal(await linked(), ['Private of Alice: Rocket', 'Private of Alice: Sledge']);
});

test('counts an automatic link, which no quota rejects', async () => {
  const limit = async (name: string): Promise<void> => {
    const quota = people.customer.quotas.find((one: Json) => one.name === name);
    assert.is((await fixture.staff.patch(quota.url, { limit: 0 })).status, 200);
  };
  await limit('nc_service_count');
  await limit('nc_service_project_link_count');
  await shared();
  await work(fixture);
  assert.equal(await linked(), ['Common of Alice: Rocket']);
  const { nc_service_count, nc_service_project_link_count } = await usages(fixture, people.customer);
  assert.equal([nc_service_count, nc_service_project_link_count], [1, 1]);
});

test('a moved project loses the links to the old customer and gets those of the new one', async () => {
  await shared();
  await work(fixture);
  await simulatedService(fixture, 'jira', people, { name: 'Private' });
  const bob = await fixture.customer('Bob');
  const moved = await fixture.staff.patch(people.project.url, { customer: bob.url });
  assert.is(moved.status, 200);
  assert.equal(await linked(), ['Common of Bob: Rocket']);
  assert.is((await usages(fixture, people.customer)).nc_service_project_link_count, undefined);
  assert.is((await usages(fixture, bob)).nc_service_project_link_count, 1);
});

test('rejects moving a project with resources', async () => {
  const cloud = await dropletService(fixture, people);
  await cloud.begin();
  const bob = await fixture.customer('Bob');
  const { body, status } = await fixture.staff.patch(people.project.url, { customer: bob.url });
  assert.equal([status, body], [409, { detail: 'Cannot move project with existing droplets' }]);
});

test('deletes private settings with their last service, and keeps shared ones', async () => {
  const common = await shared();
  await work(fixture);
  const { settings } = await simulatedService(fixture, 'jira', people, { name: 'Private' });
  for (const { url } of await services()) await fixture.staff.delete(url);
  assert.is((await fixture.staff.get(settings.url)).status, 404);
  assert.is((await fixture.staff.get(common.url)).status, 200);
});

test('deleting a customer deletes its services, links and private settings', async () => {
  const bob = await fixture.customer('Bob');
  const common = await shared();
  await work(fixture);
  const mine = (
    await fixture.staff.post('/api/service-settings/', {
      name: 'Unused',
      type: 'JIRA',
      customer: bob.url,
      simulator_latency: '0',
    })
  ).body;
  const service = (await fixture.staff.post('/api/jira/', { name: 'Used', customer: bob.url, simulator_latency: '0' }))
    .body;
  assert.is((await fixture.staff.delete(bob.url)).status, 204);
  assert.equal(
    await Promise.all([mine, service, common].map(async ({ url }) => (await fixture.staff.get(url)).status)),
    [404, 404, 200],
  );
  assert.equal(
    (await services()).map(({ customer_name }) => customer_name),
    ['Alice'],
  );
});

test('a link is valid while the settings hold every certification that the project requires', async () => {
  const certify = async (name: string): Promise<Json> =>
    (await fixture.staff.post('/api/service-certifications/', { name })).body;
  const [iso, pci, soc] = [await certify('ISO'), await certify('PCI'), await certify('SOC')];
  const cloud = await dropletService(fixture, people);
  const droplet = await cloud.make();
  const require = (...list: Json[]): Promise<Json> =>
    fixture.staff.post(`${people.project.url}update_certifications/`, {
      certifications: list.map(({ url }) => ({ url })),
    });
  const hold = (...list: Json[]): Promise<Json> =>
    fixture.staff.post(`${cloud.settings.url}update_certifications/`, {
      certifications: list.map(({ url }) => ({ url })),
    });
  const validity = async (): Promise<unknown[]> => {
    const [service] = (await fixture.staff.get(people.project.url)).body.services;
    return [
      service.validation_state,
      service.validation_message,
      (await fixture.staff.get(droplet.url)).body.is_link_valid,
    ];
  };
  assert.equal(await validity(), ['OK', '', true]);
  await require(soc, iso);
  const lacking = (names: string): string =>
    `Provider does not match with project's security policy. Certifications are missing: "${names}"`;
  assert.equal(await validity(), ['ERRED', lacking('ISO, SOC'), false]);
  const rejection = await fixture.staff.post('/api/digitalocean-droplets/', cloud.body());
  assert.equal([rejection.status, rejection.body], [400, { service_project_link: [lacking('ISO, SOC')] }]);
  await hold(iso, pci);
  assert.equal(await validity(), ['ERRED', lacking('SOC'), false]);
  await hold(iso, pci, soc);
  assert.equal(await validity(), ['OK', '', true]);
  await fixture.staff.delete(soc.url);
  await hold(iso);
  assert.equal(await validity(), ['OK', '', true], 'nobody demands a certification that is gone');
});

test('a project lists its services by name, each with its settings and link', async () => {
  const cloud = await simulatedService(fixture, 'digitalocean', people, { name: 'zebra' });
  await shared('Antelope', 'JIRA');
  await work(fixture);
  const { services: reports } = (await fixture.staff.get(people.project.url)).body;
  assert.equal(
    reports.map(({ name }: Json) => name),
    ['Antelope', 'zebra'],
  );
  assert.equal(reports[1], {
    uuid: cloud.service.uuid,
    url: cloud.service.url,
    service_project_link_url: cloud.link.url,
    name: 'zebra',
    type: 'DigitalOcean',
    state: 'In Sync',
    shared: false,
    settings_uuid: cloud.settings.uuid,
    settings: cloud.settings.url,
    validation_state: 'OK',
    validation_message: '',
  });
  assert.equal(Object.keys(reports[1]), [
    'uuid',
    'url',
    'service_project_link_url',
    'name',
    'type',
    'state',
    'shared',
    'settings_uuid',
    'settings',
    'validation_state',
    'validation_message',
  ]);
});

test('rejects deleting or unlinking a resource that hosts settings with resources; otherwise deletes the settings, too', async () => {
  const cloud = await dropletService(fixture, people);
  const host = await cloud.make({ name: 'host' });
  const hosted = await simulatedService(fixture, 'digitalocean', people, { name: 'Hosted', scope: host.url });
  const guest = (
    await fixture.staff.post(
      '/api/digitalocean-droplets/',
      cloud.body({ name: 'guest', service_project_link: hosted.link.url }),
    )
  ).body;
  await work(fixture);
  const text = 'Cannot delete resource that hosts service settings with existing droplets';
  for (const [method, url] of [
    ['DELETE', host.url],
    ['POST', `${host.url}unlink/`],
    ['POST', `${cloud.service.url}unlink/`],
  ] as const) {
    const { body, status } = await fixture.staff.send(method, url);
    assert.equal([status, body], [409, { detail: text }], `${method} ${url}`);
  }
  await fixture.staff.post(`${guest.url}unlink/`);
  assert.is((await fixture.staff.delete(host.url)).status, 202);
  await work(fixture);
  assert.equal(
    await Promise.all(
      [host.url, hosted.settings.url, hosted.service.url].map(async (url) => (await fixture.staff.get(url)).status),
    ),
    [404, 404, 404],
  );
});

test('settings that got resources while their host was being deleted stay without a host', async () => {
  const cloud = await dropletService(fixture, people);
  const host = await cloud.make({ name: 'host' });
  const hosted = await simulatedService(fixture, 'digitalocean', people, { name: 'Hosted', scope: host.url });
  assert.is((await fixture.staff.delete(host.url)).status, 202);
  const guest = await cloud.begin({ name: 'guest', service_project_link: hosted.link.url });
  await work(fixture);
  assert.is((await fixture.staff.get(host.url)).status, 404);
  assert.is((await fixture.staff.get(hosted.settings.url)).body.scope, null);
  assert.is((await fixture.staff.get(guest.url)).body.state, 'OK');
  assert.is(fixture.server.app.db.value(sql`SELECT count(*) FROM job`), 0);
});

test.run();
