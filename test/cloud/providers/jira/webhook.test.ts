/** providers.md 7.4: the receiver of webhooks. */
import * as assert from 'uvu/assert';
import { driverSettings } from '../../../../src/cloud/operations/drivers.ts';
import { SimulatedBackend } from '../../../../src/cloud/providers/simulator/backend.ts';
import { sql } from '../../../../src/kernel/db/sql.ts';
import type { ApiResponse, Json } from '../../../support/fixture.ts';
import { setOptions, simulatedService, step, work } from '../../../support/simulated.ts';
import { suiteWithServer } from '../../../support/suite.ts';
import { type Jira, startJira } from './support.ts';

const { test: webhooks, fixture } = suiteWithServer('JIRA webhooks', { strict_input: true });
let jira: Jira;

webhooks.before(async () => {
  jira = await startJira(fixture, { webhook_secret: 'hush hush, little baby' });
});

const path = '/api/jira-webhook-receiver/';

/** Sends a webhook as JIRA would, by default with the right secret. */
const receive = (
  event: string,
  key: string,
  comment?: string,
  secret = 'hush hush, little baby',
): Promise<ApiResponse<Json>> =>
  jira.fixture.anonymous.post(`${path}?secret=${encodeURIComponent(secret)}`, {
    webhookEvent: event,
    issue: { key, fields: { summary: 'forged' } },
    ...(comment !== undefined && { comment: { id: comment, body: 'forged' } }),
  });

/** Changes an object directly at JIRA. */
function atJira(change: (backend: SimulatedBackend) => void): void {
  const { app } = jira.fixture.server;
  const id = app.db.value<number>(sql`SELECT id FROM service_settings WHERE uuid = ${jira.settings.uuid}`) as number;
  const settings = driverSettings(app, id);
  assert.ok(settings);
  app.db.write(() => change(new SimulatedBackend(app, settings)));
}

const changeAtJira = (kind: string, id: string, values: object): void =>
  atJira((setup) => {
    const object = setup.find(kind, id);
    assert.ok(object);
    setup.change(object, { ...values });
  });

const removeAtJira = (kind: string, id: string): void =>
  atJira((setup) => {
    const object = setup.find(kind, id);
    assert.ok(object);
    setup.remove(object);
  });

const byKey = async (key: string): Promise<Json> =>
  (await jira.fixture.staff.get(`/api/jira-issues/?key=${key}`)).body[0];
const lastComment = (): string =>
  jira.fixture.server.app.db.value<string>(sql`SELECT backend_id FROM jira_comment ORDER BY id DESC LIMIT 1`) as string;

webhooks('allows only POST, requires no token and ignores one', async () => {
  assert.equal(
    [(await jira.fixture.anonymous.get(path)).status, (await jira.fixture.anonymous.get(path)).headers.get('allow')],
    [405, 'POST, OPTIONS'],
  );
  const { key } = await jira.issue();
  const response = await jira.fixture.anonymous.send(
    'POST',
    `${path}?secret=hush%20hush,%20little%20baby`,
    { webhookEvent: 'jira:issue_updated', issue: { key } },
    { Authorization: 'Token stale' },
  );
  assert.equal([response.status, response.body], [201, { detail: 'Webhook was accepted.' }]);
});

webhooks('rejects a missing or unknown secret with 403 before it reads the body', async () => {
  const { anonymous } = jira.fixture;
  const forbidden = { detail: 'You do not have permission to perform this action.' };
  for (const query of ['', '?secret=', '?secret=hush', '?secret=********', '?secret=hush%20hush,%20little%20baby%20']) {
    const { body, status } = await anonymous.post(`${path}${query}`, {});
    assert.equal([status, body], [403, forbidden], query);
  }
});

webhooks('rejects the secret of settings of another type, and a removed one', async () => {
  const { clients, fixture } = jira;
  const other = await simulatedService(fixture, 'jira', jira, {
    name: 'Second',
    webhook_secret: 'short lived but long enough',
  });
  assert.is(
    (await receive('jira:issue_updated', 'WEB-1', undefined, 'short lived but long enough')).status,
    400,
    'WEB is no project of these settings',
  );
  await clients.staff.patch(other.settings.url, { webhook_secret: null });
  assert.is((await receive('jira:issue_updated', 'WEB-1', undefined, 'short lived but long enough')).status, 403);
});

webhooks('requires the event, the issue key and, for comments, the comment id', async () => {
  const { anonymous } = jira.fixture;
  const post = async (body: object): Promise<Json> =>
    (await anonymous.post(`${path}?secret=hush%20hush,%20little%20baby`, body)).body;
  const required = ['This field is required.'];
  assert.equal(await post({}), { webhookEvent: required, issue: required });
  assert.equal(await post({ webhookEvent: 'jira:worklog_updated', issue: {} }), {
    webhookEvent: ['"jira:worklog_updated" is not a valid choice.'],
    issue: required,
  });
  for (const webhookEvent of ['comment_created', 'comment_updated', 'comment_deleted']) {
    assert.equal(await post({ webhookEvent, issue: { key: 'WEB-1' } }), { comment: required }, webhookEvent);
  }
});

webhooks('rejects an unknown project or issue with 400', async () => {
  const unknown = async (event: string, key: string): Promise<Json> => {
    const { body, status } = await receive(event, key, '1');
    assert.is(status, 400, event);
    return body;
  };
  assert.equal(await unknown('jira:issue_created', 'NONE-1'), { issue: ['Project of issue NONE-1 is unknown.'] });
  assert.equal(await unknown('jira:issue_created', 'WEB'), { issue: ['Project of issue WEB is unknown.'] });
  for (const event of [
    'jira:issue_updated',
    'jira:issue_deleted',
    'comment_created',
    'comment_updated',
    'comment_deleted',
  ]) {
    assert.equal(await unknown(event, 'WEB-99'), { issue: ['Issue WEB-99 is unknown.'] }, event);
  }
});

webhooks('accepts additional members from JIRA even with strict_input', async () => {
  const { key } = await jira.issue();
  const response = await jira.fixture.anonymous.post(
    `${path}?secret=hush%20hush,%20little%20baby&user_id=ada&user_key=ada`,
    {
      timestamp: 1515127624000,
      webhookEvent: 'jira:issue_updated',
      user: { name: 'ada' },
      issue: { key },
      changelog: {},
    },
  );
  assert.equal([response.status, response.body], [201, { detail: 'Webhook was accepted.' }]);
});

webhooks('jira:issue_updated: reads the issue from JIRA, and ignores the rest of the body', async () => {
  const { fixture } = jira;
  const issue = await jira.issue({ description: 'As it was' });
  changeAtJira('Issue', issue.key, {
    summary: 'Renamed at JIRA',
    status: 'Done',
    resolution: 'Fixed',
    resolution_date: '2018-01-06T00:00:00Z',
    assignee_name: 'Ada',
  });
  assert.is((await receive('jira:issue_updated', issue.key)).status, 201);
  await work(fixture);
  const { updated, ...read } = await byKey(issue.key);
  const { updated: before, ...rest } = issue;
  assert.equal(read, {
    ...rest,
    summary: 'Renamed at JIRA',
    status: 'Done',
    resolution: 'Fixed',
    resolution_date: '2018-01-06T00:00:00Z',
    assignee_name: 'Ada',
  });
  assert.ok(updated > before);
});

webhooks('jira:issue_created: imports an issue created at JIRA, without an author', async () => {
  const { clients, fixture } = jira;
  const mine = await jira.issue();
  atJira((setup) =>
    setup.add('Issue', 900, 'WEB-900', {
      name: 'From JIRA',
      summary: 'From JIRA',
      description: 'Typed there',
      type_name: 'Sub-task',
      priority_name: 'Low',
      parent_key: mine.key,
      project: 'WEB',
      status: 'To Do',
      creator_username: 'ada',
    }),
  );
  assert.is((await receive('jira:issue_created', 'WEB-900')).status, 201);
  await work(fixture);
  const issue = await byKey('WEB-900');
  assert.equal(
    [
      issue.summary,
      issue.description,
      issue.type_name,
      issue.priority_name,
      issue.parent,
      issue.creator_username,
      issue.user,
      issue.state,
    ],
    ['From JIRA', 'Typed there', 'Sub-task', 'Low', mine.url, 'ada', null, 'OK'],
  );
  assert.is((await clients.owner.get(issue.url)).status, 404);
});

webhooks('jira:issue_created: imports nothing if the issue does not exist at JIRA', async () => {
  assert.is((await receive('jira:issue_created', 'WEB-901')).status, 201);
  await work(jira.fixture);
  assert.is(await byKey('WEB-901'), undefined);
});

webhooks('jira:issue_deleted: removes an issue only if it no longer exists at JIRA', async () => {
  const { fixture } = jira;
  const [gone, stored] = [await jira.issue(), await jira.issue()];
  removeAtJira('Issue', gone.key);
  for (const { key } of [gone, stored]) assert.is((await receive('jira:issue_deleted', key)).status, 201);
  await work(fixture);
  assert.equal([(await fixture.staff.get(gone.url)).status, (await fixture.staff.get(stored.url)).status], [404, 200]);
});

webhooks(
  'comment_created: a response given at JIRA is seen by the user who made the issue, and changed by staff alone',
  async () => {
    const { clients, fixture } = jira;
    const issue = await jira.issue();
    atJira((setup) =>
      setup.add('Comment', 900, '77001', { name: '', message: 'Restart it', issue: issue.key, author_username: 'ada' }),
    );
    assert.is((await receive('comment_created', issue.key, '77001')).status, 201);
    await work(fixture);
    const [comment] = (await clients.owner.get(`/api/jira-comments/?issue=${issue.url}`)).body;
    assert.equal(
      [comment.message, comment.author_username, comment.user, comment.state],
      ['Restart it', 'ada', null, 'OK'],
    );
    assert.is((await clients.manager.get(comment.url)).status, 404);
    assert.is((await clients.owner.patch(comment.url, { message: 'No' })).status, 403);
    assert.is((await clients.owner.delete(comment.url)).status, 403);
  },
);

webhooks('comment_updated: reads the text again, without the added author line', async () => {
  const { clients, fixture } = jira;
  const issue = await jira.issue();
  const { body: comment } = await clients.owner.post('/api/jira-comments/', { issue: issue.url, message: 'One' });
  await work(fixture);
  const id = lastComment();
  changeAtJira('Comment', id, { message: 'Two\n\n(added by owner [owner])' });
  assert.is((await receive('comment_updated', issue.key, id)).status, 201);
  await work(fixture);
  assert.is((await clients.owner.get(comment.url)).body.message, 'Two');
});

webhooks('comment_deleted: removes a comment that no longer exists at JIRA', async () => {
  const { clients, fixture } = jira;
  const issue = await jira.issue();
  const { body: comment } = await clients.owner.post('/api/jira-comments/', { issue: issue.url, message: 'One' });
  await work(fixture);
  const id = lastComment();
  removeAtJira('Comment', id);
  assert.is((await receive('comment_deleted', issue.key, id)).status, 201);
  await work(fixture);
  assert.is((await clients.owner.get(comment.url)).status, 404);
});

webhooks('ignores a comment of another issue', async () => {
  const { fixture } = jira;
  const [here, there] = [await jira.issue(), await jira.issue()];
  atJira((setup) =>
    setup.add('Comment', 901, '77002', { name: '', message: 'There', issue: there.key, author_username: 'ada' }),
  );
  assert.is((await receive('comment_created', here.key, '77002')).status, 201);
  await work(fixture);
  assert.equal((await fixture.staff.get(`/api/jira-comments/?issue=${here.url}`)).body, []);
});

webhooks('a webhook about an object in creation waits for it, and creates no duplicate', async () => {
  const { clients, fixture, settings } = jira;
  const { priority, type } = await jira.issue();
  await setOptions(fixture, settings, { simulator_latency: 'create=5000,*=0' });
  const { body: issue } = await clients.owner.post('/api/jira-issues/', {
    jira_project: jira.web.url,
    type,
    priority,
    summary: 'Quick webhook',
  });
  await step(fixture);
  await step(fixture);
  const key = `WEB-${fixture.server.app.db.value<number>(sql`SELECT value FROM simulated_counter WHERE name = 'issues of WEB'`)}`;
  atJira((setup) => setup.add('Issue', 902, key, { name: '', summary: 'Quick webhook', project: 'WEB' }));
  assert.is((await receive('jira:issue_created', key)).status, 201);
  await work(fixture);
  await work(fixture);
  assert.equal(
    (await fixture.staff.get('/api/jira-issues/?summary=quick')).body.map((created: Json) => [
      created.key,
      created.url,
    ]),
    [[key, issue.url]],
  );
  await setOptions(fixture, settings, { simulator_latency: '0' });
});

webhooks('a webhook about an object being changed is handled after the change', async () => {
  const { clients, fixture, settings } = jira;
  const issue = await jira.issue();
  await setOptions(fixture, settings, { simulator_latency: 'update=5000,*=0' });
  await clients.owner.patch(issue.url, { summary: 'Changed here' });
  await step(fixture);
  changeAtJira('Issue', issue.key, { status: 'In Progress' });
  assert.is((await receive('jira:issue_updated', issue.key)).status, 201);
  await step(fixture);
  await step(fixture);
  assert.equal([(await byKey(issue.key)).state, (await byKey(issue.key)).summary], ['Updating', 'Changed here']);
  await work(fixture);
  await work(fixture);
  const { state, status, summary } = await byKey(issue.key);
  assert.equal({ state, status, summary }, { state: 'OK', status: 'In Progress', summary: 'Changed here' });
  await setOptions(fixture, settings, { simulator_latency: '0' });
});

webhooks('a repeated webhook is one job until the first is handled', async () => {
  const { key } = await jira.issue();
  for (let n = 0; n < 3; n++) assert.is((await receive('jira:issue_updated', key)).status, 201);
  const { db } = jira.fixture.server.app;
  assert.is(db.value(sql`SELECT count(*) FROM job WHERE entity_kind = 'JIRA.Issue'`), 1);
  await work(jira.fixture);
  assert.is(db.value(sql`SELECT count(*) FROM job`), 0);
});

webhooks.run();
