import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import { publicKeys } from '../../../support/public-keys.ts';
import { until } from '../../caller.ts';
import type { Account, Life } from './life.ts';
import type { Connections } from './network.ts';
import { synchronise } from './settings.ts';

/** Creates an instance with two volumes, a key and a floating IP; returns it stopped. */
export async function makeInstance(
  { cloud, staff, steps }: Life,
  { link }: Account,
  tenant: Json,
  key: Json,
): Promise<Json> {
  const flavor = await staff.only('/api/openstack-flavors/?name_exact=m1.tiny');
  const image = await staff.only('/api/openstack-images/');
  const subnet = await staff.only(`/api/openstack-subnets/?tenant_uuid=${tenant.uuid}&name=-sub-net`);
  const ssh = await staff.only(`/api/openstack-security-groups/?tenant_uuid=${tenant.uuid}&name_exact=ssh`);
  const instance = await steps.step('instance create with two volumes, key and floating IP', () =>
    staff.make('/api/openstack-instances/', {
      service_project_link: link.url,
      tenant: tenant.url,
      name: 'web',
      flavor: flavor.url,
      image: image.url,
      system_volume_size: 1024,
      data_volume_size: 2048,
      ssh_public_key: key.url,
      security_groups: [{ url: ssh.url }],
      internal_ips_set: [{ subnet: subnet.url }],
      floating_ips: [{ subnet: subnet.url }],
      user_data: '#cloud-config',
    }),
  );
  await steps.step('instance: volumes, addresses, group and key as requested', async () => {
    assert.is(instance.runtime_state, 'ACTIVE');
    assert.equal(
      instance.volumes.map(({ bootable, name, size, state }: Json) => [name, size, bootable, state]),
      [
        ['web-system', 1024, true, 'OK'],
        ['web-data', 2048, false, 'OK'],
      ],
    );
    assert.match(instance.internal_ips[0], /^192\.168\.50\./);
    assert.match(instance.external_ips[0], /^198\.18\./);
    assert.is(instance.floating_ips[0].address, instance.external_ips[0]);
    assert.is(instance.floating_ips[0].internal_ip_address, instance.internal_ips[0]);
    assert.equal(
      instance.security_groups.map(({ name }: Json) => name),
      ['ssh'],
    );
    const server = await cloud.client(`server show ${instance.backend_id} -f json`);
    assert.match(server.key_name, /-laptop$/);
  });
  await steps.step('instance stop', async () =>
    assert.is((await staff.act(instance, 'stop')).runtime_state, 'SHUTOFF'),
  );
  return instance;
}

export const makeKey = ({ staff }: Life): Promise<Json> =>
  staff.post('/api/keys/', { name: 'laptop', public_key: publicKeys.rsa });

export async function removeKey({ cloud, staff }: Life, key: Json): Promise<void> {
  await staff.ask(204, 'DELETE', key.url);
  await until(
    'key pair',
    async () => !JSON.stringify(await cloud.client('keypair list -f json')).includes(key.uuid) || undefined,
  );
}

/** Runs every action on an instance, which is stopped before and after. */
export async function changeInstance(
  { cloud, staff, steps }: Life,
  instance: Json,
  { group, subnet }: Connections,
): Promise<void> {
  const state = async (action: string, body?: unknown): Promise<string> =>
    (await staff.act(instance, action, body)).runtime_state;
  await steps.step('instance change_flavor', async () => {
    const flavor = await staff.only('/api/openstack-flavors/?name_exact=m1.small');
    assert.is(await state('change_flavor', { flavor: flavor.url }), 'SHUTOFF');
    const { cores, flavor_name: name, ram } = await staff.get(instance.url);
    assert.equal([name, cores, ram], ['m1.small', 1, 2048]);
  });
  await steps.step('instance start', async () => assert.is(await state('start'), 'ACTIVE'));
  await steps.step('instance restart', async () => assert.is(await state('restart'), 'ACTIVE'));
  await steps.step('instance update, pull', async () => {
    await staff.ask(200, 'PATCH', instance.url, { name: 'web-1' });
    await staff.settled(instance);
    await staff.act(instance, 'pull');
    assert.is((await cloud.client(`server show ${instance.backend_id} -f json`)).name, 'web-1');
  });
  await steps.step('instance update_security_groups', async () => {
    const changed = await staff.act(instance, 'update_security_groups', { security_groups: [{ url: group.url }] });
    assert.equal(
      changed.security_groups.map(({ name }: Json) => name),
      ['tls'],
    );
  });
  const [{ subnet: first }] = instance.internal_ips_set;
  await steps.step('instance update_internal_ips_set: a second subnet', async () => {
    const changed = await staff.act(instance, 'update_internal_ips_set', {
      internal_ips_set: [{ subnet: first }, { subnet: subnet.url }],
    });
    assert.is(changed.internal_ips.length, 2);
    assert.ok(changed.internal_ips.some((address: string) => address.startsWith('192.168.51.')));
  });
  await steps.step('instance update_floating_ips: another subnet, a second address, none', async () => {
    const two = await staff.act(instance, 'update_floating_ips', {
      floating_ips: [{ subnet: first }, { subnet: subnet.url }],
    });
    assert.is(two.external_ips.length, 2);
    const none = await staff.act(instance, 'update_floating_ips', { floating_ips: [] });
    assert.equal([none.external_ips, none.floating_ips], [[], []]);
    // Uses an existing free floating IP.
    const [{ address, url }] = await staff.get(`/api/openstack-floating-ips/?tenant_uuid=${instance.tenant_uuid}`);
    const again = await staff.act(instance, 'update_floating_ips', { floating_ips: [{ subnet: subnet.url, url }] });
    assert.equal(again.external_ips, [address]);
  });
  await steps.step('instance update_internal_ips_set: removes the subnet of a floating IP, and frees it', async () => {
    const changed = await staff.act(instance, 'update_internal_ips_set', { internal_ips_set: [{ subnet: first }] });
    assert.equal([changed.internal_ips.length, changed.external_ips, changed.floating_ips], [1, [], []]);
  });
  await steps.step('instance stop', async () => assert.is(await state('stop'), 'SHUTOFF'));
}

/** Errors of the cloud become the error message. Deletion leaves nothing behind. */
export async function failInstance(life: Life, account: Account, tenant: Json): Promise<void> {
  const { cloud, staff, steps } = life;
  const image = await staff.only('/api/openstack-images/');
  const volumes = async (): Promise<number> =>
    (await cloud.client(`volume list --project ${tenant.backend_id} -f json`)).length;
  const fail = async (flavor: string, text: string): Promise<void> => {
    const before = await volumes();
    const instance = await staff.post('/api/openstack-instances/', {
      service_project_link: account.link.url,
      tenant: tenant.url,
      name: 'rejected',
      flavor: (await staff.only(`/api/openstack-flavors/?name_exact=${flavor}`)).url,
      image: image.url,
      system_volume_size: 1024,
      data_volume_size: 1024,
    });
    const failure = await staff.settled(instance).catch((error: Error) => error.message);
    assert.match(String(failure), text);
    const erred = await staff.get(instance.url);
    assert.equal(
      erred.volumes.map(({ state }: Json) => state),
      ['Erred', 'Erred'],
    );
    await staff.remove(erred);
    await until('volumes', async () => (await volumes()) === before || undefined);
    for (const { url } of erred.volumes)
      await until(url, async () => (await staff.send('GET', url)).status === 404 || undefined);
  };
  await steps.step('instance that the cloud rejects: Erred with its message, deleted with its volumes', async () => {
    await cloud.client(`quota set --instances 1 ${tenant.backend_id}`);
    await fail('m1.tiny', 'Quota exceeded for instances');
    await cloud.client(`quota set --instances 12 ${tenant.backend_id}`);
  });
  await steps.step('instance that no host can run: Erred with its message, deleted with its volumes', async () => {
    const flavor = `huge-${life.tag}`;
    await cloud.client(`flavor create ${flavor} --ram 900000 --disk 1 --vcpus 1 -f json`);
    await staff.act(tenant, 'set_quotas', { ram: 2_000_000 });
    await synchronise(life, account);
    await fail(flavor, 'No valid host was found');
    await cloud.client(`flavor delete ${flavor}`);
  });
}

/** Deletes an instance with its volumes, and one without: its data volumes stay. */
export async function removeInstance({ staff, steps }: Life, instance: Json, isWhole: boolean): Promise<void> {
  const volumes = (await staff.get(instance.url)).volumes;
  await steps.step(`instance delete ${isWhole ? 'with' : 'without'} its volumes`, async () => {
    await staff.remove(instance, isWhole ? '' : '?delete_volumes=false&release_floating_ips=false');
    for (const { bootable, url } of volumes) {
      const { body, status } = await staff.send('GET', url);
      assert.is(status, isWhole || bootable ? 404 : 200);
      if (status === 200) {
        assert.equal([body.runtime_state, body.instance], ['available', null]);
        await staff.remove(body);
      }
    }
  });
}
