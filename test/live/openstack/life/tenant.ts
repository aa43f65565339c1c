import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import type { Account, Life } from './life.ts';

/** A tenant with all objects created with it. */
export async function makeTenant({ cloud, staff, steps, tag }: Life, { link }: Account): Promise<Json> {
  const tenant = await steps.step('tenant create', () =>
    staff.make('/api/openstack-tenants/', {
      service_project_link: link.url,
      name: `Live ${tag}`,
      description: 'of a life cycle',
      user_username: `live-user-${tag}`,
      subnet_cidr: '192.168.50.0/24',
    }),
  );
  await steps.step('tenant: network, subnet, security groups and quotas as requested', async () => {
    const of = `?tenant_uuid=${tenant.uuid}`;
    const network = await staff.only(`/api/openstack-networks/${of}`);
    assert.is(network.name, `live-${tag}-int-net`);
    const subnet = await staff.only(`/api/openstack-subnets/${of}`);
    const { allocation_pools: pools, cidr, dns_nameservers: nameservers, gateway_ip: gateway } = subnet;
    assert.equal(
      [cidr, gateway, nameservers, pools],
      ['192.168.50.0/24', '192.168.50.1', ['198.51.100.53'], [{ start: '192.168.50.10', end: '192.168.50.200' }]],
    );
    const groups = await staff.get(`/api/openstack-security-groups/${of}&o=name`);
    assert.equal(groups.map(({ name }: Json) => name).sort(), ['allow-all', 'default', 'ping', 'rdp', 'ssh', 'web']);
    const quotas = Object.fromEntries(tenant.quotas.map(({ limit, name, usage }: Json) => [name, [limit, usage]]));
    assert.equal(quotas.vcpu, [20, 0]);
    assert.equal(quotas.storage, [1_024_000, 0]);
    assert.equal(quotas.network_count, [10, 1]);
    assert.equal(quotas.security_group_count, [100, 6]);
  });
  await steps.step('tenant: router with gateway at the cloud', async () => {
    const [router] = await cloud.client(`router list --project ${tenant.backend_id} --long -f json`);
    assert.is(router['External gateway info'].network_id, cloud.facts.external_network_id);
  });
  await steps.step('tenant set_quotas', async () => {
    const changed = await staff.act(tenant, 'set_quotas', {
      instances: 12,
      storage: 2_048_000,
      security_group_count: 50,
    });
    const limits = Object.fromEntries(changed.quotas.map(({ limit, name }: Json) => [name, limit]));
    assert.equal([limits.instances, limits.storage, limits.security_group_count], [12, 2_048_000, 50]);
  });
  await steps.step('tenant change_password', async () => {
    await staff.act(tenant, 'change_password', { user_password: 'another-password-1' });
    const requests = await fetch(`${cloud.facts.auth_url}/auth/tokens`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        auth: {
          identity: {
            methods: ['password'],
            password: {
              user: { name: `live-user-${tag}`, domain: { name: 'Default' }, password: 'another-password-1' },
            },
          },
          scope: { project: { id: tenant.backend_id } },
        },
      }),
    });
    assert.is(requests.status, 201);
  });
  await steps.step('tenant update', async () => {
    await staff.ask(200, 'PATCH', tenant.url, { name: `Live ${tag} 2`, description: 'renamed' });
    await staff.settled(tenant);
    assert.is((await cloud.client(`project show ${tenant.backend_id} -f json`)).description, 'renamed');
  });
  await steps.step('tenant pull, pull_quotas, pull_floating_ips, pull_security_groups', async () => {
    for (const action of ['pull', 'pull_quotas', 'pull_floating_ips', 'pull_security_groups'])
      await staff.act(tenant, action);
  });
  return staff.get(tenant.url);
}

export async function removeTenant({ staff, steps }: Life, tenant: Json): Promise<void> {
  await steps.step('tenant delete', () => staff.remove(tenant));
}
