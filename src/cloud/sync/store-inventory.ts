import { closeAlert, raiseAlert } from '../../activity/alerts/alert-store.ts';
import { changeQuota, quotaOf } from '../../activity/quotas/usage.ts';
import type { Context } from '../../kernel/access/context.ts';
import { type App, newUuid } from '../../kernel/app.ts';
import type { Database } from '../../kernel/db/database.ts';
import { among, raw, type Sql, sql } from '../../kernel/db/sql.ts';
import type { BackendObject, Inventory, PlainValues } from '../catalogue/driver.ts';
import type { ResourceRow } from '../catalogue/resource-row.ts';
import { isSimulated, simulatedSql } from '../catalogue/simulation.ts';
import type { StoreStep } from '../operations/job-handler.ts';
import { missingAtBackend } from '../operations/operation.ts';
import { importParts } from '../resources/discovery.ts';
import { withLocalNames } from '../resources/local-names.ts';
import { failureOfState } from '../resources/operations.ts';
import { cachedFinder, type ResourceFinder, referredColumns } from '../resources/references.ts';
import { detailsOf } from '../resources/resource.ts';
import { changeResource } from '../resources/resource-store.ts';
import type { SettingsState } from './sync.ts';

/* Reads the resources of an account in chunks, in index order: by kind, provider id and id. */

/** A position in the index of resources. */
export type Position = Pick<ResourceRow, 'kind' | 'backend_id' | 'id'>;

/** The position before the first resource. */
export const startOfIndex: Position = { kind: '', backend_id: '', id: 0 };

/** The condition that a resource comes after this position. */
export const isAfter = ({ kind, backend_id, id }: Position): Sql =>
  sql`(kind, backend_id, id) > (${kind}, ${backend_id}, ${id})`;

/*
 * The inventory of a provider is stored in steps of a few milliseconds, between which other requests are served: an account may
 * have thousands of objects. The settings are synchronising until the last step; if the process ends earlier, the
 * synchronisation runs again.
 */

/** Settings, without the columns that every synchronisation changes. */
type Account = Pick<SettingsState, 'id' | 'type' | 'backend_url'>;

/** Finds resources that changed here while the provider sent its inventory. */
interface ConcurrentChanges {
  /** Revisions of the resources, by id, before the provider was called. */
  readonly revisions: ReadonlyMap<number, number>;
  /** Objects deleted since then, as `<Type>.<Kind> <id at the provider>`. */
  readonly gone: () => ReadonlySet<string>;
}

/** Rows that one step compares and stores. */
const maxRowsPerStep = 100;
/** Resources that one step creates or changes, with their events. */
const maxChangesPerStep = 6;
/** Resources that one step compares; most have not changed. */
const maxComparisonsPerStep = 50;

/**
 * Yields the steps that store properties, quotas, inventory, parts, and the state of resources. Returns whether everything was
 * compared: objects and resources that changed here during the call are skipped.
 */
export function* storeInSteps(
  app: App,
  id: number,
  inventory: Inventory,
  changes: ConcurrentChanges,
): Generator<StoreStep, boolean> {
  const settings = app.db.get<Account>(sql`SELECT id, type, backend_url FROM service_settings WHERE id = ${id}`);
  if (!settings) return false;
  for (const [name, set] of Object.entries(inventory.properties)) yield* storeProperties(app, settings, name, set);
  yield (context) => {
    for (const [name, { limit, usage }] of Object.entries(inventory.quotas)) {
      const quota = quotaOf(context.app.db, 'settings', id, name);
      if (quota) changeQuota(context, quota, { limit, usage });
    }
  };
  const listed = new Map<string, BackendObject>();
  yield* storeInventory(app, settings, inventory.objects, listed, changes);
  let creation = maxChangesPerStep;
  while (creation === maxChangesPerStep)
    yield (context) => {
      creation = importParts(context, { settings: id }, maxChangesPerStep);
    };
  const areAllPulled = yield* pullResources(app, settings, listed, changes);
  return areAllPulled && changes.gone().size === 0;
}

/** Splits a list into chunks of at most `size` items. */
function* chunks<T>(list: readonly T[], size: number): Generator<readonly T[]> {
  for (let start = 0; start < list.length; start += size) yield list.slice(start, start + size);
}

function* storeProperties(
  app: App,
  settings: Account,
  name: string,
  set: Inventory['properties'][string],
): Generator<StoreStep> {
  const { db } = app;
  const type = app.catalogue.type(settings.type);
  const kind = `${type.name}.${name}`;
  const property = type.properties.find((known) => known.name === name);
  // Properties of a provider account may be private: only users who can see the account see them.
  const isGlobal = (type.hasGlobalProperties || property?.isGlobal) && isSimulated(settings.backend_url);
  const place = isGlobal ? { settings_id: null, backend: '' } : { settings_id: settings.id, backend: null };
  const isOfSet = sql`kind = ${kind} AND settings_id IS ${place.settings_id} AND backend IS ${place.backend}`;
  const users = property?.isIncluded ? optionsOfUsers(db, settings, place.backend) : [];
  const saved = set.filter(
    (item) => !property?.isIncluded || users.some((options) => property.isIncluded?.(item.name, options)),
  );
  for (const items of chunks(saved, maxRowsPerStep))
    yield (context) => {
      const rows = db.all<{ id: number; backend_id: string; name: string; details: string }>(
        sql`SELECT id, backend_id, name, details FROM property
          WHERE ${isOfSet} AND ${among(
            'backend_id',
            items.map((item) => item.backend_id),
          )}`,
      );
      const existingRows = new Map(rows.map((row) => [row.backend_id, row]));
      for (const item of items) {
        const known = existingRows.get(item.backend_id);
        const details = JSON.stringify(item.details);
        const { backend_id, name } = item;
        if (!known) db.insert('property', { uuid: newUuid(context.app), kind, ...place, backend_id, name, details });
        else if (known.name !== name || known.details !== details) db.update('property', known.id, { name, details });
      }
    };
  const presentIds = new Set(saved.map((item) => item.backend_id));
  const missingIds = db
    .values<string>(sql`SELECT backend_id FROM property WHERE ${isOfSet}`)
    .filter((id) => !presentIds.has(id));
  yield* removeInSteps(
    db,
    missingIds,
    (ids) => sql`DELETE FROM property WHERE ${isOfSet} AND ${among('backend_id', ids)}`,
  );
}

function* removeInSteps(
  db: Database,
  ids: readonly string[],
  remove: (ids: readonly string[]) => Sql,
): Generator<StoreStep> {
  for (const chunk of chunks(ids, maxRowsPerStep)) yield () => void db.run(remove(chunk));
}

/** The options of the settings that share a set of properties: of these settings alone, or of all that are simulated. */
const optionsOfUsers = (db: Database, { id, type }: Account, backend: string | null): PlainValues[] =>
  db
    .values<string>(sql`SELECT options FROM service_settings st
    WHERE type = ${type} AND iif(${backend} IS NULL, id = ${id}, ${raw(simulatedSql('st'))})`)
    .map((options) => JSON.parse(options));

function* storeInventory(
  { db }: App,
  { id, type }: Account,
  objects: readonly BackendObject[],
  listed: Map<string, BackendObject>,
  { gone }: ConcurrentChanges,
): Generator<StoreStep> {
  const keyOf = ({ backend_id, kind }: Pick<BackendObject, 'backend_id' | 'kind'>): string =>
    `${type}.${kind} ${backend_id}`;
  // In the order of the table: a commit writes every page that it touches, and neighbours share pages.
  const before = (a: BackendObject, b: BackendObject): number =>
    a.kind === b.kind ? (a.backend_id < b.backend_id ? -1 : 1) : a.kind < b.kind ? -1 : 1;
  for (const batch of chunks(objects.toSorted(before), maxRowsPerStep))
    yield () => {
      const lost = gone();
      const ids = batch.map(({ backend_id }) => backend_id);
      const rows = db.all<{ kind: string; backend_id: string; name: string; values: string }>(sql`
        SELECT kind, backend_id, name, "values" FROM inventory
        WHERE settings_id = ${id} AND ${among('kind', [...new Set(batch.map(({ kind }) => `${type}.${kind}`))])}
          AND ${among('backend_id', ids)}`);
      const stored = new Map(rows.map((row) => [`${row.kind} ${row.backend_id}`, row]));
      for (const object of batch) {
        const { backend_id, kind, name, values } = object;
        listed.set(keyOf(object), object);
        if (lost.has(keyOf(object))) continue;
        const known = stored.get(keyOf(object));
        if (known?.name === name && known.values === JSON.stringify(values)) continue;
        db.run(sql`INSERT INTO inventory (settings_id, kind, backend_id, name, "values")
          VALUES (${id}, ${`${type}.${kind}`}, ${backend_id}, ${name}, ${JSON.stringify(values)})
          ON CONFLICT (settings_id, kind, backend_id) DO UPDATE SET name = excluded.name, "values" = excluded."values"`);
      }
    };
  // The last position that was compared, in the order of the index.
  let last = { kind: '', backend_id: '' };
  let isDone = false;
  while (!isDone)
    yield () => {
      const rows = db.all<{ kind: string; backend_id: string }>(sql`SELECT kind, backend_id FROM inventory
        WHERE settings_id = ${id} AND (kind, backend_id) > (${last.kind}, ${last.backend_id})
        ORDER BY kind, backend_id LIMIT ${maxRowsPerStep}`);
      const lost = rows.map(({ backend_id, kind }) => `${kind} ${backend_id}`).filter((key) => !listed.has(key));
      if (lost.length > 0)
        db.run(sql`DELETE FROM inventory WHERE settings_id = ${id} AND ${among("kind || ' ' || backend_id", lost)}`);
      isDone = rows.length < maxRowsPerStep;
      last = rows.at(-1) ?? last;
    };
}

/** The provider's values overwrite ours; missing resources become Erred, returned ones OK (services.md 8.4). */
function* pullResources(
  { db }: App,
  settings: Account,
  listed: ReadonlyMap<string, BackendObject>,
  { revisions }: ConcurrentChanges,
): Generator<StoreStep, boolean> {
  const isPulled = sql`settings_id = ${settings.id} AND state IN ('OK', 'Erred') AND backend_id <> ''`;
  let last = startOfIndex;
  let isDone = false;
  let areAllPulled = true;
  while (!isDone)
    yield (context) => {
      const rows = db.all<ResourceRow>(sql`SELECT * FROM resource
        WHERE ${isPulled} AND ${isAfter(last)} ORDER BY kind, backend_id, id LIMIT ${maxComparisonsPerStep}`);
      const find = cachedFinder(db);
      let changed = 0;
      for (const row of rows) {
        const before = db.versions.changes;
        if (revisions.get(row.id) === row.revision)
          pullResource(context, row, listed.get(`${row.kind} ${row.backend_id}`), { listed, revisions }, find);
        else areAllPulled = false;
        last = row;
        if (db.versions.changes !== before && ++changed === maxChangesPerStep) return;
      }
      isDone = rows.length < maxComparisonsPerStep;
    };
  return areAllPulled;
}

function pullResource(
  context: Context,
  row: ResourceRow,
  object: BackendObject | undefined,
  listing: { readonly listed: ReadonlyMap<string, BackendObject>; readonly revisions: ConcurrentChanges['revisions'] },
  find: ResourceFinder,
): void {
  if (!object) {
    if (row.state === 'OK')
      changeResource(context, row, { state: 'Erred', runtime_state: '', error_message: missingAtBackend });
    // Raise it even if it was missing before, because a user may have closed the alert.
    raiseAlert(context, 'resource', row.id, 'resource_disappeared_from_backend');
    return;
  }
  const { created: _, ...own } = object.values;
  const reports = withLocalNames(row, { name: object.name, ...own });
  const values: PlainValues = { ...reports, ...referredColumns(context.app, row, object.values, find) };
  const failure = failureOfState(context.app.catalogue.kind(row.kind), values.runtime_state);
  const state = failure === undefined ? { state: 'OK', error_message: '' } : { state: 'Erred', error_message: failure };
  changeResource(context, row, differing(row, { ...values, ...state }), { listing });
  if (row.state === 'Erred') closeAlert(context, 'resource', row.id, 'resource_disappeared_from_backend');
}

/** Returns the values that differ from the row, so that a pull without news writes nothing. */
function differing(row: ResourceRow, values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const current: Record<string, unknown> = { ...row, ...detailsOf(row) };
  const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
  const change: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) {
    const known = current[name];
    if (known === value && known !== undefined) continue;
    if (known === undefined || text(known) !== text(value)) change[name] = value;
  }
  return change;
}
