import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sql } from '../../../src/kernel/db/sql.ts';
import type { Resolver } from '../../../src/kernel/net/resolver.ts';
import { dropletService } from '../../support/droplets.ts';
import { Fixture, type Json } from '../../support/fixture.ts';
import { createPersonas, type Personas } from '../../support/personas.ts';
import { simulatedService, work } from '../../support/simulated.ts';
import { Account } from '../../vendors/digitalocean/account.ts';

const test = suite('a simulated account, and what is when it may not be (services.md 2.2, 2.3)');
const path = '/api/service-settings/';
let fixture: Fixture;
let people: Personas;

async function open(options: Parameters<Fixture['open']>[0] = {}): Promise<void> {
  await fixture.open(options);
  people = await createPersonas(fixture);
}

test.before(() => {
  fixture = new Fixture();
});
test.after(() => fixture.close());

/** Returns the values that mark an object as simulated, in its detail and in these lists. */
async function reportsOf(at: Fixture, url: string, ...lists: readonly string[]): Promise<unknown[]> {
  const { body } = await at.staff.get(url);
  const items = await Promise.all(
    lists.map(async (list) => (await at.staff.get(list)).body.find(({ uuid }: Json) => uuid === body.uuid)),
  );
  return [body, ...items].map((item) => [item.is_simulated, Object.keys(item)[2]]);
}

const twice = (value: boolean) => Array.from({ length: 2 }, () => [value, 'is_simulated']);

test('settings, services, resources and their parts have is_simulated after their uuid', async () => {
  await open();
  const droplets = await dropletService(fixture, people);
  const { url } = await droplets.make();
  assert.equal(await reportsOf(fixture, droplets.settings.url, path), twice(true));
  for (const list of ['/api/services/', '/api/digitalocean/'])
    assert.equal(await reportsOf(fixture, droplets.service.url, list), twice(true));
  for (const list of ['/api/resources/', '/api/digitalocean-droplets/'])
    assert.equal(await reportsOf(fixture, url, list), twice(true));
  const stack = await simulatedService(fixture, 'openstack', people, { backend_url: 'Simulator://lab' });
  await fixture.staff.post('/api/openstack-tenants/', { name: 'lab', service_project_link: stack.link.url });
  await work(fixture);
  const [network] = (await fixture.staff.get('/api/openstack-networks/')).body;
  assert.equal(await reportsOf(fixture, network.url, '/api/openstack-networks/'), twice(true));
});

test('marks objects of a provider as not simulated', async () => {
  const account = await Account.open();
  try {
    const { url } = await account.running('web-1');
    assert.equal(await reportsOf(account.fixture, account.service.settings, path), twice(false));
    assert.equal(await reportsOf(account.fixture, account.service.url, '/api/services/'), twice(false));
    assert.equal(await reportsOf(account.fixture, url, '/api/resources/'), twice(false));
  } finally {
    await account.close();
  }
});

test('is_simulated is read-only', async () => {
  await open();
  const created = await fixture.staff.post(path, { name: 'Ocean', type: 'DigitalOcean', is_simulated: false });
  assert.equal([created.status, created.body.is_simulated], [201, true]);
  const changed = await fixture.staff.patch(created.body.url, { is_simulated: false });
  assert.equal([changed.status, changed.body.is_simulated], [200, true]);
});

test('without the simulator, settings without a backend_url use the public vendor', async () => {
  const requests: string[] = [];
  const resolve: Resolver = (hostname, callback) => {
    requests.push(hostname);
    callback(new Error('There is no such host.'), []);
  };
  await open({ simulator_enabled: false, resolve });
  for (const input of [{}, { backend_url: null }, { backend_url: '' }]) {
    const fields = { name: 'Ocean', type: 'DigitalOcean', token: 'x', ...input };
    const { body, status } = await fixture.staff.post(path, fields);
    assert.equal([status, body.backend_url, body.is_simulated], [201, 'https://api.digitalocean.com/v2', false]);
    const unknown = await fixture.staff.patch(body.url, { backend_url: null, token: 'x' });
    assert.equal([unknown.status, unknown.body], [400, { backend_url: ['Enter a valid URL.'] }]);
  }
  const poor = await fixture.staff.post(path, { name: 'Ocean', type: 'DigitalOcean' });
  assert.equal([poor.status, poor.body], [400, { token: ['This field is required.'] }]);
  assert.equal(requests, [], 'settings are tried by a job');
  const service = await fixture.staff.post('/api/digitalocean/', {
    name: 'Ocean',
    customer: people.customer.url,
    token: 'x',
  });
  assert.equal(
    [service.status, service.body],
    [400, { non_field_errors: ['Wrong settings: Backend does not respond.'] }],
  );
  assert.equal([...new Set(requests)], ['api.digitalocean.com']);
});

test('without the simulator, requires a backend_url or credentials, and rejects simulator://', async () => {
  await open({ simulator_enabled: false });
  const wrong = { backend_url: ['Enter a valid URL.'] };
  for (const [type, fields, expected] of [
    ['DigitalOcean', { backend_url: 'simulator://x', token: 'x' }, wrong],
    ['OpenStack', { username: 'x', password: 'x' }, wrong],
    ['JIRA', {}, wrong],
    ['Oracle', { backend_url: '' }, wrong],
    ['Amazon', {}, { username: ['This field is required.'], token: ['This field is required.'] }],
    [
      'GitLab',
      { backend_url: null },
      { non_field_errors: ['Either token or username and password should be specified'] },
    ],
  ] as const) {
    const { body, status } = await fixture.staff.post(path, { name: 'Cloud', type, ...fields });
    assert.equal([status, body], [400, expected], type);
  }
  const service = await fixture.staff.post('/api/openstack/', {
    name: 'Stack',
    customer: people.customer.url,
    username: 'x',
  });
  assert.equal([service.status, service.body], [400, wrong]);
  for (const prefix of ['digitalocean', 'jira']) {
    const { body, status } = await fixture.staff.post(`/api/${prefix}/`, {
      name: 'Nowhere',
      customer: people.customer.url,
      backend_url: '',
    });
    assert.equal(
      [status, body],
      [400, { non_field_errors: ['Either service settings or credentials must be supplied.'] }],
      prefix,
    );
  }
});

test('turning off the simulator makes simulated objects Erred at once, without a call', async () => {
  const data = mkdtempSync(join(tmpdir(), 'tenantry-simulation-'));
  try {
    const disk = { ephemeral: false, data } as const;
    await open(disk);
    const droplets = await dropletService(fixture, people);
    const { url } = await droplets.make();
    await fixture.open({ ...disk, simulator_enabled: false });
    fixture.clock.advance(60);
    const setup = (): unknown => fixture.server.app.db.all(sql`SELECT * FROM simulated_object`);
    const before = setup();
    const reread = async (): Promise<unknown[]> => {
      const { body } = await fixture.staff.get(droplets.settings.url);
      return [body.state, body.error_message, body.is_simulated, body.backend_url];
    };
    const erred = ['Erred', 'Simulation is switched off.', true, null];
    await work(fixture);
    assert.equal(await reread(), erred);
    assert.is((await fixture.staff.post(`${url}stop/`)).status, 202);
    await work(fixture);
    const { body } = await fixture.staff.get(url);
    assert.equal([body.state, body.error_message], ['Erred', 'Simulation is switched off.']);
    assert.equal(setup(), before);
    const renamed = await fixture.staff.patch(droplets.settings.url, { name: 'Past' });
    assert.equal([renamed.status, renamed.body.name], [200, 'Past']);
    await fixture.open(disk);
    await fixture.advance(2000);
    await work(fixture);
    assert.equal(await reread(), ['In Sync', '', true, null]);
  } finally {
    rmSync(data, { recursive: true });
  }
});

test.run();
