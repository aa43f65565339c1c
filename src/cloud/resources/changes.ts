import { changeText } from '../../activity/events/context.ts';
import { record } from '../../activity/events/record.ts';
import type { Context } from '../../kernel/access/context.ts';
import type { Request } from '../../kernel/access/request.ts';
import { narrowed } from '../../kernel/access/right.ts';
import { type Columns, changesOf } from '../../kernel/collection/changes.ts';
import { messageShape } from '../../kernel/collection/field.ts';
import { sql } from '../../kernel/db/sql.ts';
import { json } from '../../kernel/http/reply.ts';
import type { TypedKind } from '../catalogue/catalogue.ts';
import type { ResourceRow } from '../catalogue/resource-row.ts';
import { queueJob } from '../operations/jobs.ts';
import type { KindSpec } from './creation.ts';
import { resourceContext } from './resource.ts';
import { changeResource } from './resource-store.ts';
import { resourceWriters } from './rights.ts';
import { replaceTags } from './tags.ts';

/** Declares updates of a kind (services.md 8.2). */
export const updateOf = (typed: TypedKind): NonNullable<KindSpec['update']> => ({
  right: resourceWriters,
  denialReason: (_, row) => (row.state === 'OK' ? undefined : 'Valid states for operation: OK.'),
  run: (request, row, { tags }, columns) => updateResource(request, typed, row, columns, tags),
});

/** Changes columns and tags. Queues a job if the provider must get a new name or description. */
function updateResource(
  request: Request,
  { kind }: TypedKind,
  row: ResourceRow,
  input: Columns,
  tags: readonly string[] | undefined,
): void {
  const columns = changesOf(row, input);
  const tagged = tags !== undefined && replaceTags(request.db, row.id, tags);
  if (Object.keys(columns).length === 0 && !tagged) return;
  const { description, name }: { readonly description?: string; readonly name?: string } = columns;
  const values = { ...(name !== undefined && { name }), ...(description !== undefined && { description }) };
  if (Object.keys(values).length > 0) kind.checkUpdate?.(request, row, values);
  const changes = `${name !== undefined ? changeText('Name', row.name, name) : ''}${description !== undefined ? changeText('Description', row.description, description) : ''}`;
  const isPushed = kind.pushedFields?.some((pushed) => pushed in values) ?? false;
  const after = changeResource(
    request,
    row,
    { ...values, ...(isPushed && { state: 'Update Scheduled' }) },
    { columns },
  );
  if (isPushed)
    queueJob(request, { settings: row.settings_id, resource: row, operation: 'update', parameters: { changes } });
  else record(request, 'resource_update_succeeded', resourceContext(request.db, after), { changes });
}

/** Returns the 409 message that a deletion would get now; undefined if it is possible (services.md 8.2, 2.6). */
function deletionReason(request: Request, { kind }: TypedKind, row: ResourceRow): string | undefined {
  // Rules of the kind precede the common ones.
  const own = kind.deletion?.denialReason?.(request, row) ?? kind.deletion?.removalDenialReason?.(request, row);
  if (own !== undefined) return own;
  return row.state === 'OK' || row.state === 'Erred'
    ? hostReason(request, row)
    : 'Valid states for operation: OK, Erred.';
}

/** Returns the 409 message that unlinking would get now, whatever the state (services.md 8.2, 8.5). */
export const unlinkingReason = (request: Request, { kind }: TypedKind, row: ResourceRow): string | undefined =>
  kind.deletion?.removalDenialReason?.(request, row) ?? hostReason(request, row);

/** Returns why a resource that hosts settings with resources cannot be removed; undefined otherwise. */
export function hostReason({ db, app }: Pick<Request, 'db' | 'app'>, row: ResourceRow): string | undefined {
  const [first] = db
    .values<string>(sql`
      SELECT DISTINCT r.kind
      FROM service_settings st JOIN resource r ON r.settings_id = st.id
      WHERE st.scope_id = ${row.id} AND NOT r.is_part`)
    .map((name) => app.catalogue.kind(name).kind.plural)
    .sort();
  return first === undefined ? undefined : `Cannot delete resource that hosts service settings with existing ${first}`;
}

/** Declares deletions of a kind, which run as jobs. In the state Erred, the row is removed whatever the response. */
export function deletionOf(typed: TypedKind): NonNullable<KindSpec['delete']> {
  const { flags = {}, right } = typed.kind.deletion ?? {};
  return {
    right: right ? narrowed(resourceWriters, right) : resourceWriters,
    denialReason: (request, row) => deletionReason(request, typed, row),
    flags,
    output: { status: 202, shape: messageShape },
    run: (request, row) => {
      const parameters = Object.entries(flags).map(([name, fallback]) => [
        name,
        request.query.boolean(name) ?? fallback,
      ]);
      scheduleDeletion(request, row, Object.fromEntries(parameters));
      return json({ detail: 'Deletion was scheduled.' }, 202);
    },
  };
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
  record(context, 'resource_deletion_scheduled', resourceContext(context.app.db, row));
}
