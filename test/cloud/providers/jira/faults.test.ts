import { faults } from '../../../vendors/faults.ts';
import { JiraAccount } from '../../../vendors/jira/account.ts';
import { Jira } from '../../../vendors/jira/stand-in.ts';

faults({
  name: 'JIRA',
  prefix: 'jira',
  open: (options) => JiraAccount.open(options),
  routes: { ping: 'GET /api/2/myself', create: 'POST /api/2/project' },
  refusal: Jira.refusal,
  unauthorized: 'JIRA CAPTCHA is triggered. Please reset credentials',
});
