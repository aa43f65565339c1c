/**
 * Runs long reads on the reader thread, so that the event loop stays free. A GET handler requests one through `deferrableAll`,
 * `deferrableValues`, `count` and similar methods, which throw `DeferredRead`. The handler runs again when the thread has the
 * rows. See src/decisions/reader-thread.md.
 */
import type { Part, Walk } from '../cache/access.ts';
import { CacheBudget } from '../cache/generational-cache.ts';
import type { Basis, Versions } from '../cache/versions.ts';
import type { Sql, Value } from './sql.ts';
import type { Statement } from './statement.ts';
import type { Statements } from './statements.ts';

/** A statement with its values, for the reader thread. */
export interface DeferredQuery {
  readonly text: string;
  readonly values: readonly Value[];
  /** Whether to return the first column of each row instead of rows. */
  readonly isPlucked: boolean;
  /** The parts whose changes outdate the result. Default: those that the statement reads. */
  readonly reads?: readonly Part[];
}

/** The result of a query on the reader thread: rows or values, and its duration. */
export interface ReadResult {
  readonly rows: readonly unknown[];
  readonly milliseconds: number;
}

/** Aborts a GET handler whose reads must run on the reader thread. Without queries, it only yields the event loop. */
export class DeferredRead extends Error {
  constructor(readonly queries: readonly DeferredQuery[]) {
    super('Deferred read');
  }
}

/** The objects of a long list represented in previous steps, by id, and the versions at which they were read. */
interface Progress<T> {
  readonly created: Map<number, T>;
  readonly basis: Basis;
}

/** Work time after which a request with many steps yields the event loop. */
const maxTurnMs = 6;
/** Maximum number of runs of a handler. After that, every read runs immediately. */
const maxRuns = 30;

/** The deferred reads of a request, with their results. */
export class DeferredReads {
  /** Whether a used result is outdated. If so, the response must not be cached. */
  isOutdated = false;
  #results: Map<string, { readonly rows: readonly unknown[]; readonly basis: Basis } | 'unavailable'> | undefined;
  #progress: Map<string, Progress<unknown>> | undefined;
  #runs = 0;
  #started = 0;
  #hasStepped = false;

  constructor(
    /** The caller, for fair queueing between callers. */
    readonly holder: string,
  ) {}

  /** Starts a run of the handler. */
  begin(): void {
    this.#started = performance.now();
    this.#hasStepped = false;
  }

  /** Call before each step of long work. Throws DeferredRead to yield the event loop. */
  step(): void {
    if (this.#hasStepped && performance.now() - this.#started >= maxTurnMs) throw new DeferredRead([]);
    this.#hasStepped = true;
  }

  /** Whether another read may be deferred. */
  get isOpen(): boolean {
    return this.#runs < maxRuns;
  }

  /** Whether a query was already sent to the thread. */
  has(query: DeferredQuery): boolean {
    return this.#results?.has(keyOf(query)) ?? false;
  }

  /** Returns the result of a query; undefined if the thread has none. */
  take(query: DeferredQuery, versions: Versions): readonly unknown[] | undefined {
    const result = this.#results?.get(keyOf(query));
    if (result === undefined || result === 'unavailable') return undefined;
    if (!versions.isCurrent(result.basis)) this.isOutdated = true;
    return result.rows;
  }

  /** Returns the progress of the work with this name, starting it with the versions from `basis`. */
  progress<T>(name: string, basis: () => Basis, versions: Versions): Progress<T> {
    // Each name has a fixed type, so the cast is safe.
    const known = this.#progress?.get(name) as Progress<T> | undefined;
    if (known && !versions.isCurrent(known.basis)) this.isOutdated = true;
    const progress = known ?? { created: new Map(), basis: basis() };
    this.#progress ??= new Map();
    this.#progress.set(name, progress);
    return progress;
  }

  /** Stores results of the thread, valid as long as `bases`. The next run executes queries without a result immediately. */
  resolve(queries: readonly DeferredQuery[], results?: readonly ReadResult[], bases: readonly Basis[] = []): void {
    this.#runs++;
    this.#results ??= new Map();
    for (const [i, query] of queries.entries()) {
      const rows = results?.[i]?.rows;
      const basis = bases[i];
      this.#results.set(keyOf(query), rows && basis ? { rows, basis } : 'unavailable');
    }
  }
}

const keyOf = ({ isPlucked, text, values }: DeferredQuery): string => `${isPlucked} ${text} ${JSON.stringify(values)}`;

/** Target duration of a step, and the number of objects in the first step. */
const stepMs = 3;
const firstStepSize = 4;

/** Represents the objects of long lists in steps of about equal duration. */
export class Steps {
  /** Milliseconds per object, by query text. */
  readonly #msPerObject = new Map<string, number>();

  /** Calls `make` for the missing ids, some at a time. Returns the results of all. Throws DeferredRead. */
  run<T>(
    text: string,
    reads: DeferredReads,
    { created }: Progress<T>,
    ids: readonly number[],
    make: (ids: readonly number[]) => readonly T[],
  ): T[] {
    const missing = ids.filter((id) => !created.has(id));
    for (let from = 0; from < missing.length; ) {
      reads.step();
      const msPerObject = this.#msPerObject.get(text);
      const size = msPerObject === undefined ? firstStepSize : Math.max(1, Math.floor(stepMs / msPerObject));
      const some = missing.slice(from, from + size);
      from += some.length;
      const started = performance.now();
      for (const [i, one] of make(some).entries()) created.set(some[i] ?? 0, one);
      const measured = (performance.now() - started) / some.length;
      this.#msPerObject.set(text, msPerObject === undefined ? measured : (msPerObject + measured) / 2);
    }
    return ids.flatMap((id) => created.get(id) ?? []);
  }
}

/** A read that finished faster than the first limit is no longer deferred; a read slower than the second limit is. */
const [shortMs, longMs] = [2, 5];
/** Maximum number of consecutive short reads without the thread. */
const maxShortReads = 3;
const maxKnownReads = 20_000;
/** Number of changes after which the size of a table is checked again. */
const changesPerCheck = 1000;

/**
 * Detects long reads: those that walk an entire large table or index, and those that walk a range of one, unless the thread has
 * measured them to be short with the same values.
 */
export class LongReadDetector {
  /** Number of rows above which a table is large. */
  readonly manyRows: number = 10_000;
  readonly #short = new CacheBudget(maxKnownReads).cache<string, true>(() => 1);
  readonly #large = new Set<string>();
  readonly #small = new Map<string, number>();
  #asOf = -1;

  constructor(
    private readonly statements: Statements,
    private readonly versions: Versions,
  ) {}

  /** Returns whether to defer a read. `visits` is the number of rows that it reads unless it sorts. */
  has(stored: Statement, values: Sql['values'], visits = Number.POSITIVE_INFINITY): boolean {
    const large = this.#largeWalks(stored, visits);
    if (large.length === 0) return false;
    return large.some(({ isWhole }) => isWhole) || !this.#short.get(responseKey(stored, values));
  }

  /** Returns whether to defer consecutive reads: one takes long, or there are many short ones. */
  hasSome(reads: readonly (readonly [Statement, Sql['values']])[]): boolean {
    if (reads.some(([stored, values]) => this.has(stored, values))) return true;
    return reads.filter(([stored]) => this.#largeWalks(stored).length > 0).length > maxShortReads;
  }

  #largeWalks(stored: Statement, visits = Number.POSITIVE_INFINITY): readonly Walk[] {
    const { sorts, walks } = this.statements.accessOf(stored);
    if (walks.length === 0 || (visits <= this.manyRows && !sorts)) return [];
    return walks.filter(({ table }) => this.isLarge(table));
  }

  /** Records the duration of a read, on the thread or on the event loop. */
  record(stored: Statement, values: Sql['values'], milliseconds: number, inThread: boolean): void {
    if (inThread && milliseconds < shortMs) this.#short.set(responseKey(stored, values), true);
    else if (milliseconds > longMs) this.#short.delete(responseKey(stored, values));
  }

  /** Returns whether a table has more than `manyRows` rows. */
  isLarge(table: string): boolean {
    if (this.#large.has(table)) return true;
    if (this.#asOf !== this.versions.generation) this.#small.clear();
    this.#asOf = this.versions.generation;
    const seen = this.#small.get(table);
    if (seen !== undefined && this.versions.changes - seen < changesPerCheck) return false;
    const text = `SELECT 1 FROM "${table}" LIMIT 1 OFFSET ?`;
    const isLarge = this.statements.values<number>(text).get([this.manyRows]) !== undefined;
    if (isLarge) this.#large.add(table);
    else this.#small.set(table, this.versions.changes);
    return isLarge;
  }
}

/** The cache key of a query: the number of its statement and its values. */
export const responseKey = ({ number }: Statement, values: Sql['values']): string =>
  `${number} ${values.length === 0 ? '' : JSON.stringify(values)}`;
