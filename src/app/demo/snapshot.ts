/**
 * The sample data that the build includes in the program: the rows that the history of the default seed creates. Storing them
 * gives the same result in a tenth of the time. See src/decisions/snapshots.md.
 */
import { isDeepStrictEqual } from 'node:util';
import { changeQuota, quotaOf } from '../../activity/quotas/usage.ts';
import { systemContext } from '../../kernel/access/context.ts';
import type { App } from '../../kernel/app.ts';
import type { SettingName } from '../../kernel/config/config.ts';
import { raw, sql } from '../../kernel/db/sql.ts';
import { embeddedDemo } from '../../kernel/native/embedded.ts';
import { builtIn } from '../compose/providers.ts';
import { monthOf, type Origin, type PackedTable, storeTables, unpackText } from '../export/packed-rows.ts';
import { quoted } from '../export/tables.ts';
import { settingNames, settings } from '../settings.ts';
import { sinceMeasured } from './measurements.ts';

export interface DemoSnapshot {
  /** Schema version of the rows. */
  readonly schema: number;
  readonly tables: readonly PackedTable[];
  /** Increase in usage of each quota of the deployment. */
  readonly usages: Readonly<Record<string, number>>;
  /** The last id of each AUTOINCREMENT table. */
  readonly sequences: Readonly<Record<string, number>>;
}

/** Settings that do not affect the history. If any other setting has been changed, the history runs instead. */
const independent: ReadonlySet<SettingName> = new Set([
  ...(['host', 'port', 'admin_listen', 'tls_cert_file', 'tls_key_file', 'data'] as const),
  ...(['max_body_bytes', 'body_budget_bytes', 'max_connections', 'max_connections_per_address'] as const),
  ...(['keep_alive_timeout', 'memory_budget_bytes', 'trusted_proxies', 'native_name_enabled'] as const),
  ...(['event_stream_heartbeat', 'event_streams_per_user', 'max_event_streams'] as const),
  ...(['hooks_allowed_networks', 'encryption_keys', 'settings_sync_interval', 'console_enabled'] as const),
  ...(['backup_before_upgrade', 'follow_interval', 'litestream_program', 'log_file', 'log_level'] as const),
  ...(['native_cache', 'tenant_credentials_visible'] as const),
  ...(['audit_sink_url', 'audit_sink_header_file', 'audit_file', 'audit_syslog', 'audit_retention'] as const),
]);

/** SQL conditions of the rows that the first start creates. The snapshot uses none of their ids. */
const initialRows: Readonly<Record<string, string>> = {
  quota: "scope_kind = 'global'",
  quota_version: "quota_id IN (SELECT id FROM quota WHERE scope_kind = 'global')",
  user: "id = 1 AND username = 'admin' AND email = ''",
  token: 'id = 1 AND user_id = 1',
  audit_chain: 'TRUE',
  audit_record: 'TRUE',
  audit_key: 'TRUE',
  audit_checkpoint: 'TRUE',
  audit_head: 'TRUE',
  audit_sink: 'TRUE',
};

/**
 * Returns the snapshot if the history would create the same rows: the database has only its initial rows, and all settings that
 * affect the history have their defaults. Returns undefined otherwise, and in development builds, where the history runs.
 */
export function fittingSnapshot({ catalogue, clock, config, db }: App): DemoSnapshot | undefined {
  if (catalogue !== builtIn) return undefined;
  if (settingNames.some((name) => !independent.has(name) && !isDeepStrictEqual(config[name], settings[name].fallback)))
    return undefined;
  const text = embeddedDemo();
  const snapshot = text === undefined ? undefined : (unpackText(text, clock.now()) as DemoSnapshot);
  if (snapshot?.schema !== Number(db.pragma('user_version'))) return undefined;
  const hasOtherRows = snapshot.tables.some(({ name }) => {
    const isOther = sql`NOT (${raw(initialRows[name] ?? 'FALSE')})`;
    return db.value(sql`SELECT 1 FROM ${raw(quoted(name))} WHERE ${isOther} LIMIT 1`) !== undefined;
  });
  return hasOtherRows ? undefined : snapshot;
}

/** Returns the base values of relative values in the rows. */
export const originAt = (now: number, passwordHash: string): Origin => ({
  now,
  month: monthOf(now - sinceMeasured),
  passwordHash,
});

/** Stores the rows of a snapshot, shifted to now. `passwordHash` applies to all users. Must run inside a write. */
export function fillFrom({ sequences, tables, usages }: DemoSnapshot, app: App, passwordHash: string): void {
  const { clock, db } = app;
  storeTables(app, tables, originAt(clock.now(), passwordHash));
  for (const [name, last] of Object.entries(sequences))
    db.run(sql`UPDATE sqlite_sequence SET seq = ${last} WHERE name = ${name}`);
  const context = systemContext(app);
  for (const [name, growth] of Object.entries(usages)) {
    const quota = quotaOf(db, 'global', 0, name);
    if (quota) changeQuota(context, quota, { usage: quota.usage + growth });
  }
}
