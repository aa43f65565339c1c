import * as assert from 'uvu/assert';
import { GitLabAccount } from '../../vendors/gitlab/account.ts';
import { GitLab } from '../../vendors/gitlab/stand-in.ts';
import { print, runPython } from '../python.ts';
import type { Steps } from '../steps.ts';

/** The client python-gitlab does with the stand-in what our driver does, and looks at what our driver has done there. */
export async function gitlab(steps: Steps): Promise<void> {
  await steps.step('python-gitlab lives the life of a group at the stand-in', async () => {
    const vendor = await GitLab.start();
    vendor.contents.deletionTime = 100;
    const [token = ''] = vendor.tokens.keys();
    const [[username, password] = ['', '']] = vendor.passwords;
    try {
      print(await runPython('gitlab/client.py', vendor.url, token, username, password));
    } finally {
      await vendor.close();
    }
  });
  const account = await GitLabAccount.open();
  const look = () => runPython('gitlab/look.py', account.vendor.url, String(account.credentials.token));
  try {
    await steps.step('what Tenantry makes is there as the client sees it', async () => {
      const group = await account.created(await account.orderGroup('rockets'));
      const project = await account.created(await account.orderProject('engine', group));
      await account.pass(12);
      assert.equal(await look(), {
        groups: [[group.backend_id, 'rockets', 'rockets', ['alice 30', 'tenantry 50']]],
        projects: [[project.backend_id, 'engine', 'internal', ['alice 30']]],
      });
      for (const resource of [project, group]) assert.is((await account.remove(resource)).at(-1), 'gone');
    });
    await steps.step('nothing is left over at the GitLab', async () =>
      assert.equal(await look(), { groups: [], projects: [] }),
    );
  } finally {
    await account.close();
  }
}
