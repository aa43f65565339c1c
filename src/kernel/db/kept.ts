import type SQLite from 'better-sqlite3';
import type { Access } from '../cache/access.ts';
import type { Value } from './sql.ts';

/** What is bound to the marks of a statement: in order, or by name. */
type Bound = readonly Value[] | Readonly<Record<string, Value>>;

let count = 0;

/** A statement that answers the first column of its rows, and what it accesses, once that has been asked. */
export class Kept<T = unknown> {
  /** Names it among all of this program, in fewer letters. */
  readonly number = ++count;
  access: Access | undefined;

  constructor(
    protected readonly statement: SQLite.Statement<unknown[], T>,
    readonly text: string,
  ) {}

  /** Whether it answers the first column of its rows alone. */
  get isPlucked(): boolean {
    return true;
  }

  all(values: Bound): T[] {
    return this.statement.all(values);
  }

  get(values: Bound): T | undefined {
    return this.statement.get(values);
  }

  iterate(values: Bound): Iterable<T> {
    return this.statement.iterate(values);
  }

  /** Runs what answers no rows. */
  run(values: Bound): SQLite.RunResult {
    return this.statement.run(values);
  }

  /** The schema has changed. */
  forgetSchema(): void {
    this.access = undefined;
  }
}

/** One that answers whole rows. better-sqlite3 looks up the name of each column for each row, which takes as long as all the rest. */
export class KeptRows extends Kept<unknown> {
  #columns: readonly string[] | undefined;

  constructor(statement: SQLite.Statement<unknown[], unknown>, text: string) {
    super(statement, text);
    if (statement.reader) statement.raw();
  }

  override get isPlucked(): boolean {
    return false;
  }

  override all(values: Bound): unknown[] {
    return this.statement.all(values).map((row) => this.#named(row));
  }

  override get(values: Bound): unknown {
    const row = this.statement.get(values);
    return row === undefined ? undefined : this.#named(row);
  }

  override *iterate(values: Bound): Iterable<unknown> {
    for (const row of this.statement.iterate(values)) yield this.#named(row);
  }

  override forgetSchema(): void {
    super.forgetSchema();
    this.#columns = undefined;
  }

  #named(row: unknown): unknown {
    this.#columns ??= this.statement.columns().map(({ name }) => name);
    if (!Array.isArray(row)) throw new Error(`Not a row: ${this.text}`);
    const named: Record<string, unknown> = {};
    let i = 0;
    for (const column of this.#columns) named[column] = row[i++];
    return named;
  }
}
