/**
 * The sample data that the build includes in the program: the rows that the history of the default seed creates. Storing them
 * takes a thirtieth of the time. See src/decisions/snapshots.md.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { changeQuota, quotaOf } from '../../activity/quotas/usage.ts';
import { systemContext } from '../../kernel/access/context.ts';
import type { App } from '../../kernel/app.ts';
import type { SettingName } from '../../kernel/config/config.ts';
import { raw, sql } from '../../kernel/db/sql.ts';
import { embeddedDemo } from '../../kernel/native/embedded.ts';
import { builtIn } from '../compose/providers.ts';
import { sealPlainValues } from '../data/encryption.ts';
import { quoted } from '../export/tables.ts';
import { settingNames, settings } from '../settings.ts';
import { type DemoImage, fillMarks, splitImage } from './image.ts';

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

/** Unpacks the snapshot in another thread; undefined in development builds, where the history runs. */
export const loadSnapshot = async (): Promise<DemoImage | undefined> => {
  const image = await embeddedDemo();
  return image && splitImage(image);
};

/**
 * Whether the history would create the rows of the snapshot: the database has only its initial rows, and all settings that affect
 * the history have their defaults.
 */
export function fits({ schema, tables }: DemoImage, { catalogue, config, db }: App): boolean {
  if (catalogue !== builtIn || schema !== Number(db.pragma('user_version'))) return false;
  if (settingNames.some((name) => !independent.has(name) && !isDeepStrictEqual(config[name], settings[name].fallback)))
    return false;
  return tables.every((name) => {
    const isOther = sql`NOT (${raw(initialRows[name] ?? 'FALSE')})`;
    return db.value(sql`SELECT 1 FROM ${raw(quoted(name))} WHERE ${isOther} LIMIT 1`) === undefined;
  });
}

/**
 * Stores the rows of a snapshot, shifted to now, and encrypts their secrets with the keys of the deployment. Returns false, and
 * stores nothing, if the temporary file that SQLite reads cannot be written. Changes the bytes of the snapshot.
 */
export function storeSnapshot(snapshot: DemoImage, app: App): boolean {
  fillMarks(snapshot, app.clock.now());
  const folder = writeTemporarily(snapshot.database);
  if (folder === undefined) return false;
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    // Remove the file before copying, because a process may be killed meanwhile.
    app.db.copyTables(join(folder, temporaryFile), remove, snapshot.tables, () => adapt(snapshot, app));
    return true;
  } finally {
    remove();
  }
}

const temporaryFile = 'snapshot';

/** Writes a file in a new private folder. Returns the folder; undefined on failure, such as a full disk. */
function writeTemporarily(database: Buffer): string | undefined {
  let folder: string | undefined;
  try {
    folder = mkdtempSync(join(tmpdir(), 'tenantry-demo-'));
    writeFileSync(join(folder, temporaryFile), database, { mode: 0o600 });
    return folder;
  } catch {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    return undefined;
  }
}

/** Changes the rows of a snapshot that depend on the deployment. Must run inside a write. */
function adapt({ tables, usages }: DemoImage, app: App): void {
  const { db } = app;
  sealPlainValues(app, tables);
  const context = systemContext(app);
  for (const [name, growth] of Object.entries(usages)) {
    const quota = quotaOf(db, 'global', 0, name);
    if (quota) changeQuota(context, quota, { usage: quota.usage + growth });
  }
}
