/** The program as a process that is killed while groups, projects and members are being made at GitLab. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import { GitLab } from '../../../vendors/gitlab/stand-in.ts';
import { KillableServer, until } from '../../../vendors/killable-server.ts';

const test = suite('kill -9 with GitLab');
let server: KillableServer;
let vendor: GitLab;

test.before(async () => {
  server = new KillableServer();
  vendor = await GitLab.start(server.now);
  await server.start();
});

test.after(async () => {
  await server.end();
  await vendor.close();
});

const ask = (method: string, path: string, body?: unknown): Promise<Json> => server.ask(method, path, body);
const rows = async (): Promise<Json[]> =>
  (await Promise.all(['groups', 'projects'].map((kind) => ask('GET', `/api/gitlab-${kind}/?page_size=50`)))).flat();
const resting = (): Promise<void> =>
  until('every operation', async () => (await rows()).every(({ state }) => state === 'OK' || state === 'Erred'));
const group = (path: string, link: Json): Promise<Json> =>
  ask('POST', '/api/gitlab-groups/', { service_project_link: link.url, name: path, path });
const project = (name: string, of: Json, link: Json): Promise<Json> =>
  ask('POST', '/api/gitlab-projects/', { service_project_link: link.url, name, group: of.url, visibility_level: 0 });

let calls: string[] = [];
const count = (route: string): number => {
  calls.push(...vendor.server.take().map((call) => call.route));
  return calls.filter((call) => call === route).length;
};

test('in the middle of every operation none is lost and nothing is made twice', async () => {
  const [token] = vendor.tokens.keys();
  const [link] = (await server.connect('gitlab', 1, { backend_url: vendor.url, token })) as [Json];
  const [home, leaving, ending] = [
    await group('home', link),
    await group('leaving', link),
    await group('ending', link),
  ];
  await resting();

  // Of each two calls one is done and not answered, and one not even done.
  vendor.server.take();
  calls = [];
  const wanted = { 'POST /groups': 2, 'POST /projects': 2, 'DELETE /:place/:id': 2, 'POST /users': 1 };
  for (const [route, times] of Object.entries(wanted)) {
    vendor.server.mishap(route, 'silence');
    if (times > 1) vendor.server.mishap(route, 'swallowed');
  }
  for (const n of [1, 2]) await group(`group-${n}`, link);
  for (const { url } of [leaving, ending]) await ask('DELETE', url);
  await until('groups', () => count('POST /groups') === 2 && count('DELETE /:place/:id') === 2);
  await server.kill();
  await server.start();
  for (const n of [1, 2]) await project(`project-${n}`, home, link);
  const alice = await ask('POST', '/api/users/', { username: 'alice', email: 'alice@example.com' });
  const ours = (await ask('GET', '/api/projects/'))[0].url;
  await ask('POST', '/api/project-permissions/', { project: ours, user: alice.url, role: 'admin' });
  await until('projects', () => count('POST /projects') === 2 && count('POST /users') >= 1);
  await server.kill();
  await server.start();
  await resting();

  const present = await rows();
  assert.equal(
    present.map(({ error_message: text, name, state }) => [name, state, text]).sort(),
    ['group-1', 'group-2', 'home', 'project-1', 'project-2'].map((name) => [name, 'OK', '']),
  );
  const { groups, projects, users } = vendor.world;
  const there = [...groups.values(), ...projects.values()].map(({ id, name }) => [name, String(id)]);
  assert.equal(there.sort(), present.map(({ backend_id: id, name }) => [name, id]).sort());
  // One account was made, which is a member of everything.
  const developers = (): number =>
    [...groups.values(), ...projects.values()].filter(({ members }) => [...members.values()].includes(30)).length;
  await until('members', () => developers() === 5);
  assert.equal(
    [...users.values()].map(({ username }) => username),
    ['tenantry', 'alice'],
  );
  assert.equal(
    [
      await server.told('resource_creation_succeeded'),
      await server.told('resource_deletion_succeeded'),
      await server.told('resource_creation_failed'),
    ],
    [7, 2, 0],
  );
});

test.run();
