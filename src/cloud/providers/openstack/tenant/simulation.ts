import type { PlainValues } from '../../../catalogue/driver.ts';
import type { OtherChange, OtherObject, SimulatedKind } from '../../../catalogue/simulation.ts';
import { subnetValues } from '../network/network.ts';
import { firstGroups, type NewRule, ruleText } from '../security-group/security-group.ts';
import { exceededLimits, within } from '../simulated/limits.ts';
import { asList, asValues, dashedUuid, inTenant } from '../simulated/objects.ts';
import { quotasOf } from '../simulated/quotas.ts';

/** The parts of a new tenant: its internal network and subnet, and its initial security groups. */
function firstParts(
  { backend_id: tenant, internal_network_id: networkId, name }: PlainValues,
  parameters: PlainValues,
): OtherChange[] {
  const own = { tenant_backend_id: tenant, description: '' };
  const slug = String(parameters.slug ?? name);
  const groups = asList<(typeof firstGroups)[number]>(parameters.security_groups ?? firstGroups);
  const part = (kind: string, values: PlainValues, id?: string): OtherChange => ({
    kind,
    action: 'add',
    values: { ...own, ...values },
    isSilent: true,
    ...(id !== undefined && { backend_id: id }),
  });
  return [
    part('Network', { name: `${slug.slice(0, 142)}-int-net` }, String(networkId)),
    part('SubNet', {
      name: `${slug.slice(0, 142)}-sub-net`,
      network: networkId,
      ...(asValues(parameters.subnet) ?? subnetValues(undefined, [])),
    }),
    ...groups.map((group) => part('SecurityGroup', { ...group })),
  ];
}

/** Subnets are removed before their networks. */
const partKinds = ['FloatingIP', 'SubNet', 'Network', 'SecurityGroup'];

const reports = (objects: readonly OtherObject[], kind: string, tenant: unknown): OtherChange[] =>
  inTenant(objects, tenant).map(({ backend_id }) => ({ kind, action: 'report', backend_id }));

/** Simulation of OpenStack.Tenant. */
export const tenant: SimulatedKind = {
  id: (_n, draw) => dashedUuid(draw),
  initialValues: (_n, _values, draw) => ({ internal_network_id: dashedUuid(draw) }),
  rejects: { set_quotas: exceededLimits },
  actionValues: { set_quotas: ({ limits }, requested) => ({ limits: { ...asValues(limits), ...requested } }) },
  otherChanges: {
    create: (object, _all, parameters) => firstParts(object, parameters),
    delete: ({ backend_id: id }, all) =>
      partKinds.flatMap((kind) =>
        inTenant(all(kind), id).map(
          ({ backend_id }): OtherChange => ({ kind, action: 'remove', backend_id, isSilent: true }),
        ),
      ),
    pull_floating_ips: ({ backend_id: id }, all) => reports(all('FloatingIP'), 'FloatingIP', id),
    pull_security_groups: ({ backend_id: id }, all) => reports(all('SecurityGroup'), 'SecurityGroup', id),
  },
  observed: (object, all) => ({ quotas: quotasOf(object, all) }),
  unmanaged: (n, draw) => ({
    internal_network_id: dashedUuid(draw),
    external_network_id: '',
    availability_zone: '',
    user_username: `unmanaged-tenant-${n}-user`,
  }),
};

export const network: SimulatedKind = {
  id: (_n, draw) => dashedUuid(draw),
  rejects: { create: within(() => [{ network_count: 1 }]) },
  initialValues: (n) => ({ is_external: false, type: 'vxlan', segmentation_id: 1000 + n }),
  otherChanges: {
    delete: ({ backend_id: id }, all) =>
      all('SubNet')
        .filter(({ values }) => values.network === id)
        .map(({ backend_id }): OtherChange => ({ kind: 'SubNet', action: 'remove', backend_id })),
  },
};

export const subnet: SimulatedKind = {
  id: (_n, draw) => dashedUuid(draw),
  rejects: { create: within(() => [{ subnet_count: 1 }]) },
};

export const securityGroup: SimulatedKind = {
  id: (_n, draw) => dashedUuid(draw),
  rejects: {
    create: within(({ rules }) => [{ security_group_count: 1 }, { security_group_rule_count: asList(rules).length }]),
    set_rules: within(({ rules: currentRules }, { rules: requiredRules }) => {
      const [before, rules] = [currentRules, requiredRules].map((all) => asList<NewRule>(all).map(ruleText));
      const missing = (all: readonly string[] = [], among: readonly string[] = []): number =>
        all.filter((rule) => !among.includes(rule)).length;
      // Removed rules free their quota before new ones are added.
      return [
        { security_group_rule_count: -missing(before, rules) },
        { security_group_rule_count: missing(rules, before) },
      ];
    }),
  },
  actionValues: { set_rules: (_values, { rules }) => ({ rules }) },
};

export const floatingIp: SimulatedKind = {
  id: (_n, draw) => dashedUuid(draw),
  rejects: { create: within(() => [{ floating_ip_count: 1 }]) },
  initialValues: (_n, { address: input }, draw) => {
    const address = typeof input === 'string' && input !== '' ? input : draw.externalAddress();
    return { address, name: address, instance_backend_id: '' };
  },
  final: { create: 'DOWN' },
};
