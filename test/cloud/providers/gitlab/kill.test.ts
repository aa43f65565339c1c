/** Kills the program's process while it creates groups, projects and members at GitLab. */
import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import { GitLab } from '../../../vendors/gitlab/stand-in.ts';
import { KillTest } from '../../../vendors/kill.ts';
import { until } from '../../../vendors/killable-server.ts';

const kill = new KillTest('kill -9 with GitLab', GitLab.start);
const { ask, server, test } = kill;
const lists = ['gitlab-groups', 'gitlab-projects'];
const group = (path: string, link: Json): Promise<Json> =>
  ask('POST', '/api/gitlab-groups/', { service_project_link: link.url, name: path, path });
const project = (name: string, of: Json, link: Json): Promise<Json> =>
  ask('POST', '/api/gitlab-projects/', { service_project_link: link.url, name, group: of.url, visibility_level: 0 });

test('a kill during any operation neither loses nor repeats it', async () => {
  const { vendor } = kill;
  const [token] = vendor.tokens.keys();
  const [link] = (await server.connect('gitlab', 1, { backend_url: vendor.url, token })) as [Json];
  const [home, leaving, ending] = [
    await group('home', link),
    await group('leaving', link),
    await group('ending', link),
  ];
  await kill.waitForOperations(...lists);

  // Of every two calls, one is executed without a response, and one is not executed.
  const [makeGroup, remove, makeProject] = ['POST /groups', 'DELETE /:place/:id', 'POST /projects'] as const;
  kill.injectFaults([makeGroup, remove, makeProject]);
  vendor.server.injectFault('POST /users', 'no response');
  for (const n of [1, 2]) await group(`group-${n}`, link);
  for (const { url } of [leaving, ending]) await ask('DELETE', url);
  await kill.waitForCalls([makeGroup, remove], 2);
  await kill.kill();
  for (const n of [1, 2]) await project(`project-${n}`, home, link);
  const alice = await ask('POST', '/api/users/', { username: 'alice', email: 'alice@example.com' });
  const ours = (await ask('GET', '/api/projects/'))[0].url;
  await ask('POST', '/api/project-permissions/', { project: ours, user: alice.url, role: 'admin' });
  await until('projects', () => kill.countCalls(makeProject) === 2 && kill.countCalls('POST /users') >= 1);
  await kill.kill();
  await kill.waitForOperations(...lists);

  const present = await kill.rows(...lists);
  assert.equal(
    present.map(({ error_message: text, name, state }) => [name, state, text]).sort(),
    ['group-1', 'group-2', 'home', 'project-1', 'project-2'].map((name) => [name, 'OK', '']),
  );
  const { groups, projects, users } = vendor.contents;
  const there = [...groups.values(), ...projects.values()].map(({ id, name }) => [name, String(id)]);
  assert.equal(there.sort(), present.map(({ backend_id: id, name }) => [name, id]).sort());
  // One account was created. It is a member of everything.
  const developers = (): number =>
    [...groups.values(), ...projects.values()].filter(({ members }) => [...members.values()].includes(30)).length;
  await until('members', () => developers() === 5);
  assert.equal(
    [...users.values()].map(({ username }) => username),
    ['tenantry', 'alice'],
  );
  assert.equal(
    [
      await server.countEvents('resource_creation_succeeded'),
      await server.countEvents('resource_deletion_succeeded'),
      await server.countEvents('resource_creation_failed'),
    ],
    [7, 2, 0],
  );

  // Revoke the role, then delete the projects.
  const leave = 'DELETE /:place/:id/members/:user';
  kill.injectFaults([leave]);
  const [{ url: role }] = await ask('GET', `/api/project-permissions/?user=${alice.uuid}`);
  await ask('DELETE', role);
  await until('departures', () => kill.countCalls(leave) >= 2);
  await kill.kill();
  await until('no members', () => developers() === 0);
  kill.injectFaults([remove]);
  for (const { url } of await kill.rows('gitlab-projects')) await ask('DELETE', url);
  await kill.waitForCalls([remove], 2);
  await kill.kill();
  await until('deletions', async () => (await kill.rows('gitlab-projects')).length === 0);
  // GitLab deletes the marked projects later.
  assert.ok([...projects.values()].every(({ removalTime }) => removalTime !== undefined));
});

test.run();
