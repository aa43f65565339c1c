/** The usage of an account by customer: GET …/usage/ (services.md 2.5). */
import * as assert from 'uvu/assert';
import { dropletCatalogue } from '../../support/droplets.ts';
import type { Json } from '../../support/fixture.ts';
import { createPersonas, type Personas } from '../../support/personas.ts';
import { work } from '../../support/simulated.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('usage of service settings by customer');
let people: Personas;
let path: string;
let mine: Json;
let bobs: Json;
let bob: Json;

test.before(async () => {
  people = await createPersonas(fixture);
  bob = await fixture.customer('bob <b>');
  const shared = { name: 'Common sea', type: 'DigitalOcean', shared: true, simulator_latency: '0', simulator_seed: 1 };
  const settings = (await fixture.staff.post('/api/service-settings/', shared)).body;
  await work(fixture);
  const catalogue = await dropletCatalogue(fixture);
  const [link] = (
    await fixture.staff.get(`/api/digitalocean-service-project-link/?project_uuid=${people.project.uuid}`)
  ).body;
  for (const size of [catalogue.small, catalogue.large]) {
    const { debian: image, nyc: region } = catalogue;
    const body = { service_project_link: link.url, name: 'web', image, region, size };
    assert.is((await fixture.staff.post('/api/digitalocean-droplets/', body)).status, 201);
  }
  path = `${settings.url}usage/`;
  [mine] = (await fixture.staff.get(`/api/digitalocean/?customer_uuid=${people.customer.uuid}`)).body;
  [bobs] = (await fixture.staff.get(`/api/digitalocean/?customer_uuid=${bob.uuid}`)).body;
});

const read = async (query = '', client = fixture.staff): Promise<Json[]> => (await client.get(path + query)).body;

test('has a row for each customer with a service, by name, with its projects, resources and usage of its links', async () => {
  const response = await fixture.staff.get(path);
  assert.equal([response.status, response.headers.get('X-Result-Count')], [200, '2']);
  assert.equal(response.body, [
    {
      customer: people.customer.url,
      customer_uuid: people.customer.uuid,
      customer_name: 'Alice',
      service: mine.url,
      project_count: 1,
      resource_count: 2,
      vcpu: 3,
      ram: 1024 + 4096,
      storage: 25600 + 81920,
    },
    {
      customer: bob.url,
      customer_uuid: bob.uuid,
      customer_name: 'bob <b>',
      service: bobs.url,
      project_count: 0,
      resource_count: 0,
      vcpu: 0,
      ram: 0,
      storage: 0,
    },
  ]);
  assert.equal(await read('', people.clients.support), response.body);
});

test('filters by customer, orders by each number, and paginates', async () => {
  const names = async (query: string): Promise<string[]> => (await read(query)).map(({ customer_name: name }) => name);
  assert.equal(await names(`?customer_uuid=${bob.uuid}`), ['bob <b>']);
  assert.equal(await names('?customer_name=LIC'), ['Alice']);
  for (const order of ['project_count', 'resource_count', 'vcpu', 'ram', 'storage']) {
    assert.equal(await names(`?o=${order}`), ['bob <b>', 'Alice'], order);
    assert.equal(await names(`?o=-${order}`), ['Alice', 'bob <b>'], order);
  }
  assert.equal(await names('?o=-customer_name'), ['bob <b>', 'Alice']);
  assert.equal(await read('?page_size=1&page=2&field=vcpu'), [{ vcpu: 0 }]);
  assert.equal((await fixture.staff.get(`${path}?o=name`)).body, { o: ['"name" is not a valid choice.'] });
});

test('accounts whose links count nothing have no numbers of machines', async () => {
  const jira = (await fixture.staff.post('/api/service-settings/', { name: 'Issues', type: 'JIRA', shared: true }))
    .body;
  await work(fixture);
  const [row, ...others] = (await fixture.staff.get(`${jira.url}usage/`)).body;
  assert.is(others.length, 1);
  assert.equal([row.customer_name, row.resource_count, row.vcpu, row.ram, row.storage], ['Alice', 0, null, null, null]);
});

test('owners who can see the account cannot see its other users', async () => {
  const { status, body } = await people.clients.owner.get(path);
  assert.equal([status, body], [403, { detail: 'You do not have permission to perform this action.' }]);
});

test.run();
