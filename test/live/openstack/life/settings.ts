import * as assert from 'uvu/assert';
import { until } from '../../caller.ts';
import type { Account, Life } from './life.ts';

/** Settings, ping, and synchronisation with its properties. Wrong credentials are rejected. */
export async function connect({ cloud: { facts }, staff, steps }: Life): Promise<Account> {
  const customer = await staff.post('/api/customers/', { name: 'Hosting' });
  const project = await staff.post('/api/projects/', { name: 'Cloud', customer: customer.url });
  const account = {
    name: 'Cloud',
    customer: customer.url,
    project: project.url,
    backend_url: facts.auth_url,
    username: facts.username,
    domain: facts.domain,
    tenant_name: facts.project,
    external_network_id: facts.external_network_id,
    dns_nameservers: '198.51.100.53',
  };
  await steps.step(
    'ping: a wrong password is rejected with the message of the cloud, without the password',
    async () => {
      const rejection = await staff.send('POST', '/api/openstack/', { ...account, password: 'wrong-password' });
      assert.is(rejection.status, 400);
      assert.match(JSON.stringify(rejection.body), 'The request you have made requires authentication');
      assert.not.match(JSON.stringify(rejection.body), 'wrong-password');
    },
  );
  const service = await steps.step('settings and ping', () =>
    staff.post('/api/openstack/', { ...account, password: facts.password }),
  );
  const settings = await steps.step('synchronisation', () =>
    until('synchronisation', async () => {
      const matches = await staff.get(service.settings);
      if (matches.state === 'Erred') throw new Error(matches.error_message);
      return matches.state === 'In Sync' ? matches : undefined;
    }),
  );
  const of = `?settings_uuid=${settings.uuid}`;
  await steps.step('flavors, images and totals of the cloud', async () => {
    const flavors = await staff.get(`/api/openstack-flavors/${of}&o=ram`);
    assert.equal(
      flavors.map((one: { name: string; cores: number; ram: number; disk: number }) => [one.name, one.ram]),
      [
        ['m1.tiny', 512],
        ['m1.small', 2048],
        ['m1.medium', 4096],
        ['m1.large', 8192],
        ['m1.xlarge', 16_384],
      ],
    );
    assert.is((await staff.only(`/api/openstack-images/${of}`)).name, 'cirros');
    const totals = settings.quotas.map((quota: { name: string; limit: number }) => [quota.name, quota.limit]).sort();
    assert.equal(totals, [
      ['openstack_ram', 800_000],
      ['openstack_storage', 614_400_000],
      ['openstack_vcpu', 1000],
    ]);
  });
  const link = await staff.only(`/api/openstack-service-project-link/?service_uuid=${service.uuid}`);
  return { settings, link };
}

/** Synchronises the account now. */
export async function synchronise({ staff }: Life, { settings }: Account): Promise<void> {
  await staff.post(`${settings.url}pull/`, undefined, 202);
  await until('synchronisation', async () => {
    const { error_message, state } = await staff.get(settings.url);
    if (state === 'Erred') throw new Error(error_message);
    return state === 'In Sync' || undefined;
  });
}
