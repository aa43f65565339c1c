import { Account } from '../../../vendors/digitalocean/account.ts';
import { faults } from '../../../vendors/faults.ts';

faults({
  name: 'DigitalOcean',
  prefix: 'digitalocean',
  open: (options) => Account.open(options),
  routes: { ping: 'GET /account', create: 'POST /droplets' },
  refusal: (status, text, headers = {}) => ({
    status,
    headers,
    text: JSON.stringify({ id: 'refused', message: text }),
  }),
  unauthorized: 'Unable to authenticate you',
  // States besides those of the vendor's documentation are errors (providers.md 5.5).
  unknownState: () => ['Erred', 'error'],
});
