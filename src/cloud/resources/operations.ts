import { closeAlert, raiseAlert } from '../../activity/alerts/alert-store.ts';
import type { EventTypeName } from '../../activity/events/catalogue.ts';
import { record } from '../../activity/events/record.ts';
import { countQuotas } from '../../activity/quotas/usage.ts';
import type { Context } from '../../kernel/access/context.ts';
import type { App } from '../../kernel/app.ts';
import { sql } from '../../kernel/db/sql.ts';
import type { TypedKind } from '../catalogue/catalogue.ts';
import type { DriverCall, PlainValues, Step } from '../catalogue/driver.ts';
import type { ResourceRow, State } from '../catalogue/resource-row.ts';
import type { Job } from '../operations/jobs.ts';
import {
  maxFailureLength,
  missingAtBackend,
  operationHandler,
  type Subject,
  timeoutOf,
} from '../operations/operation.ts';
import { reservedIn } from './counting.ts';
import { pushedNames, withLocalNames } from './local-names.ts';
import { detailsOf, resourceContext, resourceOf } from './resource.ts';
import { applyChanges, changeResource, changeTogether, removeResource } from './resource-store.ts';

/*
 * State transitions of a resource during a job (services.md 8.1, 8.3). The worker runs each in a separate transaction.
 */

const running: Readonly<Record<string, State>> = { create: 'Creating', delete: 'Deleting' };

/** Scheduled becomes running. */
function startOperation(context: Context, resource: ResourceRow, job: Job): void {
  const { shown }: JobParameters = JSON.parse(job.parameters);
  const isAction = !['create', 'update', 'delete', 'pull'].includes(job.operation);
  changeTogether(context, reservedIn(job.parameters).together, { state: 'Updating' });
  changeResource(context, resource, {
    state: running[job.operation] ?? 'Updating',
    ...(isAction && { action: job.operation, action_details: shown ?? {} }),
  });
}

/** Stores the updates of a waiting operation. Returns a failure message if the provider's state means failure. */
function storeProgress(
  context: Context,
  resource: ResourceRow,
  { changes, values = {} }: Extract<Step, { kind: 'wait' }>,
): string | undefined {
  applyChanges(context, changeResource(context, resource, withLocalNames(resource, values)), changes);
  return failureOfState(context.app.catalogue.kind(resource.kind), values.runtime_state);
}

/** Returns the failure message for a runtime state; undefined if it is not a failure. */
export function failureOfState({ kind }: TypedKind, state: unknown): string | undefined {
  return kind.runtime?.failed?.some((failed) => failed === state)
    ? `${kind.name} runtime state become erred: ${state}`
    : undefined;
}

/** Ends an operation: updates state, values, quotas, events and alerts in one transaction. */
function finishOperation(
  context: Context,
  resource: ResourceRow,
  job: Job,
  step: Exclude<Step, { kind: 'wait' }>,
): void {
  const parameters: JobParameters = JSON.parse(job.parameters);
  if (step.kind === 'done') {
    const failure =
      job.operation === 'delete'
        ? undefined
        : failureOfState(context.app.catalogue.kind(resource.kind), step.values?.runtime_state);
    if (failure === undefined) succeed(context, resource, job, step, parameters);
    else finishOperation(context, resource, job, { ...step, kind: 'fail', text: failure });
    return;
  }
  countQuotas(
    context,
    reservedIn(job.parameters).quotas.map((counted) => ({ ...counted, delta: -counted.delta })),
  );
  if (job.operation === 'delete' && parameters.forced) {
    applyChanges(context, resource, step.changes);
    removeResource(context, resource, { deletion: parameters });
    return;
  }
  const text = step.text.slice(0, maxFailureLength);
  changeTogether(context, reservedIn(job.parameters).together, { state: 'Erred', error_message: text });
  const erred = changeResource(context, resource, {
    ...withLocalNames(resource, step.values ?? {}),
    state: 'Erred',
    error_message: text,
    action: '',
    action_details: {},
  });
  applyChanges(context, erred, step.changes);
  const event = failureEvents[job.operation];
  if (event) record(context, event, { ...resourceContext(context.app.db, erred), error_message: text });
  context.app.catalogue
    .kind(erred.kind)
    .kind.onFailure?.(context, erred, { operation: job.operation, parameters, text });
  if (job.operation === 'pull' && text === missingAtBackend)
    raiseAlert(context, 'resource', resource.id, 'resource_disappeared_from_backend');
}

/** Job parameters for the end of the operation. */
interface JobParameters extends PlainValues {
  readonly forced?: boolean;
  /** Returns the text about a changed name or description for the event's message. */
  readonly changes?: string;
  /** Details of the running operation. */
  readonly shown?: PlainValues;
}

const failureEvents: Readonly<Record<string, EventTypeName>> = {
  create: 'resource_creation_failed',
  delete: 'resource_deletion_failed',
  start: 'resource_start_failed',
  stop: 'resource_stop_failed',
  restart: 'resource_restart_failed',
};

const successEvents: Readonly<Record<string, EventTypeName>> = {
  create: 'resource_creation_succeeded',
  start: 'resource_start_succeeded',
  stop: 'resource_stop_succeeded',
  restart: 'resource_restart_succeeded',
};

function succeed(
  context: Context,
  resource: ResourceRow,
  job: Job,
  step: Extract<Step, { kind: 'done' }>,
  parameters: JobParameters,
): void {
  const { db } = context.app;
  const { operation } = job;
  const { changes = '' } = parameters;
  const { quotas, together } = reservedIn(job.parameters);
  if (operation === 'delete') {
    applyChanges(context, resource, step.changes);
    removeResource(context, resource, { deletion: parameters, isGone: true });
    return;
  }
  changeTogether(context, together, { state: 'OK' });
  if (operation !== 'create') keepSecrets(context, resource, job);
  const after = changeResource(
    context,
    resource,
    {
      ...(operation === 'update' && pushedNames(context.app.catalogue.kind(resource.kind), resource)),
      ...withLocalNames(resource, step.values ?? {}),
      state: 'OK',
      error_message: '',
      action: '',
      action_details: {},
    },
    { counted: quotas },
  );
  applyChanges(context, after, step.changes);
  if (operation === 'pull') closeAlert(context, 'resource', resource.id, 'resource_disappeared_from_backend');
  const { actions } = context.app.catalogue.kind(resource.kind).kind;
  if (operation === 'pull' || actions.some(({ isPull, name }) => isPull && name === operation)) return;
  record(context, successEvents[operation] ?? 'resource_update_succeeded', resourceContext(db, after), { changes });
}

/** Stores the secrets of a successful action in the resource. */
function keepSecrets(
  { app: { db, secrets } }: Context,
  { id, secrets: currentSecrets, uuid }: ResourceRow,
  job: Job,
): void {
  if (job.secrets === null) return;
  const opened = (sealed: Uint8Array | null): PlainValues =>
    sealed === null ? {} : JSON.parse(secrets.open(sealed, uuid));
  db.update('resource', id, {
    secrets: secrets.seal(JSON.stringify({ ...opened(currentSecrets), ...opened(job.secrets) }), uuid),
  });
}

/** Returns the failure message if the parent was never created at the provider; undefined otherwise. */
function missingParentReason({ catalogue, db }: App, job: Job, resource: ResourceRow): string | undefined {
  const parent =
    job.operation === 'create' && resource.parent_id !== null ? resourceOf(db, resource.parent_id) : undefined;
  return parent?.backend_id === '' ? `${catalogue.kind(parent.kind).kind.name} does not exist at backend` : undefined;
}

/** Returns the resource of a job; undefined if it no longer exists. */
function resourceSubject(app: App, job: Job): Subject | undefined {
  const resource = job.resource_id === null ? undefined : resourceOf(app.db, job.resource_id);
  return (
    resource && {
      start: (context) => startOperation(context, resource, job),
      failure: (now) =>
        timeoutOf(job, now, app.catalogue.kind(resource.kind).kind.limits) ?? missingParentReason(app, job, resource),
      call: () => driverCall(app, job, resource),
      progress: (context, step) => storeProgress(context, resource, step),
      finish: (context, step) => finishOperation(context, resource, job, step),
    }
  );
}

/** Returns the driver input for a resource. */
function driverCall({ catalogue, db, secrets }: App, job: Job, resource: ResourceRow): DriverCall {
  const opened = (sealed: Uint8Array | null): PlainValues =>
    sealed === null ? {} : JSON.parse(secrets.open(sealed, resource.uuid));
  const { details: _, secrets: own, ...row } = resource;
  return {
    kind: catalogue.kind(resource.kind).kind.name,
    uuid: resource.uuid,
    values: { ...row, ...detailsOf(resource) },
    parameters: JSON.parse(job.parameters),
    secrets: { ...opened(own), ...opened(job.secrets) },
    parent: db.value<string>(sql`SELECT backend_id FROM resource WHERE id = ${resource.parent_id}`) ?? '',
    memo: JSON.parse(job.memo),
    started: job.started ?? job.created,
    isRepeated: job.lease !== null,
  };
}

const maxConcurrentCreations = 4;

/**
 * Limits creations: at most four objects of a kind at once on the same settings, none before its parent, and only one with the
 * same name until its id is known, because a creation without a response is looked up by name.
 */
function mustWait({ db }: App, job: Job): boolean {
  const parent = db.value<string>(sql`
    SELECT state FROM resource
    WHERE id = (SELECT parent_id FROM resource WHERE id = ${job.resource_id})`);
  if (parent === 'Creation Scheduled' || parent === 'Creating') return true;
  const { creating, hasNamesake } = db.one<{ creating: number; hasNamesake: number }>(sql`
    SELECT count(*) AS creating,
      ifnull(max(r.name = own.name AND r.backend_id = '' AND st.backend_url LIKE 'http%'), 0) AS hasNamesake
    FROM resource own
      JOIN service_settings st ON st.id = own.settings_id
      JOIN resource r ON r.settings_id = own.settings_id AND r.kind = own.kind AND r.state = 'Creating'
    WHERE own.id = ${job.resource_id}`);
  return creating >= maxConcurrentCreations || hasNamesake === 1;
}

/** Operations on resources. */
export const resourceHandler = operationHandler(resourceSubject, mustWait);
