import type SQLite from 'better-sqlite3';
import type { Access } from '../cache/access.ts';
import type { Value } from './sql.ts';

/** Positional or named parameters of a statement. */
type Bound = readonly Value[] | Readonly<Record<string, Value>>;

let count = 0;

/** A prepared statement that returns the first column of its rows. */
export class Statement<T = unknown> {
  /** A short cache key, unique in this process. */
  readonly number = ++count;
  /** Tables that the statement reads and changes; undefined until `Statements.accessOf` plans it. */
  access: Access | undefined;

  constructor(
    protected readonly statement: SQLite.Statement<unknown[], T>,
    readonly text: string,
  ) {}

  /** Whether the statement returns values instead of rows. */
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

  /** Runs a statement that returns no rows. */
  run(values: Bound): SQLite.RunResult {
    return this.statement.run(values);
  }

  /** Drops data that depends on the schema. */
  forgetSchema(): void {
    this.access = undefined;
  }
}

/** A prepared statement that returns rows as objects. Looks up column names once; better-sqlite3 does so for each row. */
export class RowStatement extends Statement<unknown> {
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
