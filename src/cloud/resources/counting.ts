import { countQuotas, type Demand } from '../../activity/quotas/usage.ts';
import type { Context } from '../../kernel/access/deployment.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { ResourceRow } from '../catalogue/resource-row.ts';
import type { KindDemands } from '../catalogue/type.ts';

type Counted = Pick<ResourceRow, 'kind' | 'link_id' | 'service_id' | 'project_id' | 'customer_id' | 'parent_id'>;

const countOf: Readonly<Record<string, string>> = {
  vms: 'nc_vm_count',
  apps: 'nc_app_count',
  private_clouds: 'nc_private_cloud_count',
  storages: 'nc_storage_count',
};

/** What a resource adds to quotas, by itself and by what it is (services.md 7.5). */
export function demandsOf(catalogue: Catalogue, resource: ResourceRow, sign: 1 | -1 = 1): Demand[] {
  const { kind } = catalogue.kind(resource.kind);
  const own = placedDemands(resource, kind.demands(resource), sign);
  if (kind.isPart) return own;
  const counts = ['nc_resource_count', ...(kind.category ? [countOf[kind.category] as string] : [])];
  return [
    ...counts.flatMap((name) => [
      { scope: 'project', id: resource.project_id, name, delta: sign } as const,
      { scope: 'customer', id: resource.customer_id, name, delta: sign } as const,
    ]),
    ...own,
  ];
}

/** The same for what the provider has already: quotas that it counts itself, those of a tenant, hold it without our adding. */
export const demandsOfKnown = (catalogue: Catalogue, resource: ResourceRow): Demand[] =>
  demandsOf(catalogue, resource).filter(({ scope }) => scope !== 'resource');

/** Demands of a kind or an action, on the objects that a resource belongs to. */
export function placedDemands(resource: Counted, demands: KindDemands, sign: 1 | -1 = 1): Demand[] {
  const places = [
    ['project', resource.project_id, demands.project],
    ['customer', resource.customer_id, demands.customer],
    ['link', resource.link_id, demands.link],
    ['service', resource.service_id, demands.service],
    ['resource', resource.parent_id, demands.parent],
  ] as const;
  return places.flatMap(([scope, id, names]) =>
    id === null ? [] : Object.entries(names ?? {}).map(([name, delta]) => ({ scope, id, name, delta: sign * delta })),
  );
}

/** Counts the difference between two states of a resource, less what has been counted of it already. */
export function recount(
  context: Context,
  before: ResourceRow,
  after: ResourceRow,
  counted: readonly Demand[] = [],
): void {
  const { catalogue } = context.deployment;
  const sums = new Map<string, Demand>();
  const taken = counted.map((demand) => ({ ...demand, delta: -demand.delta }));
  for (const demand of [...demandsOf(catalogue, before, -1), ...demandsOf(catalogue, after), ...taken]) {
    const key = `${demand.scope} ${demand.id} ${demand.name}`;
    const present = sums.get(key);
    sums.set(key, present ? { ...present, delta: present.delta + demand.delta } : demand);
  }
  countQuotas(context, [...sums.values()]);
}
