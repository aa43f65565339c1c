import { type Context, systemContext } from '../../kernel/access/context.ts';
import type { Request } from '../../kernel/access/request.ts';
import { type App, newUuid } from '../../kernel/app.ts';
import type { Row } from '../../kernel/collection/collection.ts';
import type { Database } from '../../kernel/db/database.ts';
import { raw, sql, type Value } from '../../kernel/db/sql.ts';
import { conflict } from '../../kernel/http/error.ts';
import { json, type Reply } from '../../kernel/http/reply.ts';
import { present } from '../../kernel/present.ts';
import type { DriverCall, PlainValues, Step } from '../catalogue/driver.ts';
import type { EntityKind } from '../catalogue/entity-kind.ts';
import type { State } from '../catalogue/resource-row.ts';
import { type Job, queueJob } from '../operations/jobs.ts';
import {
  maxFailureLength,
  missingAtBackend,
  operationHandler,
  type Subject,
  timeoutOf,
} from '../operations/operation.ts';

/*
 * Entities: objects of a provider type that are not resources. They have states (services.md 8.1) and jobs, but no events, quotas
 * and counts.
 */

/** Columns of every entity table. */
export interface EntityRow extends Row {
  readonly settings_id: number;
  readonly state: State;
  readonly error_message: string;
  readonly backend_id: string;
}

const maxConcurrentCreations = 4;
const beingCreated: readonly string[] = ['Creation Scheduled', 'Creating'];
const idle: readonly string[] = ['OK', 'Erred'];
const running: Readonly<Record<string, State>> = { create: 'Creating', delete: 'Deleting' };

const find = (db: Database, { table }: EntityKind, id: number): EntityRow | undefined =>
  db.get<EntityRow>(sql`SELECT * FROM ${raw(table)} WHERE id = ${id}`);

/** Inserts an object and queues its creation at the provider. Returns its id. Throws 409. */
export function createEntity(
  request: Request,
  kind: EntityKind,
  settings: number,
  columns: Readonly<Record<string, Value>>,
): number {
  const { db, app, now } = request;
  if (db.value(sql`SELECT state FROM service_settings WHERE id = ${settings}`) === 'Erred') {
    throw conflict('Cannot create resource if its service is in erred state.');
  }
  const id = db.insert(kind.table, {
    uuid: newUuid(app),
    settings_id: settings,
    user_id: request.caller.userId,
    state: 'Creation Scheduled',
    created: now,
    ...columns,
  });
  queueJob(request, { settings, entity: { kind: request.app.catalogue.entityName(kind), id }, operation: 'create' });
  return id;
}

/** Changes an object here and queues the change at the provider. Throws 409. */
export function updateEntity(
  request: Request,
  kind: EntityKind,
  row: EntityRow,
  columns: Readonly<Record<string, Value>>,
): void {
  if (row.state !== 'OK') throw conflict('Valid states for operation: OK.');
  if (Object.keys(columns).length === 0) return;
  request.db.update(kind.table, row.id, { ...columns, state: 'Update Scheduled' });
  queueJob(request, {
    settings: row.settings_id,
    entity: { kind: request.app.catalogue.entityName(kind), id: row.id },
    operation: 'update',
  });
}

/** Queues the deletion of an object at the provider. An Erred object is removed whatever the response. Throws 409. */
export function deleteEntity(request: Request, kind: EntityKind, row: EntityRow): Reply {
  if (!idle.includes(row.state)) throw conflict('Valid states for operation: OK, Erred.');
  request.db.update(kind.table, row.id, { state: 'Deletion Scheduled' });
  queueJob(request, {
    settings: row.settings_id,
    entity: { kind: request.app.catalogue.entityName(kind), id: row.id },
    operation: 'delete',
    parameters: { forced: row.state === 'Erred' },
  });
  return json({ detail: 'Deletion was scheduled.' }, 202);
}

/** An object in a notification of the provider. */
interface Notice {
  /** The row of its owner, and the owner's id at the provider. */
  readonly owner: number;
  readonly parent: string;
  readonly backendId: string;
}

/** Queues a pull of an object that the provider has reported, unless one is already waiting. */
export function queueNotice(context: Context, kind: string, settings: number, notice: Notice): void {
  const { db } = context.app;
  const queued = db.value(sql`
    SELECT 1 FROM job
    WHERE settings_id = ${settings} AND entity_kind = ${kind} AND entity_id IS NULL
      AND parameters = ${JSON.stringify(notice)} AND started IS NULL`);
  if (queued === undefined)
    queueJob(context, { settings, entity: { kind, id: null }, operation: 'pull', parameters: { ...notice } });
}

/**
 * Limits creations: an object is created after the objects that it refers to, and at most four of a kind at once on the same
 * settings. Indistinguishable objects are created one at a time, because a creation without a response is looked up by its
 * values.
 */
function entityMustWait({ catalogue, db }: App, { entity_id: id, entity_kind: name, settings_id }: Job): boolean {
  // A notification concerns an existing object.
  if (id === null) return false;
  const kind = catalogue.entityKind(present(name));
  if (owners(db, kind, id).some(({ state }) => beingCreated.includes(state))) return true;
  const creating = db.scalar<number>(sql`
    SELECT count(*) FROM ${raw(kind.table)}
    WHERE settings_id = ${settings_id} AND state = 'Creating'`);
  return creating >= maxConcurrentCreations || hasNamesake(db, kind, id);
}

/** Whether an indistinguishable object is being created at a provider other than the simulator. */
const hasNamesake = (db: Database, { distinguishedBy, table }: EntityKind, id: number): boolean =>
  db.value(sql`
    SELECT 1
    FROM ${raw(table)} own
      JOIN service_settings st ON st.id = own.settings_id AND st.backend_url LIKE 'http%'
      JOIN ${raw(table)} x ON x.settings_id = own.settings_id AND x.state = 'Creating' AND x.backend_id = ''
    WHERE own.id = ${id} AND ${raw(distinguishedBy.map((column) => `x.${column} = own.${column}`).join(' AND '))}`) !==
  undefined;

interface Owner {
  readonly state: string;
  readonly backend_id: string;
}

const owners = (db: Database, kind: EntityKind, id: number): Owner[] =>
  kind.owners.flatMap(({ column, table }) =>
    db.all<Owner>(sql`
      SELECT state, backend_id FROM ${raw(table)}
      WHERE id = (SELECT ${raw(column)} FROM ${raw(kind.table)} WHERE id = ${id})`),
  );

/** Returns the object of a job; undefined if it no longer exists. */
function entitySubject(app: App, job: Job): Subject | undefined {
  const name = present(job.entity_kind);
  const kind = app.catalogue.entityKind(name);
  if (job.entity_id === null) return noticeSubject(app, job, name);
  const { db } = app;
  const row = find(db, kind, job.entity_id);
  return (
    row && {
      start: () => db.update(kind.table, row.id, { state: running[job.operation] ?? 'Updating' }),
      failure: (now) => {
        const isHomeless =
          job.operation === 'create' && owners(db, kind, row.id).some(({ backend_id: id }) => id === '');
        return isHomeless ? `${kind.name} belongs to what does not exist at backend.` : timeoutOf(job, now);
      },
      call: () => {
        const { parameters, values } = kind.driverInput(db, row.id);
        return driverCall(job, kind, {
          uuid: row.uuid,
          values: { ...values, backend_id: row.backend_id },
          parameters,
          parent: owners(db, kind, row.id)[0]?.backend_id ?? '',
        });
      },
      progress: (context, { values = {} }) => {
        store(context, kind, row, values);
        return undefined;
      },
      finish: (context, step) => finish(context, kind, row, job, step),
    }
  );
}

function driverCall(
  job: Job,
  kind: EntityKind,
  input: Pick<DriverCall, 'uuid' | 'values' | 'parent'> & { parameters?: PlainValues | undefined },
): DriverCall {
  return {
    kind: kind.name,
    secrets: {},
    memo: JSON.parse(job.memo),
    started: job.started ?? job.created,
    isRepeated: job.lease !== null,
    ...input,
    parameters: input.parameters ?? {},
  };
}

/** Stores values of a driver and the resulting state. */
function store(
  context: Context,
  kind: EntityKind,
  row: EntityRow,
  { backend_id: backendId, ...values }: PlainValues,
  state: Readonly<Record<string, Value>> = {},
): void {
  const id = typeof backendId === 'string' ? { backend_id: backendId } : {};
  context.app.db.update(kind.table, row.id, { ...kind.stored(context, values, row.id), ...id, ...state });
}

const ok = { state: 'OK', error_message: '' };

function finish(
  context: Context,
  kind: EntityKind,
  row: EntityRow,
  job: Job,
  step: Exclude<Step, { kind: 'wait' }>,
): void {
  const { forced }: { forced?: boolean } = JSON.parse(job.parameters);
  if (job.operation === 'delete' && (step.kind === 'done' || forced)) remove(context, kind, row);
  else if (step.kind === 'done') store(context, kind, row, step.values ?? {}, ok);
  else
    store(context, kind, row, step.values ?? {}, {
      state: 'Erred',
      error_message: step.text.slice(0, maxFailureLength),
    });
}

const remove = ({ app }: Context, { table }: EntityKind, { id }: EntityRow): void =>
  void app.db.run(sql`DELETE FROM ${raw(table)} WHERE id = ${id}`);

/** Handles an object reported by the provider: only values read from the provider are trusted. */
function noticeSubject(app: App, job: Job, name: string): Subject {
  const kind = app.catalogue.entityKind(name);
  const notice: Notice = JSON.parse(job.parameters);
  return {
    start: () => undefined,
    failure: (now) => timeoutOf(job, now),
    call: () =>
      driverCall(job, kind, {
        uuid: `${notice.parent} ${notice.backendId}`,
        values: { backend_id: notice.backendId },
        parent: notice.parent,
      }),
    progress: () => undefined,
    finish: (context, step) => {
      const row = app.db.get<EntityRow>(sql`
        SELECT * FROM ${raw(kind.table)}
        WHERE settings_id = ${job.settings_id} AND backend_id = ${notice.backendId}
          AND ${raw(kind.owners[0].column)} = ${notice.owner}`);
      if (row ? !idle.includes(row.state) : isExpected(app.db, kind, notice.owner))
        return queueNotice(systemContext(app), name, job.settings_id, notice);
      if (step.kind === 'fail') {
        if (row && step.text === missingAtBackend) remove(context, kind, row);
        return;
      }
      if (row) store(context, kind, row, step.values ?? {}, ok);
      else if (ownerExists(app.db, kind, notice.owner))
        kind.importDiscovered?.(context, notice.owner, notice.backendId, step.values ?? {});
    },
  };
}

const ownerExists = (db: Database, { owners: [owner] }: EntityKind, id: number): boolean =>
  db.value(sql`SELECT 1 FROM ${raw(owner.table)} WHERE id = ${id}`) !== undefined;

/** Whether an object created here has no provider id yet and may be the reported one. */
const isExpected = (db: Database, { owners: [owner], table }: EntityKind, id: number): boolean =>
  db.value(sql`
    SELECT 1 FROM ${raw(table)}
    WHERE ${raw(owner.column)} = ${id} AND backend_id = '' AND state IN ('Creation Scheduled', 'Creating')`) !==
  undefined;

/** Operations on entities. */
export const entityHandler = operationHandler(entitySubject, entityMustWait);
