import type SQLite from 'better-sqlite3';
import { present } from '../present.ts';

type Kept = Map<string, SQLite.Statement>;

/** A statement whose results are of a kind. */
type Answering<T> = SQLite.Statement<unknown[], T>;

const keptAtMost = 500;

/** The statements of a handle, each text prepared once and kept; of very many the oldest go. */
export class Statements {
  readonly #rows: Kept = new Map();
  readonly #values: Kept = new Map();

  constructor(private readonly handle: SQLite.Database) {}

  /** A statement that answers whole rows. */
  rows<Row>(text: string): Answering<Row> {
    return answering(this.#rows.get(text) ?? keep(this.#rows, text, this.handle.prepare(text)));
  }

  /** A statement that answers the first column of its rows. */
  values<T>(text: string): Answering<T> {
    return answering(this.#values.get(text) ?? keep(this.#values, text, this.handle.prepare(text).pluck()));
  }
}

/** Only whoever wrote the text of a statement knows what it answers: hence the cast. */
const answering = <T>(statement: SQLite.Statement): Answering<T> => statement as Answering<T>;

function keep(kept: Kept, text: string, statement: SQLite.Statement): SQLite.Statement {
  if (kept.size >= keptAtMost) kept.delete(present(kept.keys().next().value));
  kept.set(text, statement);
  return statement;
}
