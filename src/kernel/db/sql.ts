/** What SQLite can bind. */
export type Value = string | number | bigint | null | Uint8Array;

/** A piece of SQL with the values of its `?` marks, in order. */
export class Sql {
  constructor(
    readonly text: string,
    readonly values: readonly Value[],
  ) {}
}

/** Texts of templates that interpolate values alone: the same string each time is found among the statements without hashing it. */
const texts = new WeakMap<TemplateStringsArray, string>();

const areValues = (parts: readonly (Sql | Value)[]): parts is readonly Value[] =>
  !parts.some((part) => part instanceof Sql);

/** Composes SQL: an interpolated `Sql` is spliced in, anything else becomes a bound parameter. */
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

/** A fixed text as SQL: names of tables and columns from the program's own vocabulary, never from a request. */
export const raw = (text: string): Sql => new Sql(text, none);

/** Pieces joined by a separator; an empty list gives an empty piece. */
export function join(pieces: readonly Sql[], separator: string): Sql {
  return new Sql(
    pieces.map((piece) => piece.text).join(separator),
    pieces.flatMap((piece) => piece.values),
  );
}

/** `(a) AND (b) AND …`; always true for an empty list. */
export const all = (pieces: readonly Sql[]): Sql =>
  pieces.length === 0
    ? raw('TRUE')
    : new Sql(
        pieces.map((piece) => `(${piece.text})`).join(' AND '),
        pieces.flatMap((piece) => piece.values),
      );

/** `(a) OR (b) OR …`; never true for an empty list. */
export const any = (pieces: readonly Sql[]): Sql =>
  pieces.length === 0
    ? raw('FALSE')
    : new Sql(
        pieces.map((piece) => `(${piece.text})`).join(' OR '),
        pieces.flatMap((piece) => piece.values),
      );

/** Membership of a column in a list of values; the list travels as one JSON parameter, so that the text stays the same. */
export const among = (column: string, values: readonly (string | number)[]): Sql =>
  new Sql(`${column} IN (SELECT value FROM json_each(?))`, [JSON.stringify(values)]);

/**
 * A substring match of folded texts (core.md 1.9 "partial"). SQLite's LIKE folds ASCII only and ends at a NUL, but takes a
 * twelfth of the time: it compares what is ASCII on both sides, which its length in bytes tells.
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

/** Text as it is compared without case: NFKC, then lower case; both small sigmas are the one that a capital becomes anywhere. */
export const caseFold = (text: string): string => text.normalize('NFKC').toLowerCase().replaceAll('ς', 'σ');
