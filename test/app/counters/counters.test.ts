import * as assert from 'uvu/assert';
import { dropletService } from '../../support/droplets.ts';
import { type Json, start } from '../../support/fixture.ts';
import { asEachPersona, createPersonas, type Personas } from '../../support/personas.ts';
import { simulatedService, work } from '../../support/simulated.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('counters (core.md 9)');
let company: Personas;

const keys = [
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFh one@desk',
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJi two@desk',
];

test.before(async () => {
  company = await createPersonas(fixture);
});

const customerCounters = (query = '', client = fixture.staff) => client.get(`${company.customer.url}counters/${query}`);
const projectCounters = (query = '', client = fixture.staff) => client.get(`${company.project.url}counters/${query}`);

test('counts alerts, services, projects and users of a customer, in this order', async () => {
  const { status, body } = await customerCounters();
  assert.is(status, 200);
  assert.equal(Object.entries(body), Object.entries({ alerts: 0, services: 0, projects: 1, users: 5 }));
});

test('counts users, alerts, apps, vms, private_clouds and storages of a project, in this order', async () => {
  const { status, body } = await projectCounters();
  assert.is(status, 200);
  assert.equal(
    Object.entries(body),
    Object.entries({ users: 3, alerts: 0, apps: 0, vms: 0, private_clouds: 0, storages: 0 }),
  );
});

test('counts the projects of a customer that the caller sees', async () => {
  const other = await fixture.project('Other', company.customer);
  const counts = await asEachPersona(company, async (client) => (await customerCounters('', client)).body.projects);
  assert.equal(counts, {
    staff: 2,
    support: 2,
    owner: 2,
    helper: 2,
    manager: 1,
    admin: 1,
    observer: 1,
    stranger: undefined,
  });
  await fixture.staff.delete(other.url);
});

test('counts distinct users with an active role, for any caller', async () => {
  const other = await fixture.project('Other', company.customer);
  await fixture.grant(other, company.users.manager, 'manager');
  await fixture.grant(other, company.users.owner, 'admin');
  await fixture.grant(other, company.users.stranger, 'support', '2018-02-01T00:00:00Z');
  assert.is((await customerCounters()).body.users, 6);
  assert.is((await customerCounters('', company.clients.observer)).body.users, 6);
  assert.is((await fixture.staff.get(`${other.url}counters/`)).body.users, 3);
  fixture.clock.set('2018-02-01T00:00:00Z');
  assert.is((await customerCounters()).body.users, 5);
  assert.is((await fixture.staff.get(`${other.url}counters/`)).body.users, 2);
  fixture.clock.set(start);
  await fixture.staff.delete(other.url);
  assert.is((await customerCounters()).body.users, 5);
});

test('counts open alerts about the object and its contents, without types of excluded groups', async () => {
  const alert = async (scope: { url: string }, alert_type: string) => {
    const response = await fixture.staff.post('/api/alerts/', {
      scope: scope.url,
      alert_type,
      message: 'Look',
      severity: 'Warning',
    });
    assert.is(response.status, 201);
    return response.body;
  };
  const counts = async (query = '', client = fixture.staff) => [
    (await customerCounters(query, client)).body.alerts,
    (await projectCounters(query, client)).body.alerts,
  ];
  const hidden = await fixture.project('Hidden', company.customer);
  const alerts = [
    await alert(company.customer, 'customer_has_zero_services'),
    await alert(company.project, 'burning'),
    await alert(hidden, 'threshold_exceeded'),
    await alert(await fixture.customer('Unrelated'), 'burning'),
  ];
  assert.equal(await counts(), [3, 1]);
  assert.equal(await counts('', company.clients.helper), [3, 1]);
  assert.equal(await counts('', company.clients.manager), [2, 1], 'an alert about a project they do not see');
  assert.equal(await counts('?exclude_features=services'), [2, 1]);
  assert.equal(await counts('?exclude_features=services&exclude_features=quota&exclude_features=unknown'), [1, 1]);
  assert.is((await fixture.staff.post(`${alerts[1].url}close/`)).status, 204);
  assert.equal(await counts(), [2, 0]);
  assert.is((await fixture.staff.post(`${alerts[2].url}acknowledge/`)).status, 200);
  assert.equal(await counts(), [2, 0], 'an acknowledged alert is open');
  await fixture.staff.delete(hidden.url);
  await fixture.staff.post(`${alerts[0].url}close/`);
  assert.equal(await counts(), [0, 0]);
});

test('counts services, apps, vms, private clouds and storages of the project and its customer', async () => {
  const customer = await fixture.customer('Busy');
  const project = await fixture.project('Rocket', customer);
  const [cloud, droplets, forge] = [
    await simulatedService(fixture, 'openstack', { customer, project }),
    await dropletService(fixture, { customer, project }),
    await simulatedService(fixture, 'gitlab', { customer, project }),
  ];
  const make = async (path: string, body: Json): Promise<Json> => {
    const response = await fixture.staff.post(path, body);
    assert.is(response.status, 201, JSON.stringify(response.body));
    await work(fixture);
    return response.body;
  };
  for (const name of ['one', 'two', 'three', 'four']) await droplets.make({ name });
  for (const name of ['a', 'b', 'c'])
    await make('/api/gitlab-groups/', { service_project_link: forge.link.url, name, path: name });
  const tenant = await make('/api/openstack-tenants/', { service_project_link: cloud.link.url, name: 'Lab' });
  for (const name of ['data', 'logs'])
    await make('/api/openstack-volumes/', {
      service_project_link: cloud.link.url,
      tenant: tenant.url,
      name,
      size: 1024,
    });
  const user = await fixture.user('clerk');
  await fixture.grant(project, user, 'support');
  for (const client of [fixture.staff, fixture.as('clerk')]) {
    assert.equal((await client.get(`${project.url}counters/`)).body, {
      users: 1,
      alerts: 0,
      apps: 3,
      vms: 4,
      private_clouds: 1,
      storages: 2,
    });
    assert.equal((await client.get(`${customer.url}counters/`)).body, {
      alerts: 0,
      services: 3,
      projects: 1,
      users: 1,
    });
  }
  fixture.clock.set(start);
});

test('counts the keys and hooks of the caller', async () => {
  const { owner, staff } = company.clients;
  assert.equal((await owner.get('/api/user-counters/')).body, { keys: 0, hooks: 0, api_keys: 0 });
  for (const public_key of keys) assert.is((await owner.post('/api/keys/', { public_key })).status, 201);
  assert.is((await staff.post('/api/keys/', { public_key: keys[0] })).status, 201);
  assert.equal(Object.entries((await owner.get('/api/user-counters/')).body), [
    ['keys', 2],
    ['hooks', 0],
    ['api_keys', 0],
  ]);
  assert.equal((await staff.get('/api/user-counters/')).body, { keys: 1, hooks: 0, api_keys: 0 });
  assert.is((await fixture.anonymous.get('/api/user-counters/')).status, 401);
});

test('limits the keys to fields, in the normal order; unknown ones give {}', async () => {
  assert.equal(Object.entries((await customerCounters('?fields=users&fields=projects')).body), [
    ['projects', 1],
    ['users', 5],
  ]);
  assert.equal((await projectCounters('?fields=vms')).body, { vms: 0 });
  assert.equal((await projectCounters('?fields=vms&fields=unknown')).body, { vms: 0 });
  assert.equal((await customerCounters('?fields=unknown')).body, {});
  assert.equal((await company.clients.stranger.get('/api/user-counters/?fields=hooks')).body, { hooks: 0 });
  assert.equal((await customerCounters('?fields=')).body, (await customerCounters()).body);
});

test('ignores unknown groups of exclude_features and other parameters', async () => {
  for (const query of [
    '?exclude_features=unknown',
    '?exclude_features=a&exclude_features=b',
    '?page=7',
    '?page_size=1',
    '?o=nothing',
    '?field=users',
  ]) {
    assert.equal((await customerCounters(query)).body, (await customerCounters()).body, query);
  }
});

test('does not paginate counters and sends no page headers', async () => {
  const { headers } = await customerCounters();
  assert.equal([headers.get('x-result-count'), headers.get('link')], [null, null]);
});

test('responds 404 to an invisible or missing object', async () => {
  for (const ask of [customerCounters, projectCounters]) {
    const response = await ask('', company.clients.stranger);
    assert.equal([response.status, response.body], [404, { detail: 'Not found.' }]);
  }
  assert.is((await fixture.staff.get(`/api/customers/${'0'.repeat(32)}/counters/`)).status, 404);
  assert.is((await fixture.staff.get('/api/projects/nonsense/counters/')).status, 404);
});

test('rejects all methods that write', async () => {
  for (const url of [`${company.customer.url}counters/`, `${company.project.url}counters/`, '/api/user-counters/']) {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const response = await fixture.staff.send(method, url);
      assert.equal([response.status, response.headers.get('allow')], [405, 'GET, HEAD, OPTIONS'], `${method} ${url}`);
    }
    assert.not((await fixture.staff.options(url)).body.actions);
  }
});

test.run();
