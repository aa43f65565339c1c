/** The program as a process that is killed while projects, issues and comments are being made at JIRA. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import { Jira } from '../../../vendors/jira/stand-in.ts';
import { KillableServer, until } from '../../../vendors/killable-server.ts';

const test = suite('kill -9 with JIRA');
let server: KillableServer;
let vendor: Jira;

test.before(async () => {
  server = new KillableServer();
  vendor = await Jira.start(server.now);
  vendor.world.addProject({ key: 'OLD', name: 'From before' });
  await server.start();
});

test.after(async () => {
  await server.end();
  await vendor.close();
});

const ask = (method: string, path: string, body?: unknown): Promise<Json> => server.ask(method, path, body);
const kinds = ['projects', 'issues', 'comments'];
const rows = async (...of: string[]): Promise<Json[]> =>
  (await Promise.all(of.map((kind) => ask('GET', `/api/jira-${kind}/?page_size=50`)))).flat();
const resting = (): Promise<void> =>
  until('every operation', async () =>
    (await rows(...kinds)).every(({ state }) => state === 'OK' || state === 'Erred'),
  );
const offer = async (path: string, name: string): Promise<string> =>
  (await ask('GET', `/api/jira-${path}/?name_exact=${encodeURIComponent(name)}`))[0].url;

let calls: string[] = [];
const count = (route: string): number => {
  calls.push(...vendor.server.take().map((call) => call.route));
  return calls.filter((call) => call === route).length;
};

/** Of each two calls of a route one is done and not answered, and one not even done. */
function spoil(route: string): void {
  vendor.server.mishap(route, 'silence');
  vendor.server.mishap(route, 'swallowed');
}

async function killAfter(route: string): Promise<void> {
  await until(route, () => count(route) === 2);
  await server.kill();
  await server.start();
  await resting();
  calls = [];
}

test('in the middle of every operation none is lost and nothing is made twice', async () => {
  const [username, password] = [...vendor.passwords][0] ?? [];
  const [link] = (await server.connect('jira', 1, { backend_url: vendor.url, username, password })) as [Json];
  const template = await offer('project-templates', 'Task management');
  const [type, priority] = [await offer('issue-types', 'Task'), await offer('priorities', 'High')];
  const routes = ['project', 'issue', 'issue/:key/comment'].map((path) => `POST /api/2/${path}`);
  const [makeProject = '', makeIssue = '', makeComment = ''] = routes;

  vendor.server.take();
  spoil(makeProject);
  for (const key of ['WEB', 'SHOP'])
    await ask('POST', '/api/jira-projects/', { service_project_link: link.url, name: `Project ${key}`, key, template });
  await killAfter(makeProject);
  const projects = await rows('projects');
  assert.equal(projects.map(({ backend_id: key, error_message: text }) => [key, text]).sort(), [
    ['SHOP', ''],
    ['WEB', ''],
  ]);

  spoil(makeIssue);
  for (const { url } of projects)
    await ask('POST', '/api/jira-issues/', { jira_project: url, type, priority, summary: 'Closed', description: 'x' });
  await killAfter(makeIssue);
  const issues = await rows('issues');
  assert.equal(issues.map(({ error_message: text, key }) => [key, text]).sort(), [
    ['SHOP-1', ''],
    ['WEB-1', ''],
  ]);
  assert.equal([...vendor.world.issues.keys()].sort(), ['SHOP-1', 'WEB-1']);

  spoil(makeComment);
  for (const { url } of issues) await ask('POST', '/api/jira-comments/', { issue: url, message: 'It is the lock' });
  await killAfter(makeComment);
  assert.equal(
    (await rows('comments')).map(({ error_message: text, state }) => [state, text]),
    [
      ['OK', ''],
      ['OK', ''],
    ],
  );
  assert.equal(
    [...vendor.world.issues.values()].map(({ comments }) => comments.length),
    [1, 1],
  );
});

test.run();
