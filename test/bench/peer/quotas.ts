import type { Database } from 'better-sqlite3';
import { newUuid, now } from './database.ts';

interface QuotaRow {
  readonly uuid: string;
  readonly name: string;
  readonly limit: number;
  readonly usage: number;
}

const customerQuotas = [
  'nc_app_count',
  'nc_private_cloud_count',
  'nc_project_count',
  'nc_resource_count',
  'nc_service_count',
  'nc_service_project_link_count',
  'nc_snapshot_size',
  'nc_storage_count',
  'nc_user_count',
  'nc_vm_count',
  'nc_volume_size',
];

/** The quotas of customers and projects. */
export function quotasOf(db: Database) {
  const select = db.prepare<[string, number], QuotaRow>(
    'SELECT uuid, name, "limit", usage FROM quota WHERE scope_kind = ? AND scope_id = ? ORDER BY name',
  );
  const insert = db.prepare(
    "INSERT INTO quota (uuid, scope_kind, scope_id, name, first_at) VALUES (?, 'customer', ?, ?, ?)",
  );
  const globalCount = db.prepare<[], QuotaRow & { id: number }>(`SELECT * FROM quota
    WHERE scope_kind = 'global' AND scope_id = 0 AND name = 'nc_global_customer_count'`);
  const count = db.prepare('UPDATE quota SET usage = ? WHERE id = ?');
  const addVersion = db.prepare(
    'INSERT OR REPLACE INTO quota_version (quota_id, at, "limit", usage) VALUES (?, ?, ?, ?)',
  );
  return {
    list: (base: string, kind: 'customer' | 'project', id: number) =>
      select
        .all(kind, id)
        .map(({ uuid, name, limit, usage }) => ({ url: `${base}/api/quotas/${uuid}/`, uuid, name, limit, usage })),
    /** Counts a new customer and creates its quotas. Returns false at the limit. */
    createFor: (customer: number): boolean => {
      const { id, limit, usage } = globalCount.get() as QuotaRow & { id: number };
      if (limit !== -1 && usage + 1 > limit) return false;
      for (const name of customerQuotas) insert.run(newUuid(), customer, name, now());
      count.run(usage + 1, id);
      addVersion.run(id, now(), limit, usage + 1);
      return true;
    },
  };
}
