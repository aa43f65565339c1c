import * as assert from 'uvu/assert';
import type { Json } from '../../support/fixture.ts';
import { asEachPersona, createPersonas, type Personas, sameExcept } from '../../support/personas.ts';
import { type SimulatedService, simulatedService, work } from '../../support/simulated.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer(
  'quotas of services, links, settings and resources (events.md 2.1, 2.3, 2.4)',
);
let people: Personas;
const types = ['digitalocean', 'aws', 'gitlab', 'openstack', 'jira', 'oracle'] as const;
const clouds = {} as Record<(typeof types)[number], SimulatedService>;
let tenant: Json;
let repository: Json;

test.before(async () => {
  people = await createPersonas(fixture);
  for (const type of types) clouds[type] = await simulatedService(fixture, type, people, { name: type });
  const created = async (path: string, body: Json): Promise<Json> => {
    const response = await fixture.staff.post(path, body);
    assert.is(response.status, 201, JSON.stringify(response.body));
    await work(fixture);
    return (await fixture.staff.get(response.body.url)).body;
  };
  tenant = await created('/api/openstack-tenants/', { service_project_link: clouds.openstack.link.url, name: 'web' });
  const group = await created('/api/gitlab-groups/', {
    service_project_link: clouds.gitlab.link.url,
    name: 'Rockets',
    path: 'rockets',
  });
  repository = await created('/api/gitlab-projects/', {
    service_project_link: clouds.gitlab.link.url,
    name: 'engine',
    group: group.url,
    visibility_level: 10,
  });
});

const limits = ({ quotas }: Json): [string, number][] => quotas.map(({ limit, name }: Json) => [name, limit]);
const statuses = (url: string): Promise<Json> =>
  asEachPersona(people, async (client) => (await client.patch(url, { limit: -1 })).status);
const quotaOf = ({ quotas }: Json, name: string): Json => quotas.find((quota: Json) => quota.name === name);

test('each type of service, link and settings has its own quotas, ordered by name, with their default limits', () => {
  assert.equal(Object.fromEntries(types.map((type) => [type, limits(clouds[type].service)])), {
    digitalocean: [['droplet_count', 50]],
    aws: [
      ['instance_count', -1],
      ['volume_count', -1],
    ],
    gitlab: [
      ['group_count', -1],
      ['project_count', -1],
    ],
    openstack: [['tenant_count', -1]],
    jira: [],
    oracle: [],
  });
  const machines = [
    ['ram', -1],
    ['storage', -1],
    ['vcpu', -1],
  ];
  assert.equal(Object.fromEntries(types.map((type) => [type, limits(clouds[type].link)])), {
    digitalocean: machines,
    aws: machines,
    gitlab: [],
    openstack: machines,
    jira: [],
    oracle: [],
  });
  for (const type of types) {
    assert.equal(
      clouds[type].settings.quotas.map(({ name }: Json) => name),
      type === 'openstack' ? ['openstack_ram', 'openstack_storage', 'openstack_vcpu'] : [],
      type,
    );
  }
});

test('embedded quotas have url, uuid, name, limit and usage', () => {
  for (const object of [
    clouds.digitalocean.service,
    clouds.digitalocean.link,
    clouds.openstack.settings,
    tenant,
    repository,
  ]) {
    for (const quota of object.quotas) assert.equal(Object.keys(quota), ['url', 'uuid', 'name', 'limit', 'usage']);
  }
});

test('the scope of a quota is the link of its object', async () => {
  for (const object of [
    clouds.digitalocean.service,
    clouds.digitalocean.link,
    clouds.openstack.settings,
    tenant,
    repository,
  ]) {
    for (const { url, uuid, name } of object.quotas) {
      const quota = (await fixture.staff.get(url)).body;
      assert.equal([quota.scope, quota.uuid, quota.name, quota.threshold], [object.url, uuid, name, 0]);
    }
  }
});

test('only staff edit a quota of a service or resource; readers get 403, others 404', async () => {
  const expected = sameExcept(403, { staff: 200, stranger: 404 });
  assert.equal(await statuses(quotaOf(clouds.digitalocean.service, 'droplet_count').url), expected);
  assert.equal(await statuses(quotaOf(repository, 'commit_count').url), expected);
});

test('a quota of a tenant or of private OpenStack settings copies the provider: 409 for staff, 403 for readers', async () => {
  assert.equal(await statuses(quotaOf(tenant, 'vcpu').url), sameExcept(403, { staff: 409, stranger: 404 }));
  const ofSettings = {
    staff: 409,
    support: 403,
    owner: 403,
    helper: 403,
    manager: 404,
    admin: 404,
    observer: 404,
    stranger: 404,
  };
  assert.equal(await statuses(quotaOf(clouds.openstack.settings, 'openstack_vcpu').url), ofSettings);
});

test('lists each quota to users who can read its scope', async () => {
  const listed = (name: string): Promise<Json> =>
    asEachPersona(people, async (client) => (await client.get(`/api/quotas/?name=${name}`)).body.length);
  const connected = { staff: 1, support: 1, owner: 1, helper: 1, manager: 1, admin: 1, observer: 1, stranger: 0 };
  for (const name of ['droplet_count', 'commit_count', 'security_group_rule_count'])
    assert.equal(await listed(name), connected, name);
  assert.equal(await listed('openstack_vcpu'), { ...connected, manager: 0, admin: 0, observer: 0 });
});

test.run();
