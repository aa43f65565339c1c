import type { Database } from '../../kernel/db/database.ts';
import { sql } from '../../kernel/db/sql.ts';
import type { EventContext, Scope, ScopeKind } from '../scopes/scope.ts';
import { usageReadableAmong } from '../scopes/scopes.ts';
import { decimal } from './usage.ts';

interface QuotaRow {
  readonly uuid: string;
  readonly name: string;
  readonly limit: number;
  readonly usage: number;
  readonly scope_kind: ScopeKind | 'global';
  readonly scope_id: number;
}

const quotaOf = (db: Database, id: number): QuotaRow =>
  db.one<QuotaRow>(sql`SELECT uuid, name, "limit", usage, scope_kind, scope_id FROM quota WHERE id = ${id}`);

/** Returns the context keys of a quota (events.md 4.1), without those of its scope. */
export const quotaContext = (quota: Pick<QuotaRow, 'uuid' | 'name' | 'limit' | 'usage'>): EventContext => ({
  quota_uuid: quota.uuid,
  quota_name: quota.name,
  quota_limit: decimal(quota.limit),
  quota_usage: decimal(quota.usage),
});

/** Defines quotas as scopes. A quota represents its object, which is of one of these kinds. */
export function quotaScope(kinds: Readonly<Partial<Record<ScopeKind, Scope>>>): Scope {
  const holderOf = ({ scope_kind: kind }: QuotaRow): Scope | undefined => (kind === 'global' ? undefined : kinds[kind]);
  return {
    name: 'quotas.quota',
    short: 'quota',
    path: 'quotas',
    table: 'quota',
    accepted: true,
    readable: (user) =>
      sql`SELECT q.id FROM quota q WHERE ${usageReadableAmong(kinds, user, 'q.scope_kind', 'q.scope_id')}`,
    own: (db, id) => {
      const quota = quotaOf(db, id);
      return { ...quotaContext(quota), ...holderOf(quota)?.own(db, quota.scope_id) };
    },
    scope: (db, id) => {
      const quota = quotaOf(db, id);
      return holderOf(quota)?.scope(db, quota.scope_id) ?? {};
    },
  };
}
