import { record } from '../../activity/events/record.ts';
import { notify, responsibleFor } from '../../activity/notifications/notify.ts';
import { countQuotas, createQuotas, type QuotaDelta } from '../../activity/quotas/usage.ts';
import type { Context } from '../../kernel/access/context.ts';
import { newUuid } from '../../kernel/app.ts';
import type { Columns } from '../../kernel/collection/changes.ts';
import type { Database } from '../../kernel/db/database.ts';
import { sql, type Value } from '../../kernel/db/sql.ts';
import type { PlainValues, RowChange } from '../catalogue/driver.ts';
import type { ResourceRow, State } from '../catalogue/resource-row.ts';
import { recordDeletion } from '../operations/sync-jobs.ts';
import { removeSettings } from '../services/service-lifecycle.ts';
import { type Listing, takeUsages } from './backend-usages.ts';
import { quotaDeltasOf, quotaDeltasOfKnown, recount, reservedIn } from './counting.ts';
import { backendNames, withLocalNames } from './local-names.ts';
import { referredColumns } from './references.ts';
import { detailsOf, knownResource, resourceContext, resourceOf } from './resource.ts';

/** Columns that drivers and declarations may set. Everything else is a detail of the kind. */
const columns = new Set([
  'name',
  'description',
  'state',
  'runtime_state',
  'error_message',
  'backend_id',
  'backend_name',
  'backend_description',
  'action',
  'parent_id',
  'instance_id',
  'start_time',
  'cores',
  'ram',
  'disk',
  'min_ram',
  'min_disk',
  'size',
  'image_name',
  'key_name',
  'key_fingerprint',
  'user_data',
]);
const lists = new Set(['external_ips', 'internal_ips']);

/** Splits plain values into columns and details, merged into the current details. */
function stored(values: PlainValues, current: Record<string, unknown> = {}): Record<string, Value> {
  const row: Record<string, Value> = {};
  const details = { ...current };
  let hasDetails = false;
  for (const [name, value] of Object.entries(values)) {
    // Quotas have separate rows.
    if (value === undefined || name === 'quotas') continue;
    // Drivers and declarations pass column values in their stored form.
    if (columns.has(name)) row[name] = value as Value;
    else if (lists.has(name) || name === 'action_details') row[name] = JSON.stringify(value);
    else {
      hasDetails = true;
      Object.assign(details, name === 'details' ? value : { [name]: value });
    }
  }
  return hasDetails ? { ...row, details: JSON.stringify(details) } : row;
}

interface NewResource {
  readonly kind: string;
  readonly link: number;
  readonly service: number;
  readonly settings: number;
  readonly project: number;
  readonly customer: number;
  readonly state: State;
  readonly values: PlainValues;
  /** Columns in addition to those derived from the values. */
  readonly columns?: Columns | undefined;
  readonly secrets?: PlainValues | undefined;
  readonly uuid?: string;
}

/** Inserts a resource with its quotas and counts it without checking limits. Returns its row. */
export function insertResource(context: Context, resource: NewResource): ResourceRow {
  const { catalogue, db, secrets } = context.app;
  const { kind } = catalogue.kind(resource.kind);
  const uuid = resource.uuid ?? newUuid(context.app);
  const id = db.insert('resource', {
    uuid,
    kind: resource.kind,
    is_part: Number(kind.isPart ?? false),
    link_id: resource.link,
    service_id: resource.service,
    settings_id: resource.settings,
    project_id: resource.project,
    customer_id: resource.customer,
    state: resource.state,
    created: context.now,
    secrets:
      resource.secrets && Object.keys(resource.secrets).length > 0
        ? secrets.seal(JSON.stringify(resource.secrets), uuid)
        : null,
    ...resource.columns,
    ...stored({ ...resource.values, ...backendNames(resource.values) }),
    ...referredColumns(context.app, { kind: resource.kind, link_id: resource.link }, resource.values),
    ...startTime(context, { kind: resource.kind, runtime_state: '' }, resource.values),
  });
  createQuotas(
    context,
    'resource',
    id,
    Object.keys(kind.ownQuotas?.limits ?? {}),
    kind.ownQuotas?.limits ?? {},
    kind.ownQuotas?.areReported ?? false,
  );
  takeUsages(context, id, kind, resource.values);
  const row = knownResource(db, id);
  countQuotas(context, row.state === 'OK' ? quotaDeltasOfKnown(catalogue, row) : quotaDeltasOf(catalogue, row));
  return row;
}

interface ResourceChange {
  /** Columns in addition to those derived from the values. */
  readonly columns?: Columns;
  /** The already counted part of the change. */
  readonly counted?: readonly QuotaDelta[] | undefined;
  /** The provider's complete list with the values, if there is one. */
  readonly listing?: Listing;
}

/** Applies plain values to a resource: row, start time and counts. Returns the new row. */
export function changeResource(
  context: Context,
  resource: ResourceRow,
  values: PlainValues,
  { columns, counted = [], listing }: ResourceChange = {},
): ResourceRow {
  const { catalogue, db } = context.app;
  const change = {
    ...columns,
    ...stored(values, detailsOf(resource)),
    ...referredColumns(context.app, resource, values),
    ...startTime(context, resource, values),
  };
  takeUsages(context, resource.id, catalogue.kind(resource.kind).kind, values, listing);
  if (Object.keys(change).length === 0) return resource;
  db.update('resource', resource.id, { ...change, revision: resource.revision + 1 });
  const after = knownResource(db, resource.id);
  recount(context, resource, after, counted);
  if (after.state === 'Erred' && resource.state !== 'Erred') notifyFailure(context, after);
  return after;
}

/** Notifies the managers of the project of a resource that it has failed. */
function notifyFailure(context: Context, resource: ResourceRow): void {
  const about = resourceContext(context.app.db, resource);
  notify(context, 'resource_failed', {
    context: { ...about, error_message: resource.error_message },
    users: responsibleFor(context.app, about),
    about: resource.uuid,
  });
}

interface Removal {
  /** Flags of the deletion; undefined if only the row is removed. */
  readonly deletion?: PlainValues;
  /** Whether it and its parts were removed at the provider. */
  readonly isGone?: boolean;
  /** Whether to skip the event. */
  readonly isSilent?: boolean;
}

/** Removes a resource, its counts and its parts, which get no separate events. */
export function removeResource(
  context: Context,
  resource: ResourceRow,
  { deletion, isGone = false, isSilent = false }: Removal = {},
): void {
  const { catalogue, db } = context.app;
  const { kind } = catalogue.kind(resource.kind);
  kind.deletion?.onRemoval?.(context, resource, deletion, isGone);
  const along = kind.deletion?.removedTogether?.(resource);
  for (const id of along ? db.values<number>(sql`SELECT r.id FROM resource r WHERE ${along} ORDER BY r.id DESC`) : []) {
    const row = resourceOf(db, id);
    if (row)
      removeResource(context, row, {
        isGone,
        isSilent: isSilent || (row.is_part === 1 && row.parent_id === resource.id),
      });
  }
  if (isGone) forgetObject(db, resource);
  releaseWork(context, resource);
  releaseHosted(context, resource);
  const eventContext = resourceContext(db, resource);
  db.run(sql`UPDATE resource SET parent_id = NULL WHERE parent_id = ${resource.id}`);
  db.run(sql`UPDATE resource SET instance_id = NULL WHERE instance_id = ${resource.id}`);
  db.run(sql`DELETE FROM resource WHERE id = ${resource.id}`);
  countQuotas(context, quotaDeltasOf(catalogue, resource, -1));
  if (!isSilent) record(context, 'resource_deletion_succeeded', eventContext);
}

/** Marks an object as deleted, so that it cannot be imported and an older list does not restore it (services.md 4.2). */
function forgetObject(db: Database, { backend_id: id, kind, settings_id: settings }: ResourceRow): void {
  if (id === '') return;
  db.run(sql`DELETE FROM inventory WHERE settings_id = ${settings} AND kind = ${kind} AND backend_id = ${id}`);
  recordDeletion(db, settings, `${kind} ${id}`);
}

/** Releases the reservations (quotas and states of related resources) of a job that ends with its resource. */
function releaseWork(context: Context, resource: ResourceRow): void {
  const { db } = context.app;
  const parameters = db.value<string>(sql`SELECT parameters FROM job WHERE resource_id = ${resource.id}`);
  if (parameters === undefined) return;
  const { quotas, together } = reservedIn(parameters);
  countQuotas(
    context,
    quotas.map((counted) => ({ ...counted, delta: -counted.delta })),
  );
  changeTogether(context, together, { state: 'OK' });
}

/** Removes the settings hosted by a resource (services.md 2.6). Settings with new resources stay without a host. */
function releaseHosted(context: Context, resource: ResourceRow): void {
  const { db } = context.app;
  for (const settings of db.values<number>(sql`SELECT id FROM service_settings WHERE scope_id = ${resource.id}`)) {
    if (db.value(sql`SELECT 1 FROM resource WHERE settings_id = ${settings}`) === undefined)
      removeSettings(context, settings);
    else db.update('service_settings', settings, { scope_id: null });
  }
}

/** Changes the states of resources that share another's operation. */
export function changeTogether(context: Context, ids: readonly number[], values: PlainValues): void {
  for (const id of ids) {
    const row = resourceOf(context.app.db, id);
    if (row) changeResource(context, row, values);
  }
}

/** Stores a failed creation: the row becomes Erred, and an event has the reason. */
export function failCreation(context: Context, resource: ResourceRow, text: string): void {
  const erred = changeResource(context, resource, { state: 'Erred', runtime_state: '', error_message: text });
  record(context, 'resource_creation_failed', { ...resourceContext(context.app.db, erred), error_message: text });
}

/** Applies the effects of an operation on other rows, such as the root volume of an instance. */
export function applyChanges(context: Context, resource: ResourceRow, changes: readonly RowChange[] = []): void {
  const { db } = context.app;
  for (const change of changes) {
    const existing = findRow(db, resource, change);
    if (change.action === 'remove') {
      if (existing) removeResource(context, existing, { isGone: true, isSilent: change.isSilent ?? false });
    } else if (existing) {
      const after = changeResource(context, existing, withLocalNames(existing, change.values ?? {}));
      const isBorn = (existing.state === 'Creation Scheduled' || existing.state === 'Creating') && after.state === 'OK';
      if (isBorn) record(context, 'resource_creation_succeeded', resourceContext(db, after));
    } else if (change.action === 'put' && change.uuid === undefined) {
      const row = insertResource(context, {
        kind: change.kind,
        link: resource.link_id,
        service: resource.service_id,
        settings: resource.settings_id,
        project: resource.project_id,
        customer: resource.customer_id,
        state: 'OK',
        values: { ...change.values, ...(change.backend_id !== undefined && { backend_id: change.backend_id }) },
      });
      if (!change.isSilent) record(context, 'resource_creation_succeeded', resourceContext(db, row));
    }
  }
}

function findRow(
  db: Database,
  resource: ResourceRow,
  { backend_id: backendId, kind, uuid }: RowChange,
): ResourceRow | undefined {
  if (uuid !== undefined)
    return db.get<ResourceRow>(
      sql`SELECT * FROM resource WHERE uuid = ${uuid} AND settings_id = ${resource.settings_id}`,
    );
  return db.get<ResourceRow>(sql`
    SELECT * FROM resource
    WHERE settings_id = ${resource.settings_id} AND kind = ${kind}
      AND backend_id = ${backendId ?? ''} AND backend_id <> ''`);
}

/**
 * Returns start_time of a change: the reported instant, or the time at which the resource went online here; null while it is
 * offline (services.md 7.1).
 */
function startTime(
  { app, now }: Context,
  resource: Pick<ResourceRow, 'kind' | 'runtime_state'>,
  values: PlainValues,
): Record<string, Value> {
  const { kind } = app.catalogue.kind(resource.kind);
  if (values.runtime_state === undefined || values.runtime_state === resource.runtime_state) return {};
  if (values.runtime_state === kind.runtime?.offline) return { start_time: null };
  return values.runtime_state === kind.runtime?.online && values.start_time === undefined ? { start_time: now } : {};
}
