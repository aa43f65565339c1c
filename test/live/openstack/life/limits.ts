import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import { until } from '../../caller.ts';
import type { Life } from './life.ts';

/** The objects of a tenant when its limits are lowered. The instance is stopped. */
interface Present {
  readonly group: Json;
  readonly instance: Json;
  readonly volume: Json;
}

/** Operations beyond the tenant's limits fail with the message of the cloud and change nothing there. */
export async function rejectBeyondLimits(
  { cloud, staff, steps }: Life,
  tenant: Json,
  { group, instance, volume }: Present,
): Promise<void> {
  const { backend_id: project } = tenant;
  /**
   * Sets limits to the usage, bypassing our server. Returns the limits under our names: the client has other names and uses MiB.
   */
  const limit = async (names: Readonly<Record<string, readonly [quota: string, unit?: number]>>): Promise<number[]> => {
    const { quotas } = await staff.act(tenant, 'pull_quotas');
    const limits = Object.entries(names).map(([name, [quota, unit = 1]]) => {
      const used: number = quotas.find((one: Json) => one.name === name).usage / unit;
      return { used, option: `--${quota} ${used}` };
    });
    await cloud.client(`quota set ${limits.map(({ option }) => option).join(' ')} ${project}`);
    return limits.map(({ used }) => used);
  };
  /** Starts an operation that must fail; returns its error message. */
  const rejection = async (object: Json, action: string, body: unknown): Promise<string> => {
    const response = await staff.send('POST', `${object.url}${action}/`, body);
    assert.ok([201, 202].includes(response.status), JSON.stringify(response.body));
    const subject: Json = response.status === 201 ? response.body : object;
    return until(subject.url, async () => {
      const { error_message: text, state } = await staff.get(subject.url);
      assert.is.not(state, 'OK');
      return state === 'Erred' ? text : undefined;
    });
  };
  const gigabytes = (need: number, used: number): string =>
    'VolumeSizeExceedsAvailableQuota: Requested volume or snapshot exceeds allowed gigabytes quota. ' +
    `Requested ${need}G, quota is ${used}G and ${used}G has been consumed.`;

  await steps.step('volume extend and snapshot beyond the limit: rejected', async () => {
    const [used = 0] = await limit({ storage: ['gigabytes', 1024] });
    const { size } = await staff.get(volume.url);
    assert.is(await rejection(volume, 'extend', { disk_size: size + 1024 }), gigabytes(1, used));
    const pulled = await staff.act(volume, 'pull');
    assert.equal([pulled.size, pulled.runtime_state], [size, 'available']);
    assert.is(await rejection(volume, 'snapshot', { name: 'rejected' }), gigabytes(size / 1024, used));
    await staff.remove(await staff.only('/api/openstack-snapshots/?name_exact=rejected'));
  });
  await steps.step('instance change_flavor beyond the limits: rejected', async () => {
    const flavor = (await staff.only('/api/openstack-flavors/?name_exact=m1.medium')).url;
    const [cores, ram] = await limit({ vcpu: ['cores'], ram: ['ram'] });
    assert.is(
      await rejection(instance, 'change_flavor', { flavor }),
      `Quota exceeded for cores, ram: Requested 1, 2048, but already used ${cores}, ${ram} of ${cores}, ${ram} cores, ram`,
    );
    assert.is((await staff.act(instance, 'pull')).runtime_state, 'SHUTOFF');
  });
  await steps.step('security group set_rules beyond the limit: rejected, the rules stay', async () => {
    const { rules } = await staff.get(group.url);
    await limit({ security_group_rule_count: ['secgroup-rules'] });
    const more = [1, 2, 3, 4].map((port) => ({ protocol: 'tcp', from_port: port, to_port: port, cidr: '10.0.0.0/8' }));
    assert.is(
      await rejection(group, 'set_rules', { rules: more }),
      "Quota exceeded for resources: ['security_group_rule'].",
    );
    assert.equal((await staff.act(group, 'pull')).rules, rules);
  });
  await steps.step('tenant set_quotas below the usage: rejected', async () => {
    const { quotas } = await staff.get(tenant.url);
    const { usage } = quotas.find((one: Json) => one.name === 'volumes');
    assert.is(
      await rejection(tenant, 'set_quotas', { volumes: 1 }),
      'Quota volumes limit must be equal or greater than existing resources. ' +
        `Current usage is ${usage} and the requested limit is 1.`,
    );
    await staff.act(tenant, 'pull');
    const wanted = { storage: 2_048_000, vcpu: 20, ram: 51_200, security_group_rule_count: 100 };
    const set = (await staff.act(tenant, 'set_quotas', wanted)).quotas.map(({ limit, name }: Json) => [name, limit]);
    assert.equal({ ...Object.fromEntries(set), ...wanted }, Object.fromEntries(set));
  });
}
