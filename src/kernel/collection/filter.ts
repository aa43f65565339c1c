import type { Request } from '../access/request.ts';
import { parseDatetime } from '../clock.ts';
import { among, any, contains, raw, type Sql, sql } from '../db/sql.ts';
import { invalid } from '../http/error.ts';
import { FieldError, messages } from './field.ts';
import { type LinkTarget, linkKey } from './links.ts';

/** One query parameter of a list. */
export interface Filter {
  /** `named`: parameters with names of a form that the help describes. */
  readonly type: 'string' | 'uuid' | 'boolean' | 'flag' | 'datetime' | 'link' | 'integer' | 'number' | 'named';
  readonly help: string;
  readonly repeatable?: boolean;
  /** Requests without it are rejected. */
  readonly required?: boolean;
  /** The prefix of the names, for `named` filters. */
  readonly starts?: readonly string[];
  /** The condition; undefined if the parameter is missing or does not apply. Throws 400. */
  readonly condition: (request: Request, name: string) => Sql | undefined;
}

export type Filters = Readonly<Record<string, Filter>>;

/** Case-insensitive substring of a column. */
export const partial = (column: string): Filter => ({
  type: 'string',
  help: 'Part of it, without case.',
  condition: (request, name) => {
    const value = request.query.one(name);
    return value === undefined ? undefined : contains(column, value);
  },
});

/** The exact value of a column. */
export const exact = (column: string, help = 'The exact value.'): Filter => ({
  type: 'string',
  help,
  condition: (request, name) => {
    const value = request.query.one(name);
    return value === undefined ? undefined : sql`${raw(column)} = ${value}`;
  },
});

/** The filters by name: a part of it, and the exact name. */
export const ofName = (column: string): Readonly<Record<'name' | 'name_exact', Filter>> => ({
  name: partial(column),
  name_exact: exact(column, 'The exact name.'),
});

/** The filters of an object with several names: a part of one of them, or one exact name. */
export const ofNames = (
  columns: readonly string[],
  which: string,
): Readonly<Record<'name' | 'name_exact', Filter>> => ({
  name: inAny(columns, partial, `Part of the name ${which}, without case.`),
  name_exact: inAny(columns, exact, `The exact name ${which}.`),
});

/** A filter that matches if it matches one of the columns. */
const inAny = (columns: readonly string[], ofColumn: (column: string) => Filter, help: string): Filter => ({
  type: 'string',
  help,
  condition: (request, name) => {
    const conditions = columns.flatMap((column) => ofColumn(column).condition(request, name) ?? []);
    return conditions.length === 0 ? undefined : any(conditions);
  },
});

/** The uuid in a column. */
export const exactUuid = (column: string, help = 'Its uuid.'): Filter =>
  uuid(help, (value) => sql`${raw(column)} = ${value}`);

/** A column with the id of an object in `table` that has this uuid. */
export const uuidOf = (column: string, table: string, help = 'Uuid of the object.'): Filter =>
  uuid(help, (value) => sql`${raw(column)} = (SELECT id FROM ${raw(table)} WHERE uuid = ${value})`);

/** A condition made from a uuid. */
export const uuid = (help: string, condition: (uuid: string, request: Request) => Sql | undefined): Filter => ({
  type: 'uuid',
  help,
  condition: (request, name) => {
    const value = request.query.uuid(name);
    return value === undefined ? undefined : condition(value, request);
  },
});

/** A column that holds 0 or 1. */
export const truth = (column: string): Filter => ({
  type: 'boolean',
  help: 'true or false.',
  condition: (request, name) => {
    const value = request.query.boolean(name);
    return value === undefined ? undefined : sql`${raw(column)} = ${value ? 1 : 0}`;
  },
});

/** A condition that holds when the flag is present. */
export const presence = (help: string, condition: (request: Request) => Sql): Filter => ({
  type: 'flag',
  help,
  condition: (request, name) => (request.query.flag(name) ? condition(request) : undefined),
});

const helpOfComparison = {
  '=': 'The exact datetime.',
  '<=': 'Not after this datetime.',
  '>=': 'Not before this datetime.',
} as const;

/** Compares an instant with the parameter. */
export const instant = (column: string, comparison: keyof typeof helpOfComparison = '='): Filter => ({
  type: 'datetime',
  help: helpOfComparison[comparison],
  condition: (request, name) => {
    // An unencoded "+" of a time zone arrives as a space.
    const value = request.query.one(name)?.replace(/ (\d\d:?\d\d)$/, '+$1');
    if (value === undefined) return undefined;
    const at = parseDatetime(value);
    if (at === undefined) throw invalid({ [name]: [messages.datetime] });
    return sql`${raw(column)} ${raw(comparison)} ${at}`;
  },
});

/** A column with the id of the object that a link names. An unknown object matches nothing; another kind of path is 400. */
export const linked = (column: string, table: string, target: () => Pick<LinkTarget, 'path'>): Filter => ({
  type: 'link',
  help: 'Link of the object.',
  condition: (request, name) => {
    const value = request.query.one(name);
    if (value === undefined) return undefined;
    try {
      const key = linkKey(value, target().path, request);
      return sql`${raw(column)} = (SELECT id FROM ${raw(table)} WHERE uuid = ${key})`;
    } catch (error) {
      if (error instanceof FieldError) throw invalid({ [name]: error.messages });
      throw error;
    }
  },
});

/** Throws 400 for a word of a parameter outside of its fixed vocabulary, where strict_input is set (core.md 1.9). */
export function requireWords({ config, query }: Request, name: string, isKnown: (word: string) => boolean): void {
  if (!config.strict_input) return;
  const unknown = query.all(name).find((word) => !isKnown(word));
  if (unknown !== undefined) throw invalid({ [name]: [messages.choice(unknown)] });
}

/** A filter by words of a fixed vocabulary: others match nothing, and are rejected with strict_input. */
export const within = (words: readonly string[], filter: Filter): Filter => ({
  ...filter,
  condition: (request, name) => {
    requireWords(request, name, (word) => words.includes(word));
    return filter.condition(request, name);
  },
});

/** One of several exact values of a column; repeatable. */
export const oneOf = (column: string, help: string): Filter => ({
  type: 'string',
  repeatable: true,
  help,
  condition: (request, name) => {
    const values = request.query.all(name);
    return values.length === 0 ? undefined : among(column, values);
  },
});

/** A condition made from a UNIX timestamp, given to it in microseconds. */
export const timestamp = (help: string, condition: (at: number) => Sql, fractions = false): Filter => ({
  type: fractions ? 'number' : 'integer',
  help: `${help} UNIX timestamp.`,
  condition: (request, name) => {
    const at = request.query.timestamp(name, fractions);
    return at === undefined ? undefined : condition(at);
  },
});

/** A filter that only some callers have; for others the parameter is ignored. */
export const only = (may: (request: Request) => boolean, filter: Filter): Filter => ({
  ...filter,
  condition: (request, name) => (may(request) ? filter.condition(request, name) : undefined),
});

/** A parameter that its handler reads by itself; here for the documentation. */
export const parameter = (type: Filter['type'], help: string, repeatable = false): Filter => ({
  type,
  help,
  repeatable,
  condition: () => undefined,
});

/** Makes a parameter required. */
export const required = (filter: Filter): Filter => ({ ...filter, required: true });

/** Booleans of a query with their defaults. */
export const flagParameters = (flags: Readonly<Record<string, boolean>>): Filters =>
  Object.fromEntries(
    Object.entries(flags).map(([name, fallback]) => [name, parameter('boolean', `Default: ${fallback}.`)]),
  );

/** The parameters of a history, as `historyPoints` reads them. */
export const historyParameters: Filters = {
  point: parameter('integer', 'UNIX timestamp; replaces the others.', true),
  start: parameter('integer', 'First point, UNIX timestamp.'),
  end: parameter('integer', 'Last point, UNIX timestamp.'),
  points_count: parameter('integer', 'Number of points from start to end, 2 to 1000.'),
};
