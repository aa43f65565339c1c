/** A parameter value. */
export type Value = string | number | bigint | null | Uint8Array;

/** A fragment of SQL with the values of its `?` parameters. */
export class Sql {
  constructor(
    readonly text: string,
    readonly values: readonly Value[],
  ) {}
}

/** Texts of templates without fragments. An identical string leads to its prepared statement without hashing. */
const texts = new WeakMap<TemplateStringsArray, string>();

const areValues = (parts: readonly (Sql | Value)[]): parts is readonly Value[] =>
  !parts.some((part) => part instanceof Sql);

/** Composes SQL. An interpolated `Sql` becomes part of the text, everything else a parameter. */
export function sql(strings: TemplateStringsArray, ...parts: readonly (Sql | Value)[]): Sql {
  if (areValues(parts)) {
    let text = texts.get(strings);
    if (text === undefined) {
      text = strings.join('?');
      texts.set(strings, text);
    }
    return new Sql(text, parts);
  }
  let text = strings[0] ?? '';
  const values: Value[] = [];
  for (const [i, part] of parts.entries()) {
    if (part instanceof Sql) {
      text += part.text + strings[i + 1];
      for (const value of part.values) values.push(value);
    } else {
      text += `?${strings[i + 1]}`;
      values.push(part);
    }
  }
  return new Sql(text, values);
}

const none: readonly Value[] = [];

/** Returns fixed text as SQL, such as a table or column name from this program. Never pass text from a request. */
export const raw = (text: string): Sql => new Sql(text, none);

/** Joins fragments with a separator; an empty list becomes an empty fragment. */
export function join(pieces: readonly Sql[], separator: string): Sql {
  return new Sql(
    pieces.map((piece) => piece.text).join(separator),
    pieces.flatMap((piece) => piece.values),
  );
}

/** Returns `(a) AND (b) AND …`; TRUE for an empty list. */
export const all = (pieces: readonly Sql[]): Sql =>
  pieces.length === 0
    ? raw('TRUE')
    : new Sql(
        pieces.map((piece) => `(${piece.text})`).join(' AND '),
        pieces.flatMap((piece) => piece.values),
      );

/** Returns `((a) OR (b) OR …)`, which other conditions can follow; FALSE for an empty list. */
export const any = (pieces: readonly Sql[]): Sql =>
  pieces.length === 0
    ? raw('FALSE')
    : new Sql(
        `(${pieces.map((piece) => `(${piece.text})`).join(' OR ')})`,
        pieces.flatMap((piece) => piece.values),
      );

/** Returns `column IN (values)`. The list is one JSON parameter, so the text does not depend on its length. */
export const among = (column: string, values: readonly (string | number)[]): Sql =>
  new Sql(`${column} IN (SELECT value FROM json_each(?))`, [JSON.stringify(values)]);

/**
 * Returns a case-insensitive substring match (core.md 1.9 "partial"). LIKE takes a twelfth of the time of `fold`, but folds only
 * ASCII and stops at a NUL, so it is used only if both sides are ASCII.
 */
export function contains(column: string, part: string): Sql {
  const folded = caseFold(part);
  const isFound = `instr(fold(${column}), ?) > 0`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the ASCII range is meant
  if (!/^[\x01-\x7f]*$/.test(part)) return new Sql(isFound, [folded]);
  const isAscii = `octet_length(${column}) = length(${column})`;
  const pattern = `%${part.replace(/[\\%_]/g, '\\$&')}%`;
  return new Sql(`iif(${isAscii}, ${column} LIKE ? ESCAPE '\\', ${isFound})`, [pattern, folded]);
}

const ascii = /^[\0-\x7f]*$/;

/** Folds text for case-insensitive comparison: NFKC, lower case, and one form of sigma. */
export const caseFold = (text: string): string =>
  ascii.test(text) ? text.toLowerCase() : text.normalize('NFKC').toLowerCase().replaceAll('ς', 'σ');

/* Prepared texts with `@caller`: a user, or an API key that is bound to objects (core.md 2.10). */

/** Follows the name of a view with the roles of `@caller`. */
export const ofCaller = ' /* of @caller */';

/** Returns a text that reads the roles of bound API keys instead of users. */
const boundTextOf = (text: string): string => text.replaceAll(/\bactive_(\w+_role) \/\* of @caller \*\//g, 'bound_$1');

/** The texts for bound API keys by those for users. The program has a fixed number of them. */
export class BoundTexts {
  readonly #texts = new Map<string, string>();

  get(text: string): string {
    let bound = this.#texts.get(text);
    if (bound === undefined) {
      bound = boundTextOf(text);
      this.#texts.set(text, bound);
    }
    return bound;
  }
}
