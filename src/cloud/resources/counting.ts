import { countQuotas, type QuotaDelta } from '../../activity/quotas/usage.ts';
import type { Context } from '../../kernel/access/context.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { ResourceRow } from '../catalogue/resource-row.ts';
import type { Category, KindDeltas } from '../catalogue/type.ts';

type Counted = Pick<ResourceRow, 'kind' | 'link_id' | 'service_id' | 'project_id' | 'customer_id' | 'parent_id'>;

/** Reservations of a job until its end. */
interface Reserved {
  /** Quotas that it has already counted. */
  readonly quotas: readonly QuotaDelta[];
  /** Ids of resources that are Updating as long as the job's. */
  readonly together: readonly number[];
}

/** Reads the reservations in the stored parameters of a job. */
export function reservedIn(parameters: string | null): Reserved {
  const { demands: quotas = [], together = [] } = JSON.parse(parameters ?? '{}');
  return { quotas, together };
}

const countOf: Readonly<Record<Category, string>> = {
  vms: 'nc_vm_count',
  apps: 'nc_app_count',
  private_clouds: 'nc_private_cloud_count',
  storages: 'nc_storage_count',
};

/** Returns the contribution of a resource to quotas, by its existence and kind (services.md 7.5). */
export function quotaDeltasOf(catalogue: Catalogue, resource: ResourceRow, sign: 1 | -1 = 1): QuotaDelta[] {
  const { kind } = catalogue.kind(resource.kind);
  const own = placedDeltas(resource, kind.quotaDeltas(resource), sign);
  if (kind.isPart) return own;
  const counts = ['nc_resource_count', ...(kind.category ? [countOf[kind.category]] : [])];
  return [
    ...counts.flatMap((name) => [
      { scope: 'project', id: resource.project_id, name, delta: sign } as const,
      { scope: 'customer', id: resource.customer_id, name, delta: sign } as const,
    ]),
    ...own,
  ];
}

/** Does the same for an object that exists at the provider, which already counts it in its own quotas, such as a tenant's. */
export const quotaDeltasOfKnown = (catalogue: Catalogue, resource: ResourceRow): QuotaDelta[] =>
  quotaDeltasOf(catalogue, resource).filter(({ scope }) => scope !== 'resource');

/** Converts the quota demands of a kind or action to deltas of the resource's owners. */
export function placedDeltas(resource: Counted, requirements: KindDeltas, sign: 1 | -1 = 1): QuotaDelta[] {
  const places = [
    ['project', resource.project_id, requirements.project],
    ['customer', resource.customer_id, requirements.customer],
    ['link', resource.link_id, requirements.link],
    ['service', resource.service_id, requirements.service],
    ['resource', resource.parent_id, requirements.parent],
  ] as const;
  return places.flatMap(([scope, id, names]) =>
    id === null ? [] : Object.entries(names ?? {}).map(([name, delta]) => ({ scope, id, name, delta: sign * delta })),
  );
}

/** Counts the difference between two states of a resource, minus the already counted part. */
export function recount(
  context: Context,
  before: ResourceRow,
  after: ResourceRow,
  counted: readonly QuotaDelta[] = [],
): void {
  const { catalogue } = context.app;
  const sums = new Map<string, QuotaDelta>();
  const reversed = counted.map((each) => ({ ...each, delta: -each.delta }));
  for (const each of [...quotaDeltasOf(catalogue, before, -1), ...quotaDeltasOf(catalogue, after), ...reversed]) {
    const key = `${each.scope} ${each.id} ${each.name}`;
    const sum = sums.get(key);
    sums.set(key, sum ? { ...sum, delta: sum.delta + each.delta } : each);
  }
  countQuotas(context, [...sums.values()]);
}
