import type { Sql, Value } from './sql.ts';

/**
 * Queries and changes, as modules use them; the implementation is `SqliteDatabase`. A method with a type parameter for rows
 * trusts the caller about the type: the text of the query decides it.
 */
export interface Database {
  /** Why the last commit failed; undefined once one has succeeded that wrote. */
  readonly trouble: Error | undefined;

  /** Returns all rows. */
  all<Row = Record<string, Value>>(query: Sql): Row[];
  /** Returns the first row, or undefined. */
  get<Row = Record<string, Value>>(query: Sql): Row | undefined;
  /** Returns the only row. Throws when there is none. */
  one<Row = Record<string, Value>>(query: Sql): Row;
  /** Returns the first column of the first row, or undefined. */
  value<T = Value>(query: Sql): T | undefined;
  /** Returns the first column of the first row. Throws when there is none. */
  scalar<T = Value>(query: Sql): T;
  /** Returns the first column of every row. */
  values<T = Value>(query: Sql): T[];
  /** Like `all`; runs on the reader thread where it takes long. Throws DeferredRead. */
  deferrableAll<Row = Record<string, Value>>(query: Sql): Row[];
  /** Like `values`; runs on the reader thread where it takes long. Throws DeferredRead. */
  deferrableValues<T = Value>(query: Sql): T[];
  /** Like `values`, with a fixed text that has `@name` parameters. */
  named<T = Value>(text: string, values: Readonly<Record<string, Value>>): T[];
  /** Returns the number of a counting query; cached while its tables stay the same. `also` are deferred with it. Throws DeferredRead. */
  count(query: Sql, also?: () => readonly Sql[]): number;
  /** Returns the numbers of a query; cached like `count`. `visits` is how many rows it reads where it need not sort. */
  cached(query: Sql, visits?: number, also?: () => readonly Sql[]): readonly number[];
  /** Returns how many rows a table has. */
  rowsIn(table: string): number;
  /** Returns the ids that still fulfil a condition; it checks only when a deferred read is outdated. */
  remaining(ids: readonly number[], table: string, alias: string, condition: Sql): readonly number[];
  /** Calls `make` for ids in steps that yield the event loop. Throws DeferredRead. */
  inSteps<T>(text: string, ids: readonly number[], make: (ids: readonly number[]) => readonly T[]): readonly T[];
  /** Defers these queries for numbers together when one of them takes long. Throws DeferredRead. */
  deferTogether(queries: readonly Sql[]): void;
  /** Runs writes that stay although the handler runs again: reads after it are still deferrable. */
  withoutDeferral<T>(work: () => T): T;
  /** Yields the first column of every row: rows before an error are not lost. */
  each<T = Value>(query: Sql): Iterable<T>;

  /** Makes and commits a change that must be stored even without the lease. */
  writeUnguarded(work: () => void): void;
  /** Makes a change; only inside `write`. Returns the id of a new row and the number of changed rows. */
  run(change: Sql): { id: number; changes: number };
  /** Inserts a row and returns its id. Table and column names must come from this program. */
  insert(table: string, row: Readonly<Record<string, Value | undefined>>): number;
  /** Updates columns of the row with this id; does nothing for an empty change. */
  update(table: string, id: number, change: Readonly<Record<string, Value | undefined>>): void;
  /** Runs work in a savepoint: all of its changes happen, or, when it throws, none. */
  write<T>(work: () => T): T;
  /**
   * Makes a change at the end of the transaction, unless the work that calls this is rolled back; only inside `write`. Many small
   * changes of one kind take half the time one after the other.
   */
  changeLast(change: () => void): void;
  /** Commits pending changes now instead of at the end of the turn. */
  commit(): void;
  /** Commits pending changes now. Throws why that failed. */
  store(): void;
  /** Calls back when all changes until now are on disk, with the error when they could not be stored. */
  afterCommit(callback: (error?: unknown) => void): void;
  /** Calls back when the current work is on disk, and never when it fails. */
  onceStored(callback: () => void): void;
}
