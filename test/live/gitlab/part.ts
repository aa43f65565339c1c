import * as assert from 'uvu/assert';
import { GitLabAccount } from '../../vendors/gitlab/account.ts';
import { GitLab } from '../../vendors/gitlab/stand-in.ts';
import { print, runPython } from '../python.ts';
import type { Steps } from '../steps.ts';

/** The client python-gitlab runs the operations of our driver on the simulated vendor, and reads the objects that our driver created. */
export async function gitlab(steps: Steps): Promise<void> {
  await steps.step('python-gitlab runs the life cycle of a group at the simulated vendor', async () => {
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
    await steps.step('the client sees the objects that Tenantry created', async () => {
      const group = await account.created(await account.orderGroup('rockets'));
      const project = await account.created(await account.orderProject('engine', group));
      await account.advance(12);
      assert.equal(await look(), {
        groups: [[group.backend_id, 'rockets', 'rockets', ['alice 30', 'tenantry 50']]],
        projects: [[project.backend_id, 'engine', 'internal', ['alice 30']]],
      });
      for (const resource of [project, group]) assert.is((await account.remove(resource)).at(-1), 'gone');
    });
    await steps.step('no object is left at the GitLab', async () =>
      assert.equal(await look(), { groups: [], projects: [] }),
    );
  } finally {
    await account.close();
  }
}
