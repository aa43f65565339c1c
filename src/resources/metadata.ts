import type { Request } from '../access/request.ts';
import type { Field, Fields, Input } from '../collection/field.ts';
import { json } from '../http/reply.ts';
import type { Reply } from '../http/reply.ts';
import type { ResourceAction } from '../providers/provider.ts';
import type { TypedKind } from '../providers/registry.ts';
import { actionsOf, refusalOfAction } from './actions.ts';
import { refusalAsHost, refusalOfDeletion } from './changes.ts';
import type { KindCollection } from './kinds.ts';
import type { ResourceRow } from './resource.ts';
import { mayChangeResources } from './rights.ts';

/* OPTIONS of kinds: which fields creation takes, and which actions the caller may take now (services.md 9). */

const title = (name: string): string => name.split('_').map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(' ');
const forbiddenText = 'You do not have permission to perform this action.';
const skipped = new Set(['tags']);

/** Fields of a form as the actions format describes them. */
export function describeForm(fields: Fields): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([name, { input }]) => input?.create && !skipped.has(name))
      .map(([name, field]) => [name, describeInput(name, field)]),
  );
}

function describeInput(name: string, field: Field): Record<string, unknown> {
  const { min_length, max_length, min_value, max_value, choices } = field.facts as Record<string, unknown>;
  const known = Object.fromEntries(Object.entries({ min_length, max_length, min_value, max_value, choices }).filter(([, value]) => value !== undefined));
  return {
    type: field.type === 'field' ? 'select' : field.type === 'regex' ? 'string' : field.type,
    required: (field.input as Input<unknown>).required,
    label: field.label ?? name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' '),
    ...(field.help !== undefined && { help_text: field.help }),
    ...known,
    ...field.select,
  };
}

/** OPTIONS of a list: the fields of creation, and every action of the kind. */
export function describeCreation(_request: Request, typed: TypedKind, objects: KindCollection): Reply {
  const shapes = actionShapes(typed).map(({ action, destructive, method, name }) => [
    name,
    { title: title(name), method, destructive, ...formOf(action?.fields) },
  ]);
  return json({ actions: { ...(typed.kind.isCreatable && { POST: describeForm(objects.spec.fields) }), ...Object.fromEntries(shapes) } });
}

interface ActionShape {
  readonly name: string;
  readonly method: string;
  readonly destructive: boolean;
  readonly action?: ResourceAction;
  /** What the caller would be told now; undefined when he may. */
  readonly refusal: (request: Request, row: ResourceRow) => string | undefined;
  readonly tail: string;
}

function actionShapes(typed: TypedKind): ActionShape[] {
  const { kind } = typed;
  const named = actionsOf(typed).map((action) => ({
    name: action.name,
    method: 'POST',
    destructive: false,
    action,
    refusal: (request: Request, row: ResourceRow) => action.forbid?.(request, row) ?? refusalOfAction(request, action, row),
    tail: `${action.name}/`,
  }));
  const update: ActionShape = {
    name: 'update',
    method: 'PUT',
    destructive: false,
    refusal: (_, row) => (row.state === 'OK' ? undefined : 'Valid states for operation: OK.'),
    tail: '',
  };
  const destroy: ActionShape = {
    name: 'destroy',
    method: 'DELETE',
    destructive: true,
    refusal: (request, row) => kind.forbidDeletion?.(request, row) ?? refusalOfDeletion(request, typed, row),
    tail: '',
  };
  const unlink: ActionShape = { name: 'unlink', method: 'POST', destructive: true, refusal: (request, row) => refusalAsHost(request, row), tail: 'unlink/' };
  return [...named, ...(kind.isUpdatable === false ? [] : [update]), destroy, unlink].sort((a, b) => (a.name < b.name ? -1 : 1));
}

const formOf = (fields: Fields | undefined): Record<string, unknown> =>
  fields && Object.keys(fields).length > 0 ? { type: 'form', fields: describeForm(fields) } : { type: 'button' };

/** OPTIONS of one resource: every action, whether the caller may take it now, and if not why. */
export function describeActions(request: Request, typed: TypedKind, objects: KindCollection): Reply {
  const row = objects.find(request);
  const mayChange = mayChangeResources(request, row.project_id, row.customer_id);
  const url = `${request.base}/api/${objects.path}/${row.uuid}/`;
  const flags = typed.kind.deletionFlags;
  const actions = actionShapes(typed).map((shape) => {
    const reason = mayChange ? (shape.refusal(request, row) ?? null) : forbiddenText;
    const form = shape.name === 'update' ? { type: 'form', fields: describeForm(updateFields(objects.spec.fields)) }
      : shape.name === 'destroy' && flags ? { type: 'form', fields: describeFlags(flags) } : formOf(shape.action?.fields);
    return [
      shape.name,
      { title: title(shape.name), method: shape.method, destructive: shape.destructive, url: url + shape.tail, reason, enabled: reason === null, ...(reason === null && form) },
    ];
  });
  return json({ actions: Object.fromEntries(actions) });
}

const updateFields = (fields: Fields): Fields => Object.fromEntries(Object.entries(fields).filter(([, { input }]) => input && input.update !== false));

const describeFlags = (flags: Readonly<Record<string, boolean>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(flags).map(([name, fallback]) => [name, { type: 'boolean', required: false, label: title(name), default_value: fallback }]));
