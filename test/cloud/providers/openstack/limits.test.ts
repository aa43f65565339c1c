/** Requests beyond the limits of a tenant, rejected alike by the simulator and the driver (providers.md 3.1, 4.3). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import type { Backend } from '../../../vendors/account.ts';
import { OpenStackAccount } from '../../../vendors/openstack/account.ts';
import { OpenStack } from '../../../vendors/openstack/stand-in.ts';

const plenty = {
  instances: 30,
  vcpu: 20,
  ram: 51_200,
  volumes: 50,
  snapshots: 50,
  storage: 1_024_000,
  security_group_count: 100,
  security_group_rule_count: 100,
};
type Name = keyof typeof plenty;

/** Simulated operations take long enough to set limits while they run. */
const latencies = ['create', 'extend', 'change_flavor', 'set_rules'].map((name) => `${name}=5000`).join();

const port = (number: number) => ({ protocol: 'tcp', from_port: number, to_port: number, cidr: '10.0.0.0/8' });

function limits(backend: Backend): void {
  const test = suite(`OpenStack, limits of tenants, ${backend}`);
  let account: OpenStackAccount;
  let tenant: Json;

  test.before(async () => {
    account = await OpenStackAccount.open({ backend, isConnected: false });
    await account.connect({ simulator_latency: latencies });
    tenant = await account.tenant();
  });
  test.after(() => account.close());

  const quotasOf = async (): Promise<Record<string, { limit: number; usage: number }>> => {
    const { quotas } = await account.read(tenant.url);
    return Object.fromEntries(quotas.map(({ limit, name, usage }: Json) => [name, { limit, usage }]));
  };
  const setQuotas = async (wanted: object): Promise<Json> => {
    assert.is((await account.fixture.staff.post(`${tenant.url}set_quotas/`, wanted)).status, 202);
    await account.collectStates(tenant.url);
    return account.read(tenant.url);
  };
  /** Sends a request that starts an operation; returns the URL of the object that the operation changes. */
  const post = async (path: string, body: unknown): Promise<string> => {
    const response = await account.alice.post(path, body);
    assert.ok([201, 202].includes(response.status), JSON.stringify(response.body));
    return response.body.url ?? path.replace(/[a-z_]+\/$/, '');
  };
  const created = async (path: string, body: unknown): Promise<Json> =>
    account.created(await account.read(await post(path, body)));
  /** Pulls a volume, a snapshot or any other object from the cloud. */
  const pulled = async ({ url }: Json): Promise<Json> => {
    assert.is((await account.fixture.staff.post(`${url}pull/`)).status, 202);
    await account.collectStates(url);
    return account.read(url);
  };

  /**
   * Starts an operation within the limits, then lowers the limits to the usage before the cloud receives the call. A rate limit
   * delays the call of the route until then. Returns the object afterwards.
   */
  async function crowdedOut(names: readonly Name[], route: string, order: () => Promise<string>): Promise<Json> {
    await account.act(tenant, 'pull_quotas');
    const quotas = await quotasOf();
    if (backend === 'driver')
      account.vendor.server.injectFault(route, OpenStack.denial(429, 'Slowly', { 'Retry-After': '5' }));
    const url = await order();
    const limited = await setQuotas(Object.fromEntries(names.map((name) => [name, quotas[name]?.usage])));
    assert.equal([limited.state, limited.error_message], ['OK', '']);
    await account.collectStates(url);
    assert.is((await setQuotas(plenty)).state, 'OK');
    return account.read(url);
  }

  const reports = ({ error_message: text, state }: Json): unknown[] => [state, text];
  const gigabytes = (need: number, used: number): unknown[] => [
    'Erred',
    'VolumeSizeExceedsAvailableQuota: Requested volume or snapshot exceeds allowed gigabytes quota. ' +
      `Requested ${need}G, quota is ${used}G and ${used}G has been consumed.`,
  ];

  test('of gigabytes: reject creating, extending and snapshotting a volume', async () => {
    const disk = await account.created(await account.orderVolume('disk'));
    const { size, tenant_uuid } = disk;
    assert.equal([size, tenant_uuid], [1024, tenant.uuid]);
    const order = async (): Promise<string> => (await account.orderVolume('another', { size: 3072 })).url;
    assert.equal(reports(await crowdedOut(['storage'], 'POST /volume/volumes', order)), gigabytes(3, 1));
    const snapshot = (): Promise<string> => post(`${disk.url}snapshot/`, { name: 'kept' });
    assert.equal(reports(await crowdedOut(['storage'], 'POST /volume/snapshots', snapshot)), gigabytes(1, 1));
    const grow = (): Promise<string> => post(`${disk.url}extend/`, { disk_size: 4096 });
    assert.equal(reports(await crowdedOut(['storage'], 'POST /volume/volumes/:id/action', grow)), gigabytes(3, 1));
    const { runtime_state: runtime, size: after, state } = await pulled(disk);
    assert.equal([state, runtime, after], ['OK', 'available', 1024]);
  });

  test('of volumes and snapshots: reject another one, and a restore', async () => {
    const disk = await account.created(await account.orderVolume('disk'));
    const stored = await created(`${disk.url}snapshot/`, { name: 'kept' });
    const { volumes } = await quotasOf();
    const text = `VolumeLimitExceeded: Maximum number of volumes allowed (${volumes?.usage}) exceeded for quota 'volumes'.`;
    const restore = (): Promise<string> => post(`${stored.url}restore/`, { name: 'copy' });
    assert.equal(reports(await crowdedOut(['volumes'], 'POST /volume/volumes', restore)), ['Erred', text]);
    const again = (): Promise<string> => post(`${disk.url}snapshot/`, { name: 'kept again' });
    assert.equal(reports(await crowdedOut(['snapshots'], 'POST /volume/snapshots', again)), [
      'Erred',
      'SnapshotLimitExceeded: Maximum number of snapshots allowed (1) exceeded',
    ]);
  });

  test('of instances, cores and memory: reject another instance, and a larger flavor', async () => {
    const web = await account.act(await account.created(await account.order('web')), 'stop');
    const order = async (): Promise<string> => (await account.order('second')).url;
    assert.equal(reports(await crowdedOut(['instances', 'vcpu', 'ram'], 'POST /compute/servers', order)), [
      'Erred',
      'Quota exceeded for cores, instances, ram: Requested 1, 1, 2048, ' +
        'but already used 1, 1, 2048 of 1, 1, 2048 cores, instances, ram',
    ]);
    const flavor = await account.flavor('medium');
    const change = (): Promise<string> => post(`${web.url}change_flavor/`, { flavor });
    const rejection = await crowdedOut(['vcpu', 'ram'], 'POST /compute/servers/:id/action', change);
    assert.equal(reports(rejection), [
      'Erred',
      'Quota exceeded for cores, ram: Requested 1, 2048, but already used 1, 2048 of 1, 2048 cores, ram',
    ]);
    const { cores, ram, runtime_state: runtime, state } = await pulled(web);
    assert.equal([state, runtime, cores, ram], ['OK', 'SHUTOFF', 1, 2048]);
  });

  test('of gigabytes: reject extending an attached volume, which stays attached', async () => {
    const web = await account.act(await account.created(await account.order('host')), 'stop');
    const disk = await account.act(await account.created(await account.orderVolume('part')), 'attach', {
      instance: web.url,
    });
    const { storage } = await quotasOf();
    const grow = (): Promise<string> => post(`${disk.url}extend/`, { disk_size: 2048 });
    const rejection = await crowdedOut(['storage'], 'POST /volume/volumes/:id/action', grow);
    assert.equal(reports(rejection), gigabytes(1, Number(storage?.usage) / 1024));
    assert.equal([rejection.size, rejection.instance, rejection.runtime_state], [1024, web.url, 'in-use']);
    assert.is((await account.read(web.url)).state, 'Erred');
    assert.equal([(await pulled(disk)).state, (await pulled(web)).state], ['OK', 'OK']);
  });

  test('enforces the quotas of security groups and rules and keeps existing ones', async () => {
    const group = await created(`${tenant.url}create_security_group/`, { name: 'tls', rules: [port(443)] });
    const create = (): Promise<string> => post(`${tenant.url}create_security_group/`, { name: 'more', rules: [] });
    assert.equal(reports(await crowdedOut(['security_group_count'], 'POST /network/security-groups', create)), [
      'Erred',
      "Quota exceeded for resources: ['security_group'].",
    ]);
    const rules = [port(8443), port(9443), port(7443)];
    const route = 'POST /network/security-group-rules';
    const replace = (): Promise<string> => post(`${group.url}set_rules/`, { rules });
    const rejection = await crowdedOut(['security_group_rule_count'], route, replace);
    assert.equal(reports(rejection), ['Erred', "Quota exceeded for resources: ['security_group_rule']."]);
    const { rules: stored, state } = await pulled(group);
    assert.equal([state, stored], ['OK', [{ id: 1, ...port(443) }]]);
    // The same number as before fits.
    assert.equal((await account.act(group, 'set_rules', { rules: [port(8443)] })).rules, [{ id: 1, ...port(8443) }]);
  });

  test('rejects limits below the usage of machines and disks', async () => {
    await account.act(tenant, 'pull');
    const { ram, volumes } = await quotasOf();
    assert.equal(reports(await setQuotas({ ram: 1024 })), [
      'Erred',
      `Quota limit 1024 for ram must be greater than or equal to already used and reserved ${ram?.usage}.`,
    ]);
    assert.equal(reports(await pulled(tenant)), ['OK', '']);
    assert.equal(reports(await setQuotas({ volumes: 1 })), [
      'Erred',
      'Quota volumes limit must be equal or greater than existing resources. ' +
        `Current usage is ${volumes?.usage} and the requested limit is 1.`,
    ]);
    await pulled(tenant);
    const after = await quotasOf();
    assert.equal([after.ram, after.volumes], [ram, volumes]);
  });

  test.run();
}

limits('simulator');
limits('driver');
