import type { EventTypeName } from '../../activity/events/catalogue.ts';
import { record } from '../../activity/events/record.ts';
import { countQuotas, requireQuotas } from '../../activity/quotas/usage.ts';
import type { Request } from '../../kernel/access/request.ts';
import { forbiddenText, titleOf } from '../../kernel/collection/actions.ts';
import { describeFields, type Endpoint } from '../../kernel/collection/endpoint.ts';
import { objectShape, type Shape } from '../../kernel/collection/field.ts';
import { validate } from '../../kernel/collection/validate.ts';
import { conflict, forbidden } from '../../kernel/http/error.ts';
import { created, empty, json, type Reply } from '../../kernel/http/reply.ts';
import type { Catalogue, TypedKind } from '../catalogue/catalogue.ts';
import type { ResourceRow } from '../catalogue/resource-row.ts';
import type { ResourceAction } from '../catalogue/type.ts';
import { queueJob } from '../jobs/jobs.ts';
import { refusalAsHost } from './changes.ts';
import { placedDemands } from './counting.ts';
import { demandsOfAttached, placeOf, storeAttached } from './creation.ts';
import { collectionOf } from './kind-collection.ts';
import { resourceContext } from './resource.ts';
import { mayChangeResources } from './rights.ts';
import { changeResource, changeTogether, removeResource } from './rows.ts';

const scheduled: Readonly<Record<string, EventTypeName>> = {
  start: 'resource_start_scheduled',
  stop: 'resource_stop_scheduled',
  restart: 'resource_restart_scheduled',
};

/** The text of the 409 an action would get now, or undefined. */
export function refusalOfAction(request: Request, action: ResourceAction, row: ResourceRow): string | undefined {
  const states = action.states ?? ['OK'];
  if (!states.includes(row.state)) return `Valid states for operation: ${states.join(', ')}.`;
  const own = action.refuse?.(request, row);
  if (own !== undefined) return own;
  if (action.runtimeStates && !action.runtimeStates.includes(row.runtime_state)) {
    return `Valid runtime states for operation: ${action.runtimeStates.join(', ')}.`;
  }
  return undefined;
}

const pull: ResourceAction = {
  name: 'pull',
  states: ['OK', 'Erred'],
  answer: { detail: 'Pull operation was successfully scheduled.' },
};

/** The actions of a kind that are served under their names, with those every kind has. */
export const actionsOf = ({ kind }: TypedKind): readonly ResourceAction[] => [...kind.actions, pull];

/** The text of the 403 that an action would get whatever the state, or undefined. */
export function banOfAction(
  request: Request,
  { forbid }: Pick<ResourceAction, 'name' | 'forbid'>,
  row: ResourceRow,
): string | undefined {
  return mayChangeResources(request, row.project_id, row.customer_id) ? forbid?.(request, row) : forbiddenText;
}

function act(request: Request, action: ResourceAction, row: ResourceRow): Reply {
  const ban = banOfAction(request, action, row);
  if (ban !== undefined) throw forbidden(ban);
  const values = action.fields ? validate(action.fields, request, 'create') : {};
  // Rules of the kind's own come first, so that they speak before the common ones.
  const refusal = refusalOfAction(request, action, row);
  if (action.make) {
    if (refusal !== undefined) throw conflict(refusal);
    const made = action.make(request, row, values);
    const text = collectionOf(request.deployment.catalogue.kind(made.kind)).represent(request, made.id);
    return created(text, (JSON.parse(text) as { url: string }).url);
  }
  const acceptance =
    refusal === undefined || row.state === 'OK'
      ? (action.accept?.(request, row, values) ?? { parameters: values })
      : {};
  if (refusal !== undefined) throw conflict(refusal);
  const demands = acceptance.demands ? placedDemands(row, acceptance.demands) : [];
  const { attached, together = [] } = acceptance;
  const place = placeOf(request, row.link_id);
  requireQuotas(request, [...demands, ...demandsOfAttached(request.deployment.catalogue, place, attached)]);
  countQuotas(request, demands);
  acceptance.onAccepted?.();
  storeAttached(request, place, row, attached);
  changeTogether(request, together, { state: 'Update Scheduled' });
  changeResource(request, row, { state: 'Update Scheduled' });
  queueJob(request, {
    settings: row.settings_id,
    resource: row,
    operation: action.name,
    parameters: {
      ...acceptance.parameters,
      ...(demands.length > 0 && { demands }),
      ...(together.length > 0 && { together }),
    },
    secrets: acceptance.secrets,
  });
  const event = scheduled[action.name];
  if (event) record(request, event, resourceContext(request.db, row));
  return json(action.answer, 202);
}

/** POST …/unlink/: the row goes here only, whatever it is doing. */
function unlink(request: Request, row: ResourceRow): Reply {
  if (!mayChangeResources(request, row.project_id, row.customer_id)) throw forbidden();
  const refusal = refusalAsHost(request, row);
  if (refusal !== undefined) throw conflict(refusal);
  removeResource(request, row);
  return empty();
}

const answerShape = (answer: ResourceAction['answer']): Shape =>
  objectShape(Object.fromEntries(Object.keys(answer).map((key) => [key, { type: 'string', examples: [answer[key]] }])));

/** The paths of the actions of a kind. */
export function actionEndpoints(catalogue: Catalogue, typed: TypedKind): Endpoint[] {
  const objects = collectionOf(typed);
  const endpoint = (
    action: Pick<ResourceAction, 'name' | 'fields' | 'example' | 'forbid' | 'makes' | 'answer'>,
    status: number,
    handle: (request: Request) => Reply,
  ): Endpoint => {
    const { example, fields, name } = action;
    return {
      path: `/api/${objects.path}/:key/${name}/`,
      name: `${typed.name} ${titleOf(name)}`,
      description: `${titleOf(name)} of a ${typed.name}.`,
      actions: (request) =>
        banOfAction(request, action, objects.find(request)) === undefined
          ? { POST: describeFields(fields ?? {}, request, 'create') }
          : undefined,
      operations: {
        POST: {
          summary: `${titleOf(name)} of a ${typed.name}.`,
          who: objects.spec.who?.update,
          ...(fields && { input: { fields, purpose: 'create' as const, ...(example && { example }) } }),
          output: {
            status,
            ...(status !== 204 && {
              shape:
                action.makes === undefined
                  ? answerShape(action.answer)
                  : collectionOf(catalogue.kind(action.makes)).shape,
            }),
          },
          handle,
        },
      },
    };
  };
  return [
    ...actionsOf(typed).map((action) =>
      endpoint(action, action.make ? 201 : 202, (request) => act(request, action, objects.find(request))),
    ),
    endpoint({ name: 'unlink', answer: {} }, 204, (request) => unlink(request, objects.find(request))),
  ];
}
