import * as assert from 'uvu/assert';
import { JiraAccount } from '../../vendors/jira/account.ts';
import { Jira } from '../../vendors/jira/stand-in.ts';
import { print, runPython } from '../python.ts';
import type { Steps } from '../steps.ts';

/** The client python-jira runs the operations of our driver on the simulated vendor, and reads the objects that our driver created. */
export async function jira(steps: Steps): Promise<void> {
  const credentials = (vendor: Jira): string[] => [...vendor.passwords][0] ?? [];
  await steps.step('python-jira runs the life cycle of a project at the simulated vendor', async () => {
    const vendor = await Jira.start();
    vendor.contents.indexTime = 200;
    vendor.largestPage = 3;
    try {
      print(await runPython('jira/client.py', vendor.url, ...credentials(vendor)));
    } finally {
      await vendor.close();
    }
  });
  const account = await JiraAccount.open();
  const look = () => runPython('jira/look.py', account.vendor.url, ...credentials(account.vendor));
  try {
    await steps.step('the client sees the objects that Tenantry created', async () => {
      const web = await account.created(await account.order('Web'));
      const issue = await account.created(await account.orderIssue(web, 'Closed'));
      const subtask = await account.created(
        await account.orderIssue(web, 'Find the key', {
          type: await account.propertyLink('issue-types', 'Sub-task'),
          parent: issue.url,
        }),
      );
      const comment = await account.created(await account.orderComment(issue, 'It is the lock'));
      const file = await account.created(
        await account.orderAttachment(issue, 'Türschloß.txt', Buffer.from('knock knock')),
      );
      await account.advance(65);
      const text = 'It is the lock\n\n(added by Alice Liddell [alice])';
      assert.equal(await look(), {
        projects: [
          ['OLD', 'From before'],
          ['WEB', 'Web'],
        ],
        issues: [
          ['WEB-1', 'Closed', 'Task', 'Medium', null, [text], [['Türschloß.txt', 'knock knock']]],
          ['WEB-2', 'Find the key', 'Sub-task', 'Medium', 'WEB-1', [], []],
        ],
      });
      for (const one of [file, comment, subtask, issue]) assert.is((await account.remove(one)).at(-1), 'gone');
      assert.is((await account.remove(web, account.fixture.staff)).at(-1), 'gone');
    });
    await steps.step('no object is left at the JIRA', async () =>
      assert.equal(await look(), { projects: [['OLD', 'From before']], issues: [] }),
    );
  } finally {
    await account.close();
  }
}
