/** Projects, issues, comments and attachments as users see them, equal with the simulator and JIRA. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import type { Backend } from '../../../vendors/account.ts';
import { JiraAccount } from '../../../vendors/jira/account.ts';

function contract(backend: Backend): void {
  const test = suite(`JIRA on the ${backend}`);
  let account: JiraAccount;
  const isReal = backend === 'driver';
  const url = (path: string): string | null => (isReal ? account.vendor.url + path : null);
  const reports = (): string[] => account.fixture.events().map(({ message }) => message);
  const gone = async ({ url: link }: Json): Promise<void> => {
    assert.is((await account.alice.delete(link)).status, 202);
    assert.is((await account.collectStates(link)).at(-1), 'gone');
  };
  const changed = async ({ url: link }: Json, fields: object): Promise<Json> => {
    assert.is((await account.alice.patch(link, fields)).status, 200);
    await account.collectStates(link);
    return account.read(link);
  };

  test.before.each(async () => {
    account = await JiraAccount.open({ backend });
  });
  test.after.each(() => account.close());

  test('a project is created, renamed, pulled and deleted', async () => {
    const ordered = await account.order('Web');
    assert.equal(await account.collectStates(ordered.url), ['Creation Scheduled', 'Creating', 'OK']);
    const web = await account.read(ordered.url);
    assert.equal(
      [web.backend_id, web.template_name, web.access_url, web.priorities.length],
      ['WEB', 'Scrum software development', url('/projects/WEB'), 5],
    );
    assert.equal(
      (await account.read(web.url)).issue_types.map(({ name, subtask }: Json) => [name, subtask]),
      ['Bug', 'Epic', 'Story', 'Sub-task', 'Task'].map((name) => [name, name === 'Sub-task']),
    );
    const renamed = await changed(web, { name: 'Website' });
    assert.equal([renamed.name, renamed.state], ['Website', 'OK']);
    assert.equal(await account.act(renamed, 'pull'), renamed);
    assert.equal(await account.sync(), ['In Sync', '']);
    assert.equal(await account.read(web.url), renamed);
    assert.is((await account.remove(web, account.fixture.staff)).at(-1), 'gone');
    assert.equal(reports(), [
      'Resource Web creation has been scheduled.',
      'Resource Web has been created.',
      "JIRA Project Website has been updated. Name has been changed from 'Web' to 'Website'.",
      'Resource Website deletion has been scheduled.',
      'JIRA Project Website has been deleted.',
    ]);
  });

  test('a key that another project has is rejected', async () => {
    await account.created(await account.order('Web'));
    const { url: link } = await account.order('Other', { key: 'WEB' });
    await account.collectStates(link);
    const { error_message: text, state } = await account.read(link);
    assert.equal([state, text], ['Erred', "Project 'Web' uses this project key."]);
  });

  test('an issue is created, changed and deleted, with a subtask', async () => {
    const web = await account.created(await account.order('Web'));
    const ordered = await account.orderIssue(web, 'The shop is closed', { description: 'Since\ntoday' });
    assert.equal(await account.collectStates(ordered.url), ['Creation Scheduled', 'Creating', 'OK']);
    const issue = await account.read(ordered.url);
    assert.equal(
      [issue.key, issue.summary, issue.description, issue.status, issue.resolution, issue.resolution_date],
      ['WEB-1', 'The shop is closed', 'Since\ntoday', 'To Do', '', null],
    );
    assert.equal([issue.type_name, issue.priority_name, issue.access_url], ['Task', 'Medium', url('/browse/WEB-1')]);
    const account_ = isReal ? ['tenantry', 'Tenantry'] : ['simulator', 'JIRA simulator'];
    assert.equal([issue.creator_username, issue.creator_name], account_);
    assert.equal([issue.reporter_username, issue.assignee_username], [account_[0], '']);

    const subtask = await account.orderIssue(web, 'Find the key', {
      type: await account.propertyLink('issue-types', 'Sub-task'),
      parent: issue.url,
    });
    await account.collectStates(subtask.url);
    const below = await account.read(subtask.url);
    assert.equal([below.state, below.key, below.parent], ['OK', 'WEB-2', issue.url]);

    const high = await account.propertyLink('priorities', 'High');
    const after = await changed(issue, { summary: 'The shop is open', priority: high });
    assert.equal(
      [after.state, after.summary, after.priority_name, after.description],
      ['OK', 'The shop is open', 'High', 'Since\ntoday'],
    );
    for (const one of [below, issue]) await gone(one);
    assert.equal(
      reports().filter((message) => !message.includes('Web')),
      [],
    );
  });

  test('a comment is written, changed and deleted', async () => {
    const issue = await account.created(
      await account.orderIssue(await account.created(await account.order('Web')), 'Closed'),
    );
    const ordered = await account.orderComment(issue, 'It is the lock');
    assert.equal(await account.collectStates(ordered.url), ['Creation Scheduled', 'Creating', 'OK']);
    const comment = await account.read(ordered.url);
    assert.equal([comment.message, comment.author_username], ['It is the lock', isReal ? 'tenantry' : 'simulator']);
    assert.is((await changed(comment, { message: 'It was the lock' })).message, 'It was the lock');
    await gone(comment);
  });

  test('a file is attached, read and deleted', async () => {
    const issue = await account.created(
      await account.orderIssue(await account.created(await account.order('Web')), 'Closed'),
    );
    const ordered = await account.orderAttachment(issue, 'Türschloß.txt', Buffer.from('knock knock'));
    assert.equal(await account.collectStates(ordered.url), ['Creation Scheduled', 'Creating', 'OK']);
    const attachment = await account.read(ordered.url);
    assert.equal([attachment.name, attachment.size, attachment.error_message], ['Türschloß.txt', 11, '']);
    assert.is((await account.alice.get(attachment.file)).body, 'knock knock');
    await gone(attachment);
  });

  test('webhooks update an issue and a comment from JIRA', async () => {
    const issue = await account.created(
      await account.orderIssue(await account.created(await account.order('Web')), 'Closed'),
    );
    const comment = await account.created(await account.orderComment(issue, 'It is the lock'));
    for (const response of [
      await account.hook('jira:issue_updated', 'WEB-1'),
      await account.hook('comment_updated', 'WEB-1', (await backendId(comment)) ?? ''),
    ])
      assert.equal([response.status, response.body], [201, { detail: 'Webhook was accepted.' }]);
    assert.equal(await account.read(comment.url), comment);
    const { updated: _, ...same } = issue;
    const { updated: __, ...now } = await account.read(issue.url);
    assert.equal(now, same);
  });

  const backendId = async ({ uuid }: Json): Promise<string | undefined> =>
    account.fixture.server.app.db.value<string>({
      text: 'SELECT backend_id FROM jira_comment WHERE uuid = ?',
      values: [uuid],
    });

  test('an unlinked project is imported again', async () => {
    const web = await account.created(await account.order('Web'));
    const { staff } = account.fixture;
    assert.is((await staff.post(`${web.url}unlink/`)).status, 204);
    assert.equal(await account.sync(), ['In Sync', '']);
    const items: Json[] = (await staff.get(`${account.service.url}link/`)).body;
    const item = items.find(({ backend_id: key }) => key === 'WEB');
    assert.equal([item.name, item.resource_type], ['Web', 'JIRA.Project']);
    const { body } = await staff.post(`${account.service.url}link/`, {
      backend_id: 'WEB',
      resource_type: item.resource_type,
      project: account.project.url,
    });
    assert.equal([(await account.read(body.url)).name, (await account.read(body.url)).backend_id], ['Web', 'WEB']);
  });

  test.run();
}

contract('simulator');
contract('driver');
