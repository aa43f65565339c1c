import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import type { Life } from './life.ts';

/** A second network of a tenant with its subnet, and a security group. */
export interface Connections {
  readonly network: Json;
  readonly subnet: Json;
  readonly group: Json;
}

export async function makeConnections({ cloud, staff, steps }: Life, tenant: Json): Promise<Connections> {
  const network = await steps.step('network create', () =>
    staff.make(`${tenant.url}create_network/`, { name: 'backend', description: 'databases' }),
  );
  const subnet = await steps.step('subnet create, connected to the router', async () => {
    const created = await staff.make(`${network.url}create_subnet/`, {
      name: 'backend-subnet',
      cidr: '192.168.51.0/24',
    });
    const ports = await cloud.client(`port list --fixed-ip subnet=${created.backend_id} --long -f json`);
    assert.ok(ports.some((port: Json) => String(port['Device Owner']).startsWith('network:router_interface')));
    return created;
  });
  await steps.step('network and subnet update, pull', async () => {
    for (const object of [network, subnet]) {
      await staff.ask(200, 'PATCH', object.url, { description: 'changed' });
      await staff.settled(object);
      await staff.act(object, 'pull');
      assert.is((await staff.get(object.url)).description, 'changed');
    }
  });
  const group = await steps.step('security group create', () =>
    staff.make(`${tenant.url}create_security_group/`, {
      name: 'https',
      rules: [{ protocol: 'tcp', from_port: 443, to_port: 443, cidr: '0.0.0.0/0' }],
    }),
  );
  await steps.step('security group update, pull', async () => {
    await staff.ask(200, 'PATCH', group.url, { name: 'tls', description: 'changed' });
    await staff.settled(group);
    await staff.act(group, 'pull');
    const { description, name } = await cloud.client(`security group show ${group.backend_id} -f json`);
    assert.equal([name, description], ['tls', 'changed']);
  });
  await steps.step('security group set_rules', async () => {
    const rules = [
      { protocol: 'tcp', from_port: 8443, to_port: 8444, cidr: '10.0.0.0/8' },
      { protocol: 'icmp', from_port: -1, to_port: -1, cidr: '0.0.0.0/0' },
      { protocol: '', from_port: -1, to_port: -1, cidr: '192.168.51.0/24' },
    ];
    await staff.act(group, 'set_rules', rules);
    const pulled = await staff.act(group, 'pull');
    const texts = pulled.rules.map(({ cidr, from_port: from, protocol, to_port: to }: Json) =>
      [protocol, from, to, cidr].join(' '),
    );
    assert.equal(texts, [' -1 -1 192.168.51.0/24', 'icmp -1 -1 0.0.0.0/0', 'tcp 8443 8444 10.0.0.0/8']);
    const listed = await cloud.client(`security group rule list ${group.backend_id} --ingress -f json`);
    assert.is(listed.length, 3);
  });
  await steps.step('floating IP create, delete', async () => {
    const address = await staff.make(`${tenant.url}create_floating_ip/`);
    assert.match(address.address, /^198\.18\./);
    assert.is(address.runtime_state, 'DOWN');
    await staff.act(address, 'pull');
    await staff.remove(address);
  });
  return { network, subnet, group };
}

export async function removeConnections(life: Life, { group, network, subnet }: Connections): Promise<void> {
  const { staff, steps } = life;
  await steps.step('security group delete', () => staff.remove(group));
  await steps.step('subnet delete, and another one in its network', async () => {
    await staff.remove(subnet);
    await staff.make(`${network.url}create_subnet/`, { name: 'backend-subnet', cidr: '192.168.52.0/24' });
  });
  await steps.step('network delete, with its subnet', () => staff.remove(network));
}
