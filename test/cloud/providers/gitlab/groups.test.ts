import * as assert from 'uvu/assert';
import { catalogue } from '../../../support/catalogue.ts';
import type { Client, Json } from '../../../support/fixture.ts';
import { createPersonas, type Personas } from '../../../support/personas.ts';
import {
  collectStates,
  type SimulatedService,
  setOptions,
  simulatedService,
  usages,
  work,
} from '../../../support/simulated.ts';
import { suiteWithServer } from '../../../support/suite.ts';

const { test, fixture } = suiteWithServer('GitLab: settings and groups (providers.md 8)');
let people: Personas;
let forge: SimulatedService;
let admin: Client;
let group: Json;

test.before(async () => {
  people = await createPersonas(fixture);
  forge = await simulatedService(fixture, 'gitlab', people, { backend_url: 'simulator://gitlab', username: 'root' });
  admin = people.clients.admin;
});

const create = async (fields: Readonly<Record<string, unknown>> = {}, link: Json = forge.link): Promise<Json> =>
  admin.post('/api/gitlab-groups/', {
    service_project_link: link.url,
    name: 'Rocket science',
    path: 'rocket',
    ...fields,
  });
const rejection = async (response: Promise<Json>): Promise<unknown[]> => [
  (await response).status,
  (await response).body,
];
const present = async (object: Json): Promise<Json> => (await fixture.staff.get(object.url)).body;
const messages = (): string[] => fixture.events().map(({ message }) => message);

test('a real driver requires a token, or username and password', () => {
  const { missingCredentials: missing } = catalogue.type('GitLab');
  const message = { non_field_errors: ['Either token or username and password should be specified'] };
  assert.equal(missing({}), message);
  assert.equal(missing({ username: 'root' }), message);
  assert.equal(missing({ password: 'secret' }), message);
  assert.equal(missing({ token: 'secret' }), {});
  assert.equal(missing({ username: 'root', password: 'secret' }), {});
});

test('service metadata names its kinds; there are no properties', async () => {
  const { GitLab } = (await admin.get('/api/service-metadata/')).body;
  const at = (path: string): string => `${fixture.url}/api/${path}/`;
  assert.equal(GitLab, {
    url: at('gitlab'),
    service_project_link_url: at('gitlab-service-project-link'),
    resources: { Group: at('gitlab-groups'), Project: at('gitlab-projects') },
    properties: {},
    is_public_service: false,
  });
});

test('name, path and link are required', async () => {
  const required = ['This field is required.'];
  assert.equal(await rejection(admin.post('/api/gitlab-groups/', {})), [
    400,
    { name: required, service_project_link: required, path: required },
  ]);
});

test("a name has letters, digits, '_', '.', dash and space only", async () => {
  const rule = ["Name can only contain letters, digits, '_', '.', dash and space."];
  for (const name of ['a/b', 'a!', 'a:b']) assert.equal(await rejection(create({ name })), [400, { name: rule }]);
});

test('a path has the same characters, starts without a dash and ends without a dot', async () => {
  const ends = "Path cannot start with '-' or end in '.'.";
  const charset = "Path can only contain letters, digits, '_', '.', dash and space.";
  assert.equal(await rejection(create({ path: 'a/b' })), [400, { path: [charset] }]);
  for (const path of ['-a', 'a.', '.', '-']) assert.equal(await rejection(create({ path })), [400, { path: [ends] }]);
  assert.equal(await rejection(create({ path: '-/' })), [400, { path: [charset, ends] }]);
  assert.equal(await rejection(create({ path: 'p'.repeat(101) })), [
    400,
    { path: ['Ensure this field has no more than 100 characters.'] },
  ]);
});

test('a creation is accepted and counted', async () => {
  const created = await create({ description: 'Engines', tags: ['team:a'] });
  assert.is(created.status, 201);
  group = created.body;
  const { access_url, description, name, projects, resource_type, state, tags, web_url } = group;
  assert.equal(
    { access_url, description, name, projects, resource_type, state, tags, web_url },
    {
      access_url: null,
      description: 'Engines',
      name: 'Rocket science',
      projects: [],
      resource_type: 'GitLab.Group',
      state: 'Creation Scheduled',
      tags: ['team:a'],
      web_url: null,
    },
  );
  assert.not.ok('path' in group);
  assert.not.ok('runtime_state' in group);
  assert.equal(await usages(fixture, forge.service), { group_count: 1 });
  assert.equal(await usages(fixture, people.project), {
    nc_app_count: 1,
    nc_resource_count: 1,
    nc_service_project_link_count: 1,
  });
  assert.equal((await present(forge.link)).quotas, []);
});

test('creates the group, with its number as id', async () => {
  assert.equal(await collectStates(fixture, group.url), ['Creation Scheduled', 'Creating', 'OK']);
  assert.is((await present(group)).backend_id, '1');
  assert.equal(messages(), [
    'Resource Rocket science creation has been scheduled.',
    'Resource Rocket science has been created.',
  ]);
});

test('rejects the name and the path of an existing group', async () => {
  assert.equal(await rejection(create({ path: 'other' })), [400, { name: ['Group with this name already exists.'] }]);
  assert.equal(await rejection(create({ name: 'Other' })), [400, { path: ['Group with this path already exists.'] }]);
  assert.equal(await rejection(create()), [
    400,
    { name: ['Group with this name already exists.'], path: ['Group with this path already exists.'] },
  ]);
});

test('reports the name and the path of an invisible group without revealing it', async () => {
  const customer = await fixture.customer('Elsewhere');
  const there = { customer, project: await fixture.project('Hidden', customer) };
  const other = await simulatedService(fixture, 'gitlab', there, {
    name: 'Hidden',
    backend_url: 'simulator://gitlab',
    username: 'root',
  });
  const owner = await fixture.user('owner.elsewhere');
  await fixture.grant(customer, owner, 'owner');
  const input = { name: 'Rocket science', path: 'rocket', service_project_link: other.link.url };
  assert.equal(await rejection(fixture.as('owner.elsewhere').post('/api/gitlab-groups/', input)), [
    400,
    { name: ['Name cannot be used.'], path: ['Path cannot be used.'] },
  ]);
  assert.equal(await rejection(fixture.staff.post('/api/gitlab-groups/', input)), [
    400,
    { name: ['Group with this name already exists.'], path: ['Group with this path already exists.'] },
  ]);
});

test('names are unique across all settings with the same backend_url and username', async () => {
  const same = await simulatedService(fixture, 'gitlab', people, {
    name: 'Same',
    backend_url: 'simulator://gitlab',
    username: 'root',
  });
  assert.is((await create({}, same.link)).status, 400);
  const otherUser = await simulatedService(fixture, 'gitlab', people, {
    name: 'Other user',
    backend_url: 'simulator://gitlab',
    username: 'alice',
  });
  assert.is((await create({}, otherUser.link)).status, 201);
  const otherUrl = await simulatedService(fixture, 'gitlab', people, {
    name: 'Other url',
    backend_url: 'simulator://other',
    username: 'root',
  });
  assert.is((await create({}, otherUrl.link)).status, 201);
  const ownSetups = await Promise.all(
    ['One', 'Two'].map((name) => simulatedService(fixture, 'gitlab', people, { name })),
  );
  for (const { link } of ownSetups)
    assert.is((await create({}, link)).status, 201, 'without backend_url each has a GitLab of its own');
  await work(fixture);
  fixture.events();
});

test('update is local and validates names', async () => {
  assert.equal(await rejection(admin.patch(group.url, { name: 'a/b' })), [
    400,
    { name: ["Name can only contain letters, digits, '_', '.', dash and space."] },
  ]);
  const { body, status } = await admin.patch(group.url, { name: 'Engines', path: 'ignored' });
  assert.equal([status, body.name, body.state], [200, 'Engines', 'OK']);
  assert.equal(messages(), [
    "GitLab Group Engines has been updated. Name has been changed from 'Rocket science' to 'Engines'.",
  ]);
});

test('schedules a pull; has no start, stop and restart', async () => {
  assert.equal(await rejection(admin.post(`${group.url}pull/`)), [
    202,
    { detail: 'Pull operation was successfully scheduled.' },
  ]);
  assert.equal(await collectStates(fixture, group.url), ['Update Scheduled', 'OK']);
  for (const action of ['start', 'stop', 'restart'])
    assert.is((await admin.post(`${group.url}${action}/`)).status, 404);
  const { actions } = (await admin.options(group.url)).body;
  assert.equal(Object.keys(actions), ['destroy', 'pull', 'unlink', 'update']);
});

test('rejects deleting a group with projects', async () => {
  const project = await admin.post('/api/gitlab-projects/', {
    service_project_link: forge.link.url,
    name: 'engine',
    group: group.url,
    visibility_level: 0,
  });
  await work(fixture);
  assert.equal(await rejection(admin.delete(group.url)), [
    409,
    { detail: 'This group contains projects. Only empty group can be deleted.' },
  ]);
  assert.equal((await present(group)).projects, [
    { url: project.body.url, uuid: project.body.uuid, name: 'engine', web_url: null },
  ]);
  assert.equal((await present(group)).related_resources, [
    { url: project.body.url, uuid: project.body.uuid, name: 'engine', resource_type: 'GitLab.Project', state: 'OK' },
  ]);
  await admin.delete(project.body.url);
  await work(fixture);
  fixture.events();
});

test('destroy removes the group', async () => {
  assert.equal(await rejection(admin.delete(group.url)), [202, { detail: 'Deletion was scheduled.' }]);
  assert.equal(await collectStates(fixture, group.url), ['Deletion Scheduled', 'Deleting', 'gone']);
  assert.equal(await usages(fixture, forge.service), {});
  assert.equal(messages(), ['Resource Engines deletion has been scheduled.', 'GitLab Group Engines has been deleted.']);
});

test('a failed creation leaves an Erred group without id that reserves its name', async () => {
  await setOptions(fixture, forge.settings, { simulator_failures: 'Group.create' });
  group = (await create()).body;
  assert.equal(await collectStates(fixture, group.url), ['Creation Scheduled', 'Creating', 'Erred']);
  const { backend_id, error_message } = await present(group);
  assert.equal([backend_id, error_message], ['', 'Simulated failure of create']);
  assert.is((await create()).status, 400);
  await admin.delete(group.url);
  assert.equal((await collectStates(fixture, group.url)).at(-1), 'gone');
});

test('rejects deleting a parent with groups, and names the kind', async () => {
  const link = (await fixture.staff.get('/api/gitlab-service-project-link/')).body.find(
    ({ service_name }: Json) => service_name === 'One',
  );
  assert.equal(await rejection(people.clients.owner.delete(link.url)), [
    409,
    { detail: 'Cannot delete service project link with existing gitlab groups' },
  ]);
});

test.run();
