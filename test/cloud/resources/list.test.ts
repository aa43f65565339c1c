import * as assert from 'uvu/assert';
import { catalogue } from '../../support/catalogue.ts';
import { type Droplets, dropletService } from '../../support/droplets.ts';
import type { Json } from '../../support/fixture.ts';
import { createPersonas, type Personas } from '../../support/personas.ts';
import { type SimulatedService, simulatedService, step, work } from '../../support/simulated.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer(
  'the list of resources, its count, filters and orderings (services.md 7.2, 7.3)',
);
let people: Personas;
let cloud: Droplets;
let office: SimulatedService;
let far: Droplets;
const created: Record<string, Json> = {};

const summary = '/api/resources/';
const droplets = '/api/digitalocean-droplets/';
const names = async (query: string, path = summary, client = fixture.staff): Promise<string[]> => {
  const { body, status } = await client.get(`${path}?page_size=300&${query}`);
  assert.is(status, 200, `${query}: ${JSON.stringify(body)}`);
  return body.map(({ name }: Json) => name);
};
const sorted = async (query: string, path = summary): Promise<string[]> => (await names(query, path)).sort();
const sla = (name: string, period: string, value: number | null): Promise<Json> =>
  fixture.staff.put('/api/resource-sla/', { scope: created[name].url, period, value });
const item = (name: string, key: string, value: number): Promise<Json> =>
  fixture.staff.put('/api/monitoring-items/', { scope: created[name].url, name: key, value });

/*
 * Two customers: Alice with droplets ant (large, OK), bee (stopped), cat (Erred) and the project eel at JIRA; Bob with the
 * droplet dog, still Creation Scheduled.
 */
test.before(async () => {
  people = await createPersonas(fixture);
  cloud = await dropletService(fixture, people);
  office = await simulatedService(fixture, 'jira', people, { name: 'Office' });
  const bob = await fixture.customer('Bob', { native_name: 'Боб', abbreviation: 'BOB' });
  far = await dropletService(fixture, { customer: bob, project: await fixture.project('Boat', bob) }, { name: 'Far' });
  created.ant = await cloud.make({
    name: 'Ant',
    description: 'First animal',
    size: cloud.catalogue.large,
    tags: ['env:prod', 'red', 'tier:2'],
  });
  created.bee = await cloud.make({ name: 'bee', tags: ['env:prod', 'blue', 'tier:1', 'tier:9'] });
  await fixture.staff.post(`${created.bee.url}stop/`);
  await work(fixture);
  await fixture.staff.patch(cloud.settings.url, { simulator_failures: 'create' });
  created.cat = await cloud.make({ name: 'Cat', tags: ['env:test', 'red'] });
  await fixture.staff.patch(cloud.settings.url, { simulator_failures: null });
  const template = (await fixture.staff.get('/api/jira-project-templates/')).body[0].url;
  created.eel = (
    await fixture.staff.post('/api/jira-projects/', {
      service_project_link: office.link.url,
      name: 'eel',
      key: 'EEL',
      template,
      tags: ['env:prod'],
    })
  ).body;
  await work(fixture);
  created.dog = await far.begin({ name: 'dog' });
});

const every = ['Ant', 'Cat', 'bee', 'dog', 'eel'];

test('field= shows the members that each resource has, and omits resources of kinds without any of them', async () => {
  const get = async (query: string): Promise<Json> => (await fixture.staff.get(`${summary}?${query}`)).body;
  const [dog, eel] = await get('field=cores&page_size=2');
  assert.equal([Object.keys(dog), eel], [['cores'], {}]);
  assert.equal(await get('field=cores&resource_type=JIRA.Project'), [{}]);
  assert.equal((await get('fields=name&field=cores&page_size=2'))[1], { name: 'eel' });
  assert.equal(Object.keys((await get('field=nothing&page_size=1'))[0]).includes('name'), true);
});

test('the list contains every visible resource of every kind and state, newest first', async () => {
  assert.equal(await names(''), ['dog', 'eel', 'Cat', 'bee', 'Ant']);
  assert.equal(await names('', droplets), ['dog', 'Cat', 'bee', 'Ant'], 'typed lists likewise');
  assert.equal(await names('', summary, people.clients.observer), ['eel', 'Cat', 'bee', 'Ant']);
  assert.equal(await names('', summary, people.clients.stranger), []);
});

test('serves only GET, HEAD and OPTIONS, the latter with the plain metadata', async () => {
  for (const path of [summary, '/api/resources/count/']) {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
      assert.is((await fixture.staff.send(method, path, {})).status, 405, `${method} ${path}`);
    assert.is((await fixture.staff.get(path)).headers.get('allow'), 'GET, HEAD, OPTIONS');
    const { body } = await fixture.staff.options(path);
    assert.equal([Object.keys(body), body.actions], [['name', 'description', 'renders', 'parses'], undefined]);
  }
  assert.is((await fixture.staff.send('HEAD', summary)).headers.get('x-result-count'), '5');
});

test('the count has a key for every kind selected by resource_type and category, ascending, zeros included', async () => {
  const count = async (query = '', client = fixture.staff): Promise<Json> =>
    (await client.get(`/api/resources/count/?${query}`)).body;
  const kinds = catalogue.kinds
    .filter(({ kind }) => !kind.isPart)
    .map(({ name }) => name)
    .sort();
  const all = await count();
  assert.equal(Object.keys(all), kinds);
  assert.equal(
    Object.entries(all).filter(([, n]) => n !== 0),
    [
      ['DigitalOcean.Droplet', 4],
      ['JIRA.Project', 1],
    ],
  );
  assert.equal(
    Object.entries(await count('', people.clients.owner)).filter(([, n]) => n !== 0),
    [
      ['DigitalOcean.Droplet', 3],
      ['JIRA.Project', 1],
    ],
  );
  assert.equal(await count('resource_type=JIRA.Project&resource_type=DigitalOcean.Droplet'), {
    'DigitalOcean.Droplet': 4,
    'JIRA.Project': 1,
  });
  assert.equal(await count('resource_type=Azure.Machine'), {});
  assert.equal(await count('category=else'), {});
  assert.equal(await count('resource_type=JIRA.Project&category=vms'), {});
  assert.equal((await count('category=vms'))['DigitalOcean.Droplet'], 4);
  assert.equal(
    await count('resource_type=DigitalOcean.Droplet&state=OK&tag=red'),
    { 'DigitalOcean.Droplet': 1 },
    'all filters are applied',
  );
});

test('categories are those of the table', () => {
  const of = (category: string): string[] =>
    catalogue.kinds
      .filter(({ kind }) => !kind.isPart && kind.category === category)
      .map(({ name }) => name)
      .sort();
  assert.equal(of('vms'), ['Amazon.Instance', 'DigitalOcean.Droplet', 'OpenStack.Instance']);
  assert.equal(of('private_clouds'), ['OpenStack.Tenant']);
  assert.equal(of('storages'), ['Amazon.Volume', 'OpenStack.Snapshot', 'OpenStack.Volume']);
  assert.equal(of('apps'), ['GitLab.Group', 'GitLab.Project', 'JIRA.Project', 'Oracle.Database']);
});

test('resource_type is repeatable; category and resource_category are one; typed lists ignore them', async () => {
  assert.equal(await sorted('resource_type=JIRA.Project'), ['eel']);
  assert.equal(await sorted('resource_type=JIRA.Project&resource_type=DigitalOcean.Droplet'), every);
  assert.equal(await sorted('resource_type=jira.project'), []);
  for (const parameter of ['category', 'resource_category']) {
    assert.equal(await sorted(`${parameter}=apps`), ['eel']);
    assert.equal(await sorted(`${parameter}=vms`), ['Ant', 'Cat', 'bee', 'dog']);
    assert.equal(await sorted(`${parameter}=storages`), []);
    assert.equal(await sorted(`${parameter}=other`), []);
    assert.equal(await sorted(`${parameter}=vms&${parameter}=apps`), ['eel'], 'the last one counts');
  }
  assert.equal(await sorted('category=apps&resource_type=JIRA.Project', droplets), ['Ant', 'Cat', 'bee', 'dog']);
});

test('filters by uuid: customer, project, service, settings, itself', async () => {
  const { customer, project } = people;
  for (const parameter of ['customer', 'customer_uuid'])
    assert.equal(await sorted(`${parameter}=${customer.uuid}`), ['Ant', 'Cat', 'bee', 'eel']);
  for (const parameter of ['project', 'project_uuid'])
    assert.equal(await sorted(`${parameter}=${project.uuid}`), ['Ant', 'Cat', 'bee', 'eel']);
  assert.equal(await sorted(`service_uuid=${office.service.uuid}`), ['eel']);
  assert.equal(await sorted(`service_settings_uuid=${far.settings.uuid}`), ['dog']);
  assert.equal(
    await sorted(`uuid=${created.bee.uuid.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')}`),
    ['bee'],
    'dashed, too',
  );
  for (const parameter of [
    'customer',
    'customer_uuid',
    'project',
    'project_uuid',
    'service_uuid',
    'service_settings_uuid',
    'uuid',
  ]) {
    assert.equal(await names(`${parameter}=${'0'.repeat(32)}`), [], parameter);
    for (const path of [summary, droplets, '/api/resources/count/']) {
      const { body, status } = await fixture.staff.get(`${path}?${parameter}=x`);
      assert.equal([status, body], [400, { [parameter]: ['"x" is not a valid UUID.'] }]);
    }
  }
});

test('filters by part of a text, without case', async () => {
  assert.equal(await sorted('customer_name=bO'), ['dog']);
  assert.equal(await sorted(`customer_native_name=${encodeURIComponent('бо')}`), ['dog']);
  assert.equal(await sorted('customer_abbreviation=alc'), ['Ant', 'Cat', 'bee', 'eel']);
  assert.equal(await sorted('project_name=oat'), ['dog']);
  assert.equal(await sorted('service_name=OFF'), ['eel']);
  assert.equal(await sorted('service_settings_name=far'), ['dog']);
  assert.equal(await sorted('name=E'), ['bee', 'eel']);
  assert.equal(await sorted('description=animal'), ['Ant']);
});

test('filters by the exact value', async () => {
  assert.equal(await sorted('name_exact=ant'), []);
  assert.equal(await sorted('name_exact=Ant'), ['Ant']);
  assert.equal(await sorted('backend_id=EEL'), ['eel']);
  assert.equal(await sorted('backend_id=eel'), []);
  assert.equal(await sorted('state=OK'), ['Ant', 'bee', 'eel']);
  assert.equal(await sorted('state=Erred&state=Creation+Scheduled'), ['Cat', 'dog']);
  assert.equal(await sorted('state=ok'), []);
  assert.equal(await sorted('runtime_state=online&runtime_state=offline'), ['Ant', 'bee']);
  assert.equal(await sorted('runtime_state=offline', droplets), ['bee']);
});

test('tag finds any, rtag all, tag__<prefix> the tag of that prefix and value', async () => {
  assert.equal(await sorted('tag=red&tag=blue'), ['Ant', 'Cat', 'bee']);
  assert.equal(await sorted('rtag=red&rtag=env:prod'), ['Ant']);
  assert.equal(await sorted('rtag=red&rtag=blue'), []);
  assert.equal(await sorted('tag__env=prod'), ['Ant', 'bee', 'eel']);
  assert.equal(await sorted('tag__env=prod&rtag=blue'), ['bee'], 'filters are combined');
  assert.equal(await sorted('tag__env=pro'), []);
  assert.equal(await sorted('tag=nothing'), []);
  assert.equal(await sorted('tag__tier=9', droplets), ['bee']);
});

test('actual_sla and monitoring__<item> find the number', async () => {
  await sla('ant', '2018-01', 99.5);
  await sla('bee', '2018-01', 95);
  await sla('cat', '2018-01', null);
  await sla('cat', '2018', 99.5);
  await item('ant', 'load', 2);
  await item('bee', 'load', 10);
  await item('eel', 'issues', 0);
  assert.equal(await sorted('actual_sla=99.5'), ['Ant']);
  assert.equal(await sorted('actual_sla=99.5&period=2018'), ['Cat']);
  assert.equal(await sorted('actual_sla=1e2'), []);
  assert.equal(await sorted('monitoring__load=2.0'), ['Ant']);
  assert.equal(await sorted('monitoring__issues=0'), ['eel']);
  assert.equal(await sorted('monitoring__nothing=1'), []);
  for (const parameter of ['actual_sla', 'monitoring__load']) {
    const { body, status } = await fixture.staff.get(`${summary}?${parameter}=x`);
    assert.equal([status, body], [400, { [parameter]: ['A valid number is required.'] }]);
  }
});

test('rejects a malformed period wherever a period applies', async () => {
  for (const path of [summary, droplets, '/api/resources/count/', created.ant.url]) {
    for (const period of ['2018-13', '18-01', 'now', '2018-1']) {
      const { body, status } = await fixture.staff.get(`${path}?period=${period}`);
      assert.equal([status, body], [400, { period: ['Enter a period as YYYY-MM or YYYY.'] }], `${path} ${period}`);
    }
  }
});

test('ignores unknown parameters and orderings, and empty values', async () => {
  assert.equal(await names('o=colour&colour=red&name=&state=&tag=&tag__env=&period='), [
    'dog',
    'eel',
    'Cat',
    'bee',
    'Ant',
  ]);
  assert.equal(await names('o=colour,name'), ['Ant', 'bee', 'Cat', 'dog', 'eel'], 'the known ones count');
});

test('orderings of all kinds together', async () => {
  assert.equal(await names('o=name'), ['Ant', 'bee', 'Cat', 'dog', 'eel']);
  assert.equal(await names('o=-name'), ['eel', 'dog', 'Cat', 'bee', 'Ant']);
  assert.equal(await names('o=created'), ['Ant', 'bee', 'Cat', 'eel', 'dog']);
  assert.equal(await names('o=state,name'), ['dog', 'Cat', 'Ant', 'bee', 'eel']);
  for (const field of ['customer_name', 'customer_abbreviation']) {
    assert.equal(await names(`o=${field},name`), ['Ant', 'bee', 'Cat', 'eel', 'dog']);
    assert.equal(await names(`o=-${field},-name`), ['dog', 'eel', 'Cat', 'bee', 'Ant']);
  }
  assert.equal(await names('o=customer_native_name,name'), ['Ant', 'bee', 'Cat', 'eel', 'dog']);
  assert.equal(await names('o=project_name,name'), ['dog', 'Ant', 'bee', 'Cat', 'eel']);
  assert.equal(await names('o=service_name,name'), ['Ant', 'bee', 'Cat', 'dog', 'eel'], 'Cloud, Far, Office');
  assert.equal(await names('o=-service_name,name'), ['eel', 'dog', 'Ant', 'bee', 'Cat']);
  const order = [cloud.service, office.service, far.service]
    .sort((a, b) => (a.uuid < b.uuid ? -1 : 1))
    .map(({ name }) => name);
  const services = (await fixture.staff.get(`${summary}?o=service_uuid`)).body.map(
    ({ service_name: name }: Json) => name,
  );
  assert.equal([...new Set(services)], order);
});

test('a field of some kinds orders these first, and the others follow in the default order', async () => {
  // Ant has 2 cores, the other droplets 1, eel none.
  assert.equal(await names('o=cores,name'), ['bee', 'Cat', 'dog', 'Ant', 'eel']);
  assert.equal(await names('o=-cores,name'), ['Ant', 'bee', 'Cat', 'dog', 'eel']);
  assert.equal(await names('o=-ram,name'), ['Ant', 'bee', 'Cat', 'dog', 'eel']);
  assert.equal(await names('o=disk,-name'), ['dog', 'Cat', 'bee', 'Ant', 'eel']);
  // Without a start time: bee is stopped, cat and dog never ran.
  assert.equal(await names('o=start_time,name'), ['bee', 'Cat', 'dog', 'Ant', 'eel'], 'empty first ascending');
  assert.equal(await names('o=-start_time,name'), ['Ant', 'bee', 'Cat', 'dog', 'eel'], 'and last descending');
  assert.equal(await names('o=external_ips,name'), ['Cat', 'dog', 'Ant', 'bee', 'eel'], 'lists by their first element');
  assert.equal(await names('o=-internal_ips,name'), ['bee', 'Ant', 'Cat', 'dog', 'eel']);
  assert.equal(await names('o=runtime_state,name'), ['Cat', 'dog', 'bee', 'Ant', 'eel']);
  assert.equal(await names('o=-cores', '/api/jira-projects/'), ['eel'], 'a typed list without the field ignores it');
});

test('orderings by actual_sla, monitoring__<item> and tag__<prefix> omit rows without the value', async () => {
  assert.equal(await names('o=actual_sla'), ['bee', 'Ant']);
  assert.equal(await names('o=-actual_sla'), ['Ant', 'bee']);
  assert.equal(await names('o=actual_sla&period=2018'), ['Cat']);
  assert.equal(await names('o=monitoring__load'), ['Ant', 'bee']);
  assert.equal(await names('o=-monitoring__load', droplets), ['bee', 'Ant']);
  assert.equal(await names('o=tag__env,name'), ['Ant', 'bee', 'eel', 'Cat']);
  assert.equal(await names('o=-tag__env,-name'), ['Cat', 'eel', 'bee', 'Ant']);
  assert.equal(await names('o=tag__tier'), ['bee', 'Ant'], 'the smallest of several, by text, each row once');
  assert.equal(await names('o=tag__nothing'), []);
  assert.is((await fixture.staff.get(`${summary}?o=actual_sla&page_size=1`)).headers.get('x-result-count'), '2');
});

test('every order is total: pages never overlap', async () => {
  for (const order of ['', 'state', 'cores', '-customer_name']) {
    const pages = await Promise.all(
      [1, 2, 3].map(async (page) => (await fixture.staff.get(`${summary}?o=${order}&page_size=2&page=${page}`)).body),
    );
    assert.is(new Set(pages.flat().map(({ uuid }: Json) => uuid)).size, 5, order);
  }
});

test('summary items are the typed items, in every state', async () => {
  await step(fixture);
  for (const displayed of (await fixture.staff.get(summary)).body) {
    const { related_resources: _, ...detailed } = (await fixture.staff.get(displayed.url)).body;
    assert.equal(displayed, detailed);
  }
});

test.run();
