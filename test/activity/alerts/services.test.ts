import * as assert from 'uvu/assert';
import { type Droplets, dropletService } from '../../support/droplets.ts';
import { inCustomer, inProject } from '../../support/expected-event.ts';
import type { Client, Json } from '../../support/fixture.ts';
import { asEachPersona, createPersonas, type Personas } from '../../support/personas.ts';
import { setOptions, work } from '../../support/simulated.ts';
import { suiteWithServerPerTest } from '../../support/suite.ts';

const { test, fixture } = suiteWithServerPerTest(
  'alerts about services, links and resources (events.md 1.3, 3.1 to 3.8)',
);
let people: Personas;
let cloud: Droplets;
let droplet: Json;
/** The alerts of each kind: of the service, its link, a droplet. */
let ofService: Json;
let ofLink: Json;
let ofResource: Json;

const alerts = async (query = '', client: Client = fixture.staff): Promise<Json[]> =>
  (await client.get(`/api/alerts/?page_size=300&o=created&${query}`)).body;
const kinds = async (query: string, client?: Client): Promise<string[]> =>
  (await alerts(query, client)).map(({ alert_type: type }) => type).sort();
const all = ['resource_disappeared_from_backend', 'service_unavailable', 'threshold_exceeded'];
const synchronise = async (): Promise<void> => {
  fixture.clock.advance(30 * 60);
  await work(fixture);
};

/** A droplet that vanished at the provider, then a provider that does not respond, and a link above a threshold. */
test.before.each(async () => {
  people = await createPersonas(fixture);
  cloud = await dropletService(fixture, people);
  droplet = await cloud.make();
  const { db } = fixture.server.app;
  db.script(`DELETE FROM simulated_object WHERE backend_id = '${droplet.backend_id}'`);
  await synchronise();
  await setOptions(fixture, cloud.settings, { simulator_failures: 'ping' });
  await synchronise();
  const vcpu = cloud.link.quotas.find(({ name }: Json) => name === 'vcpu');
  assert.is((await fixture.staff.patch(vcpu.url, { threshold: 1 })).status, 200);
  [ofResource, ofService, ofLink] = (await alerts()) as [Json, Json, Json];
});

/** SVC keys of the service, with its settings and its customer. */
const inService = (): Record<string, string> => ({
  service_uuid: cloud.service.uuid,
  service_name: 'Cloud',
  service_type: 'DigitalOcean',
  settings_uuid: cloud.settings.uuid,
  settings_name: 'Cloud',
  service_settings_type: 'DigitalOcean',
  ...inCustomer(people.customer),
});

test('the context of each has the SCOPE and OWN keys of its scope, and links to it', async () => {
  assert.equal(
    [ofService.scope, ofService.severity, ofService.message],
    [cloud.service.url, 'Warning', 'Service account Cloud is not responding'],
  );
  assert.equal(ofService.context, { scope_uuid: cloud.service.uuid, scope_name: 'Cloud', ...inService() });
  const vcpu = cloud.link.quotas.find(({ name }: Json) => name === 'vcpu');
  assert.equal(
    [ofLink.scope, ofLink.severity, ofLink.message],
    [cloud.link.url, 'Warning', 'Threshold for Cloud | Rocket is exceeded.'],
  );
  assert.equal(ofLink.context, {
    scope_name: 'Cloud | Rocket',
    ...inService(),
    ...inProject(people.project, people.customer),
    quota_uuid: vcpu.uuid,
    quota_name: 'vcpu',
    quota_limit: '-1.0',
    quota_usage: '1.0',
  });
  assert.equal(
    [ofResource.scope, ofResource.severity, ofResource.message],
    [droplet.url, 'Warning', 'Resource web has disappeared from the backend'],
  );
  assert.equal(ofResource.context, {
    scope_uuid: droplet.uuid,
    scope_name: 'web',
    resource_uuid: droplet.uuid,
    resource_name: 'web',
    resource_full_name: 'DigitalOcean Droplet web',
    resource_type: 'DigitalOcean.Droplet',
    ...inService(),
    ...inProject(people.project, people.customer),
  });
});

test('POST of alerts and events rejects scopes of these kinds; POST on the path of an alert accepts its own scope', async () => {
  for (const alert of [ofService, ofLink, ofResource]) {
    const unrelated = { scope: [`${alert.scope} object does not support such relationship.`] };
    const body = { alert_type: alert.alert_type, message: 'By hand.', severity: 'Error', scope: alert.scope };
    const rejection = [
      await fixture.staff.post('/api/alerts/', body),
      await fixture.staff.post('/api/events/', { level: 'info', message: 'x', scope: alert.scope }),
    ];
    assert.equal(
      rejection.map((response) => [response.status, response.body]),
      [
        [400, unrelated],
        [400, unrelated],
      ],
    );
    const [, key] = /([0-9a-f]{32})\/$/.exec(alert.scope) as unknown as [string, string];
    for (const scope of [{}, { scope: alert.scope }, { scope: alert.scope.replace(key, key.toUpperCase()) }]) {
      const response = await fixture.staff.post(alert.url, { ...body, scope: undefined, ...scope });
      assert.equal(
        [response.status, response.body.message, response.body.scope, response.body.uuid],
        [200, 'By hand.', alert.scope, alert.uuid],
      );
    }
    const other = alert === ofService ? ofLink : ofService;
    assert.equal((await fixture.staff.post(alert.url, { ...body, scope: other.scope })).body, {
      scope: [`${other.scope} object does not support such relationship.`],
    });
  }
  assert.is((await alerts()).length, 3);
});

test('users who can read the scope see its alerts: roles in the customer and in the project', async () => {
  const seen = {
    staff: all,
    support: all,
    owner: all,
    helper: all,
    manager: all,
    admin: all,
    observer: all,
    stranger: [],
  };
  assert.equal(await asEachPersona(people, (client) => kinds('', client)), seen);
  const second = await fixture.project('Sledge', people.customer);
  await fixture.grant(second, people.users.stranger, 'admin');
  assert.equal(
    await kinds('', people.clients.stranger),
    [],
    'a role in another project of the customer shows none of them',
  );
  await fixture.staff.post('/api/digitalocean-service-project-link/', {
    project: second.url,
    service: cloud.service.url,
  });
  assert.equal(
    await kinds('', people.clients.stranger),
    ['service_unavailable'],
    'unless the service is linked to that one, too',
  );
});

test('scope selects alerts about this object; content_type accepts the names of service, link and resource', async () => {
  for (const alert of [ofService, ofLink, ofResource])
    assert.equal(await kinds(`scope=${alert.scope}`), [alert.alert_type]);
  for (const name of ['content_type', 'scope_type']) {
    for (const value of ['digitalocean.service', 'DigitalOcean.Service'])
      assert.equal(await kinds(`${name}=${value}`), ['service_unavailable']);
    for (const value of ['digitalocean.serviceprojectlink', 'digitalocean.service_project_link'])
      assert.equal(await kinds(`${name}=${value}`), ['threshold_exceeded']);
    assert.equal(await kinds(`${name}=digitalocean.droplet`), ['resource_disappeared_from_backend']);
    for (const value of ['openstack.service', 'jira.serviceprojectlink', 'openstack.instance', 'droplet', 'service'])
      assert.equal(await kinds(`${name}=${value}`), [], value);
  }
});

test('aggregate of a customer includes its services, links and resources, of a project its links and resources; counters agree', async () => {
  const { customer, project } = people;
  assert.equal(await kinds('aggregate=customer'), all);
  assert.equal(await kinds(`uuid=${customer.uuid}`), all);
  const ofProject = ['resource_disappeared_from_backend', 'threshold_exceeded'];
  assert.equal(await kinds('aggregate=project'), ofProject);
  assert.equal(await kinds(`aggregate=project&uuid=${project.uuid}`), ofProject);
  const remote = await fixture.project('Remote', await fixture.customer('Other'));
  for (const query of [`aggregate=project&uuid=${remote.uuid}`, `uuid=${remote.customer_uuid}`])
    assert.equal(await kinds(query), [], query);
  const counted = async (object: Json, query = ''): Promise<number> =>
    (await fixture.staff.get(`${object.url}counters/?fields=alerts&${query}`)).body.alerts;
  assert.equal([await counted(customer), await counted(project), await counted(remote)], [3, 2, 0]);
  assert.equal(
    [await counted(customer, 'exclude_features=services'), await counted(project, 'exclude_features=resources')],
    [2, 1],
  );
});

test('a service that still does not respond keeps its alert acknowledged; the next failure reopens one that staff closed', async () => {
  const present = async (): Promise<unknown[]> => {
    const { acknowledged, closed } = (await fixture.staff.get(ofService.url)).body;
    return [closed === null, acknowledged];
  };
  await people.clients.observer.post(`${ofService.url}acknowledge/`);
  await synchronise();
  assert.equal(await present(), [true, true]);
  await fixture.staff.post(`${ofService.url}close/`);
  await synchronise();
  assert.equal(await present(), [true, false]);
  await setOptions(fixture, cloud.settings, { simulator_failures: null });
  await synchronise();
  assert.equal(await present(), [false, false]);
});

test('a resource that is still missing keeps its alert; the next pull that misses it reopens one that staff closed', async () => {
  await setOptions(fixture, cloud.settings, { simulator_failures: null });
  const present = async (): Promise<unknown[]> => {
    const { acknowledged, closed, context, created } = (await fixture.staff.get(ofResource.url)).body;
    return [closed === null, acknowledged, context.project_name, created === ofResource.created];
  };
  await people.clients.observer.post(`${ofResource.url}acknowledge/`);
  await fixture.staff.patch(people.project.url, { name: 'Comet' });
  await synchronise();
  assert.equal(await present(), [true, true, 'Comet', true]);
  await fixture.staff.post(`${ofResource.url}close/`);
  assert.equal(await present(), [false, true, 'Comet', true]);
  await synchronise();
  assert.equal(await present(), [true, false, 'Comet', true]);
  const { error_message, state } = (await fixture.staff.get(droplet.url)).body;
  assert.equal([state, error_message], ['Erred', 'Does not exist at backend.']);
});

test('synchronisations without a problem do not change an alert that staff posted', async () => {
  const { db } = fixture.server.app;
  await setOptions(fixture, cloud.settings, { simulator_failures: null });
  await synchronise();
  const healthy = await cloud.make({ name: 'healthy' });
  db.script(
    `UPDATE simulated_object SET backend_id = '${droplet.backend_id}' WHERE backend_id = '${healthy.backend_id}'`,
  );
  db.script(`DELETE FROM resource WHERE uuid = '${healthy.uuid}'`);
  await synchronise();
  assert.equal(await kinds('closed'), ['resource_disappeared_from_backend', 'service_unavailable'], 'both are back');
  for (const { url } of [ofResource, ofService])
    assert.is((await fixture.staff.post(url, { message: 'Maintenance is near.', severity: 'Info' })).status, 200);
  await synchronise();
  assert.equal(await kinds('opened&severity=Info'), ['resource_disappeared_from_backend', 'service_unavailable']);
  await setOptions(fixture, cloud.settings, { simulator_failures: 'ping' });
  await synchronise();
  await setOptions(fixture, cloud.settings, { simulator_failures: null });
  await synchronise();
  assert.equal(await kinds('opened&severity=Info'), ['resource_disappeared_from_backend']);
});

test('every service with the settings has its own alert', async () => {
  await fixture.customer('Bob');
  const common = (
    await fixture.staff.post('/api/service-settings/', {
      name: 'Common',
      type: 'DigitalOcean',
      shared: true,
      simulator_latency: '0',
    })
  ).body;
  await work(fixture);
  await setOptions(fixture, common, { simulator_failures: 'ping' });
  await synchronise();
  const services = (await fixture.staff.get(`/api/digitalocean/?settings=${common.url}`)).body;
  assert.equal(services.map(({ customer_name: name }: Json) => name).sort(), ['Alice', 'Bob']);
  for (const { customer_name: name, url } of services) {
    const [alert, ...others] = await alerts(`scope=${url}&opened`);
    assert.equal([alert.alert_type, alert.context.customer_name, others], ['service_unavailable', name, []]);
  }
});

test('deleting a scope deletes its alerts: unlinked resources and services, deleted links', async () => {
  assert.is((await fixture.staff.post(`${droplet.url}unlink/`)).status, 204);
  assert.equal(await kinds(''), ['service_unavailable', 'threshold_exceeded']);
  assert.is((await fixture.staff.delete(cloud.link.url)).status, 204);
  assert.equal(await kinds(''), ['service_unavailable']);
  assert.is((await fixture.staff.post(`${cloud.service.url}unlink/`)).status, 204);
  assert.equal(await kinds(''), []);
});

test.run();
