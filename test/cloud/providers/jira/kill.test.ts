/** Kills the program's process while it creates projects, issues and comments at JIRA. */
import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import { withOldProject } from '../../../vendors/jira/account.ts';
import { KillTest } from '../../../vendors/kill.ts';

const kill = new KillTest('kill -9 with JIRA', withOldProject);
const { ask, server, test } = kill;
const offer = async (path: string, name: string): Promise<string> =>
  (await ask('GET', `/api/jira-${path}/?name_exact=${encodeURIComponent(name)}`))[0].url;

const lists = ['projects', 'issues', 'comments', 'attachments'].map((kind) => `jira-${kind}`);

/** Kills the program after two calls of each route. All operations must still succeed. */
async function killAfter(...routes: string[]): Promise<void> {
  await kill.waitForCalls(routes, 2);
  await kill.kill();
  await kill.waitForOperations(...lists);
  const erred = (await kill.rows(...lists)).filter(({ state }) => state === 'Erred');
  assert.equal(
    erred.map(({ error_message: text, url }) => `${url}: ${text}`),
    [],
  );
}

test('a kill during any operation neither loses nor repeats it', async () => {
  const [username, password] = [...kill.vendor.passwords][0] ?? [];
  const [link] = (await server.connect('jira', 1, { backend_url: kill.vendor.url, username, password })) as [Json];
  const template = await offer('project-templates', 'Task management');
  const [type, priority] = [await offer('issue-types', 'Task'), await offer('priorities', 'High')];
  const routes = ['project', 'issue', 'issue/:key/comment'].map((path) => `POST /api/2/${path}`);
  const [makeProject = '', makeIssue = '', makeComment = ''] = routes;

  kill.injectFaults([makeProject]);
  for (const key of ['WEB', 'SHOP'])
    await ask('POST', '/api/jira-projects/', { service_project_link: link.url, name: `Project ${key}`, key, template });
  await killAfter(makeProject);
  const projects = await kill.rows('jira-projects');
  assert.equal(projects.map(({ backend_id: key, error_message: text }) => [key, text]).sort(), [
    ['SHOP', ''],
    ['WEB', ''],
  ]);

  kill.injectFaults([makeIssue]);
  for (const { url } of projects)
    await ask('POST', '/api/jira-issues/', { jira_project: url, type, priority, summary: 'Closed', description: 'x' });
  await killAfter(makeIssue);
  const issues = await kill.rows('jira-issues');
  assert.equal(issues.map(({ error_message: text, key }) => [key, text]).sort(), [
    ['SHOP-1', ''],
    ['WEB-1', ''],
  ]);
  assert.equal([...kill.vendor.contents.issues.keys()].sort(), ['SHOP-1', 'WEB-1']);

  kill.injectFaults([makeComment]);
  for (const { url } of issues) await ask('POST', '/api/jira-comments/', { issue: url, message: 'It is the lock' });
  await killAfter(makeComment);
  assert.equal(
    (await kill.rows('jira-comments')).map(({ error_message: text, state }) => [state, text]),
    [
      ['OK', ''],
      ['OK', ''],
    ],
  );
  assert.equal(
    [...kill.vendor.contents.issues.values()].map(({ comments }) => comments.length),
    [1, 1],
  );

  const { contents: setup } = kill.vendor;
  const attach = 'POST /api/2/issue/:key/attachments';
  kill.injectFaults([attach]);
  for (const { url } of issues) {
    const form = new FormData();
    form.set('issue', url);
    form.set('file', new Blob(['It broke.']), 'log.txt');
    await ask('POST', '/api/jira-attachments/', form);
  }
  await killAfter(attach);
  assert.equal(
    [...setup.issues.values()].map(({ attachments }) => attachments.length),
    [1, 1],
  );

  const changes = ['project/:key', 'issue/:key', 'issue/:key/comment/:id'].map((path) => `PUT /api/2/${path}`);
  for (const [n, list] of ['projects', 'issues', 'comments'].entries()) {
    const route = changes[n] as string;
    kill.injectFaults([route]);
    for (const { backend_id: id, url } of await kill.rows(`jira-${list}`))
      await ask('PATCH', url, [{ name: `Renamed ${id}` }, { summary: 'Ajar' }, { message: 'It is the hinge' }][n]);
    await killAfter(route);
  }
  assert.equal(
    [...setup.issues.values()].map(({ comments, summary }) => [
      summary,
      comments.map(({ body }) => body.split('\n')[0]),
    ]),
    Array(2).fill(['Ajar', ['It is the hinge']]),
  );

  const [attachments, comments] = ['attachment/:id', 'issue/:key/comment/:id'].map((path) => `DELETE /api/2/${path}`);
  for (const [list, route] of [
    ['attachments', attachments],
    ['comments', comments],
    ['issues', 'DELETE /api/2/issue/:key'],
    ['projects', 'DELETE /api/2/project/:key'],
  ] as const) {
    kill.injectFaults([route as string]);
    for (const { url } of await kill.rows(`jira-${list}`)) await ask('DELETE', url);
    await killAfter(route as string);
    assert.equal(await kill.rows(`jira-${list}`), []);
  }
  assert.is(setup.issues.size, 0);
});

test.run();
