/** providers.md 7.4: comments. */
import * as assert from 'uvu/assert';
import { sql } from '../../../../src/kernel/db/sql.ts';
import type { Json } from '../../../support/fixture.ts';
import { asEachPersona } from '../../../support/personas.ts';
import { collectStates, setOptions, work } from '../../../support/simulated.ts';
import { suiteWithServer } from '../../../support/suite.ts';
import { type Jira, startJira } from './support.ts';

const { test: comments, fixture } = suiteWithServer('JIRA comments');
let jira: Jira;
let issue: Json;

comments.before(async () => {
  jira = await startJira(fixture);
  issue = await jira.issue();
});

const path = '/api/jira-comments/';
const required = ['This field is required.'];

/** Creates a comment and runs its job. */
async function commented(message: string, by: keyof Jira['clients'] = 'owner', on = issue): Promise<Json> {
  const { body, status } = await jira.clients[by].post(path, { issue: on.url, message });
  assert.is(status, 201, JSON.stringify(body));
  await work(jira.fixture);
  return (await jira.fixture.staff.get(body.url)).body;
}

/** Returns the comment texts at JIRA, in the order of their creation. */
const textsAtJira = (): string[] =>
  jira.fixture.server.app.db.values<string>(
    sql`SELECT "values" ->> '$.message' FROM simulated_object WHERE kind = 'Comment' ORDER BY ordinal`,
  );

comments('creates a comment locally and then at JIRA: 201, Creation Scheduled, Creating, OK', async () => {
  const { clients, fixture, users } = jira;
  const response = await clients.owner.post(path, { issue: issue.url, message: 'Looking into it' });
  const comment = response.body;
  const expected = {
    url: `${fixture.url}${path}${comment.uuid}/`,
    uuid: comment.uuid,
    issue: issue.url,
    message: 'Looking into it',
    user: users.owner.url,
    author_username: '',
    created: comment.created,
    state: 'Creation Scheduled',
    error_message: '',
  };
  assert.equal([response.status, comment], [201, expected]);
  assert.is(response.headers.get('location'), comment.url);
  assert.equal(await collectStates(fixture, comment.url), ['Creation Scheduled', 'Creating', 'OK']);
  assert.equal((await clients.owner.get(comment.url)).body, { ...expected, author_username: 'simulator', state: 'OK' });
});

comments('creation requires an issue and a message', async () => {
  assert.equal((await jira.clients.owner.post(path, {})).body, { issue: required, message: required });
});

comments('sends the message, a blank line and its author to JIRA', async () => {
  await jira.fixture.staff.patch(jira.users.owner.url, { full_name: 'Olga Owner' });
  await commented('First line\nsecond line');
  assert.is(textsAtJira().at(-1), 'First line\nsecond line\n\n(added by Olga Owner [owner])');
});

comments(
  'a changed message goes to JIRA with the name of the user who added it: 200, Update Scheduled, Updating, OK',
  async () => {
    const { fixture } = jira;
    const comment = await commented('Tomorrow');
    const { body, status } = await fixture.staff.put(comment.url, { message: 'Today' });
    assert.equal([status, body], [200, { ...comment, message: 'Today', state: 'Update Scheduled' }]);
    assert.equal(await collectStates(fixture, comment.url), ['Update Scheduled', 'Updating', 'OK']);
    assert.is(textsAtJira().at(-1), 'Today\n\n(added by Olga Owner [owner])');
    assert.is((await fixture.staff.get(comment.url)).body.message, 'Today');
    assert.equal((await fixture.staff.put(comment.url, {})).body, { message: required });
  },
);

comments('sends a deletion to JIRA: 202, Deletion Scheduled, Deleting, removed', async () => {
  const comment = await commented('Never mind');
  const before = textsAtJira().length;
  const { body, status } = await jira.clients.owner.delete(comment.url);
  assert.equal([status, body], [202, { detail: 'Deletion was scheduled.' }]);
  assert.equal(await collectStates(jira.fixture, comment.url), ['Deletion Scheduled', 'Deleting', 'gone']);
  assert.is(textsAtJira().length, before - 1);
});

comments('a failure makes the comment Erred with its message', async () => {
  await setOptions(jira.fixture, jira.settings, { simulator_failures: 'Comment.create' });
  const { error_message: text, state } = await commented('Lost');
  assert.equal([state, text], ['Erred', 'Simulated failure of create']);
  await setOptions(jira.fixture, jira.settings, { simulator_failures: null });
});

comments('a comment waits for its issue', async () => {
  const { clients, fixture } = jira;
  const fields = { jira_project: jira.web.url, type: issue.type, priority: issue.priority, summary: 'Fresh' };
  const fresh = (await clients.owner.post('/api/jira-issues/', fields)).body;
  const { state } = await commented('At once', 'owner', fresh);
  assert.is(state, 'OK');
  assert.is((await fixture.staff.get(`${path}?issue=${fresh.url}`)).body.length, 1);
});

comments('staff, owners, managers and administrators of the project comment on issues that they see', async () => {
  const statuses = await asEachPersona(
    jira,
    async (client) => (await client.post(path, { issue: issue.url, message: 'Hello' })).status,
  );
  assert.equal(statuses, {
    staff: 201,
    support: 403,
    owner: 201,
    helper: 400,
    manager: 400,
    admin: 400,
    observer: 400,
    stranger: 400,
  });
  const theirs = await jira.issue({}, 'manager');
  assert.is((await jira.clients.manager.post(path, { issue: theirs.url, message: 'Hello' })).status, 201);
  await work(jira.fixture);
});

comments(
  'staff and global support see every comment, others their own; staff change and delete every one, others their own',
  async () => {
    const mine = await commented('Mine', 'owner');
    const forStaff = await commented('From the desk', 'staff');
    const reading = await asEachPersona(jira, async (client) => [
      (await client.get(mine.url)).status,
      (await client.get(forStaff.url)).status,
    ]);
    assert.equal(reading, {
      staff: [200, 200],
      support: [200, 200],
      owner: [200, 404],
      helper: [404, 404],
      manager: [404, 404],
      admin: [404, 404],
      observer: [404, 404],
      stranger: [404, 404],
    });
    const writing = await asEachPersona(
      jira,
      async (client) => (await client.patch(mine.url, { message: 'Mine' })).status,
    );
    assert.equal(writing, {
      staff: 200,
      support: 403,
      owner: 200,
      helper: 404,
      manager: 404,
      admin: 404,
      observer: 404,
      stranger: 404,
    });
    const deleting = await asEachPersona(jira, async (client, part) =>
      part === 'staff' ? 0 : (await client.delete(mine.url)).status,
    );
    assert.equal(deleting, {
      staff: 0,
      support: 403,
      owner: 202,
      helper: 404,
      manager: 404,
      admin: 404,
      observer: 404,
      stranger: 404,
    });
    await work(jira.fixture);
  },
);

comments('deleting an issue deletes its comments, locally and at JIRA', async () => {
  const doomed = await jira.issue();
  const comment = await commented('Goodbye', 'owner', doomed);
  await jira.clients.owner.delete(doomed.url);
  await work(jira.fixture);
  assert.is((await jira.fixture.staff.get(comment.url)).status, 404);
  assert.not.ok(textsAtJira().some((text) => text.startsWith('Goodbye')));
});

comments('comments record no events', () => {
  assert.equal(
    jira.fixture
      .events()
      .map(({ type }) => type)
      .filter((type) => type.startsWith('resource')),
    [],
  );
});

comments.run();
