/** Groups and projects as users see them, equal with the simulator and GitLab. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import type { Backend } from '../../../vendors/account.ts';
import { GitLabAccount } from '../../../vendors/gitlab/account.ts';

function contract(backend: Backend): void {
  const test = suite(`GitLab on the ${backend}`);
  let account: GitLabAccount;
  const reports = (): string[] => account.fixture.events().map(({ message }) => message);
  const isReal = backend === 'driver';
  const url = (path: string): string | null => (isReal ? account.vendor.url + path : null);

  test.before.each(async () => {
    account = await GitLabAccount.open({ backend });
  });
  test.after.each(() => account.close());

  test('a group and a project in it are created, pulled and deleted', async () => {
    const ordered = await account.orderGroup('rockets', { description: 'All of them' });
    assert.equal(ordered.web_url, null);
    assert.equal(await account.collectStates(ordered.url), ['Creation Scheduled', 'Creating', 'OK']);
    const group = await account.read(ordered.url);
    assert.equal(
      [group.name, group.description, group.web_url, group.access_url, group.projects],
      ['rockets', 'All of them', url('/groups/rockets'), url('/groups/rockets'), []],
    );
    assert.match(group.backend_id, /^\d+$/);
    const { url: path } = await account.orderProject('engine', group, { wiki_enabled: true, visibility_level: '20' });
    assert.equal(await account.collectStates(path), ['Creation Scheduled', 'Creating', 'OK']);
    const project = await account.read(path);
    const { group: link, group_name: groupName, visibility_level: level, wiki_enabled: wiki } = project;
    assert.equal([link, groupName, level, wiki], [group.url, 'rockets', 20, true]);
    assert.equal(
      [project.issues_enabled, project.snippets_enabled, project.merge_requests_enabled],
      [false, false, false],
    );
    assert.equal(
      [project.web_url, project.access_url, project.http_url_to_repo, project.ssh_url_to_repo],
      isReal
        ? [...Array(2).fill(url('/rockets/engine')), url('/rockets/engine.git'), 'git@127.0.0.1:rockets/engine.git']
        : [null, null, '', ''],
    );
    assert.equal(
      project.quotas.map(({ limit, name, usage }: Json) => [name, limit, usage]),
      [['commit_count', -1, 0]],
    );
    assert.equal(reports(), [
      'Resource rockets creation has been scheduled.',
      'Resource rockets has been created.',
      'Resource engine creation has been scheduled.',
      'Resource engine has been created.',
    ]);

    const whole = await account.read(group.url);
    for (const resource of [whole, project]) assert.equal(await account.act(resource, 'pull'), resource);
    assert.equal(await account.sync(), ['In Sync', '']);
    for (const resource of [whole, project]) assert.equal(await account.read(resource.url), resource);

    assert.equal((await account.alice.delete(group.url)).body, {
      detail: 'This group contains projects. Only empty group can be deleted.',
    });
    for (const resource of [project, whole])
      assert.equal(await account.remove(resource), ['Deletion Scheduled', 'Deleting', 'gone']);
    assert.equal(reports(), [
      'Resource engine deletion has been scheduled.',
      'GitLab Project engine has been deleted.',
      'Resource rockets deletion has been scheduled.',
      'GitLab Group rockets has been deleted.',
    ]);
  });

  test('changes names and descriptions only locally', async () => {
    const group = await account.created(await account.orderGroup('rockets'));
    assert.is((await account.alice.patch(group.url, { name: 'Missiles', description: 'New' })).status, 200);
    assert.equal(await account.sync(), ['In Sync', '']);
    const { description, name, state } = await account.act(group, 'pull');
    assert.equal([name, description, state], ['Missiles', 'New', 'OK']);
  });

  test('imports an unlinked object again, projects after their group', async () => {
    const { staff } = account.fixture;
    const group = await account.created(await account.orderGroup('rockets'));
    const project = await account.created(await account.orderProject('engine', group, { visibility_level: 20 }));
    for (const { url: link } of [project, group]) assert.is((await staff.post(`${link}unlink/`)).status, 204);
    assert.equal(await account.sync(), ['In Sync', '']);
    const items: Json[] = (await staff.get(`${account.service.url}link/`)).body;
    assert.equal(
      items.map((item) => [item.backend_id, item.name, item.resource_type, item.public]),
      [
        [group.backend_id, 'rockets', 'GitLab.Group', undefined],
        [project.backend_id, 'engine', 'GitLab.Project', true],
      ],
    );
    const link = async ({ backend_id, resource_type }: Json): Promise<Json> =>
      (await staff.post(`${account.service.url}link/`, { backend_id, resource_type, project: account.project.url }))
        .body;
    assert.equal(await link(items[1]), { backend_id: [`You must import group with ID ${group.backend_id} first`] });
    const imported = await link(items[0]);
    const again = await account.read((await link(items[1])).url);
    assert.equal([again.group, again.name, again.visibility_level], [imported.url, 'engine', 20]);
  });

  test.run();
}

contract('simulator');
contract('driver');
