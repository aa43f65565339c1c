import { closeAlert, raiseAlert } from '../../activity/alerts/alert-store.ts';
import { changeQuota, quotaOf } from '../../activity/quotas/usage.ts';
import type { Context } from '../../kernel/access/context.ts';
import { type App, newUuid } from '../../kernel/app.ts';
import type { Database } from '../../kernel/db/database.ts';
import { among, raw, type Sql, sql } from '../../kernel/db/sql.ts';
import type { BackendObject, Inventory, PlainValues } from '../catalogue/driver.ts';
import type { ResourceRow } from '../catalogue/resource-row.ts';
import type { Store } from '../operations/job-handler.ts';
import { missingAtBackend } from '../operations/operation.ts';
import { isSimulated, simulatedSql } from '../operations/simulated.ts';
import { importParts } from '../resources/discovery.ts';
import { withLocalNames } from '../resources/local-names.ts';
import { failureOfState } from '../resources/operations.ts';
import { cachedFinder, type ResourceFinder, referredColumns } from '../resources/references.ts';
import { detailsOf } from '../resources/resource.ts';
import { changeResource } from '../resources/resource-store.ts';
import type { SettingsState } from './sync.ts';

/*
 * The resources of an account are read in pieces, in the order of the index of them: by kind, id at the provider, and id.
 */

/** Where a piece ends. */
export type Place = Pick<ResourceRow, 'kind' | 'backend_id' | 'id'>;

/** The place before the first of them. */
export const beforeAll: Place = { kind: '', backend_id: '', id: 0 };

/** The condition that a resource comes after this place. */
export const isBehind = ({ kind, backend_id, id }: Place): Sql =>
  sql`(kind, backend_id, id) > (${kind}, ${backend_id}, ${id})`;

/*
 * The inventory of a provider is stored in steps of some milliseconds, between which other requests are served: an account may have
 * thousands of objects. Until the last step the settings are synchronising; whatever ends the process has it done again.
 */

/** Settings, without what every synchronisation changes. */
type Account = Pick<SettingsState, 'id' | 'type' | 'backend_url'>;

/** Changes here while the provider sent its inventory. */
interface Meanwhile {
  /** Revisions of its resources, by id, when it began to. */
  readonly revisions: ReadonlyMap<number, number>;
  /** What has been deleted until now, as `<Type>.<Kind> <id at the provider>`. */
  readonly gone: () => ReadonlySet<string>;
}

/** So many rows a step compares and stores. */
const rowsAStep = 100;
/** So many resources a step makes or changes, with their events. */
const resourcesAStep = 6;
/** So many resources a step compares, of which most are as before. */
const comparedAStep = 50;

/**
 * The steps that store properties, quotas, inventory, parts, and the state of resources. Returns whether all of it was compared:
 * objects and resources that were changed here during the call are left alone.
 */
export function* storing(app: App, id: number, inventory: Inventory, meanwhile: Meanwhile): Generator<Store, boolean> {
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
  yield* storeInventory(app, settings, inventory.objects, listed, meanwhile);
  let creation = resourcesAStep;
  while (creation === resourcesAStep)
    yield (context) => {
      creation = importParts(context, { settings: id }, resourcesAStep);
    };
  const areAllPulled = yield* pullResources(app, settings, listed, meanwhile);
  return areAllPulled && meanwhile.gone().size === 0;
}

/** Pieces of a list, at most so long each. */
function* pieces<T>(list: readonly T[], length: number): Generator<readonly T[]> {
  for (let start = 0; start < list.length; start += length) yield list.slice(start, start + length);
}

function* storeProperties(
  app: App,
  settings: Account,
  name: string,
  set: Inventory['properties'][string],
): Generator<Store> {
  const { db } = app;
  const type = app.catalogue.type(settings.type);
  const kind = `${type.name}.${name}`;
  const property = type.properties.find((known) => known.name === name);
  // What an account at a provider shows is for those who see the account: it may be private to it.
  const isGlobal = (type.hasGlobalProperties || property?.isGlobal) && isSimulated(settings.backend_url);
  const place = isGlobal ? { settings_id: null, backend: '' } : { settings_id: settings.id, backend: null };
  const isOfSet = sql`kind = ${kind} AND settings_id IS ${place.settings_id} AND backend IS ${place.backend}`;
  const users = property?.isIncluded ? optionsOfUsers(db, settings, place.backend) : [];
  const saved = set.filter(
    (item) => !property?.isIncluded || users.some((options) => property.isIncluded?.(item.name, options)),
  );
  for (const items of pieces(saved, rowsAStep))
    yield (context) => {
      const rows = db.all<{ id: number; backend_id: string; name: string; details: string }>(
        sql`SELECT id, backend_id, name, details FROM property
          WHERE ${isOfSet} AND ${among(
            'backend_id',
            items.map((item) => item.backend_id),
          )}`,
      );
      const present = new Map(rows.map((row) => [row.backend_id, row]));
      for (const item of items) {
        const known = present.get(item.backend_id);
        const details = JSON.stringify(item.details);
        const { backend_id, name } = item;
        if (!known) db.insert('property', { uuid: newUuid(context.app), kind, ...place, backend_id, name, details });
        else if (known.name !== name || known.details !== details) db.update('property', known.id, { name, details });
      }
    };
  const presentIds = new Set(saved.map((item) => item.backend_id));
  const lost = db
    .values<string>(sql`SELECT backend_id FROM property WHERE ${isOfSet}`)
    .filter((id) => !presentIds.has(id));
  yield* removing(db, lost, (ids) => sql`DELETE FROM property WHERE ${isOfSet} AND ${among('backend_id', ids)}`);
}

function* removing(db: Database, ids: readonly string[], remove: (ids: readonly string[]) => Sql): Generator<Store> {
  for (const piece of pieces(ids, rowsAStep)) yield () => void db.run(remove(piece));
}

/** Options of the settings that use a set: these alone, or all of the simulator. */
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
  { gone }: Meanwhile,
): Generator<Store> {
  const keyOf = ({ backend_id, kind }: Pick<BackendObject, 'backend_id' | 'kind'>): string =>
    `${type}.${kind} ${backend_id}`;
  // In the order of the table, so that those of a step share its pages: a commit writes each page that it touches.
  const before = (a: BackendObject, b: BackendObject): number =>
    a.kind === b.kind ? (a.backend_id < b.backend_id ? -1 : 1) : a.kind < b.kind ? -1 : 1;
  for (const some of pieces(objects.toSorted(before), rowsAStep))
    yield () => {
      const lost = gone();
      const ids = some.map(({ backend_id }) => backend_id);
      const rows = db.all<{ kind: string; backend_id: string; name: string; values: string }>(sql`
        SELECT kind, backend_id, name, "values" FROM inventory
        WHERE settings_id = ${id} AND ${among('kind', [...new Set(some.map(({ kind }) => `${type}.${kind}`))])}
          AND ${among('backend_id', ids)}`);
      const stored = new Map(rows.map((row) => [`${row.kind} ${row.backend_id}`, row]));
      for (const object of some) {
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
  // As far as it has been looked through, in the order of the index.
  let [last, isOver] = [{ kind: '', backend_id: '' }, false];
  while (!isOver)
    yield () => {
      const rows = db.all<{ kind: string; backend_id: string }>(sql`SELECT kind, backend_id FROM inventory
        WHERE settings_id = ${id} AND (kind, backend_id) > (${last.kind}, ${last.backend_id})
        ORDER BY kind, backend_id LIMIT ${rowsAStep}`);
      const lost = rows.map(({ backend_id, kind }) => `${kind} ${backend_id}`).filter((key) => !listed.has(key));
      if (lost.length > 0)
        db.run(sql`DELETE FROM inventory WHERE settings_id = ${id} AND ${among("kind || ' ' || backend_id", lost)}`);
      isOver = rows.length < rowsAStep;
      last = rows.at(-1) ?? last;
    };
}

/** The provider's values overwrite ours; missing resources become Erred, returned ones OK (services.md 8.4). */
function* pullResources(
  { db }: App,
  settings: Account,
  listed: ReadonlyMap<string, BackendObject>,
  { revisions }: Meanwhile,
): Generator<Store, boolean> {
  const isPulled = sql`settings_id = ${settings.id} AND state IN ('OK', 'Erred') AND backend_id <> ''`;
  let [last, isOver, areAllPulled] = [beforeAll, false, true];
  while (!isOver)
    yield (context) => {
      const rows = db.all<ResourceRow>(sql`SELECT * FROM resource
        WHERE ${isPulled} AND ${isBehind(last)} ORDER BY kind, backend_id, id LIMIT ${comparedAStep}`);
      const find = cachedFinder(db);
      let changed = 0;
      for (const row of rows) {
        const before = db.versions.changes;
        if (revisions.get(row.id) === row.revision)
          pullResource(context, row, listed.get(`${row.kind} ${row.backend_id}`), { listed, revisions }, find);
        else areAllPulled = false;
        last = row;
        if (db.versions.changes !== before && ++changed === resourcesAStep) return;
      }
      isOver = rows.length < comparedAStep;
    };
  return areAllPulled;
}

function pullResource(
  context: Context,
  row: ResourceRow,
  object: BackendObject | undefined,
  listing: { readonly listed: ReadonlyMap<string, BackendObject>; readonly revisions: Meanwhile['revisions'] },
  find: ResourceFinder,
): void {
  if (!object) {
    if (row.state === 'OK')
      changeResource(context, row, { state: 'Erred', runtime_state: '', error_message: missingAtBackend });
    // Also where it was missing before: the alert may have been closed by hand.
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

/** Values that are not what the row holds already, so that a pull of nothing new writes nothing. */
function differing(row: ResourceRow, values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const present: Record<string, unknown> = { ...row, ...detailsOf(row) };
  const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
  const change: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) {
    const known = present[name];
    if (known === value && known !== undefined) continue;
    if (known === undefined || text(known) !== text(value)) change[name] = value;
  }
  return change;
}
