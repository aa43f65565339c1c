import type { Request } from '../access/request.ts';
import { parseDatetime } from '../clock.ts';
import { emailForms } from '../db/email-address.ts';
import { among, any, contains, raw, type Sql, sql } from '../db/sql.ts';
import { invalid } from '../http/error.ts';
import { FieldError, messages } from './field.ts';
import { type LinkTarget, linkKey } from './links.ts';

/** A query parameter of a list. */
export interface Filter {
  /** `named` means parameters whose names follow a pattern that the help describes. */
  readonly type: 'string' | 'uuid' | 'boolean' | 'flag' | 'datetime' | 'link' | 'integer' | 'number' | 'named';
  readonly help: string;
  readonly repeatable?: boolean;
  /** Whether requests without it are rejected. */
  readonly required?: boolean;
  /** The prefix of the names, for `named` filters. */
  readonly prefixes?: readonly string[];
  /** Returns the condition; undefined if the parameter is missing or does not apply. Throws 400. */
  readonly condition: (request: Request, name: string) => Sql | undefined;
}

export type Filters = Readonly<Record<string, Filter>>;

/** Filters by a condition with the text of the parameter. */
export const textFilter = (help: string, condition: (text: string) => Sql): Filter => ({
  type: 'string',
  help,
  condition: ({ query }, name) => {
    const text = query.one(name);
    return text === undefined ? undefined : condition(text);
  },
});

const partHelp = 'Part of it, without case.';
const exactHelp = 'The exact value.';

/** Filters by a case-insensitive substring of a column. */
export const partial = (column: string): Filter => textFilter(partHelp, (part) => contains(column, part));

/** Filters by the exact value of a column. */
export const exact = (column: string, help = exactHelp): Filter =>
  textFilter(help, (text) => sql`${raw(column)} = ${text}`);

/** Filters by a condition that holds for either form of an email address's domain. */
const emailFilter = (help: string, condition: (form: string) => Sql): Filter =>
  textFilter(help, (email) => any(emailForms(email).map(condition)));

/** Filters by a case-insensitive substring of an email address in a column. */
export const partialEmail = (column: string): Filter => emailFilter(partHelp, (form) => contains(column, form));

/** Filters by the exact email address in a column. */
export const exactEmail = (column: string): Filter => emailFilter(exactHelp, (form) => sql`${raw(column)} = ${form}`);

/** Filters by part of the name and by the exact name. */
export const ofName = (column: string): Readonly<Record<'name' | 'name_exact', Filter>> => ({
  name: partial(column),
  name_exact: exact(column, 'The exact name.'),
});

/** Filters of objects with several names, by part of any name or by any exact name. */
export const ofNames = (
  columns: readonly string[],
  which: string,
): Readonly<Record<'name' | 'name_exact', Filter>> => ({
  name: inAny(columns, partial, `Part of the name ${which}, without case.`),
  name_exact: inAny(columns, exact, `The exact name ${which}.`),
});

/** Combines filters on several columns, any of which may match. */
const inAny = (columns: readonly string[], ofColumn: (column: string) => Filter, help: string): Filter => ({
  type: 'string',
  help,
  condition: (request, name) => {
    const conditions = columns.flatMap((column) => ofColumn(column).condition(request, name) ?? []);
    return conditions.length === 0 ? undefined : any(conditions);
  },
});

/** Filters by the uuid in a column. */
export const exactUuid = (column: string, help = 'Its uuid.'): Filter =>
  uuid(help, (value) => sql`${raw(column)} = ${value}`);

/** Filters by the uuid of the object in `table` whose id is in a column. */
export const uuidOf = (column: string, table: string, help = 'Uuid of the object.'): Filter =>
  uuid(help, (value) => sql`${raw(column)} = (SELECT id FROM ${raw(table)} WHERE uuid = ${value})`);

/** Filters by a condition with a uuid. */
export const uuid = (help: string, condition: (uuid: string, request: Request) => Sql | undefined): Filter => ({
  type: 'uuid',
  help,
  condition: (request, name) => {
    const value = request.query.uuid(name);
    return value === undefined ? undefined : condition(value, request);
  },
});

/** Filters by a column with 0 or 1. */
export const booleanColumn = (column: string): Filter => ({
  type: 'boolean',
  help: 'true or false.',
  condition: (request, name) => {
    const value = request.query.boolean(name);
    return value === undefined ? undefined : sql`${raw(column)} = ${value ? 1 : 0}`;
  },
});

/** Filters by a condition if the flag is present. */
export const flagFilter = (help: string, condition: (request: Request) => Sql): Filter => ({
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
    // An unencoded "+" in a time zone arrives as a space.
    const value = request.query.one(name)?.replace(/ (\d\d:?\d\d)$/, '+$1');
    if (value === undefined) return undefined;
    const at = parseDatetime(value);
    if (at === undefined) throw invalid({ [name]: [messages.datetime] });
    return sql`${raw(column)} ${raw(comparison)} ${at}`;
  },
});

/** Filters by the link of the object whose id is in a column. An unknown object matches nothing; any other path is a 400. */
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

/** Under strict_input, throws 400 for a word outside a parameter's fixed vocabulary (core.md 1.9). */
export function requireWords({ config, query }: Request, name: string, isKnown: (word: string) => boolean): void {
  if (!config.strict_input) return;
  const unknown = query.all(name).find((word) => !isKnown(word));
  if (unknown !== undefined) throw invalid({ [name]: [messages.choice(unknown)] });
}

/** Filters by words of a fixed vocabulary. Others match nothing, or are rejected under strict_input. */
export const within = (words: readonly string[], filter: Filter): Filter => ({
  ...filter,
  condition: (request, name) => {
    requireWords(request, name, (word) => words.includes(word));
    return filter.condition(request, name);
  },
});

/** Filters by exact values of a column. Repeatable. */
export const oneOf = (column: string, help: string): Filter => ({
  type: 'string',
  repeatable: true,
  help,
  condition: (request, name) => {
    const values = request.query.all(name);
    return values.length === 0 ? undefined : among(column, values);
  },
});

/** Filters by a condition with a UNIX timestamp, which it receives in microseconds. */
export const timestamp = (help: string, condition: (at: number) => Sql, fractions = false): Filter => ({
  type: fractions ? 'number' : 'integer',
  help: `${help} UNIX timestamp.`,
  condition: (request, name) => {
    const at = request.query.timestamp(name, fractions);
    return at === undefined ? undefined : condition(at);
  },
});

/** Limits a filter to some callers. Others' parameters are ignored. */
export const onlyFor = (may: (request: Request) => boolean, filter: Filter): Filter => ({
  ...filter,
  condition: (request, name) => (may(request) ? filter.condition(request, name) : undefined),
});

/** Documents a parameter that the handler reads itself. */
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
