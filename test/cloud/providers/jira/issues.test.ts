/** providers.md 7.4: issues. */
import * as assert from 'uvu/assert';
import { sql } from '../../../../src/kernel/db/sql.ts';
import type { Json } from '../../../support/fixture.ts';
import { asEachPersona } from '../../../support/personas.ts';
import { collectStates, setOptions, simulatedService, step, work } from '../../../support/simulated.ts';
import { suiteWithServer } from '../../../support/suite.ts';
import { type Jira, startJira } from './support.ts';

const { test: issues, fixture } = suiteWithServer('JIRA issues');
let jira: Jira;
let body: { jira_project: string; type: string; priority: string; summary: string };

issues.before(async () => {
  jira = await startJira(fixture);
  body = {
    jira_project: jira.web.url,
    type: await jira.type('Task'),
    priority: await jira.priority('Medium'),
    summary: 'Broken',
  };
});

const path = '/api/jira-issues/';
const required = ['This field is required.'];
const summaries = async (query: string): Promise<string[]> =>
  (await jira.fixture.staff.get(`${path}?${query}`)).body.map(({ summary }: Json) => summary).sort();

issues(
  'an issue is created here and then at JIRA, which gives it its key: 201, Creation Scheduled, Creating, OK',
  async () => {
    const { clients, fixture, project, users, web } = jira;
    const response = await clients.owner.post(path, { ...body, description: 'Since Monday' });
    const issue = response.body;
    assert.is(response.headers.get('location'), issue.url);
    const people = (value: string) =>
      Object.fromEntries(
        ['creator', 'assignee', 'reporter'].flatMap((role) =>
          ['username', 'name', 'email'].map((member) => [`${role}_${member}`, value]),
        ),
      );
    const expected = {
      url: `${fixture.url}${path}${issue.uuid}/`,
      uuid: issue.uuid,
      jira_project: web.url,
      type: body.type,
      summary: 'Broken',
      priority: body.priority,
      description: 'Since Monday',
      parent: null,
      key: '',
      status: '',
      resolution: '',
      resolution_date: null,
      ...people(''),
      jira_project_uuid: web.uuid,
      jira_project_name: 'Project WEB',
      project: project.url,
      project_uuid: project.uuid,
      project_name: 'Rocket',
      type_name: 'Task',
      priority_name: 'Medium',
      parent_uuid: null,
      parent_summary: null,
      access_url: null,
      user: users.owner.url,
      created: issue.created,
      updated: issue.created,
      state: 'Creation Scheduled',
      error_message: '',
    };
    assert.equal([response.status, issue], [201, expected]);
    assert.equal(await collectStates(fixture, issue.url), ['Creation Scheduled', 'Creating', 'OK']);
    const creation = (await clients.owner.get(issue.url)).body;
    const account = { username: 'simulator', name: 'JIRA simulator', email: 'simulator@jira.example.com' };
    const named = (role: string) =>
      Object.fromEntries(Object.entries(account).map(([member, value]) => [`${role}_${member}`, value]));
    assert.equal(creation, {
      ...expected,
      ...named('creator'),
      ...named('reporter'),
      key: 'WEB-1',
      status: 'To Do',
      updated: creation.updated,
      state: 'OK',
    });
  },
);

issues('numbers issue keys per JIRA project', async () => {
  const ops = await jira.jiraProject('OPS');
  assert.is((await jira.issue({ jira_project: ops.url, summary: 'Other' })).key, 'OPS-1');
  assert.is((await jira.issue({ summary: 'Second' })).key, 'WEB-2');
});

issues('creation requires a JIRA project, a type, a summary and a priority', async () => {
  const { body: response, status } = await jira.clients.owner.post(path, {});
  assert.equal(
    [status, response],
    [400, { jira_project: required, type: required, summary: required, priority: required }],
  );
  assert.equal((await jira.clients.owner.post(path, { ...body, summary: 'x'.repeat(256) })).body, {
    summary: ['Ensure this field has no more than 255 characters.'],
  });
  assert.equal((await jira.clients.owner.post(path, { ...body, jira_project: jira.project.url })).body, {
    jira_project: ['Invalid hyperlink - Incorrect URL match.'],
  });
});

issues('type and priority belong to the settings of the JIRA project', async () => {
  const { fixture } = jira;
  const other = await simulatedService(fixture, 'jira', jira, { name: 'Other' });
  const foreign = async (kind: string, name: string): Promise<string> =>
    (await fixture.staff.get(`/api/${kind}/?settings_uuid=${other.settings.uuid}&name_exact=${name}`)).body[0].url;
  const response = await jira.clients.owner.post(path, {
    ...body,
    type: await foreign('jira-issue-types', 'Task'),
    priority: await foreign('jira-priorities', 'Low'),
  });
  assert.equal(
    [response.status, response.body],
    [
      400,
      {
        type: ['Invalid issue type. Please select one of following: Bug, Epic, Story, Sub-task, Task'],
        priority: ['Priority should belong to the same JIRA provider.'],
      },
    ],
  );
});

issues('only a subtask has a parent, in the same JIRA project', async () => {
  const { clients, jiraProject } = jira;
  const parent = await jira.issue({ summary: 'Parent' });
  const subtask = await jira.type('Sub-task');
  assert.equal((await clients.owner.post(path, { ...body, parent: parent.url })).body, {
    parent: ['Issue type is not subtask, parent issue is not allowed.'],
  });
  const remote = await jira.issue({ jira_project: (await jiraProject('ELSE')).url });
  assert.equal((await clients.owner.post(path, { ...body, type: subtask, parent: remote.url })).body, {
    parent: ['Parent issue should belong to the same JIRA project.'],
  });
  const child = await jira.issue({ type: subtask, parent: parent.url, summary: 'Child' });
  assert.equal(
    [child.parent, child.parent_uuid, child.parent_summary, child.state],
    [parent.url, parent.uuid, 'Parent', 'OK'],
  );
  assert.equal((await clients.owner.patch(child.url, { type: body.type })).body, {
    parent: ['Issue type is not subtask, parent issue is not allowed.'],
  });
  const rejection = await clients.owner.delete(parent.url);
  assert.equal([rejection.status, rejection.body], [409, { detail: 'Cannot delete issue with existing subtasks' }]);
});

issues('a subtask waits for its parent, and an issue for its JIRA project', async () => {
  const { clients, fixture, link } = jira;
  const template = (await fixture.staff.get('/api/jira-project-templates/')).body[0].url;
  const late = (
    await clients.owner.post('/api/jira-projects/', {
      service_project_link: link.url,
      name: 'Late',
      key: 'LATE',
      template,
    })
  ).body;
  const parent = (await clients.owner.post(path, { ...body, jira_project: late.url })).body;
  const child = (
    await clients.owner.post(path, {
      ...body,
      jira_project: late.url,
      type: await jira.type('Sub-task'),
      parent: parent.url,
    })
  ).body;
  await step(fixture);
  await step(fixture);
  const states = async (): Promise<string[]> =>
    Promise.all([late, parent, child].map(async ({ url }) => (await clients.owner.get(url)).body.state));
  assert.equal(await states(), ['OK', 'Creation Scheduled', 'Creation Scheduled']);
  await work(fixture);
  assert.equal(await states(), ['OK', 'OK', 'OK']);
  assert.equal(
    [(await clients.owner.get(parent.url)).body.key, (await clients.owner.get(child.url)).body.key],
    ['LATE-1', 'LATE-2'],
  );
});

issues('staff, owners, managers and administrators of the project create issues', async () => {
  const statuses = await asEachPersona(jira, async (client) => (await client.post(path, body)).status);
  assert.equal(statuses, {
    staff: 201,
    support: 403,
    owner: 201,
    helper: 403,
    manager: 201,
    admin: 201,
    observer: 403,
    stranger: 400,
  });
  assert.equal((await jira.clients.stranger.post(path, body)).body, {
    jira_project: ['Invalid hyperlink - Object does not exist.'],
    type: ['Invalid hyperlink - Object does not exist.'],
    priority: ['Invalid hyperlink - Object does not exist.'],
  });
  await work(jira.fixture);
});

issues('staff and global support see every issue, others their own', async () => {
  const mine = await jira.issue({ summary: 'Mine' }, 'manager');
  const statuses = await asEachPersona(jira, async (client) => (await client.get(mine.url)).status);
  assert.equal(statuses, {
    staff: 200,
    support: 200,
    owner: 404,
    helper: 404,
    manager: 200,
    admin: 404,
    observer: 404,
    stranger: 404,
  });
  const own = (await jira.clients.manager.get(path)).body;
  assert.ok(own.length > 0 && own.every(({ user }: Json) => user === jira.users.manager.url));
  assert.is(
    Number((await jira.clients.support.get(path)).headers.get('x-result-count')),
    Number((await jira.fixture.staff.get(path)).headers.get('x-result-count')),
  );
});

issues('staff change and delete every issue, others their own', async () => {
  const mine = await jira.issue({ summary: 'Mine too' }, 'admin');
  const changes = await asEachPersona(
    jira,
    async (client) => (await client.patch(mine.url, { summary: 'Mine too' })).status,
  );
  assert.equal(changes, {
    staff: 200,
    support: 403,
    owner: 404,
    helper: 404,
    manager: 404,
    admin: 200,
    observer: 404,
    stranger: 404,
  });
  const deletions = await asEachPersona(jira, async (client, part) =>
    part === 'staff' ? 0 : (await client.delete(mine.url)).status,
  );
  assert.equal(deletions, {
    staff: 0,
    support: 403,
    owner: 404,
    helper: 404,
    manager: 404,
    admin: 202,
    observer: 404,
    stranger: 404,
  });
  await work(jira.fixture);
});

issues('sends a change to JIRA: 200, Update Scheduled, Updating, OK', async () => {
  const { clients, fixture } = jira;
  const issue = await jira.issue();
  const changed = await clients.owner.put(issue.url, {
    type: await jira.type('Bug'),
    summary: 'Fixed',
    priority: await jira.priority('Low'),
    description: 'New cable',
    jira_project: jira.web.url,
  });
  assert.equal(
    [
      changed.status,
      changed.body.state,
      changed.body.summary,
      changed.body.type_name,
      changed.body.priority_name,
      changed.body.description,
    ],
    [200, 'Update Scheduled', 'Fixed', 'Bug', 'Low', 'New cable'],
  );
  assert.ok(changed.body.updated > issue.updated);
  const early = await clients.owner.patch(issue.url, { summary: 'Again' });
  assert.equal([early.status, early.body], [409, { detail: 'Valid states for operation: OK.' }]);
  assert.equal(await collectStates(fixture, issue.url), ['Update Scheduled', 'Updating', 'OK']);
  const setup =
    fixture.server.app.db.value<string>(
      sql`SELECT "values" FROM simulated_object WHERE kind = 'Issue' AND backend_id = ${issue.key}`,
    ) ?? '';
  const { description, priority_name, summary, type_name } = JSON.parse(setup);
  assert.equal(
    { description, priority_name, summary, type_name },
    { description: 'New cable', priority_name: 'Low', summary: 'Fixed', type_name: 'Bug' },
  );
});

issues('an update without changes leaves the issue OK; PUT requires type, summary and priority', async () => {
  const issue = await jira.issue();
  const { body: same, status } = await jira.clients.owner.patch(issue.url, { summary: 'Broken', type: body.type });
  assert.equal([status, same], [200, issue]);
  assert.equal((await jira.clients.owner.put(issue.url, {})).body, {
    type: required,
    summary: required,
    priority: required,
  });
});

issues('sends a deletion to JIRA: 202, Deletion Scheduled, Deleting, removed', async () => {
  const issue = await jira.issue();
  const { body: response, status } = await jira.clients.owner.delete(issue.url);
  assert.equal([status, response], [202, { detail: 'Deletion was scheduled.' }]);
  assert.equal((await jira.clients.owner.delete(issue.url)).body, { detail: 'Valid states for operation: OK, Erred.' });
  assert.equal(await collectStates(jira.fixture, issue.url), ['Deletion Scheduled', 'Deleting', 'gone']);
});

issues(
  'a failure makes the issue Erred with its message; an Erred issue can be deleted, whatever JIRA responds',
  async () => {
    const { clients, fixture, settings } = jira;
    await setOptions(fixture, settings, { simulator_failures: 'Issue.create,Issue.update,Issue.delete' });
    const failed = await jira.issue();
    assert.equal([failed.state, failed.error_message, failed.key], ['Erred', 'Simulated failure of create', '']);
    await setOptions(fixture, settings, { simulator_failures: 'Issue.update,Issue.delete' });
    const issue = await jira.issue();
    await clients.owner.patch(issue.url, { summary: 'Changed' });
    assert.equal(await collectStates(fixture, issue.url), ['Update Scheduled', 'Updating', 'Erred']);
    assert.is((await clients.owner.get(issue.url)).body.error_message, 'Simulated failure of update');
    for (const { url } of [failed, issue]) {
      assert.equal((await clients.owner.patch(url, { summary: 'Once more' })).body, {
        detail: 'Valid states for operation: OK.',
      });
      assert.is((await clients.owner.delete(url)).status, 202);
      await work(fixture);
      assert.is((await clients.owner.get(url)).status, 404);
    }
    await setOptions(fixture, settings, { simulator_failures: null });
  },
);

issues(
  'at most four issues are Creating at once, and an issue is Erred if its JIRA project was never created',
  async () => {
    const { clients, fixture, link, settings } = jira;
    await setOptions(fixture, settings, {
      simulator_latency: 'create=60000,*=0',
      simulator_failures: 'Project.create',
    });
    const creation: string[] = [];
    for (let n = 0; n < 6; n++)
      creation.push((await clients.owner.post(path, { ...body, summary: `Many ${n}` })).body.url);
    await step(fixture);
    await step(fixture);
    const states = async (): Promise<string[]> =>
      Promise.all(creation.map(async (url) => (await clients.owner.get(url)).body.state));
    assert.equal(await states(), [
      'Creating',
      'Creating',
      'Creating',
      'Creating',
      'Creation Scheduled',
      'Creation Scheduled',
    ]);
    await setOptions(fixture, settings, { simulator_latency: '0' });
    fixture.clock.advance(60);
    await work(fixture);
    assert.equal(
      await states(),
      creation.map(() => 'OK'),
    );
    const template = (await fixture.staff.get('/api/jira-project-templates/')).body[0].url;
    const lost = (
      await clients.owner.post('/api/jira-projects/', {
        service_project_link: link.url,
        name: 'Lost',
        key: 'LOST',
        template,
      })
    ).body;
    const orphan = await jira.issue({ jira_project: lost.url });
    assert.equal([orphan.state, orphan.error_message], ['Erred', 'Issue belongs to what does not exist at backend.']);
    await setOptions(fixture, settings, { simulator_failures: null });
  },
);

issues('a creation times out after 30 minutes', async () => {
  const { clients, fixture, settings } = jira;
  await setOptions(fixture, settings, { simulator_latency: 'create=600000,*=0' });
  const { url } = (await clients.owner.post(path, body)).body;
  await step(fixture);
  await step(fixture);
  fixture.clock.advance(1801);
  await work(fixture);
  const { error_message: text, state } = (await clients.owner.get(url)).body;
  assert.equal([state, text], ['Erred', 'Provisioning is timed out.']);
  await setOptions(fixture, settings, { simulator_latency: '0' });
});

issues('nothing is created while the settings are Erred', async () => {
  const { clients, fixture } = jira;
  const { db } = fixture.server.app;
  const set = (state: string): unknown => db.write(() => db.run(sql`UPDATE service_settings SET state = ${state}`));
  set('Erred');
  const { body: response, status } = await clients.owner.post(path, body);
  assert.equal([status, response], [409, { detail: 'Cannot create resource if its service is in erred state.' }]);
  set('In Sync');
});

issues('filters: summary, description, key, status, type_name, priority_name', async () => {
  const other = await jira.issue({
    summary: 'Leaking roof',
    description: 'Bring buckets',
    type: await jira.type('Story'),
    priority: await jira.priority('Highest'),
  });
  for (const query of [
    'summary=leaking',
    'description=BUCKETS',
    `key=${other.key}`,
    'type_name=Story',
    'priority_name=Highest',
    'type_name=Story&type_name=Epic',
  ]) {
    assert.equal(await summaries(query), ['Leaking roof'], query);
  }
  assert.equal(await summaries('status=Done'), []);
  assert.ok((await summaries('status=To Do&summary=leaking')).length === 1);
});

issues('filters: jira_project, project and user by link and uuid', async () => {
  const ops = (await jira.fixture.staff.get('/api/jira-projects/?backend_id=OPS')).body[0];
  for (const query of [
    `jira_project=${ops.url}`,
    `jira_project_uuid=${ops.uuid}`,
    `jira_project_uuid=${ops.uuid}&project=${jira.project.url}`,
    `jira_project_uuid=${ops.uuid}&project_uuid=${jira.project.uuid}`,
    `jira_project_uuid=${ops.uuid}&user_uuid=${jira.users.owner.uuid}`,
  ]) {
    assert.equal(await summaries(query), ['Other'], query);
  }
  assert.equal(await summaries(`jira_project_uuid=${ops.uuid}&user_uuid=${jira.users.manager.uuid}`), []);
  assert.is((await jira.fixture.staff.get(`${path}?project=${jira.web.url}`)).status, 400);
});

issues('filters: created and updated, before and after', async () => {
  const { fixture } = jira;
  fixture.clock.advance(3600);
  const issue = await jira.issue({ summary: 'Latest' });
  for (const query of [`created_after=${issue.created}`, `updated_after=${issue.created}`])
    assert.equal(await summaries(query), ['Latest'], query);
  for (const query of [`created_before=${issue.created}`, `updated_before=${issue.updated}`])
    assert.ok((await summaries(`${query}&summary=latest`)).length === 1, query);
  assert.not.ok((await summaries('created_before=2018-01-05T04:48:00Z')).includes('Latest'));
  const { body: response, status } = await fixture.staff.get(`${path}?created_before=yesterday`);
  assert.equal([status, Object.keys(response)], [400, ['created_before']]);
});

issues('access_url is the URL of the issue at the site', async () => {
  const { fixture } = jira;
  const { db } = fixture.server.app;
  const issue = await jira.issue();
  db.write(() => db.run(sql`UPDATE service_settings SET backend_url = 'https://jira.example.com/'`));
  assert.is((await fixture.staff.get(issue.url)).body.access_url, `https://jira.example.com/browse/${issue.key}`);
  db.write(() => db.run(sql`UPDATE service_settings SET backend_url = NULL`));
});

issues(
  'issues are no resources: no events, no counts, absent from service-metadata, from lists of resources and from synchronisation',
  async () => {
    const { clients, fixture, settings } = jira;
    fixture.events();
    const issue = await jira.issue();
    await clients.owner.patch(issue.url, { summary: 'Quiet' });
    await work(fixture);
    await clients.owner.delete(issue.url);
    await work(fixture);
    assert.equal(fixture.events(), []);
    const { JIRA } = (await fixture.staff.get('/api/service-metadata/')).body;
    assert.equal(Object.keys(JIRA.resources), ['Project']);
    const counted = (await clients.owner.get('/api/resources/count/')).body;
    assert.equal(
      Object.keys(counted).filter((name) => name.startsWith('JIRA')),
      ['JIRA.Project'],
    );
    await setOptions(fixture, settings, { simulator_failures: 'vanish=0' });
    fixture.clock.advance(1800);
    await work(fixture);
    assert.equal(fixture.server.app.db.values(sql`SELECT DISTINCT kind FROM inventory`), ['JIRA.Project']);
  },
);

issues('deleting a JIRA project deletes its issues', async () => {
  const { fixture } = jira;
  const doomed = await jira.jiraProject('DOOM');
  const issue = await jira.issue({ jira_project: doomed.url });
  await jira.clients.owner.patch(issue.url, { summary: 'Too late' });
  assert.is((await fixture.staff.post(`${doomed.url}unlink/`)).status, 204);
  assert.is((await fixture.staff.get(issue.url)).status, 404);
  assert.equal(fixture.server.app.db.values(sql`SELECT id FROM job WHERE entity_kind IS NOT NULL`), []);
});

issues('an issue outlives its author', async () => {
  const issue = await jira.issue({ summary: 'Left behind' }, 'admin');
  assert.is((await jira.fixture.staff.delete(jira.users.admin.url)).status, 204);
  assert.equal([(await jira.fixture.staff.get(issue.url)).body.user], [null]);
});

issues.run();
