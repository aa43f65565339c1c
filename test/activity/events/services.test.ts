import * as assert from 'uvu/assert';
import { createDroplet, type Droplets } from '../../support/droplets.ts';
import { expectedEvent, inCustomer, inProject } from '../../support/expected-event.ts';
import { byStaff, type Client, type Json } from '../../support/fixture.ts';
import type { Personas } from '../../support/personas.ts';
import { type SimulatedService, simulatedService, work } from '../../support/simulated.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer(
  'events of settings, services, links and resources (events.md 1.3, 4.5, 4.7)',
);
let people: Personas;
let cloud: Droplets;
let droplet: Json;
let office: SimulatedService;
let second: Json;
let link: Json;

/**
 * The creation of `web`, of `side` in a second project of the same service, and of a JIRA project of another service;
 * a notification about the settings of each service, and one about a quota of the first link.
 */
test.before(async () => {
  ({ people, cloud, droplet } = await createDroplet(fixture));
  office = await simulatedService(fixture, 'jira', people, { name: 'Office' });
  second = await fixture.project('Sledge', people.customer);
  link = (
    await fixture.staff.post('/api/digitalocean-service-project-link/', {
      project: second.url,
      service: cloud.service.url,
    })
  ).body;
  await cloud.make({ name: 'side', service_project_link: link.url });
  const template = (await fixture.staff.get('/api/jira-project-templates/')).body[0].url;
  await fixture.staff.post('/api/jira-projects/', {
    service_project_link: office.link.url,
    name: 'Plan',
    key: 'PLAN',
    template,
  });
  await work(fixture);
  await notify('Cloud news', cloud.settings);
  await notify('Office news', office.settings);
  await notify('Quota news', cloud.link.quotas[0]);
});

const notify = async (message: string, scope: Json): Promise<void> =>
  assert.is((await fixture.staff.post('/api/events/', { level: 'info', message, scope: scope.url })).status, 201);

/** Returns messages in the order of recording. Checks that list and count agree. */
async function matches(filter: string, client: Client = fixture.staff): Promise<string[]> {
  const { status, body } = await client.get(`/api/events/?o=@timestamp&page_size=300&${filter}`);
  assert.is(status, 200, filter);
  assert.equal((await client.get(`/api/events/count/?${filter}`)).body, { count: body.length });
  return body.map((event: Json) => event.message);
}

const created = (name: string): string[] => [
  `Resource ${name} creation has been scheduled.`,
  `Resource ${name} has been created.`,
];

test('scope of settings and services selects the events that name them, of a link those of its service in its project, of a resource its own', async () => {
  assert.equal(await matches(`scope=${cloud.settings.url}`), [
    ...created('web'),
    ...created('side'),
    'Cloud news',
    'Quota news',
  ]);
  assert.equal(await matches(`scope=${cloud.service.url}`), [...created('web'), ...created('side'), 'Quota news']);
  assert.equal(await matches(`scope=${cloud.link.url}`), [...created('web'), 'Quota news']);
  assert.equal(await matches(`scope=${link.url}`), created('side'));
  assert.equal(await matches(`scope=${droplet.url}`), created('web'));
  assert.equal(await matches(`scope=${office.service.url}`), created('Plan'));
  assert.equal(
    await matches(`scope=${office.link.url}&event_type=resource_creation_succeeded`),
    created('Plan').slice(1),
  );
  assert.equal(await matches(`scope=${office.settings.url}`), [...created('Plan'), 'Office news']);
});

test("rejects a scope link with another type than the object's, or to an object that the caller cannot read", async () => {
  const wrong = [
    cloud.service.url.replace('/digitalocean/', '/jira/'),
    cloud.link.url.replace('/digitalocean-service', '/jira-service'),
    droplet.url.replace('/digitalocean-droplets/', '/jira-projects/'),
  ];
  const rejection = async (scope: string, client: Client): Promise<void> => {
    const { body, status } = await client.get(`/api/events/?scope=${scope}`);
    assert.equal([status, body], [400, { scope: [`Can't restore object from url: ${scope}`] }]);
  };
  for (const scope of wrong) await rejection(scope, fixture.staff);
  for (const { url } of [cloud.settings, cloud.service, cloud.link, droplet])
    await rejection(url, people.clients.stranger);
  await rejection(cloud.settings.url, people.clients.admin);
  await rejection(link.url, people.clients.admin);
  assert.equal(
    await matches(`scope=${cloud.service.url}`, people.clients.admin),
    [...created('web'), 'Quota news'],
    'of a service they read those of their project',
  );
});

test('scope_type selects settings, and services, links and resources of a type', async () => {
  const everything = [
    ...created('web'),
    ...created('side'),
    ...created('Plan'),
    'Cloud news',
    'Office news',
    'Quota news',
  ];
  for (const name of ['structure.servicesettings', 'service_settings'])
    assert.equal((await matches(`scope_type=${name}`)).sort(), [...everything].sort());
  for (const name of ['digitalocean.service', 'digitalocean.serviceprojectlink', 'DigitalOcean.Service_Project_Link']) {
    assert.equal(await matches(`scope_type=${name}`), [...created('web'), ...created('side'), 'Quota news'], name);
  }
  assert.equal(await matches('scope_type=digitalocean.droplet'), [...created('web'), ...created('side')]);
  for (const name of ['jira.service', 'jira.serviceprojectlink', 'jira.project'])
    assert.equal(await matches(`scope_type=${name}`), created('Plan'), name);
  assert.equal(await matches('scope_type=openstack.service'), []);
  assert.equal(await matches('scope_type=digitalocean.droplet', people.clients.admin), created('web'));
  assert.equal(await matches('scope_type=service_settings&event_type=custom_notification', people.clients.owner), [
    'Cloud news',
    'Office news',
    'Quota news',
  ]);
});

test('readers of the project see the event of a resource; owners and supporters of the customer see one of private settings', async () => {
  const sees = async (client: Client, type: string): Promise<number> =>
    (await matches(`scope_type=${type}&event_type=resource_creation_succeeded&event_type=custom_notification`, client))
      .length;
  for (const [part, droplets, settings] of [
    ['staff', 2, 6],
    ['support', 2, 6],
    ['owner', 2, 6],
    ['helper', 2, 6],
    ['manager', 1, 3],
    ['admin', 1, 3],
    ['observer', 1, 3],
    ['stranger', 0, 0],
  ] as const) {
    assert.equal(
      [await sees(people.clients[part], 'digitalocean.droplet'), await sees(people.clients[part], 'service_settings')],
      [droplets, settings],
      part,
    );
  }
});

test('the context of a quota of a link has the SCOPE and OWN keys of the link', async () => {
  fixture.events();
  const [quota] = (await fixture.staff.get(cloud.link.url)).body.quotas;
  await notify('Again', quota);
  assert.equal(fixture.events(), [
    expectedEvent(
      'custom_notification',
      'Again',
      await byStaff(fixture),
      {
        scope_name: 'Cloud | Rocket',
        quota_uuid: quota.uuid,
        quota_name: quota.name,
        quota_limit: '-1.0',
        quota_usage: `${quota.usage}.0`,
        service_uuid: cloud.service.uuid,
        service_name: 'Cloud',
        service_type: 'DigitalOcean',
        settings_uuid: cloud.settings.uuid,
        settings_name: 'Cloud',
        service_settings_type: 'DigitalOcean',
        ...inCustomer(people.customer),
      },
      inProject(people.project, people.customer),
    ),
  ]);
});

test.run();
