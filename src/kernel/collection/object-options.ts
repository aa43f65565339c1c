import type { Request } from '../access/request.ts';
import type { Right } from '../access/right.ts';
import { json, type Reply } from '../http/reply.ts';
import type { Field, Fields } from './field.ts';

/*
 * The actions format of OPTIONS (services.md 9): the fields of a creation, and the actions on an object with reasons for
 * unavailable ones.
 */

/** An action on an object in the actions format (services.md 9). */
export interface ObjectAction<R> {
  readonly name: string;
  readonly method: 'POST' | 'PUT' | 'DELETE';
  readonly isDestructive?: boolean | undefined;
  /** The path after the object's URL; empty for the object itself. */
  readonly tail: string;
  /** Fields of the form; none for a button. */
  readonly fields?: Fields | undefined;
  /** Booleans in the query, with their defaults. */
  readonly flags?: Readonly<Record<string, boolean>> | undefined;
  readonly right: Right<R>;
  /** Returns the 409 message that it would get now; undefined if it is possible. */
  readonly denialReason?: ((request: Request, row: R) => string | undefined) | undefined;
}

/** Returns the uuids that filter the choices of links in an object's forms. */
export type Narrowing = Readonly<Partial<Record<'settings' | 'tenant', string>>>;

/** Converts `set_rules` to `Set Rules`. */
export const titleOf = (name: string): string =>
  name
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(' ');

/** Returns OPTIONS of a list: the fields of a creation, if the caller could create objects, and every action. */
export function describeList<R>(
  request: Request,
  creation: Fields | undefined,
  actions: readonly ObjectAction<R>[] = [],
): Reply {
  const shapes = sorted(actions).map((action) => [action.name, { ...headOf(action), ...formOf(request, action, {}) }]);
  return json({
    actions: {
      ...(creation && { POST: describeForm(request, creation, 'create', {}) }),
      ...Object.fromEntries(shapes),
    },
  });
}

/** Returns OPTIONS of an object: every action with its URL, its availability, and the reason if it is unavailable. */
export function describeObject<R>(
  request: Request,
  url: string,
  row: R,
  actions: readonly ObjectAction<R>[],
  narrowing: Narrowing = {},
): Reply {
  const described = sorted(actions).map((action) => {
    const reason = action.right.denialReason(request, row) ?? action.denialReason?.(request, row) ?? null;
    return [
      action.name,
      {
        ...headOf(action),
        url: url + action.tail,
        reason,
        enabled: reason === null,
        ...(reason === null && formOf(request, action, narrowing)),
      },
    ];
  });
  return json({ actions: Object.fromEntries(described) });
}

const sorted = <R>(actions: readonly ObjectAction<R>[]): ObjectAction<R>[] =>
  [...actions].sort((a, b) => (a.name < b.name ? -1 : 1));

const headOf = ({
  isDestructive = false,
  method,
  name,
}: Pick<ObjectAction<never>, 'isDestructive' | 'method' | 'name'>): Record<string, unknown> => ({
  title: titleOf(name),
  method,
  destructive: isDestructive,
});

function formOf<R>(
  request: Request,
  { fields = {}, flags, method }: ObjectAction<R>,
  narrowing: Narrowing,
): Record<string, unknown> {
  const described = {
    ...describeForm(request, fields, method === 'PUT' ? 'replace' : 'create', narrowing),
    ...Object.fromEntries(
      Object.entries(flags ?? {}).map(([name, fallback]) => [
        name,
        { type: 'boolean', required: false, label: labelOf(name), default_value: fallback },
      ]),
    ),
  };
  return Object.keys(described).length > 0 ? { type: 'form', fields: described } : { type: 'button' };
}

/** Fields to omit from forms. Tags have a separate endpoint. */
const skipped = new Set(['tags']);

function describeForm(
  request: Request,
  fields: Fields,
  purpose: 'create' | 'replace',
  narrowing: Narrowing,
): Record<string, unknown> {
  const accepted = Object.entries(fields).filter(
    ([name, { input }]) =>
      !skipped.has(name) && input && (purpose === 'create' ? input.create : input.update !== false),
  );
  return Object.fromEntries(accepted.map(([name, field]) => [name, describeInput(request, name, field, narrowing)]));
}

const labelOf = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' ');

function describeInput(request: Request, name: string, field: Field, narrowing: Narrowing): Record<string, unknown> {
  const { choices, max_length, max_value, min_length, min_value } = field.constraints;
  const known = Object.fromEntries(
    Object.entries({ min_length, max_length, min_value, max_value, choices }).filter(
      ([, value]) => value !== undefined,
    ),
  );
  return {
    type: field.type === 'field' ? 'select' : field.type === 'regex' ? 'string' : field.type,
    required: field.input?.required ?? false,
    label: field.label ?? labelOf(name),
    ...(field.help !== undefined && { help_text: field.help }),
    ...known,
    ...(field.select && selectOf(request, field.select(), narrowing)),
  };
}

/** Returns the source of a link's choices: the list of its collection, filtered to valid choices. */
function selectOf(
  request: Request,
  { by, displayName = 'name', path }: ReturnType<NonNullable<Field['select']>>,
  narrowing: Narrowing,
): Record<string, unknown> {
  const uuid = by === 'user' ? request.caller.uuid : by && narrowing[by];
  return {
    url: `${request.base}/api/${path}/${uuid ? `?${by}_uuid=${uuid}` : ''}`,
    value_field: 'url',
    display_name_field: displayName,
  };
}
