import type { Sql, Value } from './sql.ts';

/**
 * The database interface for modules, implemented by `SqliteDatabase`. Type parameters for rows are not checked: they must match
 * the text of the query.
 */
export interface Database {
  /** Why the last commit failed; undefined after a successful commit that wrote. */
  readonly trouble: Error | undefined;

  /** Returns all rows. */
  all<Row = Record<string, Value>>(query: Sql): Row[];
  /** Returns the first row, or undefined. */
  get<Row = Record<string, Value>>(query: Sql): Row | undefined;
  /** Returns the only row. Throws if there is none. */
  one<Row = Record<string, Value>>(query: Sql): Row;
  /** Returns the first column of the first row, or undefined. */
  value<T = Value>(query: Sql): T | undefined;
  /** Returns the first column of the first row. Throws if there is none. */
  scalar<T = Value>(query: Sql): T;
  /** Returns the first column of every row. */
  values<T = Value>(query: Sql): T[];
  /** Like `all`, but runs long queries on the reader thread. Throws DeferredRead. */
  deferrableAll<Row = Record<string, Value>>(query: Sql): Row[];
  /** Like `values`, but runs long queries on the reader thread. Throws DeferredRead. */
  deferrableValues<T = Value>(query: Sql): T[];
  /** Like `values`, for a fixed text with `@name` parameters. */
  named<T = Value>(text: string, values: Readonly<Record<string, Value>>): T[];
  /** Returns the result of a counting query, cached until its tables change. `also` is deferred with it. Throws DeferredRead. */
  count(query: Sql, also?: () => readonly Sql[]): number;
  /** Returns the numbers of a query, cached like `count`. `visits` is the number of rows that it reads unless it sorts. */
  cachedNumbers(query: Sql, visits?: number, also?: () => readonly Sql[]): readonly number[];
  /** Returns the number of rows in a table. */
  rowsIn(table: string): number;
  /** Returns the ids that still meet a condition. Checks only if a deferred read is outdated. */
  keepMatching(ids: readonly number[], table: string, alias: string, condition: Sql): readonly number[];
  /** Calls `make` for ids in steps that yield the event loop. Throws DeferredRead. */
  inSteps<T>(text: string, ids: readonly number[], make: (ids: readonly number[]) => readonly T[]): readonly T[];
  /** Defers these queries for numbers together if one of them takes long. Throws DeferredRead. */
  deferTogether(queries: readonly Sql[]): void;
  /** Runs writes that stay even if the handler runs again. Reads after it are still deferrable. */
  withoutDeferral<T>(work: () => T): T;
  /** Yields the first column of every row. Rows before an error are not lost. */
  each<T = Value>(query: Sql): Iterable<T>;

  /** Runs and commits a change that must be stored even without the lease. */
  writeUnguarded(work: () => void): void;
  /** Runs a change. Must run inside `write`. Returns the id of a new row and the number of changed rows. */
  run(change: Sql): { id: number; changes: number };
  /** Inserts a row and returns its id. Table and column names must come from this program. */
  insert(table: string, row: Readonly<Record<string, Value | undefined>>): number;
  /** Updates columns of the row with this id. Does nothing for an empty change. */
  update(table: string, id: number, change: Readonly<Record<string, Value | undefined>>): void;
  /** Runs work in a savepoint. If it throws, none of its changes happen. */
  write<T>(work: () => T): T;
  /**
   * Runs a change at the end of the transaction, unless the calling work is rolled back. Must run inside `write`. Many small
   * changes of the same kind take half the time in sequence.
   */
  changeLast(change: () => void): void;
  /** Commits pending changes now instead of at the end of the turn. */
  commit(): void;
  /** Commits pending changes now. Throws the error if that fails. */
  store(): void;
  /** Calls back when all current changes are on disk, with an error if they could not be stored. */
  afterCommit(callback: (error?: unknown) => void): void;
  /** Calls back when the current work is on disk; never if it fails. */
  onceStored(callback: () => void): void;
}
