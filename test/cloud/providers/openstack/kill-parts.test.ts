/** Kills the program's process while it creates, changes and deletes parts of a tenant at OpenStack. */
import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import { OpenStackKill } from '../../../vendors/openstack/kill.ts';

const kill = new OpenStackKill('OpenStack: kill -9 in the middle of changes');
const { act, ask, first, killDuringCalls, killAtEachCall, test, namesAtVendor: names } = kill;

let tenant: Json;

test('creates, changes and deletes a tenant and its parts once', async () => {
  tenant = await kill.createTenant();
  await killDuringCalls({
    'POST /network/networks': act(tenant, 'create_network', { name: 'backend' }),
    'POST /network/floatingips': act(tenant, 'create_floating_ip'),
    'POST /network/security-groups': act(tenant, 'create_security_group', { name: 'tls', rules: [] }),
    'PUT /compute/os-quota-sets/:project': act(tenant, 'set_quotas', { instances: 7, volumes: 9 }),
  });
  const [network, group, ip] = [
    await first('networks', 'name_exact=backend'),
    await first('security-groups', 'name_exact=tls'),
    await first('floating-ips'),
  ];
  const rules = [443, 8443].map((port) => ({ protocol: 'tcp', from_port: port, to_port: port, cidr: '10.0.0.0/8' }));
  await killDuringCalls({
    'POST /network/subnets': act(network, 'create_subnet', { name: 'machines', cidr: '192.168.9.0/24' }),
    'POST /network/security-group-rules': act(group, 'set_rules', { rules }),
    'PATCH /identity/users/:id': act(tenant, 'change_password', { user_password: 'another one' }),
  });
  assert.equal(
    [names('network/networks'), names('network/subnets'), names('network/floatingips').length],
    [['public', 'lab-int-net', 'backend'], ['lab-sub-net', 'machines'], 1],
  );
  assert.is((await ask('GET', group.url)).rules.length, 2);
  const { security_group_rules: there } = kill.vendor.contents.find('network/security-groups', group.backend_id) ?? {};
  assert.is(there.filter(({ direction }: Json) => direction === 'ingress').length, 2);
  const subnet = await first('subnets', 'name=machines');
  const rename = (object: Json) => () => ask('PATCH', object.url, { description: 'renamed' });
  await killDuringCalls({
    'PUT /network/networks/:id': rename(network),
    'PUT /network/subnets/:id': rename(subnet),
    'PUT /network/security-groups/:id': rename(group),
    'PATCH /identity/projects/:id': () => ask('PATCH', tenant.url, { name: 'Works' }),
  });
  const { name, quotas } = await ask('GET', tenant.url);
  const limits = Object.fromEntries(quotas.map((quota: Json) => [quota.name, quota.limit]));
  assert.equal([name, limits.instances, limits.volumes], ['Works', 7, 9]);
  assert.equal(names('identity/projects'), ['admin', 'Works']);
  const remove =
    ({ url }: Json) =>
    () =>
      ask('DELETE', url);
  await killDuringCalls({
    'DELETE /network/subnets/:id': remove(subnet),
    'DELETE /network/floatingips/:id': remove(ip),
    'DELETE /network/security-groups/:id': remove(group),
  });
  await killDuringCalls({ 'DELETE /network/networks/:id': remove(network) });
  assert.equal([names('network/networks'), names('network/floatingips')], [['public', 'lab-int-net'], []]);
});

test('reconnects and starts an instance, and extends and restores its volumes once', async () => {
  const { url: backend } = await ask('POST', `${tenant.url}create_network/`, { name: 'backend' });
  await kill.waitForSuccess();
  await ask('POST', `${backend}create_subnet/`, { name: 'machines', cidr: '192.168.9.0/24' });
  await kill.waitForSuccess();
  const [own, other] = [await first('subnets', 'name=sub-net'), await first('subnets', 'name=machines')];
  const web = await kill.createInstance(tenant, { internal_ips_set: [{ subnet: own.url }] });
  const { url: ssh } = await first('security-groups', 'name_exact=ssh');
  const groups = { security_groups: [{ url: ssh }] };
  await killDuringCalls({ 'PUT /network/ports/:id': act(web, 'update_security_groups', groups) });
  const ips = { internal_ips_set: [{ subnet: other.url }] };
  await killAtEachCall(
    act(web, 'update_internal_ips_set', ips),
    'POST /network/ports',
    'POST /compute/servers/:id/os-interface',
    'DELETE /compute/servers/:id/os-interface/:port',
  );
  await killAtEachCall(
    act(web, 'update_floating_ips', { floating_ips: [{ subnet: other.url }] }),
    'POST /network/floatingips',
    'PUT /network/floatingips/:id',
  );
  const connected = await ask('GET', web.url);
  assert.equal([connected.internal_ips.length, connected.external_ips.length], [1, 1]);
  assert.match(connected.internal_ips[0], /^192\.168\.9\./);
  const ports = kill.vendor.contents.all('network/ports').filter(({ device_owner: owner }) => owner === 'compute:nova');
  assert.equal([ports.length, names('network/floatingips').length], [1, 1]);

  await act(web, 'stop')();
  await kill.waitForSuccess();
  const data = connected.volumes.find(({ bootable }: Json) => !bootable);
  const attachments = '/compute/servers/:id/os-volume_attachments';
  await killAtEachCall(
    act(data, 'extend', { disk_size: 2048 }),
    `DELETE ${attachments}/:volume`,
    'POST /volume/volumes/:id/action',
    `POST ${attachments}`,
  );
  const grown = await ask('GET', data.url);
  assert.equal([grown.size, grown.instance?.split('/').at(-2)], [2048, web.uuid]);
  await act(data, 'snapshot', { name: 'kept' })();
  await kill.waitForSuccess();
  await killDuringCalls({
    'POST /compute/servers/:id/action': act(web, 'start'),
    'POST /volume/volumes': act(await first('snapshots'), 'restore', { name: 'copy' }),
  });
  assert.equal(names('volume/volumes'), ['web-system', 'web-data', 'copy']);
  assert.is((await ask('GET', web.url)).runtime_state, 'ACTIVE');
  await killDuringCalls({
    'PUT /compute/servers/:id': () => ask('PATCH', web.url, { name: 'web-1' }),
    'PUT /volume/volumes/:id': () => ask('PATCH', data.url, { name: 'data' }),
  });
  assert.equal([names('compute/servers'), names('volume/volumes')], [['web-1'], ['web-system', 'data', 'copy']]);
});

test.run();
