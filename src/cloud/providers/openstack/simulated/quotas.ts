import type { PlainValues } from '../../../catalogue/driver.ts';
import type { OtherObject } from '../../../catalogue/simulation.ts';
import { firstLimits } from '../mapping/quotas.ts';
import type { Rule } from '../security-group/security-group.ts';
import { asList, asValues, inTenant } from './objects.ts';

/* Quota usages of tenants in the simulated cloud. */

export type Quotas = Readonly<Record<string, { readonly limit: number; readonly usage: number }>>;

const sum = (objects: readonly OtherObject[], name: string): number =>
  objects.reduce((total, { values }) => total + Number(values[name] ?? 0), 0);

/** Limits and usages of a tenant's quotas, counted over all objects. */
export function quotasOf(tenant: OtherObject, all: (kind: string) => readonly OtherObject[]): Quotas {
  const of = (kind: string): readonly OtherObject[] => inTenant(all(kind), tenant.backend_id);
  const [instances, volumes, snapshots, groups] = [of('Instance'), of('Volume'), of('Snapshot'), of('SecurityGroup')];
  const usages: Readonly<Record<keyof typeof firstLimits, number>> = {
    vcpu: sum(instances, 'cores'),
    ram: sum(instances, 'ram'),
    storage: sum(volumes, 'size') + sum(snapshots, 'size'),
    instances: instances.length,
    volumes: volumes.length,
    volumes_size: sum(volumes, 'size'),
    snapshots: snapshots.length,
    snapshots_size: sum(snapshots, 'size'),
    security_group_count: groups.length,
    security_group_rule_count: groups.reduce((total, { values }) => total + asList<Rule>(values.rules).length, 0),
    floating_ip_count: of('FloatingIP').length,
    network_count: of('Network').length,
    subnet_count: of('SubNet').length,
  };
  const limits: PlainValues = { ...firstLimits, ...asValues(tenant.values.limits) };
  return Object.fromEntries(
    Object.entries(usages).map(([name, usage]) => [name, { limit: Number(limits[name] ?? -1), usage }]),
  );
}
