import { faults } from '../../../vendors/faults.ts';
import { OpenStackAccount } from '../../../vendors/openstack/account.ts';
import { OpenStack } from '../../../vendors/openstack/stand-in.ts';

faults({
  name: 'OpenStack',
  prefix: 'openstack',
  open: (options) => OpenStackAccount.open(options),
  routes: { ping: 'POST /identity/auth/tokens', create: 'POST /compute/servers' },
  refusal: OpenStack.refusal,
  hasTokens: true,
  unauthorized: 'The request you have made requires authentication.',
  unknownState: (state) => ['OK', state],
});
