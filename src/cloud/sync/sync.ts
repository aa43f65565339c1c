import { closeAlert, raiseAlert } from '../../activity/alerts/alert-store.ts';
import { changeQuota, quotaOf } from '../../activity/quotas/usage.ts';
import { type Context, newUuid } from '../../kernel/access/app.ts';
import type { Database } from '../../kernel/db/database.ts';
import { any, raw, type Sql, sql } from '../../kernel/db/sql.ts';
import { memoised } from '../../kernel/memoised.ts';
import type { StoredInstants } from '../../kernel/stored-instants.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { BackendObject, Inventory, PlainValues } from '../catalogue/driver.ts';
import type { ResourceRow } from '../catalogue/resource-row.ts';
import { isSimulated, simulatedSql } from '../drivers/simulated.ts';
import { missingAtBackend } from '../jobs/operation.ts';
import { queueSync } from '../jobs/sync-jobs.ts';
import { importParts } from '../resources/discovery.ts';
import { withLocalNames } from '../resources/local-names.ts';
import { failureOfState } from '../resources/operations.ts';
import { detailsOf } from '../resources/resource.ts';
import { changeResource, referredColumns } from '../resources/resource-store.ts';
import { connectCustomers } from '../services/service-lifecycle.ts';

/* Synchronisation with a provider: the settings' states, properties, quotas, inventory, and the background pull. */

interface SettingsState {
  readonly id: number;
  readonly uuid: string;
  readonly type: string;
  readonly name: string;
  readonly state: string;
  /** Why the last synchronisation failed; empty when it did not. */
  readonly error_message: string;
  readonly shared: number;
  readonly backend_url: string | null;
}

const settingsOf = ({ app }: Context, id: number): SettingsState | undefined =>
  app.db.get<SettingsState>(
    sql`SELECT id, uuid, type, name, state, error_message, shared, backend_url FROM service_settings WHERE id = ${id}`,
  );

export const syncInstants: StoredInstants = { table: 'service_settings', column: 'synced', ahead: 0 };

/**
 * Queues settings whose time has come, those that were written by an import, and simulated ones that were in order before
 * the simulator was switched off (services.md 2.3).
 */
export function scheduleSyncs(context: Context): void {
  const { config, db } = context.app;
  const due = db.values<number>(sql`
    SELECT id FROM service_settings st
    WHERE state = 'New'
      OR (state IN ('In Sync', 'Erred') AND ifnull(synced, created) <= ${context.now - config.settings_sync_interval})
      OR (state = 'In Sync' AND ${raw(config.simulator_enabled ? 'FALSE' : simulatedSql('st'))})
    LIMIT 200`);
  for (const id of due) {
    db.run(
      sql`UPDATE service_settings SET state = iif(state = 'New', 'Creation Scheduled', 'Sync Scheduled') WHERE id = ${id}`,
    );
    queueSync(context, id);
  }
}

/** Scheduled becomes running; shared settings first connect every customer. */
export function startSync(context: Context, id: number): void {
  const settings = settingsOf(context, id);
  if (!settings) return;
  const isNew = settings.state === 'Creation Scheduled';
  context.app.db.update('service_settings', id, { state: isNew ? 'Creating' : 'Syncing' });
  if (isNew && settings.shared) connectCustomers(context, id);
}

/** What has happened here while a provider told of itself. */
interface Meanwhile {
  /** Revisions of its resources, by id, when it began to. */
  readonly revisions: ReadonlyMap<number, number>;
  /** What was deleted since, as `<Type>.<Kind> <id at the provider>`. */
  readonly gone: ReadonlySet<string>;
}

/** Stores what a provider told of itself, in one transaction. */
export function finishSync(context: Context, id: number, inventory: Inventory, { gone, revisions }: Meanwhile): void {
  const settings = settingsOf(context, id);
  if (!settings) return;
  const { db } = context.app;
  const objects = inventory.objects.filter(
    ({ backend_id: known, kind }) => !gone.has(`${settings.type}.${kind} ${known}`),
  );
  replaceProperties(context, settings, inventory.properties);
  for (const [name, { limit, usage }] of Object.entries(inventory.quotas)) {
    const quota = quotaOf(db, 'settings', id, name);
    if (quota) changeQuota(context, quota, { limit, usage });
  }
  replaceInventory(context, settings, objects);
  importParts(context, { settings: id });
  pullResources(context, settings, objects, revisions);
  db.update('service_settings', id, { state: 'In Sync', error_message: '', synced: context.now });
  evaluateServices(context, settings, true);
}

/** A provider that cannot be reached makes its own settings Erred, and nothing else. */
export function failSync(context: Context, id: number, text: string): void {
  const settings = settingsOf(context, id);
  if (!settings) return;
  const { db, log } = context.app;
  db.update('service_settings', id, { state: 'Erred', error_message: text, synced: context.now });
  const { name, type, uuid } = settings;
  log.warn({ settings: uuid, type, name, reason: text }, 'synchronisation failed');
  evaluateServices(context, settings, false);
}

/** After an import: closes the alerts of services whose provider has nothing more to import. */
export function evaluateImports(context: Context, settings: number): void {
  if (hasImportable(context, settings)) return;
  for (const service of context.app.db.values<number>(sql`SELECT id FROM service WHERE settings_id = ${settings}`)) {
    closeAlert(context, 'service', service, 'service_has_unmanaged_resources');
  }
}

/** Raises and closes the alerts of the services on settings, as they were before the synchronisation. */
function evaluateServices(
  context: Context,
  settings: Pick<SettingsState, 'id' | 'shared' | 'error_message'>,
  responds: boolean,
): void {
  const { db } = context.app;
  const unmanaged = responds && !settings.shared && hasImportable(context, settings.id);
  for (const service of db.values<number>(sql`SELECT id FROM service WHERE settings_id = ${settings.id}`)) {
    if (!responds) {
      raiseAlert(context, 'service', service, 'service_unavailable');
      continue;
    }
    // What staff posted about a provider that responded all the time is left alone.
    if (settings.error_message !== '') closeAlert(context, 'service', service, 'service_unavailable');
    if (unmanaged) raiseAlert(context, 'service', service, 'service_has_unmanaged_resources');
    else closeAlert(context, 'service', service, 'service_has_unmanaged_resources');
  }
}

/** Condition: the object in alias `i` of the inventory is of a kind and in a state that can be imported, and is no resource yet. */
export const isImportable = memoised(
  ({ kinds }: Catalogue): Sql =>
    sql`(${any(
      kinds
        .filter(({ kind }) => kind.isImportable)
        .map(({ kind: { importableStates }, name }) =>
          importableStates
            ? sql`i.kind = ${name} AND i."values" ->> '$.runtime_state' IN (SELECT value FROM json_each(${JSON.stringify(importableStates)}))`
            : sql`i.kind = ${name}`,
        ),
    )}) AND NOT EXISTS (SELECT 1 FROM resource r WHERE r.settings_id = i.settings_id AND r.kind = i.kind AND r.backend_id = i.backend_id)`,
);

/** Whether the last synchronisation found objects that could be imported and are not. */
export const hasImportable = ({ app }: Context, settings: number): boolean =>
  app.db.value(
    sql`SELECT 1 FROM inventory i WHERE i.settings_id = ${settings} AND ${isImportable(app.catalogue)} LIMIT 1`,
  ) !== undefined;

function replaceProperties(context: Context, settings: SettingsState, sets: Inventory['properties']): void {
  const { db } = context.app;
  const type = context.app.catalogue.type(settings.type);
  for (const [name, set] of Object.entries(sets)) {
    const kind = `${type.name}.${name}`;
    const property = type.properties.find((property) => property.name === name);
    // What an account at a provider shows is for those who see the account: it may be private to it.
    const isGlobal = (type.hasGlobalProperties || property?.isGlobal) && isSimulated(settings.backend_url);
    const place = isGlobal ? { settings_id: null, backend: '' } : { settings_id: settings.id, backend: null };
    const present = new Map(
      db
        .all<{
          id: number;
          backend_id: string;
          name: string;
          details: string;
        }>(sql`SELECT id, backend_id, name, details FROM property
        WHERE kind = ${kind} AND settings_id IS ${place.settings_id} AND backend IS ${place.backend}`)
        .map((row) => [row.backend_id, row]),
    );
    const users = property?.isKept ? optionsOfUsers(db, settings, place.backend) : [];
    for (const item of set) {
      if (property?.isKept && !users.some((options) => property.isKept?.(item.name, options))) continue;
      const known = present.get(item.backend_id);
      const details = JSON.stringify(item.details);
      present.delete(item.backend_id);
      if (!known)
        db.insert('property', {
          uuid: newUuid(context.app),
          kind,
          ...place,
          backend_id: item.backend_id,
          name: item.name,
          details,
        });
      else if (known.name !== item.name || known.details !== details)
        db.update('property', known.id, { name: item.name, details });
    }
    for (const { id } of present.values()) db.run(sql`DELETE FROM property WHERE id = ${id}`);
  }
}

/** Options of the settings that use a set: these alone, or all of the simulator. */
const optionsOfUsers = (db: Database, { id, type }: SettingsState, backend: string | null): PlainValues[] =>
  db
    .values<string>(sql`SELECT options FROM service_settings st
    WHERE type = ${type} AND iif(${backend} IS NULL, id = ${id}, ${raw(simulatedSql('st'))})`)
    .map((options) => JSON.parse(options));

function replaceInventory({ app: { db } }: Context, settings: SettingsState, objects: readonly BackendObject[]): void {
  db.run(sql`DELETE FROM inventory WHERE settings_id = ${settings.id}`);
  for (const object of objects) {
    db.run(sql`INSERT OR REPLACE INTO inventory (settings_id, kind, backend_id, name, "values")
      VALUES (${settings.id}, ${`${settings.type}.${object.kind}`}, ${object.backend_id}, ${object.name}, ${JSON.stringify(object.values)})`);
  }
}

/** Vendor's values overwrite ours; what is missing becomes Erred, what is back OK (services.md 8.4). */
function pullResources(
  context: Context,
  settings: SettingsState,
  objects: readonly BackendObject[],
  revisions: ReadonlyMap<number, number>,
): void {
  const { db } = context.app;
  const found = new Map(objects.map((object) => [`${settings.type}.${object.kind} ${object.backend_id}`, object]));
  const rows = db.all<ResourceRow>(
    sql`SELECT * FROM resource WHERE settings_id = ${settings.id} AND state IN ('OK', 'Erred') AND backend_id <> ''`,
  );
  for (const row of rows) {
    if (revisions.get(row.id) !== row.revision) continue;
    const object = found.get(`${row.kind} ${row.backend_id}`);
    if (object) {
      const { created: _, ...own } = object.values;
      const told = withLocalNames(row, { name: object.name, ...own });
      const values: PlainValues = { ...told, ...referredColumns(context.app, row, object.values) };
      const failure = failureOfState(context.app.catalogue.kind(row.kind), values.runtime_state);
      const state =
        failure === undefined ? { state: 'OK', error_message: '' } : { state: 'Erred', error_message: failure };
      changeResource(context, row, differing(row, { ...values, ...state }), { listing: { found, revisions } });
      if (row.state === 'Erred') closeAlert(context, 'resource', row.id, 'resource_disappeared_from_backend');
    } else {
      if (row.state === 'OK')
        changeResource(context, row, { state: 'Erred', runtime_state: '', error_message: missingAtBackend });
      // Also where it was missing before: the alert may have been closed by hand.
      raiseAlert(context, 'resource', row.id, 'resource_disappeared_from_backend');
    }
  }
}

/** Values that are not what the row holds already, so that a pull of nothing new writes nothing. */
function differing(row: ResourceRow, values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const present: Record<string, unknown> = { ...row, ...detailsOf(row) };
  const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
  return Object.fromEntries(
    Object.entries(values).filter(
      ([name, value]) => present[name] === undefined || text(present[name]) !== text(value),
    ),
  );
}
