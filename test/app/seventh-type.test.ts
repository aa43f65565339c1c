import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { providerTypes } from 'tenantry';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Catalogue } from '../../src/cloud/catalogue/catalogue.ts';
import type { ProviderType } from '../../src/cloud/catalogue/type.ts';
import { checkByOwnDocument } from '../support/contract.ts';
import { Fixture, type Json } from '../support/fixture.ts';
import { lighthouse } from '../support/lighthouse.ts';

/*
 * A new provider type needs only a folder and one registration. Here the folder is test/support/lighthouse.ts, and the
 * registration is an item of the list passed to the server.
 */
const test = suite('a seventh type of provider (providers.md 2)');
let fixture: Fixture;
let forget: () => void;
let people: { customer: Json; project: Json };

test.before(async () => {
  fixture = await Fixture.start({ providers: [...providerTypes, lighthouse] });
  forget = await checkByOwnDocument(fixture.url);
  const customer = await fixture.customer('Alice');
  people = { customer, project: await fixture.project('Rocket', customer) };
});
test.after(async () => {
  forget();
  await fixture.close();
});

const work = async (): Promise<void> => {
  for (let i = 0; i < 6; i++) await fixture.advance(1);
};

test('includes it in the metadata, in /api/, in the scope types and in the documentation', async () => {
  const url = (path: string): string => `${fixture.url}/api/${path}/`;
  const { Lighthouse } = (await fixture.staff.get('/api/service-metadata/')).body;
  assert.equal(Lighthouse, {
    url: url('lighthouse'),
    service_project_link_url: url('lighthouse-service-project-link'),
    resources: { Lamp: url('lighthouse-lamps') },
    properties: { Coast: url('lighthouse-coasts') },
    is_public_service: true,
  });
  const root = Object.keys((await fixture.staff.get('/api/')).body);
  for (const path of ['lighthouse', 'lighthouse-coasts', 'lighthouse-lamps', 'lighthouse-service-project-link'])
    assert.ok(root.includes(path), path);
  const types = (await fixture.staff.get('/api/events/scope_types/')).body;
  for (const type of ['lighthouse.service', 'lighthouse.lamp']) assert.ok(types.includes(type), type);
  const { paths } = (await fixture.staff.get('/docs/')).body;
  assert.ok(Object.keys(paths).some((path) => path.startsWith('/api/lighthouse-lamps/') && path.endsWith('/dim/')));
});

test('handles its settings, services and resources like those of every type', async () => {
  const { customer, project: rocket } = people;
  const rejection = await fixture.staff.post('/api/lighthouse/', {
    name: 'Light',
    customer: customer.url,
    backend_url: 'https://light.example.com',
  });
  assert.equal([rejection.status, rejection.body], [400, { token: ['This field is required.'] }]);
  const silent = await fixture.staff.post('/api/lighthouse/', {
    name: 'Light',
    customer: customer.url,
    backend_url: 'https://light.example.com',
    token: 'x',
  });
  assert.equal([silent.status, Object.keys(silent.body)], [400, ['non_field_errors']]);
  const created = await fixture.staff.post('/api/lighthouse/', {
    name: 'Light',
    customer: customer.url,
    project: rocket.url,
    keeper: 'Joe',
    simulator_latency: '0',
    simulator_inventory: 1,
  });
  assert.is(created.status, 201);
  await work();
  const settings = (await fixture.staff.get(created.body.settings)).body;
  assert.equal([settings.type, settings.state, settings.keeper], ['Lighthouse', 'In Sync', 'Joe']);
  const link = (await fixture.staff.get('/api/lighthouse-service-project-link/')).body[0];
  const coasts = (await fixture.staff.get('/api/lighthouse-coasts/?o=-depth')).body;
  assert.equal(
    coasts.map(({ depth, name }: Json) => [name, depth]),
    [
      ['North', 30],
      ['South', 12],
    ],
  );

  fixture.events();
  const lamp = (
    await fixture.staff.post('/api/lighthouse-lamps/', {
      service_project_link: link.url,
      name: 'Beam',
      coast: coasts[0].url,
    })
  ).body;
  assert.equal(
    [lamp.resource_type, lamp.state, lamp.watts, lamp.coast_name],
    ['Lighthouse.Lamp', 'Creation Scheduled', 60, 'North'],
  );
  await fixture.advance(1);
  assert.is((await fixture.staff.get(lamp.url)).body.runtime_state, 'warming');
  await work();
  const wrong = await fixture.staff.post(`${lamp.url}dim/`, {});
  assert.equal([wrong.status, wrong.body], [400, { watts: ['This field is required.'] }]);
  for (const [action, body] of [
    ['dim', { watts: 25 }],
    ['stop', undefined],
    ['start', undefined],
  ] as const) {
    assert.is((await fixture.staff.post(`${lamp.url}${action}/`, body)).status, 202, action);
    await work();
  }
  const present = (await fixture.staff.get('/api/resources/?category=vms&o=watts')).body;
  assert.equal(
    present.map(({ name, runtime_state, state, watts }: Json) => [name, state, runtime_state, watts]),
    [['Beam', 'OK', 'lit', 25]],
  );
  assert.is((await fixture.staff.get('/api/resources/count/')).body['Lighthouse.Lamp'], 1);
  assert.equal(
    (await fixture.staff.get(`${created.body.url}link/`)).body.map(({ name, watts }: Json) => [name, watts]),
    [['unmanaged-lamp-1', 40]],
  );
  const quotas = Object.fromEntries(
    (await fixture.staff.get(rocket.url)).body.quotas
      .filter(({ usage }: Json) => usage > 0)
      .map(({ name, usage }: Json) => [name, usage]),
  );
  assert.equal(quotas, { nc_resource_count: 1, nc_service_project_link_count: 1, nc_vm_count: 1 });

  const response = await fixture.staff.delete(rocket.url);
  assert.equal([response.status, response.body], [409, { detail: 'Cannot delete project with existing lamps' }]);
  assert.is((await fixture.staff.delete(lamp.url)).status, 202);
  await work();
  assert.equal(
    fixture.events().map(({ message }) => message),
    [
      'Resource Beam creation has been scheduled.',
      'Resource Beam has been created.',
      'Lighthouse Lamp Beam has been updated.',
      'Resource Beam has been scheduled to stop.',
      'Resource Beam has been stopped.',
      'Resource Beam has been scheduled to start.',
      'Resource Beam has been started.',
      'Resource Beam deletion has been scheduled.',
      'Lighthouse Lamp Beam has been deleted.',
    ],
  );
});

test('does not open data with settings of a type that is not served', async () => {
  const data = mkdtempSync(join(tmpdir(), 'tenantry-seventh-'));
  const options = { ephemeral: false, data } as const;
  try {
    const first = await Fixture.start({ ...options, providers: [lighthouse] });
    const forgetFirst = await checkByOwnDocument(first.url);
    const created = await first.staff.post('/api/service-settings/', {
      name: 'Light',
      type: 'Lighthouse',
      customer: (await first.customer('Alice')).url,
    });
    assert.is(created.status, 201);
    forgetFirst();
    await first.close();
    const error = await Fixture.start(options).then(
      () => undefined,
      (thrown: Error) => thrown,
    );
    assert.is(
      error?.message,
      'The data has service settings of type "Lighthouse", which is not among the served provider types',
    );
    const again = await Fixture.start({ ...options, providers: [...providerTypes, lighthouse] });
    await again.close();
  } finally {
    rmSync(data, { recursive: true });
  }
});

test('rejects a list without types, or with two of one name or path', () => {
  const rejectionOf = (...types: readonly ProviderType[]): string => {
    try {
      new Catalogue(types);
    } catch (error) {
      return (error as Error).message;
    }
    return '';
  };
  assert.is(rejectionOf(), 'At least one provider type is needed');
  assert.is(rejectionOf(lighthouse, lighthouse), 'Two provider types declare "Lighthouse"');
  assert.is(rejectionOf(lighthouse, { ...lighthouse, name: 'Beacon' }), 'Two provider types declare "lighthouse"');
  assert.is(rejectionOf(...providerTypes, lighthouse), '');
});

test.run();
