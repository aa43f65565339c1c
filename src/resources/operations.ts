import type { Context, Deployment } from '../access/deployment.ts';
import { minute } from '../clock.ts';
import { sql } from '../db/sql.ts';
import { closeAlert, raiseAlert } from '../alerts/raise.ts';
import type { EventTypeName } from '../events/catalogue.ts';
import { record } from '../events/record.ts';
import type { DriverCall, PlainValues, Step } from '../providers/provider.ts';
import { resourceKind } from '../providers/registry.ts';
import { type Demand, countQuotas } from '../quotas/usage.ts';
import type { Job } from '../work/jobs.ts';
import { type ResourceRow, type State, detailsOf, resourceContext } from './resource.ts';
import { applyChanges, changeResource, removeResource } from './rows.ts';

/*
 * What happens to a resource while a job about it runs (services.md 8.1, 8.3). Every transition is a transaction of its
 * own, made by the worker.
 */

/** What a resource tells that the provider has no more. */
export const missingAtBackend = 'Does not exist at backend.';

const running: Readonly<Record<string, State>> = { create: 'Creating', delete: 'Deleting' };

/** Scheduled becomes running. */
export function startOperation(context: Context, resource: ResourceRow, job: Job): void {
  const { secrets: _, ...shown } = JSON.parse(job.parameters) as PlainValues;
  const isAction = !['create', 'update', 'delete', 'pull'].includes(job.operation);
  changeResource(context, resource, { state: running[job.operation] ?? 'Updating', ...(isAction && { action: job.operation, action_details: shown.shown ?? {} }) });
}

/** Stores what a waiting operation told; answers the text of a failure when the provider's state means one. */
export function storeProgress(context: Context, resource: ResourceRow, values: PlainValues): string | undefined {
  changeResource(context, resource, values);
  return failureOfState(resource.kind, values.runtime_state);
}

/** The text of a failure that a runtime state of a kind means, or undefined. */
export function failureOfState(kindName: string, state: unknown): string | undefined {
  const { kind } = resourceKind(kindName);
  return kind.failed?.some((failed) => failed === state) ? `${kind.name} runtime state become erred: ${state}` : undefined;
}

/** The end of an operation: state, values, quotas, events and alerts in one transaction. */
export function finishOperation(context: Context, resource: ResourceRow, job: Job, step: Exclude<Step, { kind: 'wait' }>): void {
  const parameters = JSON.parse(job.parameters) as { forced?: boolean; changes?: string; demands?: readonly Demand[] };
  if (step.kind === 'done') {
    const failure = job.operation === 'delete' ? undefined : failureOfState(resource.kind, step.values?.runtime_state);
    if (failure !== undefined) return finishOperation(context, resource, job, { ...step, kind: 'fail', text: failure });
    return succeed(context, resource, job.operation, step, parameters);
  }
  if (parameters.demands) countQuotas(context, parameters.demands.map((demand) => ({ ...demand, delta: -demand.delta })));
  if (job.operation === 'delete' && parameters.forced) {
    applyChanges(context, resource, step.changes);
    removeResource(context, resource);
    return;
  }
  const erred = changeResource(context, resource, { ...step.values, state: 'Erred', error_message: step.text, action: '', action_details: {} });
  applyChanges(context, erred, step.changes);
  const event = failureEvents[job.operation];
  if (event) record(context, event, { ...resourceContext(context.deployment.db, erred), error_message: step.text });
  if (job.operation === 'pull' && step.text === missingAtBackend) raiseAlert(context, 'resource', resource.id, 'resource_disappeared_from_backend');
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
  operation: string,
  step: Extract<Step, { kind: 'done' }>,
  { changes = '', demands }: { changes?: string; demands?: readonly Demand[] },
): void {
  const { db } = context.deployment;
  if (operation === 'delete') {
    applyChanges(context, resource, step.changes);
    removeResource(context, resource);
    return;
  }
  const after = changeResource(context, resource, { ...step.values, state: 'OK', error_message: '', action: '', action_details: {} }, demands);
  applyChanges(context, after, step.changes);
  if (operation === 'pull') {
    closeAlert(context, 'resource', resource.id, 'resource_disappeared_from_backend');
    return;
  }
  record(context, successEvents[operation] ?? 'resource_update_succeeded', resourceContext(db, after), { changes });
}

/** Whether an operation has run longer than its kind may (services.md 8.3 "Limits"). */
export function hasTimedOut(job: Job, resource: ResourceRow, now: number): boolean {
  const { limits = {} } = resourceKind(resource.kind).kind;
  const minutes = job.operation === 'create' ? (limits.create ?? 30) : job.operation === 'delete' ? (limits.delete ?? 5) : (limits.action ?? 25);
  return job.started !== null && now > job.started + minutes * minute;
}

/** What a driver is told of a resource. */
export function driverCall({ db, secrets }: Deployment, job: Job, resource: ResourceRow): DriverCall {
  const opened = (sealed: Uint8Array | null): PlainValues => (sealed === null ? {} : JSON.parse(secrets.open(sealed, resource.uuid)));
  const { details: _, secrets: own, ...row } = resource;
  return {
    kind: resourceKind(resource.kind).kind.name,
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
