/** The customers and projects to which a web hook is limited (events.md 5.1). */
import * as v from 'valibot';
import type { Context } from '../../kernel/access/context.ts';
import type { Request } from '../../kernel/access/request.ts';
import type { Columns } from '../../kernel/collection/changes.ts';
import {
  coerceList,
  FieldError,
  inputOf,
  notAList,
  readOnlyList,
  type WritableField,
} from '../../kernel/collection/field.ts';
import { linkText } from '../../kernel/collection/links.ts';
import { linkShape, linkValue, listValue } from '../../kernel/collection/representation.ts';
import { raw, type Sql, sql } from '../../kernel/db/sql.ts';
import { invalid } from '../../kernel/http/error.ts';
import { resolveScope, unrelated } from '../scopes/resolve.ts';

/** Kinds of objects that a hook can be limited to, by field name. */
const kinds = { customers: 'customer', projects: 'project' } as const;
type LimitField = keyof typeof kinds;

/** Maximum number of customers and projects per hook. */
const maxLimits = 100;

/** A list of links, stored as a sorted JSON list of UUIDs without duplicates in the column of the same name. */
export const limitField = (name: LimitField, shownIf: string): WritableField<string, false> => ({
  ...readOnlyList(listValue(linkValue(name, 'l.value'), `json_each(h.${name}) l`, 'l.key')),
  shownIf,
  help: `Limits the hook to events of these ${name} and of the other list; default: no limit.`,
  constraints: { child: { type: 'field', required: true, read_only: false } },
  input: inputOf<string, v.GenericSchema<unknown, string[]>>(
    {},
    {
      schema: v.array(linkText, notAList),
      shape: { type: 'array', items: linkShape(name), maxItems: maxLimits },
      coerce: coerceList,
      resolve: (links, request) => {
        const uuids = links.map((link) => {
          const { kind, uuid } = resolveScope(request, link, false);
          if (kind !== kinds[name]) throw new FieldError([unrelated(link)]);
          return uuid;
        });
        return JSON.stringify([...new Set(uuids)].sort());
      },
    },
  ),
});

interface Limited {
  readonly user_id: number;
  readonly row?: { readonly customers: string; readonly projects: string; readonly is_limited: number } | undefined;
}

/**
 * Adds `is_limited` to the columns of a body that changes a list. Throws 400 for too many objects, for objects that the author
 * cannot see, or if the body enables a hook whose customers and projects were all deleted.
 */
export function limitColumns(request: Request, columns: Columns, { row, user_id: author }: Limited): Columns {
  if (columns.customers === undefined && columns.projects === undefined) {
    if (columns.is_active === 1 && row?.is_limited && row.customers === '[]' && row.projects === '[]')
      throw invalid({
        is_active: [
          'All customers and projects of this hook were deleted: choose others, or send empty lists for no limit.',
        ],
      });
    return columns;
  }
  const uuids = (name: LimitField): string[] => JSON.parse(String(columns[name] ?? row?.[name] ?? '[]'));
  const count = uuids('customers').length + uuids('projects').length;
  for (const name of ['customers', 'projects'] as const) {
    if (columns[name] === undefined) continue;
    if (count > maxLimits) throw invalid({ [name]: [`A hook can have at most ${maxLimits} customers and projects.`] });
    if (author !== request.caller.id) requireVisible(request, author, name, uuids(name));
  }
  return { ...columns, is_limited: Number(count > 0) };
}

/** Throws 400 unless the author of a hook, who is not the caller, can see these objects. */
function requireVisible({ app, base, db }: Request, author: number, name: LimitField, uuids: readonly string[]): void {
  const { readable, table } = app.scopes.of(kinds[name]);
  const hidden = db.value<string>(sql`
    SELECT l.value FROM json_each(${JSON.stringify(uuids)}) l
    WHERE NOT EXISTS (SELECT 1 FROM user WHERE id = ${author} AND (is_staff OR is_support))
      AND l.value NOT IN (SELECT uuid FROM ${raw(table)} WHERE id IN (${readable(sql`${author}`)}))
    LIMIT 1`);
  if (hidden !== undefined)
    throw invalid({ [name]: [`Can't restore object from url: ${base}/api/${name}/${hidden}/`] });
}

/** Condition on `hook h`: it has no limits, or one of them is this customer or project. The UUIDs are SQL. */
export const isWithinLimits = (customer: Sql, project: Sql): Sql => sql`(
  NOT h.is_limited
  OR EXISTS (SELECT 1 FROM json_each(h.customers) WHERE value = ${customer})
  OR EXISTS (SELECT 1 FROM json_each(h.projects) WHERE value = ${project}))`;

/**
 * Removes a deleted customer or project from the limits of hooks. Disables a hook that loses its last one, but still sends
 * pending deliveries, such as that of the deletion.
 */
export function removeFromLimits({ app: { db }, now }: Context, name: LimitField, uuid: string): void {
  const column = raw(name);
  db.run(sql`
    UPDATE hook
    SET ${column} = (SELECT json_group_array(value) FROM json_each(${column}) WHERE value <> ${uuid})
    WHERE is_limited AND EXISTS (SELECT 1 FROM json_each(${column}) WHERE value = ${uuid})`);
  db.run(sql`
    UPDATE hook SET is_active = 0, modified = ${now}
    WHERE is_limited AND is_active AND customers = '[]' AND projects = '[]'`);
}
