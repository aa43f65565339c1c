import type { Request } from '../../kernel/access/request.ts';
import { type DescribedAction, describeList, describeObject, forbiddenText } from '../../kernel/collection/actions.ts';
import { sql } from '../../kernel/db/sql.ts';
import type { Reply } from '../../kernel/http/reply.ts';
import type { TypedKind } from '../catalogue/catalogue.ts';
import type { ResourceRow } from '../catalogue/resource-row.ts';
import { actionsOf, banOfAction, refusalOfAction } from './actions.ts';
import { refusalAsHost, refusalOfDeletion } from './changes.ts';
import type { KindCollection } from './kind-collection.ts';
import { mayChangeResources } from './rights.ts';

/* OPTIONS of kinds of resource (services.md 9). */

type Refusal = DescribedAction<ResourceRow>['refusal'];

/** Nobody acts on a resource who may not change it. */
const forChangers =
  (refusal: Refusal): Refusal =>
  (request, row) =>
    mayChangeResources(request, row.project_id, row.customer_id) ? refusal(request, row) : forbiddenText;

/** Every action on resources of a kind, with those every kind has. */
function describedActions(typed: TypedKind, objects: KindCollection): DescribedAction<ResourceRow>[] {
  const { kind } = typed;
  const own = actionsOf(typed).map(
    (action): DescribedAction<ResourceRow> => ({
      name: action.name,
      method: 'POST',
      destructive: false,
      tail: `${action.name}/`,
      fields: action.fields,
      refusal: (request, row) => banOfAction(request, action, row) ?? refusalOfAction(request, action, row),
    }),
  );
  const update: DescribedAction<ResourceRow> = {
    name: 'update',
    method: 'PUT',
    destructive: false,
    tail: '',
    fields: objects.spec.fields,
    refusal: forChangers((_, row) => (row.state === 'OK' ? undefined : 'Valid states for operation: OK.')),
  };
  const destroy: DescribedAction<ResourceRow> = {
    name: 'destroy',
    method: 'DELETE',
    destructive: true,
    tail: '',
    flags: kind.deletionFlags,
    refusal: forChangers(
      (request, row) => kind.forbidDeletion?.(request, row) ?? refusalOfDeletion(request, typed, row),
    ),
  };
  const unlink: DescribedAction<ResourceRow> = {
    name: 'unlink',
    method: 'POST',
    destructive: true,
    tail: 'unlink/',
    refusal: forChangers(refusalAsHost),
  };
  return [...own, ...(kind.isUpdatable === false ? [] : [update]), destroy, unlink];
}

/** OPTIONS of a list: the fields of creation, and every action of the kind. */
export const describeKind = (request: Request, typed: TypedKind, objects: KindCollection): Reply =>
  describeList(request, typed.kind.isCreatable ? objects.spec.fields : undefined, describedActions(typed, objects));

/** OPTIONS of one resource: every action, whether the caller may take it now, and if not why. */
export function describeResource(request: Request, typed: TypedKind, objects: KindCollection): Reply {
  const row = objects.find(request);
  const { db } = request;
  const settings = db.value<string>(sql`SELECT uuid FROM service_settings WHERE id = ${row.settings_id}`) as string;
  const tenant = db.value<string>(
    sql`SELECT uuid FROM resource WHERE id = ${typed.name === 'OpenStack.Tenant' ? row.id : row.parent_id}`,
  );
  return describeObject(
    request,
    `${request.base}/api/${objects.path}/${row.uuid}/`,
    row,
    describedActions(typed, objects),
    { settings, ...(tenant && { tenant }) },
  );
}
