import type SQLite from 'better-sqlite3';

type Kept = Map<string, SQLite.Statement>;

const keptAtMost = 500;

/** The statements of a handle, each text prepared once and kept; of very many the oldest go. */
export class Statements {
  readonly #rows: Kept = new Map();
  readonly #values: Kept = new Map();

  constructor(private readonly handle: SQLite.Database) {}

  /** A statement that answers whole rows. */
  rows(text: string): SQLite.Statement {
    return this.#rows.get(text) ?? keep(this.#rows, text, this.handle.prepare(text));
  }

  /** A statement that answers the first column of its rows. */
  values(text: string): SQLite.Statement {
    return this.#values.get(text) ?? keep(this.#values, text, this.handle.prepare(text).pluck());
  }
}

function keep(kept: Kept, text: string, statement: SQLite.Statement): SQLite.Statement {
  if (kept.size >= keptAtMost) kept.delete(kept.keys().next().value as string);
  kept.set(text, statement);
  return statement;
}
