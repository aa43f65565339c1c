import type { Request } from '../access/request.ts';
import { exampleLink, type JsonSchema } from './json-schema.ts';

/*
 * SQLite builds the representations: one statement converts the ids of a page to JSON texts, which measured faster than reading
 * rows and building objects. A `Json` is a template of alternating literal text and SQL expressions, rendered into a single
 * concat(), with the schema of its result. Expressions may use `ViewerParameters`.
 * See src/decisions/json-in-sqlite.md.
 */

/** The parameters of every representation: the base URL of links, and the viewer. */
export interface ViewerParameters {
  readonly base: string;
  /** The id with the caller's roles. */
  readonly caller: number;
  /** The id of the caller's user. */
  readonly self: number;
  /** 1 if the caller sees everything (staff, global support). */
  readonly all: 0 | 1;
  /** 1 if the caller is staff. */
  readonly staff: 0 | 1;
}

interface Piece {
  readonly kind: 'literal' | 'expression';
  readonly text: string;
}

/** A value in a response: its SQL, and its JSON Schema. */
export interface Json {
  readonly pieces: readonly Piece[];
  readonly shape: JsonSchema;
}

const literal = (text: string): Piece => ({ kind: 'literal', text });
const expression = (text: string): Piece => ({ kind: 'expression', text });
const value = (shape: JsonSchema, ...pieces: readonly Piece[]): Json => ({ pieces, shape });

/** A fixed JSON text. */
export const constant = (json: string): Json => value({ const: JSON.parse(json) }, literal(json));

/** A text column that may be null. */
export const textValue = (column: string, shape: JsonSchema = { type: ['string', 'null'] }): Json =>
  value(shape, expression(`json_quote(${column})`));

/** A text column that is never null. */
export const notNullText = (column: string): Json => textValue(column, { type: 'string' });

/** A text column that needs no escaping, such as a uuid. Must not be null. */
export const plainValue = (column: string): Json =>
  value({ type: 'string' }, literal('"'), expression(column), literal('"'));

/** A text column with one of these words, which need no escaping. */
export const wordValue = (column: string, words: readonly string[]): Json =>
  value({ type: 'string', enum: words }, literal('"'), expression(column), literal('"'));

/** A number column that may be null. */
export const numberValue = (column: string, shape: JsonSchema = { type: ['number', 'null'] }): Json =>
  value(shape, expression(`ifnull(${column}, 'null')`));

/** A column with 0 or 1. */
export const booleanValue = (column: string): Json =>
  value({ type: 'boolean' }, expression(`iif(${column}, 'true', 'false')`));

/** An instant (microseconds) or null, in the datetime format of core.md 1.6. */
export const timeValue = (
  column: string,
  shape: JsonSchema = { type: ['string', 'null'], format: 'date-time' },
): Json =>
  value(
    shape,
    expression(
      `iif(${column} IS NULL, 'null', concat('"', strftime('%Y-%m-%dT%H:%M:%S', ${column} / 1000000, 'unixepoch'), iif(${column} % 1000000, rtrim(printf('.%06d', ${column} % 1000000), '0'), ''), 'Z"'))`,
    ),
  );

/** The shape of links to the objects of a collection. */
export const linkShape = (path: string): JsonSchema => ({
  type: 'string',
  format: 'uri',
  examples: [exampleLink(path)],
});

/** An instant that is never null. */
export const notNullTime = (column: string): Json => timeValue(column, { type: 'string', format: 'date-time' });

/** The link of the object whose uuid (or pk) is in the column `key`. Must not be null. */
export const linkValue = (path: string, key: string, tail = ''): Json =>
  value(
    linkShape(path),
    literal('"'),
    expression('@base'),
    literal(`/api/${path}/`),
    expression(key),
    literal(`/${tail}"`),
  );

/** A link whose path after `/api/` is also an expression. */
export const linkOfPath = (path: string, key: string): Json =>
  value(
    { type: 'string', format: 'uri' },
    literal('"'),
    expression(`concat(@base, '/api/', ${path}, '/', ${key}, '/')`),
    literal('"'),
  );

/** The link of an object, or null if `key` is null. */
export const optionalLink = (path: string, key: string, tail = ''): Json => {
  const link = linkValue(path, key, tail);
  return value(orNullShape(link.shape), expression(`iif(${key} IS NULL, 'null', ${render(link)})`));
};

/** The schema of a nullable value. */
export const orNullShape = (shape: JsonSchema): JsonSchema => ({ ...shape, type: [shape.type, 'null'].flat() });

/** An object with these members, in order. */
export function objectValue(members: Readonly<Record<string, Json>>): Json {
  const pieces: Piece[] = [];
  for (const [name, member] of Object.entries(members)) {
    pieces.push(literal(`${pieces.length === 0 ? '{' : ','}${JSON.stringify(name)}:`), ...member.pieces);
  }
  const properties = Object.fromEntries(Object.entries(members).map(([name, { shape }]) => [name, shape]));
  return value({ type: 'object', properties, required: Object.keys(members) }, ...pieces, literal('}'));
}

/** A list with one item per row of `from` (tables, joins and conditions), in this order. */
export const listValue = (item: Json, from: string, order: string): Json =>
  value(
    { type: 'array', items: item.shape },
    literal('['),
    // SQLite sorts the rows of a sub-select faster than inside the aggregate, which keeps their order.
    expression(`(SELECT group_concat(item, ',') FROM (SELECT ${render(item)} AS item FROM ${from} ORDER BY ${order}))`),
    literal(']'),
  );

/** The value of a scalar sub-select that returns JSON text, such as a count. Its field declares the shape. */
export const computedValue = (text: string, shape: JsonSchema = {}): Json => value(shape, expression(text));

/** A member that is present only if the condition holds. */
export interface Member {
  readonly name: string;
  readonly value: Json;
  readonly shownIf?: string | undefined;
}

/** Returns the SQL expression of an object. Omits members whose conditions do not hold. */
export function renderObject(members: readonly Member[]): string {
  const pieces: Piece[] = members.flatMap(({ name, value, shownIf }) => {
    const member = [literal(`,${JSON.stringify(name)}:`), ...value.pieces];
    return shownIf === undefined ? member : [expression(`iif(${shownIf}, ${renderPieces(member)}, '')`)];
  });
  const [first] = pieces;
  if (first?.kind === 'literal')
    return renderPieces([literal(`{${first.text.slice(1)}`), ...pieces.slice(1), literal('}')]);
  // If the first member is conditional, remove the comma before the first present member.
  return `concat('{', substr(${renderPieces(pieces)}, 2), '}')`;
}

/** Renders a value as one SQL expression. */
export const render = ({ pieces }: Json): string => renderPieces(pieces);

/** Joins pieces into one SQL expression, merging adjacent literals. */
export function renderPieces(pieces: readonly Piece[]): string {
  const parts: string[] = [];
  let text = '';
  const flush = (): void => {
    if (text !== '') parts.push(`'${text.replaceAll("'", "''")}'`);
    text = '';
  };
  for (const piece of pieces) {
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

/** Returns the names that `field=` selects among these (core.md 1.9); undefined if it selects none. */
export function chosenNames(request: Request, names: readonly string[]): readonly string[] | undefined {
  const { incoming, query } = request;
  if (query.text === '' || (incoming.method !== 'GET' && incoming.method !== 'HEAD')) return undefined;
  const requested = [...query.all('field'), ...query.all('fields')];
  if (requested.length === 0) return undefined;
  const chosen = names.filter((name) => requested.includes(name));
  return chosen.length > 0 ? chosen : undefined;
}

/**
 * Limits objects that no listing creates to the members that `field=` selects. Without `names`, the members of all objects are
 * the known names.
 */
export function withChosen<T extends object>(
  request: Request,
  objects: readonly T[],
  names: readonly string[] = [...new Set(objects.flatMap((object) => Object.keys(object)))],
): readonly Partial<T>[] {
  const chosen = chosenNames(request, names);
  return chosen ? objects.map((object) => pick(object, chosen)) : objects;
}

/** Like `withChosen`, for JSON texts. */
export const textsWithChosen = (request: Request, texts: readonly string[]): readonly string[] =>
  request.query.all('field').length + request.query.all('fields').length === 0
    ? texts
    : withChosen(
        request,
        texts.map((text) => JSON.parse(text)),
      ).map((object) => JSON.stringify(object));

/**
 * Limits objects of several kinds to the members that `field=` selects. A kind without any of them shows no members instead of
 * all. `names` has the names of all kinds. `represent` creates the texts for a request.
 */
export function textsOfKinds(
  request: Request,
  names: () => readonly string[],
  represent: (request: Request) => readonly string[],
): readonly string[] {
  const { query } = request;
  const chosen = query.text === '' ? undefined : chosenNames(request, names());
  return chosen === undefined
    ? represent(request)
    : represent(request.withQuery(query.without('field', 'fields'))).map((text) =>
        JSON.stringify(pick(JSON.parse(text), chosen)),
      );
}

const pick = <T extends object>(object: T, names: readonly string[]): Partial<T> => {
  const picked: Partial<T> = {};
  for (const name in object) if (names.includes(name)) picked[name] = object[name];
  return picked;
};
