import type { EventTypeName } from '../../activity/events/catalogue.ts';
import { record } from '../../activity/events/record.ts';
import { countQuotas, requireQuotas } from '../../activity/quotas/usage.ts';
import type { Request } from '../../kernel/access/request.ts';
import { narrowed, type Right, rightUnlessDenied, staff } from '../../kernel/access/right.ts';
import { type Action, action } from '../../kernel/collection/action.ts';
import type { Parent } from '../../kernel/collection/collection.ts';
import { objectShape } from '../../kernel/collection/field.ts';
import type { JsonSchema } from '../../kernel/collection/json-schema.ts';
import { titleOf } from '../../kernel/collection/object-options.ts';
import { nounOf, withArticle } from '../../kernel/collection/wording.ts';
import { empty, json, type Reply } from '../../kernel/http/reply.ts';
import type { TypedKind } from '../catalogue/catalogue.ts';
import type { ResourceRow } from '../catalogue/resource-row.ts';
import type { ActionPlan, ResourceAction, ResourceKind } from '../catalogue/type.ts';
import { queueJob } from '../operations/jobs.ts';
import { unlinkingReason } from './changes.ts';
import { placedDeltas } from './counting.ts';
import { placeOf, quotaDeltasOfAttached, storeAttached } from './creation.ts';
import { resourceContext } from './resource.ts';
import { changeResource, changeTogether, removeResource } from './resource-store.ts';
import { resourceWriters, unlinkers } from './rights.ts';

const scheduled: Readonly<Record<string, EventTypeName>> = {
  start: 'resource_start_scheduled',
  stop: 'resource_stop_scheduled',
  restart: 'resource_restart_scheduled',
};

/** The collection of the object that a creating action returns. */
interface MadeObjects {
  readonly shape: JsonSchema;
  created(request: Request, id: number): Reply;
}

type MakingAction = ResourceAction & Required<Pick<ResourceAction, 'make' | 'makes'>>;

const isMaking = (own: ResourceAction): own is MakingAction => own.make !== undefined && own.makes !== undefined;

const pull: ResourceAction = {
  name: 'pull',
  states: ['OK', 'Erred'],
  response: { detail: 'Pull operation was successfully scheduled.' },
};

/** Returns the 409 message that an action would get now; undefined if it is possible. */
const denialReason =
  ({ denialReason, runtimeStates, states = ['OK'] }: ResourceAction) =>
  (request: Request, row: ResourceRow): string | undefined => {
    if (!states.includes(row.state)) return `Valid states for operation: ${states.join(', ')}.`;
    const own = denialReason?.(request, row);
    if (own !== undefined) return own;
    return runtimeStates && !runtimeStates.includes(row.runtime_state)
      ? `Valid runtime states for operation: ${runtimeStates.join(', ')}.`
      : undefined;
  };

const rightOf = ({ right }: ResourceAction): Right<ResourceRow> =>
  right ? narrowed(resourceWriters, right) : resourceWriters;

/** The right to unlink, which requires the right to delete. */
const unlinkersOf = ({ deletion }: ResourceKind): Right<ResourceRow> =>
  deletion?.right === staff
    ? staff
    : deletion?.right
      ? rightUnlessDenied(unlinkers, deletion.right.denialReason)
      : unlinkers;

const responseShape = (response: ResourceAction['response']): JsonSchema =>
  objectShape(
    Object.fromEntries(Object.keys(response).map((key) => [key, { type: 'string', examples: [response[key]] }])),
  );

/** The common part of all action declarations of a kind. */
const common = (on: Parent<ResourceRow>, name: string) => ({
  on,
  name,
  summary: `${titleOf(name)} of ${withArticle(nounOf(on.spec.kind))}.`,
});

const fieldsOf = ({ example, fields }: ResourceAction) => ({ example, ...(fields && { fields }) });

/** An action that runs as a job. */
function scheduledAction(on: Parent<ResourceRow>, own: ResourceAction): Action<ResourceRow> {
  const reasonOf = denialReason(own);
  return action({
    ...common(on, own.name),
    ...fieldsOf(own),
    right: rightOf(own),
    // A kind's rules about the body precede the common ones about the state, except for a busy resource.
    accept: (request, row, values): ActionPlan =>
      row.state === 'OK' || reasonOf(request, row) === undefined
        ? (own.accept?.(request, row, values) ?? { parameters: values })
        : {},
    denialReason: reasonOf,
    output: { status: 202, shape: responseShape(own.response) },
    run: (request, row, acceptance) => {
      schedule(request, own, row, acceptance);
      return json(own.response, 202);
    },
  });
}

/** Counts the quotas of an accepted action and queues it. Throws 409. */
function schedule(request: Request, { name }: ResourceAction, row: ResourceRow, acceptance: ActionPlan): void {
  const { attached, together = [] } = acceptance;
  const deltas = acceptance.quotaDeltas ? placedDeltas(row, acceptance.quotaDeltas) : [];
  const place = placeOf(request, row.link_id);
  requireQuotas(request, [...deltas, ...quotaDeltasOfAttached(request.app.catalogue, place, attached)]);
  countQuotas(request, deltas);
  acceptance.onAccepted?.();
  storeAttached(request, place, row, attached);
  changeTogether(request, together, { state: 'Update Scheduled' });
  changeResource(request, row, { state: 'Update Scheduled' });
  queueJob(request, {
    settings: row.settings_id,
    resource: row,
    operation: name,
    parameters: {
      ...acceptance.parameters,
      ...(deltas.length > 0 && { demands: deltas }),
      ...(together.length > 0 && { together }),
    },
    secrets: acceptance.secrets,
  });
  const event = scheduled[name];
  if (event) record(request, event, resourceContext(request.db, row));
}

/** An action that creates another resource and returns it. */
const makingAction = (on: Parent<ResourceRow>, own: MakingAction, creation: MadeObjects): Action<ResourceRow> =>
  action({
    ...common(on, own.name),
    ...fieldsOf(own),
    right: rightOf(own),
    denialReason: denialReason(own),
    output: { status: 201, shape: creation.shape },
    run: (request, row, values) => creation.created(request, own.make(request, row, values).id),
  });

/** POST …/unlink/: removes only the row here, in any state. */
const unlink = (typed: TypedKind, on: Parent<ResourceRow>): Action<ResourceRow> =>
  action({
    ...common(on, 'unlink'),
    isDestructive: true,
    right: unlinkersOf(typed.kind),
    denialReason: (request, row) => unlinkingReason(request, typed, row),
    output: { status: 204 },
    run: (request, row) => {
      removeResource(request, row);
      return empty();
    },
  });

/** Returns the actions of a kind, including the common ones. `made` returns the collection of created resources. */
export const kindActions = (
  typed: TypedKind,
  on: Parent<ResourceRow>,
  creation: (kind: string) => MadeObjects,
): readonly Action<ResourceRow>[] => [
  ...[...typed.kind.actions, pull].map((own) =>
    isMaking(own) ? makingAction(on, own, creation(own.makes)) : scheduledAction(on, own),
  ),
  unlink(typed, on),
];
