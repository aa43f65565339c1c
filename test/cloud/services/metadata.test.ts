import * as assert from 'uvu/assert';
import { catalogue } from '../../support/catalogue.ts';
import { type Droplets, dropletService } from '../../support/droplets.ts';
import type { Json } from '../../support/fixture.ts';
import { createPersonas, type Personas } from '../../support/personas.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('service metadata and OPTIONS of services (services.md 6, 9)');
let people: Personas;
let cloud: Droplets;

test.before(async () => {
  people = await createPersonas(fixture);
  cloud = await dropletService(fixture, people);
});

/** The registry of providers.md 1.1: prefix, kinds with sub-resources, properties. */
const registry: Readonly<Record<string, readonly [prefix: string, resources: string, properties: string]>> = {
  Amazon: ['aws', 'Instance=aws-instances Volume=aws-volumes', 'Image=aws-images Region=aws-regions Size=aws-sizes'],
  DigitalOcean: [
    'digitalocean',
    'Droplet=digitalocean-droplets',
    'Image=digitalocean-images Region=digitalocean-regions Size=digitalocean-sizes',
  ],
  GitLab: ['gitlab', 'Group=gitlab-groups Project=gitlab-projects', ''],
  JIRA: [
    'jira',
    'Project=jira-projects',
    'IssueType=jira-issue-types Priority=jira-priorities ProjectTemplate=jira-project-templates',
  ],
  OpenStack: [
    'openstack',
    'FloatingIP=openstack-floating-ips Instance=openstack-instances Network=openstack-networks SecurityGroup=openstack-security-groups Snapshot=openstack-snapshots SubNet=openstack-subnets Tenant=openstack-tenants Volume=openstack-volumes',
    'Flavor=openstack-flavors Image=openstack-images',
  ],
  Oracle: ['oracle', 'Database=oracle-databases', 'Template=oracle-templates Zone=oracle-zones'],
};

test('every user reads the types with their endpoints, keys ascending, in one object', async () => {
  const { body } = await people.clients.stranger.get('/api/service-metadata/');
  assert.equal(Object.keys(body), Object.keys(registry));
  const url = (path: string): string => `${fixture.url}/api/${path}/`;
  const sorted = (urls: Json): string =>
    Object.entries(urls)
      .map(([name, link]) => `${name}=${String(link).slice(url('').length - 1, -1)}`)
      .sort()
      .join(' ');
  for (const [type, [prefix, resources, properties]] of Object.entries(registry)) {
    const reports = body[type];
    assert.equal(Object.keys(reports), [
      'url',
      'service_project_link_url',
      'resources',
      'properties',
      'is_public_service',
    ]);
    assert.equal(
      [
        reports.url,
        reports.service_project_link_url,
        sorted(reports.resources),
        sorted(reports.properties),
        reports.is_public_service,
      ],
      [
        url(prefix),
        url(`${prefix}-service-project-link`),
        resources,
        properties,
        type === 'Amazon' || type === 'DigitalOcean',
      ],
      type,
    );
  }
});

test('every endpoint of the metadata is listed in /api/', async () => {
  const root = Object.values((await fixture.staff.get('/api/')).body);
  const { body } = await fixture.staff.get('/api/service-metadata/');
  for (const reports of Object.values(body) as Json[]) {
    for (const link of [
      reports.url,
      reports.service_project_link_url,
      ...Object.values(reports.resources),
      ...Object.values(reports.properties),
    ])
      assert.ok(root.includes(link), link);
  }
});

test('OPTIONS of a list of services describes the fields of creation, with only the options of the type', async () => {
  const { body } = await people.clients.owner.options('/api/digitalocean/');
  assert.equal(Object.keys(body), ['actions']);
  assert.equal(Object.keys(body.actions), ['POST']);
  const { POST: fields } = body.actions;
  assert.equal(Object.keys(fields), [
    'name',
    'customer',
    'settings',
    'available_for_all',
    'homepage',
    'terms_of_services',
    'project',
    'scope',
    'backend_url',
    'username',
    'password',
    'token',
    'certificate',
    'domain',
    'simulator_seed',
    'simulator_latency',
    'simulator_failures',
    'simulator_inventory',
  ]);
  assert.equal(fields.customer, {
    type: 'select',
    required: true,
    label: 'Customer',
    url: `${fixture.url}/api/customers/`,
    value_field: 'url',
    display_name_field: 'name',
  });
  assert.equal(fields.token, { type: 'string', required: false, label: 'Token', max_length: 255 });
  assert.equal(fields.certificate, { type: 'file upload', required: false, label: 'Certificate' });
  assert.equal(fields.simulator_inventory, {
    type: 'integer',
    required: false,
    label: 'Simulator inventory',
    help_text: 'Unmanaged objects of each importable kind.',
    min_value: 0,
    max_value: 50,
  });
});

test('OPTIONS of a service shows every action by name, with the reasons against unavailable ones', async () => {
  const { url } = cloud.service;
  const { actions } = (await people.clients.owner.options(url)).body;
  assert.equal(Object.keys(actions), ['destroy', 'link', 'unlink', 'update']);
  assert.equal(actions.destroy, {
    title: 'Destroy',
    method: 'DELETE',
    destructive: true,
    url,
    reason: null,
    enabled: true,
    type: 'button',
  });
  assert.equal(actions.unlink, {
    title: 'Unlink',
    method: 'POST',
    destructive: true,
    url: `${url}unlink/`,
    reason: null,
    enabled: true,
    type: 'button',
  });
  assert.equal(
    [actions.link.method, actions.link.type, Object.keys(actions.link.fields)],
    ['POST', 'form', ['backend_id', 'project', 'resource_type']],
  );
  assert.equal(
    [actions.update.method, actions.update.url, Object.keys(actions.update.fields)],
    ['PUT', url, ['name', 'available_for_all']],
  );
  const droplet = await cloud.begin();
  const rejection = (await people.clients.owner.options(url)).body.actions.destroy;
  assert.equal(rejection, {
    title: 'Destroy',
    method: 'DELETE',
    destructive: true,
    url,
    reason: 'Cannot delete service with existing droplets',
    enabled: false,
  });
  assert.is((await people.clients.owner.delete(url)).body.detail, rejection.reason, 'the very text of the refusal');
  await fixture.staff.post(`${droplet.url}unlink/`);
  const forbidden = (await people.clients.observer.options(url)).body.actions;
  for (const name of Object.keys(forbidden))
    assert.equal(
      [forbidden[name].reason, forbidden[name].enabled],
      ['You do not have permission to perform this action.', false],
      name,
    );
});

test('OPTIONS requires a token, and a visible service', async () => {
  assert.is((await fixture.anonymous.options('/api/digitalocean/')).status, 401);
  assert.is((await people.clients.stranger.options(cloud.service.url)).status, 404);
});

test('the summary of services has the plain metadata', async () => {
  const { body } = await fixture.staff.options('/api/services/');
  assert.equal([body.name, body.actions], ['Service List', undefined]);
});

test('the registry has six types', () => {
  assert.equal(catalogue.types.map(({ name }) => name).sort(), Object.keys(registry));
});

test.run();
