import * as assert from 'uvu/assert';
import type { Json } from '../../support/fixture.ts';
import { AmazonAccount } from '../../vendors/amazon/account.ts';
import { Amazon } from '../../vendors/amazon/stand-in.ts';
import { print, runPython } from '../python.ts';
import type { Steps } from '../steps.ts';

/** The output of a script of Amazon's client (Debian's python3-boto3) against a simulated vendor. */
function client(script: string, vendor: Amazon): Promise<Json> {
  const [[access, { secret }] = ['', { secret: '' }]] = vendor.accessKeys;
  return runPython(`amazon/${script}`, vendor.url, access, secret);
}

/** The client runs the operations of our driver on the simulated vendor, and reads the objects that our driver created. */
export async function amazon(steps: Steps): Promise<void> {
  await steps.step("Amazon's client runs the life cycle of a machine at the simulated vendor", async () => {
    const vendor = await Amazon.start();
    vendor.contents.transitionMs = 300;
    vendor.largestPage = 7;
    try {
      print({ ...(await client('client.py', vendor)), calls: vendor.take().length });
    } finally {
      await vendor.close();
    }
  });
  const account = await AmazonAccount.open();
  const look = (): Promise<Json> => client('look.py', account.vendor);
  try {
    await steps.step('the client sees the objects that Tenantry created', async () => {
      const key = await account.key();
      const web = await account.created(
        await account.order('web', { ssh_public_key: key.url, user_data: '#cloud-config' }),
      );
      await account.act(web, 'stop');
      const data = await account.created(await account.orderVolume('data'));
      await account.act(data, 'attach', { instance: web.url, device: '/dev/sdf' });
      await account.act(web, 'resize', { size: await account.propertyLink('sizes', 'c4.large') });
      const { instances, keys, volumes } = await look();
      assert.equal(instances, [[web.backend_id, 'web', 'stopped', 'c4.large']]);
      assert.equal(volumes, [
        [data.backend_id, 'data', 'in-use', 10, '/dev/sdf'],
        [(await account.volumeNamed('volume-web')).backend_id, 'volume-web', 'in-use', 16, '/dev/xvda'],
      ]);
      assert.equal(keys, [`tenantry-${key.fingerprint.replaceAll(':', '')}`]);
      await account.act(data, 'detach');
      for (const { url } of [data, web]) {
        assert.is((await account.alice.delete(url)).status, 202);
        assert.is((await account.collectStates(url)).at(-1), 'gone');
      }
    });
    await steps.step('no object is left at the cloud', async () => {
      const { instances, volumes } = await look();
      assert.equal([instances.map(([, , state]: Json) => state), volumes], [['terminated'], []]);
    });
  } finally {
    await account.close();
  }
}
