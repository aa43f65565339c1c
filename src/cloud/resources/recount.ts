import type { Drift } from '../../activity/quotas/recount.ts';
import type { QuotaDelta, QuotaRow } from '../../activity/quotas/usage.ts';
import type { App } from '../../kernel/app.ts';
import { sql } from '../../kernel/db/sql.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { ResourceRow } from '../catalogue/resource-row.ts';
import { quotaDeltasOf, reservedIn } from './counting.ts';

/** Finds quotas that differ from the sum of the contributions of resources and accepted changes. */
export function findResourceDrift({ catalogue, db }: Pick<App, 'catalogue' | 'db'>): Drift[] {
  const key = ({ id, name, scope }: Pick<QuotaDelta, 'id' | 'name' | 'scope'>): string => `${scope} ${id} ${name}`;
  const sums = new Map<string, number>();
  const add = (requirements: readonly QuotaDelta[]): void => {
    for (const each of requirements) sums.set(key(each), (sums.get(key(each)) ?? 0) + each.delta);
  };
  for (const resource of db.all<ResourceRow>(sql`SELECT * FROM resource`)) add(quotaDeltasOf(catalogue, resource));
  for (const parameters of db.values<string>(sql`SELECT parameters FROM job`)) add(reservedIn(parameters).quotas);
  const named = JSON.stringify(resourceQuotaNames(catalogue));
  return db
    .all<QuotaRow>(sql`
      SELECT * FROM quota
      WHERE NOT is_backend AND scope_kind IN ('customer', 'project', 'service', 'link')
        AND name IN (SELECT value FROM json_each(${named}))`)
    .flatMap((quota) => {
      const counted = Math.max(
        0,
        sums.get(key({ scope: quota.scope_kind, id: quota.scope_id, name: quota.name })) ?? 0,
      );
      return counted === quota.usage ? [] : [{ quota, counted }];
    });
}

/** Names of quotas that count resources, for all owners. */
const resourceQuotaNames = ({ types }: Catalogue): string[] => [
  'nc_resource_count',
  'nc_app_count',
  'nc_vm_count',
  'nc_private_cloud_count',
  'nc_storage_count',
  'nc_volume_count',
  'nc_snapshot_count',
  'nc_volume_size',
  'nc_snapshot_size',
  ...types.flatMap(({ quotas }) => [...quotas.link, ...Object.keys(quotas.service)]),
];
