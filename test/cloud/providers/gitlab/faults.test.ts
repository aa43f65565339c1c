import { faults } from '../../../vendors/faults.ts';
import { GitLabAccount } from '../../../vendors/gitlab/account.ts';
import { GitLab } from '../../../vendors/gitlab/stand-in.ts';

const wrong = 'Please check backend URL and credentials';

faults({
  name: 'GitLab',
  prefix: 'gitlab',
  open: (options) => GitLabAccount.open(options),
  routes: { ping: 'GET /user', create: 'POST /groups' },
  refusal: GitLab.refusal,
  unauthorized: wrong,
  pingRefusal: wrong,
});
