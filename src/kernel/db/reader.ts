import type SQLite from 'better-sqlite3';
import { QueryCache } from './query-cache.ts';
import type { Sql, Value } from './sql.ts';
import { Statements } from './statements.ts';

type Named = Readonly<Record<string, Value>>;

const keptCounts = 5000;

/** What an open database answers: queries, whose statements are prepared once and kept. */
export class Reader {
  /** Grows with every committed or pending change, those of other processes included as far as they have been noticed. */
  writes = 0;
  protected readonly statements: Statements;
  readonly #handle: SQLite.Database;
  readonly #counts = new QueryCache<number>(this, keptCounts);

  constructor(handle: SQLite.Database) {
    this.#handle = handle;
    this.statements = new Statements(handle);
  }

  /** Makes a pure function of one text available in SQL; null stays null. */
  define(name: string, of: (text: string) => string): void {
    this.#handle.function(name, { deterministic: true }, (text: unknown) =>
      typeof text === 'string' ? of(text) : null,
    );
  }

  /** Makes what opens the sealed value of an object with a uuid available in SQL; null stays null. */
  defineOpening(name: string, open: (sealed: Uint8Array, uuid: string) => string): void {
    this.#handle.function(name, (sealed: unknown, uuid: unknown) =>
      sealed instanceof Uint8Array ? open(sealed, String(uuid)) : null,
    );
  }

  /** All rows of a query. */
  all<Row = Record<string, Value>>(query: Sql): Row[] {
    return this.statements.rows<Row>(query.text).all(query.values);
  }

  /** The first row of a query, or undefined. */
  get<Row = Record<string, Value>>(query: Sql): Row | undefined {
    return this.statements.rows<Row>(query.text).get(query.values);
  }

  /** The row that a query must find. Throws when there is none. */
  one<Row = Record<string, Value>>(query: Sql): Row {
    const row = this.get<Row>(query);
    if (row === undefined) throw new Error(`No row: ${query.text}`);
    return row;
  }

  /** The first column of the row that a query must find. Throws when there is none. */
  scalar<T = Value>(query: Sql): T {
    const found = this.value<T>(query);
    if (found === undefined) throw new Error(`No row: ${query.text}`);
    return found;
  }

  /** The first column of the first row, or undefined. */
  value<T = Value>(query: Sql): T | undefined {
    return this.statements.values<T>(query.text).get(query.values);
  }

  /** The first column of every row. */
  values<T = Value>(query: Sql): T[] {
    return this.statements.values<T>(query.text).all(query.values);
  }

  /** The first column of every row of a fixed text with `@name` parameters; for texts built once and kept. */
  named<T = Value>(text: string, values: Named): T[] {
    return this.statements.values<T>(text).all(values);
  }

  /**
   * The number that a counting query answers, remembered until anything is written: counting a large table costs more
   * than the page that is shown of it. See src/decisions/remembered-answers.md.
   */
  count(query: Sql): number {
    const key = `${query.text} ${JSON.stringify(query.values)}`;
    return this.#counts.get(key) ?? this.#counts.set(key, this.scalar<number>(query));
  }
}
