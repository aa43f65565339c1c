/** Details of JIRA's driver: lost responses about parts of issues, texts, files, pages, and webhooks. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import { JiraAccount } from '../../../vendors/jira/account.ts';
import type { Fault } from '../../../vendors/server.ts';

const test = suite('JIRA for real (providers.md 7)');
let account: JiraAccount;
let web: Json;

test.before.each(async () => {
  account = await JiraAccount.open();
  web = await account.created(await account.order('Web'));
});
test.after.each(() => account.close());

const setup = () => account.vendor.contents;
const there = (key: string) => {
  const issue = setup().issues.get(key);
  if (!issue) throw new Error(`There is no ${key}`);
  return issue;
};
const helen = () => setup().users[1] as (typeof account.vendor.contents.users)[number];
const state = async ({ url }: Json): Promise<unknown[]> => {
  await account.collectStates(url);
  const { error_message: text, state: now } = await account.read(url);
  return [now, text];
};
const count = (route: string): number => account.calls().filter((called) => called === route).length;

const lost: readonly (readonly [what: string, fault: Fault, calls: number])[] = [
  ['lost', 'lost', 1],
  ['cut to its half', 'half', 1],
  ['never sent, the connection being cut before', 'reset', 2],
];
for (const [what, fault, calls] of lost) {
  test(`creates an issue, a comment and a file once when the response is ${what}`, async () => {
    const routes = ['issue', 'issue/:key/comment', 'issue/:key/attachments'].map((path) => `POST /api/2/${path}`);
    const [makeIssue = '', makeComment = '', attach = ''] = routes;
    const twin = await account.created(await account.orderIssue(web, 'Closed', { description: 'Since today' }));
    account.vendor.server.injectFault(makeIssue, fault);
    const issue = await account.orderIssue(web, 'Closed', { description: 'Since today' });
    assert.equal([await state(issue), count(makeIssue)], [['OK', ''], calls]);
    assert.equal([(await account.read(issue.url)).key, [...setup().issues.keys()]], ['WEB-2', ['WEB-1', 'WEB-2']]);
    for (const [route, order] of [
      [makeComment, () => account.orderComment(twin, 'Hello')],
      [attach, () => account.orderAttachment(twin, 'a.txt', Buffer.from('abc'))],
    ] as const) {
      await account.created(await order());
      account.vendor.server.injectFault(route, fault);
      assert.equal([await state(await order()), count(route)], [['OK', ''], calls]);
    }
    const { attachments, comments } = there('WEB-1');
    assert.equal([comments.length, attachments.length], [2, 2]);
    const ids = (table: string): string[] =>
      account.fixture.server.app.db.values<string>({ text: `SELECT backend_id FROM ${table}`, values: [] }).sort();
    assert.equal(ids('jira_comment'), comments.map(({ id }) => id).sort());
    assert.equal(ids('jira_attachment'), attachments.map(({ id }) => id).sort());
  });
}

test('creates two indistinguishable issues one after the other', async () => {
  account.vendor.server.injectFault('POST /api/2/issue', 'lost', 2);
  const issues = [await account.orderIssue(web, 'Closed'), await account.orderIssue(web, 'Closed')];
  for (const issue of issues) assert.equal(await state(issue), ['OK', '']);
  const keys = await Promise.all(issues.map(async ({ url }) => (await account.read(url)).key));
  assert.equal([keys.sort(), setup().issues.size], [['WEB-1', 'WEB-2'], 2]);
});

test('does not mistake an existing project with the same key for one whose response was lost', async () => {
  setup().addProject({ key: 'SHOP', name: 'Shop' });
  account.vendor.server.injectFault('POST /api/2/project', 'lost');
  assert.equal(await state(await account.order('Shop')), [
    'Erred',
    "Project 'Shop' uses this project key., A project with that name already exists.",
  ]);
});

test('creates projects from the template with the account as their lead', () => {
  const { lead, template } = setup().projects.get('WEB') ?? {};
  assert.equal([lead?.name, template?.name], ['tenantry', 'Scrum software development']);
});

test('sends only the values that differ from JIRA', async () => {
  const issue = await account.created(await account.orderIssue(web, 'Closed', { description: 'Since\ntoday' }));
  there('WEB-1').description = 'Since\r\ntoday ';
  await account.alice.patch(issue.url, { summary: 'Open' });
  await account.collectStates(issue.url);
  const sent = account.vendor.server.take().filter(({ method }) => method === 'PUT');
  assert.equal(
    sent.map(({ text }) => JSON.parse(text)),
    [{ fields: { summary: 'Open' } }],
  );
});

test('a comment names its author at JIRA, and is shown without that line', async () => {
  const issue = await account.created(await account.orderIssue(web, 'Closed'));
  const comment = await account.created(await account.orderComment(issue, 'It is\nthe lock'));
  assert.is(there('WEB-1').comments[0]?.body, 'It is\nthe lock\n\n(added by Alice Liddell [alice])');
  assert.is(comment.message, 'It is\nthe lock');
});

test('uploads a large file unchanged, under its name', async () => {
  const issue = await account.created(await account.orderIssue(web, 'Closed'));
  const content = Buffer.alloc(10 * 1024 * 1024 - 3, 'tenantry\r\n--');
  await account.created(await account.orderAttachment(issue, 'Türschloß "1".bin', content));
  const [attachment] = there('WEB-1').attachments;
  assert.is(attachment?.filename, 'Türschloß %221%22.bin');
  assert.ok(attachment?.content.equals(content));
});

test('marks an issue as Erred with all messages of JIRA', async () => {
  setup().priorities.pop();
  const issue = await account.orderIssue(web, 'Closed', {
    priority: await account.propertyLink('priorities', 'Lowest'),
  });
  assert.equal(await state(issue), ['Erred', "Priority name 'Lowest' is not valid"]);
});

test('applies changes that webhooks of JIRA report', async () => {
  const issue = await account.created(await account.orderIssue(web, 'Closed'));
  const known = there('WEB-1');
  Object.assign(known, { status: 'Done', resolution: 'Fixed', resolved: Date.parse('2018-01-06T10:00:00Z') });
  known.assignee = helen();
  known.comments.push({ id: '77', body: 'It is repaired', author: helen() });
  assert.is((await account.hook('jira:issue_updated', 'WEB-1')).status, 201);
  assert.is((await account.hook('comment_created', 'WEB-1', '77')).status, 201);
  const after = await account.read(issue.url);
  assert.equal(
    [after.status, after.resolution, after.resolution_date, after.assignee_name, after.assignee_email],
    ['Done', 'Fixed', '2018-01-06T10:00:00.000Z', 'Helen of the help desk', 'helen@example.com'],
  );
  const comments = async (): Promise<Json[]> => (await account.alice.get('/api/jira-comments/')).body;
  assert.equal(
    (await comments()).map((comment) => [comment.message, comment.author_username, comment.user]),
    [['It is repaired', 'helen', null]],
  );
  known.comments.pop();
  assert.is((await account.hook('comment_deleted', 'WEB-1', '77')).status, 201);
  assert.equal(await comments(), []);

  const [type, priority] = [setup().types[1], 'High'];
  if (type)
    setup().addIssue(known.project, {
      summary: 'New',
      description: null,
      type,
      priority,
      parent: undefined,
      creator: helen(),
    });
  assert.is((await account.hook('jira:issue_created', 'WEB-2')).status, 201);
  const [created] = (await account.fixture.staff.get('/api/jira-issues/?key=WEB-2')).body;
  assert.equal(
    [created.summary, created.type_name, created.creator_username, created.user, created.state],
    ['New', 'Bug', 'helen', null, 'OK'],
  );
  setup().issues.delete('WEB-2');
  assert.is((await account.hook('jira:issue_deleted', 'WEB-2')).status, 201);
  assert.equal((await account.fixture.staff.get('/api/jira-issues/?key=WEB-2')).body, []);
});

test('follows no path of a webhook other than that of a comment', async () => {
  await account.created(await account.orderIssue(web, 'Closed'));
  account.calls();
  assert.is((await account.hook('comment_updated', 'WEB-1', '../../../project/OLD')).status, 201);
  assert.equal(account.calls(), []);
});

test('searches all pages for a comment', async () => {
  const issue = await account.created(await account.orderIssue(web, 'Closed'));
  account.vendor.largestPage = 2;
  for (let n = 0; n < 5; n++) there('WEB-1').comments.push({ id: String(n), body: `Text ${n}`, author: helen() });
  account.vendor.server.injectFault('POST /api/2/issue/:key/comment', 'lost');
  assert.equal(await state(await account.orderComment(issue, 'Hello')), ['OK', '']);
  assert.is(there('WEB-1').comments.length, 6);
});

test('shows an unknown issue state', async () => {
  const issue = await account.created(await account.orderIssue(web, 'Closed'));
  there('WEB-1').status = 'Waiting for the moon';
  await account.hook('jira:issue_updated', 'WEB-1');
  const { state: now, status } = await account.read(issue.url);
  assert.equal([now, status], ['OK', 'Waiting for the moon']);
});

test.run();
