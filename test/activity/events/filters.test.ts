import * as assert from 'uvu/assert';
import { catalogue } from '../../../src/activity/events/catalogue.ts';
import { record } from '../../../src/activity/events/record.ts';
import { systemContext } from '../../../src/kernel/access/context.ts';
import type { Client, Json } from '../../support/fixture.ts';
import { createPersonas, type Personas } from '../../support/personas.ts';
import { publicKeys } from '../../support/public-keys.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('filters of events (events.md 1.1, 4.7)');
let setup: Personas;
const instance = '1'.repeat(32);
const volume = '2'.repeat(32);
const service = '3'.repeat(32);
const stranger = '4'.repeat(32);

/** Besides the shared users: keys, a quota, and events of resources as their jobs record them. */
test.before(async () => {
  setup = await createPersonas(fixture);
  const { customer, project } = setup;
  const resource = (uuid: string, type: string, inside: Json) => {
    const context = {
      resource_uuid: uuid,
      resource_name: 'web',
      resource_full_name: 'x',
      resource_type: type,
      service_uuid: service,
      service_name: 's',
      service_type: type.split('.')[0],
      ...inside,
    };
    fixture.server.app.db.write(() =>
      record(systemContext(fixture.server.app), 'resource_creation_succeeded', context),
    );
  };
  const inside = {
    project_uuid: project.uuid,
    project_name: 'Rocket',
    customer_uuid: customer.uuid,
    customer_name: 'Alice',
  };
  resource(instance, 'OpenStack.Instance', inside);
  resource(volume, 'OpenStack.Volume', inside);
  resource(stranger, 'JIRA.Project', { customer_uuid: stranger });
  await setup.clients.owner.post('/api/keys/', { name: 'laptop', public_key: publicKeys.ed25519 });
  const [quota] = (await fixture.staff.get(project.url)).body.quotas;
  await fixture.staff.post('/api/events/', { level: 'info', message: 'Quota', scope: quota.url });
});

/** Returns messages in the order of recording. Checks that list and count agree. */
async function matches(filter: string, client: Client = fixture.staff): Promise<string[]> {
  const { status, body } = await client.get(`/api/events/?o=@timestamp&page_size=300&${filter}`);
  assert.is(status, 200, filter);
  assert.equal((await client.get(`/api/events/count/?${filter}`)).body, { count: body.length });
  return body.map((event: Json) => event.message);
}

async function types(filter: string): Promise<string[]> {
  const { body } = await fixture.staff.get(`/api/events/?page_size=300&${filter}`);
  return [...new Set<string>(body.map((event: Json) => event.type))].sort();
}

const rejection = async (filter: string, errors: unknown): Promise<void> => {
  for (const path of ['', 'count/', 'count_history/', 'count/history/']) {
    const response = await fixture.staff.get(`/api/events/${path}?point=1&${filter}`);
    assert.equal([response.status, response.body], [400, errors]);
  }
};

const recordedTypes = [
  'custom_notification',
  'customer_creation_succeeded',
  'project_creation_succeeded',
  'resource_creation_succeeded',
  'role_granted',
  'ssh_key_creation_succeeded',
  'user_creation_succeeded',
];

test('event_type is repeatable (OR) and exact; an unknown one matches nothing', async () => {
  assert.equal(await types(''), recordedTypes);
  assert.equal(await types('event_type=role_granted&event_type=project_creation_succeeded'), [
    'project_creation_succeeded',
    'role_granted',
  ]);
  assert.equal(await types('event_type=role_granted&event_type=role_updated'), ['role_granted']);
  for (const nothing of ['role_updated', 'ROLE_GRANTED', 'role'])
    assert.equal(await matches(`event_type=${nothing}`), []);
  assert.equal(await types('event_type='), recordedTypes);
});

test('feature is repeatable and selects the union of the types of its groups; an unknown one matches nothing', async () => {
  assert.equal(await types('feature=customers'), ['customer_creation_succeeded', 'role_granted']);
  assert.equal(await types('feature=ssh&feature=resources'), [
    'resource_creation_succeeded',
    'ssh_key_creation_succeeded',
  ]);
  assert.equal(await types('feature=ssh&feature=nothing'), ['ssh_key_creation_succeeded']);
  assert.equal(await matches('feature=nothing'), []);
});

test('feature takes precedence over event_type', async () => {
  assert.equal(await types('feature=ssh&event_type=role_granted'), ['ssh_key_creation_succeeded']);
  assert.equal(await matches('feature=nothing&event_type=role_granted'), []);
});

test('exclude_features is repeatable and subtracts its types; ignores unknown names', async () => {
  assert.equal(await types('exclude_features=users'), [
    'custom_notification',
    'customer_creation_succeeded',
    'project_creation_succeeded',
    'resource_creation_succeeded',
  ]);
  assert.equal(await types('exclude_features=users&exclude_features=resources&exclude_features=nothing'), [
    'custom_notification',
    'customer_creation_succeeded',
    'project_creation_succeeded',
  ]);
  assert.equal(await types('exclude_features=nothing'), recordedTypes);
  assert.equal(await types('feature=customers&exclude_features=users'), ['customer_creation_succeeded']);
  assert.equal(await types('event_type=role_granted&event_type=custom_notification&exclude_features=users'), [
    'custom_notification',
  ]);
  assert.equal(await matches('feature=ssh&exclude_features=ssh'), []);
});

test('scope selects the events about this object, and of a user as actor or as affected', async () => {
  const { customer, project, users } = setup;
  assert.equal(await matches(`scope=${project.url}`), [
    'Project Rocket has been created.',
    'User manager has gained role of Manager in project Rocket.',
    'User admin.of.project has gained role of Administrator in project Rocket.',
    'User observer has gained role of Support in project Rocket.',
    'Resource web has been created.',
    'Resource web has been created.',
    'Quota',
  ]);
  assert.is((await matches(`scope=${customer.url}`)).length, 10);
  assert.equal(await matches(`scope=${users.helper.url}`), [
    'User helper has been created.',
    'User helper has gained role of Support in customer Alice.',
  ]);
  assert.equal(await matches(`scope=/api/users/${users.owner.uuid}`), [
    'User owner has been created.',
    'User owner has gained role of Owner in customer Alice.',
    'SSH key laptop has been created for user with username owner.',
  ]);
  const [key] = (await fixture.staff.get('/api/keys/')).body;
  assert.equal(await matches(`scope=${key.url}`), ['SSH key laptop has been created for user with username owner.']);
  const [quota, other] = (await fixture.staff.get(project.url)).body.quotas;
  assert.equal(await matches(`scope=${quota.url}`), ['Quota']);
  assert.equal(await matches(`scope=${other.url}`), []);
});

test('rejects a scope that is not a link, or not of an object that the caller can read', async () => {
  await rejection('scope=nowhere', { scope: ['URL is invalid: nowhere.'] });
  await rejection('scope=/api/customers/1/', { scope: ['URL is invalid: /api/customers/1/.'] });
  await rejection(`scope=/api/customers/${instance}/`, {
    scope: [`Can't restore object from url: /api/customers/${instance}/`],
  });
  const { status, body } = await setup.clients.stranger.get(`/api/events/?scope=${setup.project.url}`);
  assert.equal([status, body], [400, { scope: [`Can't restore object from url: ${setup.project.url}`] }]);
});

test('scope_type for staff requires the key; full and short names ignore case and underscores', async () => {
  assert.equal(await matches('scope_type=quotas.quota'), ['Quota']);
  for (const name of ['core.sshpublickey', 'ssh_public_key', 'SshPublicKey', 'Core.SSH_PublicKey']) {
    assert.equal(
      await matches(`scope_type=${name}`),
      ['SSH key laptop has been created for user with username owner.'],
      name,
    );
  }
  assert.is((await matches('scope_type=structure.customer')).length, 11);
  assert.is((await matches('scope_type=project')).length, 7);
  assert.is((await matches('scope_type=core.user')).length, (await matches('')).length - 3);
  assert.equal(await matches('scope_type=structure.servicesettings'), []);
  assert.equal(await matches('scope_type=openstack.instance'), ['Resource web has been created.']);
  assert.equal(await matches('scope_type=openstack.volume'), ['Resource web has been created.']);
  assert.equal(await matches('scope_type=openstack.tenant'), []);
  assert.is((await matches('scope_type=openstack.service')).length, 2);
  assert.is((await matches('scope_type=openstack.serviceprojectlink')).length, 2);
  assert.is((await matches('scope_type=jira.service')).length, 1);
  assert.is((await matches('scope_type=jira.serviceprojectlink')).length, 0);
  for (const nothing of ['cloud', 'openstack', 'structure', 'openstack.project'])
    assert.equal(await matches(`scope_type=${nothing}`), []);
});

test('scope_type for other callers uses their own rule', async () => {
  const { clients } = setup;
  assert.is((await matches('scope_type=structure.customer', clients.owner)).length, 10);
  assert.equal(await matches('scope_type=structure.customer', clients.manager), []);
  assert.is((await matches('scope_type=structure.project', clients.manager)).length, 7);
  assert.is((await matches('scope_type=structure.project', clients.owner)).length, 7);
  assert.equal(await matches('scope_type=core.user', clients.manager), [
    'User manager has been created.',
    'User manager has gained role of Manager in project Rocket.',
  ]);
  assert.equal(await matches('scope_type=quota', clients.observer), ['Quota']);
  assert.equal(await matches('scope_type=openstack.instance', clients.observer), ['Resource web has been created.']);
  assert.equal(await matches('scope_type=jira.project', clients.owner), []);
  assert.equal(await matches('scope_type=core.sshpublickey', clients.helper), []);
  assert.equal(await matches('scope_type=core.sshpublickey', clients.owner), [
    'SSH key laptop has been created for user with username owner.',
  ]);
});

test('user_username matches the name of the actor, ignoring case', async () => {
  for (const name of ['owner', 'OWNER'])
    assert.equal(await matches(`user_username=${name}`), [
      'SSH key laptop has been created for user with username owner.',
    ]);
  assert.equal(await matches('user_username=own'), []);
  assert.is((await matches('user_username=admin', setup.clients.owner)).length, 9);
});

test('resource_type and resource_uuid are exact', async () => {
  assert.is((await matches('resource_type=OpenStack.Instance')).length, 1);
  assert.equal(await matches('resource_type=openstack.instance'), []);
  const dashed = '11111111-1111-1111-1111-111111111111';
  for (const uuid of [instance, dashed])
    assert.equal(await matches(`resource_uuid=${uuid}`), ['Resource web has been created.']);
  assert.equal(await matches(`resource_uuid=${setup.customer.uuid}`), []);
  assert.equal(await matches(`resource_uuid=${volume}&resource_type=OpenStack.Instance`), []);
  assert.equal(await matches(`resource_uuid=${stranger}`, setup.clients.owner), []);
  await rejection('resource_uuid=x', { resource_uuid: ['"x" is not a valid UUID.'] });
});

test('from is inclusive, to is exclusive', async () => {
  fixture.clock.hold();
  const second = Date.parse('2018-03-01T00:00:00Z') / 1000;
  for (const [instant, message] of [
    ['2018-02-28T23:59:59.999999Z', 'before'],
    ['2018-03-01T00:00:00Z', 'at'],
    ['2018-03-01T00:00:00.999999Z', 'within'],
    ['2018-03-01T00:00:01Z', 'after'],
  ]) {
    fixture.clock.set(instant as string);
    await fixture.staff.post('/api/events/', { level: 'info', message });
  }
  assert.equal(await matches(`from=${second}`), ['at', 'within', 'after']);
  assert.equal(await matches(`from=${second}&to=${second + 1}`), ['at', 'within']);
  assert.equal(await matches(`from=${second - 1}&to=${second}&event_type=custom_notification&search=before&scope=`), [
    'before',
  ]);
  assert.equal(await matches(`to=${second}&from=0&user_username=admin&event_type=custom_notification`), [
    'Quota',
    'before',
  ]);
  assert.equal(await matches('from=253402300799'), []);
});

test('rejects an empty or reversed range and invalid timestamps, with all errors together', async () => {
  for (const range of ['from=5&to=5', 'from=6&to=5'])
    await rejection(range, { non_field_errors: ['End must occur after start.'] });
  const wrong = (value: string): string[] => [`Value "${value}" should be valid UNIX timestamp.`];
  for (const value of ['x', '-1', '1.5', '253402300800']) await rejection(`from=${value}`, { from: wrong(value) });
  await rejection('from=a&to=b&resource_uuid=c&scope=d', {
    from: wrong('a'),
    to: wrong('b'),
    resource_uuid: ['"c" is not a valid UUID.'],
    scope: ['URL is invalid: d.'],
  });
});

test('ignores unknown parameters and empty values, uses the last of a repeated single one, and combines different ones with AND', async () => {
  const all = (await matches('')).length;
  for (const none of [
    'exclude_extra=users',
    'undefined',
    'level=error',
    'scope=',
    'from=&to=',
    'search=',
    'feature=',
    'exclude_features=',
    'scope_type=',
    'user_username=',
    'resource_uuid=',
  ]) {
    assert.is((await matches(none)).length, all, none);
  }
  assert.equal(await matches('user_username=admin&user_username=nobody'), []);
  assert.equal(
    await matches(
      `scope=${setup.project.url}&event_type=role_granted&search=Administrator&user_username=admin&scope_type=core.user`,
    ),
    ['User admin.of.project has gained role of Administrator in project Rocket.'],
  );
});

test('scope_type=core.user also finds events without an actor, such as the expiry of a role', async () => {
  await fixture.grant(setup.project, setup.users.stranger, 'support', '2018-04-01T00:00:00Z');
  fixture.clock.set('2018-04-01T00:00:00Z');
  for (const client of [fixture.staff, setup.clients.stranger]) {
    assert.equal(await matches('scope_type=core.user&event_type=role_revoked', client), [
      'User stranger has lost role of Support in project Rocket.',
    ]);
  }
});

test('accepts every type of the catalogue, also those never recorded', async () => {
  for (const type of Object.keys(catalogue))
    assert.is((await fixture.staff.get(`/api/events/count/?event_type=${type}`)).status, 200);
});

test.run();
