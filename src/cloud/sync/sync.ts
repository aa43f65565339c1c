import { closeAlert, raiseAlert } from '../../activity/alerts/alert-store.ts';
import { notify, responsibleFor } from '../../activity/notifications/notify.ts';
import type { EventContext } from '../../activity/scopes/scope.ts';
import type { Context } from '../../kernel/access/context.ts';
import type { App } from '../../kernel/app.ts';
import { any, raw, type Sql, sql } from '../../kernel/db/sql.ts';
import type { StoredInstants } from '../../kernel/jobs/clock-watch.ts';
import { memoised } from '../../kernel/memoised.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { simulatedSql } from '../catalogue/simulation.ts';
import { queueSync } from '../operations/sync-jobs.ts';
import { settingsScope } from '../services/scopes.ts';
import { connectCustomers } from '../services/service-lifecycle.ts';

/* Synchronisation with a provider: the states of settings, and the alerts of services. */

export interface SettingsState {
  readonly id: number;
  readonly uuid: string;
  readonly type: string;
  readonly name: string;
  readonly state: string;
  /** Why the last synchronisation failed; empty after a success. */
  readonly error_message: string;
  readonly shared: number;
  readonly backend_url: string | null;
}

/** Returns the settings with this id, or undefined if they were deleted. */
const settingsOf = ({ db }: Pick<App, 'db'>, id: number): SettingsState | undefined =>
  db.get<SettingsState>(
    sql`SELECT id, uuid, type, name, state, error_message, shared, backend_url FROM service_settings WHERE id = ${id}`,
  );

export const syncInstants: StoredInstants = { table: 'service_settings', column: 'synced', ahead: 0 };

/**
 * Queues the synchronisation of settings that are due or new, and of simulated settings that were in sync before the simulator
 * was disabled (services.md 2.3).
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

/** Changes the state from scheduled to running. New shared settings first connect every customer. */
export function startSync(context: Context, id: number): void {
  const settings = settingsOf(context.app, id);
  if (!settings) return;
  const isNew = settings.state === 'Creation Scheduled';
  context.app.db.update('service_settings', id, { state: isNew ? 'Creating' : 'Syncing' });
  if (isNew && settings.shared) connectCustomers(context, id);
}

/** Marks the settings as in sync, after the inventory of the provider was stored. */
export function finishSync(context: Context, id: number): void {
  const settings = settingsOf(context.app, id);
  if (!settings) return;
  context.app.db.update('service_settings', id, { state: 'In Sync', error_message: '', synced: context.now });
  if (settings.error_message !== '') notifyOf(context, settings, 'provider_account_recovered');
  evaluateServices(context, settings, true);
}

/** Marks the settings as Erred because their provider is unavailable. Changes nothing else. */
export function failSync(context: Context, id: number, text: string): void {
  const settings = settingsOf(context.app, id);
  if (!settings) return;
  const { db, log } = context.app;
  db.update('service_settings', id, { state: 'Erred', error_message: text, synced: context.now });
  const { name, type, uuid } = settings;
  db.onceStored(() => log.warn({ settings: uuid, type, name, reason: text }, 'synchronisation failed'));
  if (settings.error_message === '') notifyOf(context, settings, 'provider_account_failed', { error_message: text });
  evaluateServices(context, settings, false);
}

/** Notifies the owners of the customer, or staff for shared settings, that the account failed or recovered. */
function notifyOf(
  context: Context,
  { id, uuid }: SettingsState,
  kind: 'provider_account_failed' | 'provider_account_recovered',
  values: EventContext = {},
): void {
  const own = settingsScope.own(context.app.db, id);
  notify(context, kind, { context: { ...own, ...values }, users: responsibleFor(context.app, own), about: uuid });
}

/** Closes the alerts of services whose provider has nothing left to import. Called after an import. */
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
    // Alerts that staff posted while the provider was available stay open.
    if (settings.error_message !== '') closeAlert(context, 'service', service, 'service_unavailable');
    if (unmanaged) raiseAlert(context, 'service', service, 'service_has_unmanaged_resources');
    else closeAlert(context, 'service', service, 'service_has_unmanaged_resources');
  }
}

/** Condition: the object of the inventory in alias `i` has a kind and a state that can be imported, and is not yet a resource. */
export const isImportable = memoised(
  ({ kinds }: Catalogue): Sql =>
    sql`${any(
      kinds
        .filter(({ kind }) => kind.importing)
        .map(({ kind: { importing }, name }) =>
          importing?.states
            ? sql`i.kind = ${name} AND i."values" ->> '$.runtime_state' IN (SELECT value FROM json_each(${JSON.stringify(importing.states)}))`
            : sql`i.kind = ${name}`,
        ),
    )} AND NOT EXISTS (SELECT 1 FROM resource r WHERE r.settings_id = i.settings_id AND r.kind = i.kind AND r.backend_id = i.backend_id)`,
);

/** Whether the last synchronisation found objects that can still be imported. */
const hasImportable = ({ app }: Context, settings: number): boolean =>
  app.db.count(
    sql`SELECT EXISTS (SELECT 1 FROM inventory i WHERE i.settings_id = ${settings} AND ${isImportable(app.catalogue)})`,
  ) > 0;
