import type { Context } from '../../kernel/access/context.ts';
import type { RecordedEvent } from '../events/record.ts';
import { appendRecord, ofService } from './append.ts';

/** Context keys with the objects of job events, the most specific first, and their types of audit objects. */
const objectKeys = [
  ['resource_uuid', 'resources', 'resource_name'],
  ['service_uuid', 'services', 'service_name'],
  ['settings_uuid', 'service-settings', 'settings_name'],
  ['affected_user_uuid', 'users', 'affected_user_username'],
  ['project_uuid', 'projects', 'project_name'],
  ['customer_uuid', 'customers', 'customer_name'],
] as const;

/**
 * Adds the customer and project of an event to the record of the current change. An event of a job or timer gets a separate
 * record (audit.md 2).
 */
export function auditEvent(context: Context, { context: values, type }: Pick<RecordedEvent, 'context' | 'type'>): void {
  const { actor, address, app, job, now } = context;
  if (app.trail.current) {
    app.trail.current.contexts.push(values);
    return;
  }
  const [key, object, name] = objectKeys.find(([uuid]) => values[uuid] !== undefined) ?? [];
  appendRecord(app, {
    ...ofService,
    at: now,
    operation: job ?? operationOf(app.trail.task ?? 'service'),
    ...(actor && { actor: { kind: 'user', uuid: actor.uuid }, actorName: actor.username }),
    object: key === undefined || object === undefined ? null : { type: object, uuid: values[key] ?? '' },
    customers: listOf(values.customer_uuid),
    projects: listOf(values.project_uuid),
    objectName: (name !== undefined && values[name]) || null,
    address,
    changes: [{ field: 'event', from: null, to: type }],
  });
}

const listOf = (uuid: string | undefined): readonly string[] => (uuid === undefined ? [] : [uuid]);

/** Records how many rows a housekeeping task has removed. Must run inside a write. */
export function auditHousekeeping({ app, now }: Context, task: string, count: number): void {
  appendRecord(app, {
    ...ofService,
    at: now,
    operation: operationOf(task),
    changes: [{ field: 'rows', from: null, to: count }],
  });
}

/** Converts `remove old events` to `remove_old_events`. */
const operationOf = (task: string): string => task.toLowerCase().replaceAll(' ', '_');
