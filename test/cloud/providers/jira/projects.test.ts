/** providers.md 7.1, 7.2: JIRA's properties and projects. */
import * as assert from 'uvu/assert';
import { sql } from '../../../../src/kernel/db/sql.ts';
import type { Json } from '../../../support/fixture.ts';
import { asEachPersona, sameExcept } from '../../../support/personas.ts';
import { collectStates, setOptions, usages, work } from '../../../support/simulated.ts';
import { suiteWithServer } from '../../../support/suite.ts';
import { type Jira, startJira } from './support.ts';

const { test: projects, fixture } = suiteWithServer('JIRA projects');
let jira: Jira;

projects.before(async () => {
  jira = await startJira(fixture, { webhook_secret: 'hush, it is a long secret' });
});

const required = ['This field is required.'];
const namesOf = (items: readonly Json[]): string[] => items.map(({ name }) => name);
const post = async (fields: object, by: keyof Jira['clients'] = 'staff') =>
  jira.clients[by].post('/api/jira-projects/', {
    service_project_link: jira.link.url,
    name: 'Site',
    key: 'SITE',
    template: (await templates())[0].url,
    ...fields,
  });
const templates = async (): Promise<Json[]> => (await jira.fixture.staff.get('/api/jira-project-templates/')).body;

projects('issue types and priorities belong to the settings, templates are global', async () => {
  const { clients, fixture, settings } = jira;
  const lists = async (): Promise<string[][]> =>
    Promise.all(
      ['jira-project-templates', 'jira-issue-types', 'jira-priorities'].map(async (path) =>
        namesOf((await clients.owner.get(`/api/${path}/?settings_uuid=${settings.uuid}`)).body),
      ),
    );
  assert.equal(await lists(), [
    [
      'Basic software development',
      'Kanban software development',
      'Project management',
      'Scrum software development',
      'Task management',
    ],
    ['Bug', 'Epic', 'Story', 'Sub-task', 'Task'],
    ['High', 'Highest', 'Low', 'Lowest', 'Medium'],
  ]);
  const seen = await asEachPersona(jira, async (client) => [
    (await client.get('/api/jira-project-templates/')).body.length,
    (await client.get('/api/jira-issue-types/')).body.length,
  ]);
  assert.equal(
    [seen.owner, seen.observer, seen.stranger],
    [
      [5, 5],
      [5, 5],
      [5, 0],
    ],
  );
  const priority = (await fixture.staff.get('/api/jira-priorities/?name_exact=Low')).body[0];
  assert.equal(priority, {
    url: `${fixture.url}/api/jira-priorities/${priority.uuid}/`,
    uuid: priority.uuid,
    name: 'Low',
    description: '',
    icon_url: '',
  });
  const type = (await fixture.staff.get('/api/jira-issue-types/?name_exact=Sub-task')).body[0];
  assert.equal(type, {
    url: `${fixture.url}/api/jira-issue-types/${type.uuid}/`,
    uuid: type.uuid,
    name: 'Sub-task',
    description: '',
    icon_url: '',
    subtask: true,
  });
});

projects('the webhook secret is stored and never shown, and stars do not change it', async () => {
  const { fixture, settings } = jira;
  assert.is(settings.webhook_secret, '********');
  assert.is(
    (await fixture.staff.patch(settings.url, { webhook_secret: '********', name: 'Tracker' })).body.webhook_secret,
    '********',
  );
  const stored = fixture.server.app.db.get<{ options: string; secret_options: Buffer }>(
    sql`SELECT options, secret_options FROM service_settings`,
  );
  assert.not.match(stored?.options ?? '', /hush/);
  assert.not.match(Buffer.from(stored?.secret_options ?? '').toString('latin1'), /hush/);
});

projects('creates a project with its key, a template, and the types and priorities of its settings', async () => {
  const { web } = jira;
  const [type] = web.issue_types;
  const [priority] = web.priorities;
  assert.equal(
    [web.state, web.backend_id, web.template_name, web.template_description, web.access_url, 'key' in web],
    ['OK', 'WEB', 'Task management', 'Template for task management.', null, false],
  );
  assert.match(web.template, /\/api\/jira-project-templates\/[0-9a-f]{32}\/$/);
  assert.equal(namesOf(web.issue_types), ['Bug', 'Epic', 'Story', 'Sub-task', 'Task']);
  assert.equal(type, {
    url: await jira.type('Bug'),
    uuid: type.uuid,
    name: 'Bug',
    description: '',
    icon_url: '',
    subtask: false,
  });
  assert.equal(priority, {
    url: await jira.priority('High'),
    uuid: priority.uuid,
    name: 'High',
    description: '',
    icon_url: '',
  });
});

projects('creation requires a link, a name, a key and a template', async () => {
  const { body, status } = await jira.fixture.staff.post('/api/jira-projects/', {});
  assert.equal(
    [status, body],
    [400, { service_project_link: required, name: required, key: required, template: required }],
  );
});

projects('a key is a capital letter followed by capitals or digits', async () => {
  const rule = [
    'Project keys must start with an uppercase letter, followed by one or more uppercase alphanumeric characters.',
  ];
  for (const key of ['web', '1WEB', 'W', 'WEB-1', 'WÉB']) assert.equal((await post({ key })).body, { key: rule }, key);
});

projects('a key has at most ten characters', async () => {
  assert.equal((await post({ key: 'ABCDEFGHIJK' })).body, {
    key: ['The project key must not exceed 10 characters in length.'],
  });
});

projects('JIRA rejects a key that another project uses', async () => {
  const { body } = await post({ key: 'WEB', name: 'Second' });
  assert.equal(await collectStates(jira.fixture, body.url), ['Creation Scheduled', 'Creating', 'Erred']);
  const erred = (await jira.fixture.staff.get(body.url)).body;
  assert.equal([erred.error_message, erred.backend_id], ["Project 'Project WEB' uses this project key.", '']);
  assert.is((await jira.fixture.staff.delete(body.url)).status, 202);
  await work(jira.fixture);
});

projects('sends a changed name but not a description; key and template cannot be changed', async () => {
  const { fixture, web } = jira;
  fixture.events();
  const described = await fixture.staff.patch(web.url, {
    description: 'Shop',
    key: 'OTHER',
    template: (await templates())[1].url,
  });
  assert.equal(
    [
      described.status,
      described.body.state,
      described.body.description,
      described.body.backend_id,
      described.body.template,
    ],
    [200, 'OK', 'Shop', 'WEB', web.template],
  );
  const renamed = await fixture.staff.patch(web.url, { name: 'Web shop' });
  assert.equal([renamed.status, renamed.body.state], [200, 'Update Scheduled']);
  assert.equal(await collectStates(fixture, web.url), ['Update Scheduled', 'Updating', 'OK']);
  assert.equal(
    fixture.events().map(({ message }) => message),
    [
      "JIRA Project Project WEB has been updated. Description has been changed from '' to 'Shop'.",
      "JIRA Project Web shop has been updated. Name has been changed from 'Project WEB' to 'Web shop'.",
    ],
  );
  await fixture.staff.patch(web.url, { name: 'Project WEB' });
  await work(fixture);
});

projects('has pull and unlink, but not start, stop or restart', async () => {
  const { body } = await jira.fixture.staff.options(jira.web.url);
  assert.equal(Object.keys(body.actions), ['destroy', 'pull', 'unlink', 'update']);
  assert.is((await jira.fixture.staff.post(`${jira.web.url}start/`)).status, 404);
  assert.is((await jira.fixture.staff.post(`${jira.web.url}pull/`)).status, 202);
  await work(jira.fixture);
  assert.is((await jira.fixture.staff.get(jira.web.url)).body.state, 'OK');
});

projects('only staff delete a project', async () => {
  const { fixture } = jira;
  const gone = await jira.jiraProject('GONE');
  const statuses = await asEachPersona(jira, async (client, part) =>
    part === 'staff' ? 0 : (await client.delete(gone.url)).status,
  );
  assert.equal(statuses, sameExcept(403, { staff: 0, stranger: 404 }));
  assert.is(
    (await jira.clients.owner.options(gone.url)).body.actions.destroy.reason,
    'You do not have permission to perform this action.',
  );
  const { body, status } = await fixture.staff.delete(gone.url);
  assert.equal([status, body], [202, { detail: 'Deletion was scheduled.' }]);
  assert.equal(await collectStates(fixture, gone.url), ['Deletion Scheduled', 'Deleting', 'gone']);
});

projects('a project counts as an app in nc_app_count and in the category apps', async () => {
  const { clients, customer, fixture, project } = jira;
  assert.equal(await usages(fixture, project), {
    nc_app_count: 1,
    nc_resource_count: 1,
    nc_service_project_link_count: 1,
  });
  assert.is((await usages(fixture, customer)).nc_app_count, 1);
  assert.is((await clients.owner.get('/api/resources/count/?category=apps')).body['JIRA.Project'], 1);
  assert.equal((await clients.owner.get(`${jira.settings.url}stats/`)).body, {});
});

projects('imports an existing JIRA project with its key', async () => {
  const { fixture, project, service, settings } = jira;
  await setOptions(fixture, settings, { simulator_inventory: 1 });
  fixture.clock.advance(1800);
  await work(fixture);
  const link = `${service.url}link/`;
  const [matches] = (await fixture.staff.get(link)).body;
  assert.equal(
    [matches.backend_id, matches.name, matches.resource_type],
    ['SIM1', 'unmanaged-project-1', 'JIRA.Project'],
  );
  const { body, status } = await fixture.staff.post(link, { backend_id: 'SIM1', project: project.url });
  assert.equal([status, body.state], [200, 'OK']);
  assert.is((await fixture.staff.get(body.url)).body.backend_id, 'SIM1');
});

projects('access_url is the URL of the project at the site', async () => {
  const { fixture, web } = jira;
  const { db } = fixture.server.app;
  db.write(() => db.run(sql`UPDATE service_settings SET backend_url = 'https://jira.example.com/'`));
  assert.is((await fixture.staff.get(web.url)).body.access_url, 'https://jira.example.com/projects/WEB');
  db.write(() => db.run(sql`UPDATE service_settings SET backend_url = NULL`));
});

projects.run();
