/** A user who loses access to a JIRA project also loses access to their own texts in it (providers.md 7.4). */
import * as assert from 'uvu/assert';
import { sql } from '../../src/kernel/db/sql.ts';
import { type Jira, startJira } from '../cloud/providers/jira/support.ts';
import type { Client, Json } from '../support/fixture.ts';
import { work } from '../support/simulated.ts';
import { suiteWithServerPerTest } from '../support/suite.ts';

const { test: authors, fixture } = suiteWithServerPerTest('JIRA authors without a role');
let jira: Jira;

authors.before.each(async () => {
  jira = await startJira(fixture);
});

const notFound = { detail: 'Not found.' };
const forbidden = { detail: 'You do not have permission to perform this action.' };

/** An issue, a comment and an attachment by one user. */
async function written(client: Client): Promise<Json[]> {
  const created = await client.post('/api/jira-issues/', {
    jira_project: jira.web.url,
    type: await jira.type('Task'),
    priority: await jira.priority('Medium'),
    summary: 'The password of the safe is 1234',
  });
  await work(fixture);
  const form = new FormData();
  form.append('issue', created.body.url);
  form.append('file', new Blob(['1234']), 'safe.txt');
  const objects = [
    created,
    await client.post('/api/jira-comments/', { issue: created.body.url, message: 'It is 1234' }),
    await client.send('POST', '/api/jira-attachments/', form),
  ];
  assert.equal(
    objects.map(({ status }) => status),
    [201, 201, 201],
  );
  await work(fixture);
  return objects.map(({ body }) => body);
}

/** The permission of a persona in the project. */
const permissionOf = async (username: string): Promise<Json> =>
  (await fixture.staff.get(`/api/project-permissions/?username=${username}`)).body[0];

authors('denies authors without a role in the project to read, change and delete what they wrote there', async () => {
  const { manager } = jira.clients;
  const objects = await written(manager);
  assert.is((await fixture.staff.delete((await permissionOf('manager')).url)).status, 204);
  for (const { url } of objects) {
    const list = url.replace(/[0-9a-f]{32}\/$/, '');
    assert.equal((await manager.get(list)).body, [], list);
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      if (method === 'PATCH' && list.includes('attachments')) continue;
      const { body, status } = await manager.send(method, url, method === 'PATCH' ? {} : undefined);
      assert.equal([status, body], [404, notFound], `${method} ${list}`);
    }
  }
  const [issue, , attachment] = objects;
  assert.is((await manager.get(`${attachment.url}file/`)).status, 404);
  assert.equal(
    (await manager.post('/api/jira-comments/', { issue: issue.url, message: 'Still here' })).body,
    { issue: ['Invalid hyperlink - Object does not exist.'] },
    'nothing can be added to it',
  );
  assert.is((await fixture.staff.get(issue.url)).body.state, 'OK', 'nothing has changed');
});

authors('lets an author with read access to the project read what they wrote, but not change it', async () => {
  const { manager } = jira.clients;
  const objects = await written(manager);
  await fixture.staff.delete((await permissionOf('manager')).url);
  await fixture.grant(jira.project, jira.users.manager, 'support');
  for (const { url } of objects) {
    assert.is((await manager.get(url)).status, 200, url);
    for (const method of url.includes('attachments') ? ['DELETE'] : ['PATCH', 'PUT', 'DELETE']) {
      const { body, status } = await manager.send(method, url, method === 'DELETE' ? undefined : {});
      assert.equal([status, body], [403, forbidden], `${method} ${url}`);
    }
  }
});

authors('hides replies from JIRA to an issue from users who cannot see its project', async () => {
  const { manager } = jira.clients;
  const [, comment] = await written(manager);
  const { db } = fixture.server.app;
  db.write(() =>
    db.update('jira_comment', db.scalar<number>(sql`SELECT max(id) FROM jira_comment`), { user_id: null }),
  );
  assert.is((await manager.get(comment.url)).status, 200);
  await fixture.staff.delete((await permissionOf('manager')).url);
  assert.is((await manager.get(comment.url)).status, 404);
});

authors('lets authors with a role change what they wrote', async () => {
  const { admin } = jira.clients;
  const [issue, comment, attachment] = await written(admin);
  assert.is((await admin.patch(issue.url, { summary: 'The safe is open' })).status, 200);
  assert.is((await admin.patch(comment.url, { message: 'Closed' })).status, 200);
  await work(fixture);
  for (const { url } of [attachment, comment, issue]) assert.is((await admin.delete(url)).status, 202, url);
});

authors.run();
