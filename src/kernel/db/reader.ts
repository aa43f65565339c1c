import type SQLite from 'better-sqlite3';
import { present } from '../present.ts';
import { verify } from '../verification.ts';
import { type Part, partOf } from './access.ts';
import { Remembered } from './remembered.ts';
import { watchRows } from './row-watch.ts';
import { raw, type Sql, sql, type Value } from './sql.ts';
import { type Kept, Statements } from './statements.ts';
import { Versions } from './versions.ts';

type Watch = Parameters<typeof watchRows> extends [unknown, ...infer Rest] ? Rest : never;
type Named = Readonly<Record<string, Value>>;

/** Bytes of the answers of queries that are remembered: counts, and the ids of pages. */
const queryBytes = 8 * 1024 * 1024;

/** What an open database answers: queries, whose statements are prepared once and kept. */
export class Reader {
  /** What has changed, committed or pending, that of other processes included as far as it has been noticed. */
  readonly versions = new Versions();
  protected readonly statements: Statements;
  readonly #handle: SQLite.Database;
  readonly #queries = new Remembered<readonly number[]>(this.versions, queryBytes);
  readonly #rowCounts = new Map<Part, number>();
  #countsAsOf = -1;

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
    return this.#noted(this.statements.rows<Row>(query.text)).all(query.values);
  }

  /** The first column of every row of a query, one by one: what was found before one fails is not lost. */
  each<T = Value>(query: Sql): Iterable<T> {
    return this.#noted(this.statements.values<T>(query.text)).iterate(query.values);
  }

  /** The first row of a query, or undefined. */
  get<Row = Record<string, Value>>(query: Sql): Row | undefined {
    return this.#noted(this.statements.rows<Row>(query.text)).get(query.values);
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
    return this.#noted(this.statements.values<T>(query.text)).get(query.values);
  }

  /** The first column of every row. */
  values<T = Value>(query: Sql): T[] {
    return this.#noted(this.statements.values<T>(query.text)).all(query.values);
  }

  /** The first column of every row of a fixed text with `@name` parameters; for texts built once and kept. */
  named<T = Value>(text: string, values: Named): T[] {
    return this.#noted(this.statements.values<T>(text)).all(values);
  }

  /** What the query of this text reads. */
  readsOf(text: string): readonly Part[] {
    return this.statements.accessOf(this.statements.values(text)).reads;
  }

  /**
   * The number that a counting query answers, remembered while what it reads stays the same: counting a large table costs
   * more than the page that is shown of it. See src/decisions/remembered-answers.md.
   */
  count(query: Sql): number {
    return present(this.remembered(query)[0]);
  }

  /** The numbers that a query answers, remembered while what it reads stays the same. */
  remembered(query: Sql): readonly number[] {
    const statement = this.statements.values<number>(query.text);
    const key = `${statement.number} ${query.values.length === 0 ? '' : JSON.stringify(query.values)}`;
    const known = this.#queries.get(key);
    if (known)
      verify(
        () => query.text,
        () => known,
        () => this.values(query),
      );
    return known ?? this.#remember(key, statement, query);
  }

  /** How many rows a table has, counted once: what comes and goes is added and taken away. */
  rowsIn(table: string): number {
    const part = partOf(table);
    const query = sql`SELECT count(*) FROM ${raw(table)}`;
    // Of a view, nothing says what comes and goes.
    if (!this.readsOf(query.text).includes(part)) return this.count(query);
    const count = (): number => this.scalar<number>(query);
    const known = this.#counted().get(part);
    if (known !== undefined) {
      this.versions.note([part]);
      verify(
        () => `The number of rows in ${table}`,
        () => known,
        count,
      );
      return known;
    }
    const counted = count();
    this.#counted().set(part, counted);
    return counted;
  }

  /**
   * From now on calls back with the ids of the objects that a changed row is told of in, as `watchRows` says. Answers false
   * inside a transaction, which would take the triggers with it when it is rolled back.
   */
  watchRows(...[rules, read, touched]: Watch): boolean {
    if (this.#handle.inTransaction) return false;
    watchRows(this.#handle, rules, read, touched);
    return true;
  }

  /** A statement has changed this many rows. */
  protected changed(kept: Kept, count: number): void {
    const { changes, counted } = this.statements.accessOf(kept);
    const counts = this.#counted();
    const known = counted && counts.get(counted.table);
    for (const part of changes) counts.delete(part);
    if (counted && known !== undefined) counts.set(counted.table, known + counted.sign * count);
    this.versions.changed(changes);
  }

  #remember(key: string, statement: Kept<number>, query: Sql): readonly number[] {
    const { reads } = this.statements.accessOf(statement);
    const values = this.#noted(statement).all(query.values);
    return this.#queries.set(key, values, [reads], 2 * key.length + 8 * values.length);
  }

  #counted(): Map<Part, number> {
    if (this.#countsAsOf !== this.versions.generation) {
      this.#rowCounts.clear();
      this.#countsAsOf = this.versions.generation;
    }
    return this.#rowCounts;
  }

  /** The statement, of which is noted what it reads. */
  #noted<T>(kept: Kept<T>): Kept<T>['statement'] {
    if (this.versions.isObserved) this.versions.note(this.statements.accessOf(kept).reads);
    return kept.statement;
  }
}
