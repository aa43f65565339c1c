import type SQLite from 'better-sqlite3';
import { type Access, type Part, partOf } from '../cache/access.ts';
import { RowWatch, type Watched } from '../cache/row-watch.ts';
import { VersionedCache } from '../cache/versioned-cache.ts';
import { type Basis, Versions } from '../cache/versions.ts';
import { present } from '../present.ts';
import { verify } from '../verification.ts';
import {
  type DeferredQuery,
  DeferredRead,
  type DeferredReads,
  LongReadDetector,
  responseKey,
  Steps,
} from './deferred-reads.ts';
import { RowCounts } from './row-counts.ts';
import { BoundTexts, raw, type Sql, sql, type Value } from './sql.ts';
import type { Statement } from './statement.ts';
import { Statements } from './statements.ts';

type Named = Readonly<Record<string, Value>>;

/** Bytes of cached query results: counts, and the ids of pages. */
const queryBytes = 8 * 1024 * 1024;

/** Queries an open database. Prepares each statement once and caches it. */
export class Reader {
  /** Counts changes, committed or pending, including noticed changes by other processes. */
  readonly versions = new Versions();
  /** Detects long reads. */
  readonly long: LongReadDetector;
  protected readonly statements: Statements;
  /** The deferred reads of the current handler. */
  #deferredReads: DeferredReads | undefined;
  readonly #handle: SQLite.Database;
  readonly #queries = new VersionedCache<readonly number[]>(this.versions, queryBytes);
  readonly #rowCounts: RowCounts;
  readonly #steps = new Steps();
  readonly #boundTexts = new BoundTexts();
  /** Parts of the tables with counted rows. */
  readonly #tables = new Map<string, readonly [Part]>();

  constructor(handle: SQLite.Database) {
    this.#handle = handle;
    this.statements = new Statements(handle);
    this.long = new LongReadDetector(this.statements, this.versions);
    this.#rowCounts = new RowCounts(this.statements, this.versions, this.long);
  }

  /** Registers a pure SQL function of one text. Null stays null. */
  define(name: string, of: (text: string) => string): void {
    this.#handle.function(name, { deterministic: true }, (text: unknown) =>
      typeof text === 'string' ? of(text) : null,
    );
  }

  /** Registers an SQL function that decrypts the value of an object with a uuid. Null stays null. */
  defineOpening(name: string, open: (sealed: Uint8Array, uuid: string) => string): void {
    this.#handle.function(name, (sealed: unknown, uuid: unknown) =>
      sealed instanceof Uint8Array ? open(sealed, String(uuid)) : null,
    );
  }

  /**
   * Runs a GET handler whose deferrable reads may run on the reader thread. Without `reads`, they run immediately. Throws
   * DeferredRead. When the handler runs again, `reads` has the results.
   */
  withDeferredReads<T>(reads: DeferredReads | undefined, work: () => T): T {
    const outer = this.#deferredReads;
    this.#deferredReads = reads;
    reads?.begin();
    try {
      return work();
    } finally {
      this.#deferredReads = outer;
    }
  }

  /** Runs writes that stay even if the handler runs again, such as index updates. Reads after it are still deferrable. */
  withoutDeferral<T>(work: () => T): T {
    const reads = this.#deferredReads;
    this.#deferredReads = undefined;
    try {
      return work();
    } finally {
      this.#deferredReads = reads;
    }
  }

  /** Returns the ids that still meet a condition. Checks only if a deferred read is outdated. */
  keepMatching(ids: readonly number[], table: string, alias: string, { text, values }: Sql): readonly number[] {
    if (!this.isOutdated) return ids;
    return this.values<number>({
      text: `SELECT ${alias}.id FROM json_each(?) AS page CROSS JOIN ${table} ${alias} ON ${alias}.id = page.value WHERE ${text}`,
      values: [JSON.stringify(ids), ...values],
    });
  }

  /** Whether the current handler used an outdated result of a deferred read. */
  get isOutdated(): boolean {
    return this.#deferredReads?.isOutdated ?? false;
  }

  /** Defers these uncached queries for numbers together if one of them takes long. Throws DeferredRead. */
  deferTogether(queries: readonly Sql[]): void {
    const reads = this.#deferredReads;
    if (!reads?.isOpen) return;
    const unknown = this.#unknown(queries, reads);
    if (this.long.hasSome(unknown.map(({ text, values }) => [this.statements.values(text), values])))
      throw new DeferredRead(unknown);
  }

  /** Returns whether the result of a query is cached. */
  isCached({ isPlucked, text, values }: DeferredQuery): boolean {
    return isPlucked && this.#queries.get(responseKey(this.statements.values(text), values)) !== undefined;
  }

  /** Returns the versions that a query would read now. Its result is valid while they are current. */
  basisOf(query: DeferredQuery): Basis {
    return this.versions.basis([query.reads ?? this.statements.accessOf(this.#statementOf(query)).reads]);
  }

  /** Records the duration of a query on the thread. */
  recordThreadRead(query: DeferredQuery, milliseconds: number): void {
    this.long.record(this.#statementOf(query), query.values, milliseconds, true);
  }

  /** Returns all rows of a query. */
  all<Row = Record<string, Value>>(query: Sql): Row[] {
    return this.#noted(this.statements.rows<Row>(query.text)).all(query.values);
  }

  /** Like `all`, for GET handlers that walk large tables. Runs long queries on the reader thread. Throws DeferredRead. */
  deferrableAll<Row = Record<string, Value>>(query: Sql): Row[] {
    return this.#read(this.statements.rows<Row>(query.text), query.values);
  }

  /** Yields the first column of every row of a query. Rows before an error are not lost. */
  each<T = Value>(query: Sql): Iterable<T> {
    return this.#noted(this.statements.values<T>(query.text)).iterate(query.values);
  }

  /** Returns the first row of a query, or undefined. */
  get<Row = Record<string, Value>>(query: Sql): Row | undefined {
    return this.#noted(this.statements.rows<Row>(query.text)).get(query.values);
  }

  /** Returns the first row of a query. Throws if there is none. */
  one<Row = Record<string, Value>>(query: Sql): Row {
    const row = this.get<Row>(query);
    if (row === undefined) throw new Error(`No row: ${query.text}`);
    return row;
  }

  /** Returns the first column of the first row. Throws if there is none. */
  scalar<T = Value>(query: Sql): T {
    const result = this.value<T>(query);
    if (result === undefined) throw new Error(`No row: ${query.text}`);
    return result;
  }

  /** Returns the first column of the first row, or undefined. */
  value<T = Value>(query: Sql): T | undefined {
    return this.#noted(this.statements.values<T>(query.text)).get(query.values);
  }

  /** Returns the first column of every row. */
  values<T = Value>(query: Sql): T[] {
    return this.#noted(this.statements.values<T>(query.text)).all(query.values);
  }

  /** Like `values`, for GET handlers that walk large tables. Runs long queries on the reader thread. Throws DeferredRead. */
  deferrableValues<T = Value>(query: Sql): T[] {
    return this.#read(this.statements.values<T>(query.text), query.values);
  }

  /** Returns the first column of every row, for a fixed text with `@name` parameters that is built once. */
  named<T = Value>(text: string, values: Named): T[] {
    // A negative caller is a bound API key.
    const { caller } = values;
    const ofCaller = typeof caller === 'number' && caller < 0 ? this.#boundTexts.get(text) : text;
    return this.#noted(this.statements.values<T>(ofCaller)).all(values);
  }

  /**
   * Calls `make` for these ids, which all exist, with a query of this text. Splits many ids into steps that yield the event loop.
   * Throws DeferredRead.
   */
  inSteps<T>(text: string, ids: readonly number[], make: (ids: readonly number[]) => readonly T[]): readonly T[] {
    const reads = this.#deferredReads;
    if (!reads) return make(ids);
    const basis = (): Basis => this.versions.basis([this.readsOf(text)]);
    return this.#steps.run(text, reads, reads.progress<T>(text, basis, this.versions), ids, make);
  }

  /** Returns the tables that a query reads. */
  readsOf(text: string): readonly Part[] {
    return this.#accessOf(this.statements.values(text)).reads;
  }

  /**
   * Returns the result of a counting query, cached until its tables change, because counting a large table costs more than
   * reading a page of it. If it is deferred, so are the queries in `also`, which then see the same state. See
   * src/decisions/caching.md. Throws DeferredRead.
   */
  count(query: Sql, also?: () => readonly Sql[]): number {
    return present(this.cachedNumbers(query, undefined, also)[0]);
  }

  /**
   * Returns the numbers of a query, cached until its tables change. `visits` is the number of rows that it reads unless it sorts.
   */
  cachedNumbers(query: Sql, visits?: number, also?: () => readonly Sql[]): readonly number[] {
    const statement = this.statements.values<number>(query.text);
    const key = responseKey(statement, query.values);
    const known = this.#queries.get(key);
    if (known)
      verify(
        () => query.text,
        () => known,
        () => this.values(query),
      );
    return known ?? this.#cache(key, statement, query, visits, also);
  }

  /** Returns the row count of a table. It is counted once, then updated with inserted and deleted rows. */
  rowsIn(table: string): number {
    const parts = this.#tables.get(table) ?? this.#tableOf(table);
    if (!parts) return this.count(sql`SELECT count(*) FROM ${raw(table)}`);
    this.versions.note(parts);
    return this.#rowCounts.of(table, parts[0], this.#deferredReads);
  }

  /** Registers a callback for the ids of objects that a changed row invalidates (`RowWatch`); undefined inside a transaction. */
  watchRows(watched: Watched, touched: (id: number) => void): RowWatch | undefined {
    return this.#handle.inTransaction ? undefined : new RowWatch(this.#handle, this.versions, watched, touched);
  }

  /** Records that a statement changed this many rows. */
  protected changed(stored: Statement, count: number): void {
    // A handler that has written must not run again.
    this.#deferredReads = undefined;
    const access = this.statements.accessOf(stored);
    this.#rowCounts.changed(access, count);
    this.versions.changed(access.changes);
  }

  /** Records that any table may have changed. */
  protected changedAll(): void {
    this.#deferredReads = undefined;
    this.versions.changedAll();
  }

  /** Returns the part of a table; undefined for a view, whose row changes are unknown. */
  #tableOf(table: string): readonly [Part] | undefined {
    const part = partOf(table);
    if (!this.readsOf(`SELECT count(*) FROM ${table}`).includes(part)) return undefined;
    this.#tables.set(table, [part]);
    return this.#tables.get(table);
  }

  #cache(
    key: string,
    statement: Statement<number>,
    { values }: Sql,
    visits: number | undefined,
    also: (() => readonly Sql[]) | undefined,
  ): readonly number[] {
    const { reads } = this.#accessOf(statement);
    const result = this.#read(statement, values, visits, also);
    if (this.isOutdated) return result;
    return this.#queries.set(key, result, [reads], 2 * key.length + 8 * result.length);
  }

  /** Returns the rows of a statement, from the reader thread if it takes long. Throws DeferredRead. */
  #read<T>(stored: Statement<T>, values: Sql['values'], visits?: number, also?: () => readonly Sql[]): T[] {
    const reads = this.#deferredReads;
    if (!reads) return this.#noted(stored).all(values);
    const query = queryFor(stored, values);
    const result = reads.take(query, this.versions);
    this.#noted(stored);
    // The thread ran the text for which the caller specified the row type.
    if (result) return result as T[];
    if (reads.isOpen && this.long.has(stored, values, visits) && !reads.has(query))
      throw new DeferredRead([query, ...(also ? this.#unknown(also(), reads) : [])]);
    const started = performance.now();
    const rows = stored.all(values);
    this.long.record(stored, values, performance.now() - started, false);
    return rows;
  }

  /** Returns the queries for numbers without a result from the cache or the thread. */
  #unknown(queries: readonly Sql[], reads: DeferredReads): DeferredQuery[] {
    return queries
      .map(({ text, values }) => ({ text, values, isPlucked: true }))
      .filter((query) => !this.isCached(query) && !reads.has(query));
  }

  #statementOf({ isPlucked, text }: DeferredQuery): Statement {
    return isPlucked ? this.statements.values(text) : this.statements.rows(text);
  }

  /** Returns the accesses of a statement. Planning takes as long as many reads, so it may yield first. Throws DeferredRead. */
  #accessOf(stored: Statement): Access {
    if (stored.access === undefined) this.#deferredReads?.step();
    return this.statements.accessOf(stored);
  }

  /** Returns the statement and records the tables that it reads. */
  #noted<T>(stored: Statement<T>): Statement<T> {
    if (this.versions.isObserved) this.versions.note(this.#accessOf(stored).reads);
    return stored;
  }
}

const queryFor = ({ isPlucked, text }: Statement, values: Sql['values']): DeferredQuery => ({
  text,
  values,
  isPlucked,
});
