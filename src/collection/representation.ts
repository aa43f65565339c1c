/*
 * Representations are built inside SQLite: one statement turns the ids of a page into JSON texts, which measured faster
 * than reading rows and building objects. A `Json` is a template: literal text and SQL expressions in turn, rendered into
 * one call of concat(). Expressions may use the parameters of `Viewer`.
 */

/** The parameters of every representation: where links start, and for whom it is made. */
export interface Viewer {
  readonly base: string;
  /** The caller's id. */
  readonly caller: number;
  /** 1 when the caller sees everything (staff, global support). */
  readonly all: 0 | 1;
  /** 1 when the caller is staff. */
  readonly staff: 0 | 1;
}

interface Piece {
  readonly kind: 'literal' | 'expression';
  readonly text: string;
}

export type Json = readonly Piece[];

const literal = (text: string): Piece => ({ kind: 'literal', text });
const expression = (text: string): Piece => ({ kind: 'expression', text });

/** A fixed JSON text. */
export const constant = (json: string): Json => [literal(json)];

/** A text column, or null. */
export const textValue = (column: string): Json => [expression(`json_quote(${column})`)];

/** A text column that needs no escaping, such as a uuid; must not be null. */
export const plainValue = (column: string): Json => [literal('"'), expression(column), literal('"')];

/** A number column, or null. */
export const numberValue = (column: string): Json => [expression(`ifnull(${column}, 'null')`)];

/** A column holding 0 or 1. */
export const booleanValue = (column: string): Json => [expression(`iif(${column}, 'true', 'false')`)];

/** An instant (microseconds), or null, as core.md 1.6 writes datetimes. */
export const timeValue = (column: string): Json => [
  expression(
    `iif(${column} IS NULL, 'null', concat('"', strftime('%Y-%m-%dT%H:%M:%S', ${column} / 1000000, 'unixepoch'), iif(${column} % 1000000, rtrim(printf('.%06d', ${column} % 1000000), '0'), ''), 'Z"'))`,
  ),
];

/** The link of the object of a collection whose uuid (or pk) stands in `key`; must not be null. */
export const linkValue = (path: string, key: string, tail = ''): Json => [
  literal('"'),
  expression('@base'),
  literal(`/api/${path}/`),
  expression(key),
  literal(`/${tail}"`),
];

/** The link of an object, or null when `key` is null. */
export const optionalLink = (path: string, key: string, tail = ''): Json => [
  expression(`iif(${key} IS NULL, 'null', ${render(linkValue(path, key, tail))})`),
];

/** An object of the given members, in order. */
export function objectValue(members: Readonly<Record<string, Json>>): Json {
  const pieces: Piece[] = [];
  for (const [name, value] of Object.entries(members)) {
    pieces.push(literal(`${pieces.length === 0 ? '{' : ','}${JSON.stringify(name)}:`), ...value);
  }
  return [...pieces, literal('}')];
}

/** A list: one item for each row of `from` (tables, joins and conditions), in the order given. */
export const listValue = (item: Json, from: string, order: string): Json => [
  literal('['),
  expression(`(SELECT group_concat(${render(item)}, ',' ORDER BY ${order}) FROM ${from})`),
  literal(']'),
];

/** The value of a scalar sub-select that gives JSON text already, such as a count. */
export const computedValue = (text: string): Json => [expression(text)];

/** A member of an object that is present only where the condition holds. */
export interface Member {
  readonly name: string;
  readonly value: Json;
  readonly shown?: string | undefined;
}

/** The SQL expression of a whole object; members with a condition are left out where it does not hold. */
export function renderObject(members: readonly Member[]): string {
  const pieces: Piece[] = [literal('{')];
  let sure = false;
  for (const { name, value, shown } of members) {
    const member: Json = [literal(`${sure ? ',' : ''}${JSON.stringify(name)}:`), ...value];
    if (shown !== undefined && !sure) throw new Error('The first member of a representation must be unconditional');
    if (shown === undefined) pieces.push(...member);
    else pieces.push(expression(`iif(${shown}, ${render(member)}, '')`));
    sure = true;
  }
  return render([...pieces, literal('}')]);
}

/** A template as one SQL expression; neighbouring literals become one. */
export function render(json: Json): string {
  const parts: string[] = [];
  let text = '';
  const flush = (): void => {
    if (text !== '') parts.push(`'${text.replaceAll("'", "''")}'`);
    text = '';
  };
  for (const piece of json) {
    if (piece.kind === 'literal') {
      text += piece.text;
      continue;
    }
    flush();
    parts.push(piece.text);
  }
  flush();
  return `concat(${parts.join(', ')})`;
}
