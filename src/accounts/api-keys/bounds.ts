/** The customers and projects to which an API key is bound (core.md 2.10). */
import * as v from 'valibot';
import type { Request } from '../../kernel/access/request.ts';
import { connectedCustomers, connectedProjects } from '../../kernel/access/visibility.ts';
import type { App } from '../../kernel/app.ts';
import {
  coerceList,
  FieldError,
  inputOf,
  notAList,
  readOnlyList,
  type WritableField,
} from '../../kernel/collection/field.ts';
import { type LinkTarget, linkText, resolveLink } from '../../kernel/collection/links.ts';
import { linkShape, linkValue, listValue } from '../../kernel/collection/representation.ts';
import { raw, type Sql, sql } from '../../kernel/db/sql.ts';
import { customers } from '../customers/customers.ts';
import { projects } from '../projects/projects.ts';

/** Maximum number of customers, and of projects, per key. */
const maxBounds = 50;

type BoundKind = 'customer' | 'project';

/** Ids of the bound objects by kind. */
export interface Bounds {
  readonly customers?: readonly number[] | undefined;
  readonly projects?: readonly number[] | undefined;
}

/** A list of links. Its value is the sorted object ids, without duplicates. */
const boundField = (kind: BoundKind, target: () => LinkTarget): WritableField<readonly number[], false> => ({
  ...readOnlyList(
    listValue(
      linkValue(`${kind}s`, 'o.uuid'),
      `api_key_bound b JOIN ${kind} o ON o.id = b.${kind}_id WHERE b.key_id = k.id`,
      'o.id',
    ),
  ),
  help: `Limits the key to these ${kind}s. The key is unlimited if it names no customers and no projects.`,
  constraints: { child: { type: 'field', required: true, read_only: false } },
  input: inputOf<readonly number[], v.GenericSchema<unknown, string[]>>(
    {},
    {
      schema: v.array(linkText, notAList),
      shape: { type: 'array', items: linkShape(`${kind}s`), maxItems: maxBounds },
      coerce: coerceList,
      resolve: (links, request) => {
        if (links.length > maxBounds) throw new FieldError([tooManyText]);
        return [...new Set(links.map((link) => resolveLink(link, target(), request)))].sort((a, b) => a - b);
      },
    },
  ),
});

const withoutColumn = <F extends WritableField>(field: F): F => ({
  ...field,
  input: { ...field.input, column: false },
});

const tooManyText = `Ensure this field has no more than ${maxBounds} elements.`;

export const boundFields = {
  customers: withoutColumn(boundField('customer', () => customers)),
  projects: withoutColumn(boundField('project', () => projects)),
};

/** Returns the 400 messages for objects that the owner of a new key cannot see, and for too many objects. */
export function invalidBounds(
  request: Request,
  owner: number,
  bounds: Bounds,
): Readonly<Record<keyof Bounds, string | undefined>> {
  const { customers: some = [], projects: others = [] } = bounds;
  const tooMany = some.length + others.length > maxBounds ? tooManyText : undefined;
  return {
    customers: hiddenText(request, owner, some, connectedCustomers) ?? (others.length === 0 ? tooMany : undefined),
    projects: hiddenText(request, owner, others, connectedProjects) ?? (others.length > 0 ? tooMany : undefined),
  };
}

/** Returns the message about objects that an owner other than the caller, such as a service account, cannot see. */
function hiddenText(
  { caller, db }: Request,
  owner: number,
  ids: readonly number[],
  visible: (user: Sql) => Sql,
): string | undefined {
  if (owner === caller.id || ids.length === 0) return undefined;
  const visibleIds = new Set(db.values<number>(visible(sql`${owner}`)));
  return ids.every((id) => visibleIds.has(id)) ? undefined : 'Invalid hyperlink - Object does not exist.';
}

/** Whether a key with these lists is bound. */
export const isBound = ({ customers: some = [], projects: others = [] }: Bounds): boolean =>
  some.length + others.length > 0;

/** Binds a new key. */
export function storeBounds({ db }: Pick<App, 'db'>, key: number, bounds: Bounds): void {
  for (const id of bounds.customers ?? []) db.insert('api_key_bound', { key_id: key, customer_id: id });
  for (const id of bounds.projects ?? []) db.insert('api_key_bound', { key_id: key, project_id: id });
}

/** Whether a list in a body differs from the bounds of the key; false without the list. */
export function changesBounds(
  { db }: Request,
  key: number,
  kind: BoundKind,
  ids: readonly number[] | undefined,
): boolean {
  if (ids === undefined) return false;
  const column = raw(`${kind}_id`);
  const stored = db.values<number>(
    sql`SELECT ${column} FROM api_key_bound WHERE key_id = ${key} AND ${column} IS NOT NULL ORDER BY ${column}`,
  );
  return stored.join() !== ids.join();
}
