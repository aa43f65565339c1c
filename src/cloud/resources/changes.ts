import { record } from '../../activity/events/record.ts';
import type { Context } from '../../kernel/access/deployment.ts';
import type { Request } from '../../kernel/access/request.ts';
import type { Fields, Values } from '../../kernel/collection/field.ts';
import { sql } from '../../kernel/db/sql.ts';
import { conflict, forbidden } from '../../kernel/http/error.ts';
import { json, type Reply } from '../../kernel/http/reply.ts';
import type { TypedKind } from '../catalogue/catalogue.ts';
import type { ResourceRow } from '../catalogue/resource-row.ts';
import { queueJob } from '../jobs/jobs.ts';
import { resourceContext } from './resource.ts';
import { changeResource } from './rows.ts';
import { replaceTags } from './tags.ts';

/** PUT and PATCH: name, description and tags; what the provider must learn goes through a job (services.md 8.2). */
export function updateResource(request: Request, { kind }: TypedKind, row: ResourceRow, values: Values<Fields>): void {
  if (row.state !== 'OK') throw conflict('Valid states for operation: OK.');
  const { description, name, tags } = values as { description?: string; name?: string; tags?: readonly string[] };
  const named = name !== undefined && name !== row.name;
  const described = description !== undefined && description !== row.description;
  const tagged = tags !== undefined && replaceTags(request.db, row.id, tags);
  if (!named && !described && !tagged) return;
  if (named || described)
    kind.checkUpdate?.(request, row, { ...(named && { name }), ...(described && { description }) });
  const changes = `${named ? changeText('Name', row.name, name) : ''}${described ? changeText('Description', row.description, description) : ''}`;
  const isPushed = (named && kind.pushes?.includes('name')) || (described && kind.pushes?.includes('description'));
  const after = changeResource(request, row, {
    ...(named && { name }),
    ...(described && { description }),
    ...(isPushed && { state: 'Update Scheduled' }),
  });
  if (isPushed)
    queueJob(request, { settings: row.settings_id, resource: row, operation: 'update', parameters: { changes } });
  else record(request, 'resource_update_succeeded', resourceContext(request.db, after), { changes });
}

const changeText = (label: string, before: string, after: string): string =>
  ` ${label} has been changed from '${before}' to '${after}'.`;

const accepted = 'Deletion was scheduled.';

/** The text of the 409 that a deletion would get now, or undefined (services.md 8.2, 2.6). */
export function refusalOfDeletion(request: Request, { kind }: TypedKind, row: ResourceRow): string | undefined {
  // Rules of the kind's own speak before the common ones.
  const own = kind.refuseDeletion?.(request, row);
  if (own !== undefined) return own;
  return row.state === 'OK' || row.state === 'Erred'
    ? refusalAsHost(request, row)
    : 'Valid states for operation: OK, Erred.';
}

/** A resource that hosts settings with resources stays. */
export function refusalAsHost(
  { db, deployment }: Pick<Request, 'db' | 'deployment'>,
  row: ResourceRow,
): string | undefined {
  const plurals = db
    .values<string>(
      sql`SELECT DISTINCT r.kind FROM service_settings st JOIN resource r ON r.settings_id = st.id WHERE st.scope_id = ${row.id} AND NOT r.is_part`,
    )
    .map((name) => deployment.catalogue.kind(name).kind.plural)
    .sort();
  return plurals[0] === undefined
    ? undefined
    : `Cannot delete resource that hosts service settings with existing ${plurals[0]}`;
}

/** DELETE of a resource: accepted, and done by a job; from Erred the row goes whatever the provider says. */
export function deleteResource(request: Request, typed: TypedKind, row: ResourceRow): Reply {
  const ban = typed.kind.forbidDeletion?.(request, row);
  if (ban !== undefined) throw forbidden(ban);
  const refusal = refusalOfDeletion(request, typed, row);
  if (refusal !== undefined) throw conflict(refusal);
  const flags = Object.fromEntries(
    Object.entries(typed.kind.deletionFlags ?? {}).map(([name, fallback]) => [
      name,
      request.query.boolean(name) ?? fallback,
    ]),
  );
  scheduleDeletion(request, row, flags);
  return json({ detail: accepted }, 202);
}

/** Queues the deletion of a resource. */
export function scheduleDeletion(
  context: Context,
  row: ResourceRow,
  parameters: Readonly<Record<string, unknown>> = {},
): void {
  changeResource(context, row, { state: 'Deletion Scheduled' });
  queueJob(context, {
    settings: row.settings_id,
    resource: row,
    operation: 'delete',
    parameters: { ...parameters, forced: row.state === 'Erred' },
  });
  record(context, 'resource_deletion_scheduled', resourceContext(context.deployment.db, row));
}
