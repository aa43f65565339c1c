import * as assert from 'uvu/assert';
import type { Client, Json } from '../../../support/fixture.ts';
import { createPersonas, type Personas } from '../../../support/personas.ts';
import {
  collectStates,
  type SimulatedService,
  setOptions,
  simulatedService,
  step,
  usages,
  work,
} from '../../../support/simulated.ts';
import { suiteWithServer } from '../../../support/suite.ts';

const { test, fixture } = suiteWithServer('GitLab: projects and imports (providers.md 8)');
let people: Personas;
let forge: SimulatedService;
let admin: Client;
let group: Json;
let project: Json;

test.before(async () => {
  people = await createPersonas(fixture);
  forge = await simulatedService(fixture, 'gitlab', people, { simulator_inventory: 3 });
  admin = people.clients.admin;
  group = (
    await admin.post('/api/gitlab-groups/', { service_project_link: forge.link.url, name: 'Rockets', path: 'rockets' })
  ).body;
  await work(fixture);
  fixture.events();
});

const create = async (fields: Readonly<Record<string, unknown>> = {}): Promise<Json> =>
  admin.post('/api/gitlab-projects/', {
    service_project_link: forge.link.url,
    name: 'engine',
    group: group.url,
    visibility_level: 10,
    ...fields,
  });
const rejection = async (response: Promise<Json>): Promise<unknown[]> => [
  (await response).status,
  (await response).body,
];
const present = async (object: Json): Promise<Json> => (await fixture.staff.get(object.url)).body;
const messages = (): string[] => fixture.events().map(({ message }) => message);

test('name, group, visibility_level and link are required', async () => {
  const required = ['This field is required.'];
  assert.equal(await rejection(admin.post('/api/gitlab-projects/', {})), [
    400,
    { name: required, service_project_link: required, group: required, visibility_level: required },
  ]);
});

test("a name has letters, digits, '_', '-' and '.' only, begins with no dash and ends in no dot", async () => {
  assert.equal(await rejection(create({ name: 'a b' })), [
    400,
    { name: ["Name can contain only letters, digits, '_', '-' and '.'."] },
  ]);
  for (const name of ['-a', 'a.'])
    assert.equal(await rejection(create({ name })), [400, { name: ["Name cannot start with '-' or end in '.'."] }]);
});

test('visibility_level is 0, 10 or 20', async () => {
  for (const level of [5, -10, 30, 'public', true]) {
    assert.equal(await rejection(create({ visibility_level: level })), [
      400,
      { visibility_level: [`"${level}" is not a valid choice.`] },
    ]);
  }
  assert.equal(await rejection(create({ visibility_level: null })), [
    400,
    { visibility_level: ['This field may not be null.'] },
  ]);
});

test('a group of another link is rejected', async () => {
  const other = await fixture.project('Other', people.customer);
  const link = (
    await fixture.staff.post('/api/gitlab-service-project-link/', { service: forge.service.url, project: other.url })
  ).body;
  const foreign = (
    await fixture.staff.post('/api/gitlab-groups/', {
      service_project_link: link.url,
      name: 'Foreign',
      path: 'foreign',
    })
  ).body;
  await work(fixture);
  const denial = fixture.staff.post('/api/gitlab-projects/', {
    service_project_link: forge.link.url,
    name: 'engine',
    group: foreign.url,
    visibility_level: 0,
  });
  assert.equal(await rejection(denial), [400, { group: ['Group belongs to different service project link.'] }]);
  fixture.events();
});

test('accepts a creation, with features off by default', async () => {
  const creation = await create({ wiki_enabled: true, visibility_level: '20' });
  assert.is(creation.status, 201);
  project = creation.body;
  const {
    access_url,
    group: its,
    group_name,
    group_uuid,
    http_url_to_repo,
    issues_enabled,
    merge_requests_enabled,
    snippets_enabled,
    ssh_url_to_repo,
    state,
    visibility_level,
    web_url,
    wiki_enabled,
  } = project;
  assert.equal(
    {
      access_url,
      group: its,
      group_name,
      group_uuid,
      http_url_to_repo,
      issues_enabled,
      merge_requests_enabled,
      snippets_enabled,
      ssh_url_to_repo,
      state,
      visibility_level,
      web_url,
      wiki_enabled,
    },
    {
      access_url: null,
      group: group.url,
      group_name: 'Rockets',
      group_uuid: group.uuid,
      http_url_to_repo: '',
      issues_enabled: false,
      merge_requests_enabled: false,
      snippets_enabled: false,
      ssh_url_to_repo: '',
      state: 'Creation Scheduled',
      visibility_level: 20,
      web_url: null,
      wiki_enabled: true,
    },
  );
  assert.equal(await usages(fixture, forge.service), { group_count: 2, project_count: 1 });
  assert.equal(await usages(fixture, people.project), {
    nc_app_count: 2,
    nc_resource_count: 2,
    nc_service_project_link_count: 1,
  });
});

test('a project has the quota commit_count', async () => {
  const [quota, ...others] = project.quotas;
  assert.equal(others, []);
  assert.equal(quota, {
    url: `${fixture.url}/api/quotas/${quota.uuid}/`,
    uuid: quota.uuid,
    name: 'commit_count',
    limit: -1,
    usage: 0,
  });
});

test('creates the project in its group', async () => {
  assert.equal(await collectStates(fixture, project.url), ['Creation Scheduled', 'Creating', 'OK']);
  const { backend_id, related_resources } = await present(project);
  assert.match(backend_id, /^\d+$/);
  assert.equal(related_resources, [
    { url: group.url, uuid: group.uuid, name: 'Rockets', resource_type: 'GitLab.Group', state: 'OK' },
  ]);
  assert.equal(messages(), ['Resource engine creation has been scheduled.', 'Resource engine has been created.']);
});

test('a project waits for the creation of its group', async () => {
  await setOptions(fixture, forge.settings, { simulator_latency: 'Group.create=3000,*=0' });
  const later = (
    await admin.post('/api/gitlab-groups/', { service_project_link: forge.link.url, name: 'Later', path: 'later' })
  ).body;
  const early = (await create({ name: 'early', group: later.url })).body;
  for (let i = 0; i < 3; i++) {
    await step(fixture);
    assert.equal([(await present(later)).state, (await present(early)).state], ['Creating', 'Creation Scheduled']);
  }
  assert.equal(await collectStates(fixture, early.url), ['Creation Scheduled', 'Creating', 'OK']);
  assert.equal([(await present(later)).state, (await present(early)).group], ['OK', later.url]);
});

test('a project fails if the creation of its group failed', async () => {
  await setOptions(fixture, forge.settings, { simulator_latency: '0', simulator_failures: 'Group.create' });
  const failed = (
    await admin.post('/api/gitlab-groups/', { service_project_link: forge.link.url, name: 'Failed', path: 'failed' })
  ).body;
  const orphan = (await create({ name: 'orphan', group: failed.url })).body;
  assert.equal((await collectStates(fixture, orphan.url)).at(-1), 'Erred');
  assert.is((await present(orphan)).error_message, 'Group does not exist at backend');
  await setOptions(fixture, forge.settings, { simulator_failures: null });
  fixture.events();
});

test('update is local: name, description and tags', async () => {
  assert.equal(await rejection(admin.patch(project.url, { name: 'a b' })), [
    400,
    { name: ["Name can contain only letters, digits, '_', '-' and '.'."] },
  ]);
  const { body, status } = await admin.put(project.url, { name: 'motor', visibility_level: 0, wiki_enabled: false });
  assert.equal(
    [status, body.name, body.state, body.visibility_level, body.wiki_enabled],
    [200, 'motor', 'OK', 20, true],
  );
  assert.equal(messages(), ["GitLab Project motor has been updated. Name has been changed from 'engine' to 'motor'."]);
});

test('has no start, stop and restart', async () => {
  for (const action of ['start', 'stop', 'restart'])
    assert.is((await admin.post(`${project.url}${action}/`)).status, 404);
});

test('a deletion that fails leaves the project Erred; the next one is forced', async () => {
  await setOptions(fixture, forge.settings, { simulator_failures: 'delete' });
  await admin.delete(project.url);
  assert.equal(await collectStates(fixture, project.url), ['Deletion Scheduled', 'Deleting', 'Erred']);
  assert.is((await present(project)).error_message, 'Simulated failure of delete');
  assert.equal(await rejection(admin.delete(project.url)), [202, { detail: 'Deletion was scheduled.' }]);
  assert.equal(await collectStates(fixture, project.url), ['Deletion Scheduled', 'Deleting', 'gone']);
  await setOptions(fixture, forge.settings, { simulator_failures: null });
  assert.equal(messages(), [
    'Resource motor deletion has been scheduled.',
    'Resource motor deletion has failed.',
    'Resource motor deletion has been scheduled.',
    'GitLab Project motor has been deleted.',
  ]);
});

test('lists unmanaged groups without created and public, projects with both', async () => {
  const { owner } = people.clients;
  const items: Json[] = (await owner.get(`${forge.service.url}link/`)).body;
  assert.equal(
    items.find(({ name }) => name === 'unmanaged-group-1'),
    { backend_id: '1', name: 'unmanaged-group-1', resource_type: 'GitLab.Group', created: '2017-06-01T00:00:00Z' },
  );
  const projects = (await owner.get(`${forge.service.url}link/?resource_type=GitLab.Project`)).body.filter(
    ({ name }: Json) => name.startsWith('unmanaged'),
  );
  assert.equal(
    projects,
    [1, 2, 3].map((n) => ({
      backend_id: String(n),
      name: `unmanaged-project-${n}`,
      resource_type: 'GitLab.Project',
      created: '2017-06-01T00:00:00Z',
      public: n === 3,
    })),
  );
});

const link = (fields: Readonly<Record<string, unknown>>): Promise<Json> =>
  people.clients.owner.post(`${forge.service.url}link/`, { project: people.project.url, ...fields });

test('rejects importing an unknown group or project', async () => {
  assert.equal((await link({ backend_id: '99', resource_type: 'GitLab.Group' })).body, {
    backend_id: ["Can't find group with ID 99"],
  });
  assert.equal((await link({ backend_id: '99', resource_type: 'GitLab.Project' })).body, {
    backend_id: ["Can't find project with ID 99"],
  });
});

test('a project is imported after its group only', async () => {
  assert.equal(await rejection(link({ backend_id: '1', resource_type: 'GitLab.Project' })), [
    400,
    { backend_id: ['You must import group with ID 1 first'] },
  ]);
  const its = (await link({ backend_id: '1', resource_type: 'GitLab.Group' })).body;
  const linked = await link({ backend_id: '1', resource_type: 'GitLab.Project' });
  assert.is(linked.status, 200);
  const imported = await present(linked.body);
  assert.equal(
    [imported.group, imported.state, imported.visibility_level, imported.issues_enabled],
    [its.url, 'OK', 0, true],
  );
  assert.equal(
    (await present(its)).projects.map(({ name }: Json) => name),
    ['unmanaged-project-1'],
  );
});

test('commit_count shows the number of commits at GitLab', async () => {
  const [{ quotas }] = (await fixture.staff.get('/api/gitlab-projects/?name=unmanaged-project-1')).body;
  assert.is.not(quotas[0].usage, 0);
});

test('the group of an imported project must be of the same link', async () => {
  const other = (await fixture.staff.get('/api/projects/?name=Other')).body[0];
  await link({ backend_id: '2', resource_type: 'GitLab.Group', project: other.url });
  assert.equal(await rejection(link({ backend_id: '2', resource_type: 'GitLab.Project' })), [
    400,
    { project: ['Group belongs to different service project link.'] },
  ]);
});

test('a project remains when its group is unlinked, and belongs to the group again after a new import', async () => {
  const its = (await fixture.staff.get('/api/gitlab-groups/?name=unmanaged-group-1')).body[0];
  assert.is((await people.clients.owner.post(`${its.url}unlink/`)).status, 204);
  const [orphan] = (await fixture.staff.get('/api/gitlab-projects/?name=unmanaged-project-1')).body;
  assert.equal([orphan.group, orphan.group_name, orphan.group_uuid], [null, null, null]);
  const again = (await link({ backend_id: '1', resource_type: 'GitLab.Group' })).body;
  fixture.clock.advance(1800);
  await work(fixture);
  assert.is((await present(orphan)).group, again.url);
});

test.run();
