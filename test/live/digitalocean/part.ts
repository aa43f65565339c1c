import * as assert from 'uvu/assert';
import { publicKeys } from '../../support/public-keys.ts';
import { Account } from '../../vendors/digitalocean/account.ts';
import { DigitalOcean } from '../../vendors/digitalocean/stand-in.ts';
import { print, runPython } from '../python.ts';
import type { Steps } from '../steps.ts';

/** The client python-digitalocean runs the operations of our driver on the simulated vendor, and reads the objects that our driver created. */
export async function digitalOcean(steps: Steps): Promise<void> {
  await steps.step('python-digitalocean runs the life cycle of a droplet at the simulated vendor', async () => {
    const vendor = await DigitalOcean.start();
    vendor.actionTime = 200;
    vendor.largestPage = 3;
    try {
      const seen = await runPython('digitalocean/client.py', vendor.url, 'full-access', publicKeys.ed25519);
      assert.is(seen.left, 0);
      print(seen);
    } finally {
      await vendor.close();
    }
  });
  const account = await Account.open();
  const look = () => runPython('digitalocean/look.py', account.vendor.url, 'full-access');
  try {
    await steps.step('the client sees the objects that Tenantry created', async () => {
      const key = await account.key();
      const web = await account.running('web', { ssh_public_key: key.url });
      await account.act(web, 'stop');
      const { url: size } = (await account.fixture.staff.get('/api/digitalocean-sizes/?name_exact=s-2vcpu-4gb'))
        .body[0];
      const { backend_id: id, external_ips: ips } = await account.act(web, 'resize', { size, disk: false });
      assert.equal(await look(), {
        droplets: [[id, 'web', 'off', 's-2vcpu-4gb', 'nyc3', 'debian-9-x64', ips[0]]],
        keys: [['laptop', key.fingerprint]],
      });
      assert.equal((await account.remove(web)).at(-1), 'gone');
    });
    await steps.step('no object is left at the cloud', async () => {
      const { url } = (await account.alice.get('/api/keys/')).body[0];
      assert.is((await account.alice.delete(url)).status, 204);
      await account.advance(3);
      assert.equal(await look(), { droplets: [], keys: [] });
    });
  } finally {
    await account.close();
  }
}
