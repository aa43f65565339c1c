import type SQLite from 'better-sqlite3';
import type { Checkpoints } from '../durability/checkpoints.ts';
import type { LogRepair } from '../durability/log-repair.ts';
import {
  BatchRolledBack,
  isFailedWrite,
  StorageError,
  type StorageReport,
  storageError,
} from '../durability/storage-error.ts';
import { CommitCounts } from '../metrics/counts.ts';
import { type Batch, newBatch } from './batch.ts';
import { OtherWriters } from './other-writers.ts';
import { Reader } from './reader.ts';
import { type Sql, sql, type Value } from './sql.ts';

/** Inserts and updates single rows from objects whose keys are column names. */
abstract class Rows extends Reader {
  /** Runs a change. Returns the id of a new row and the number of changed rows. */
  abstract run(change: Sql): { id: number; changes: number };

  /** Inserts a row and returns its id. Table and column names must come from this program. */
  insert(table: string, row: Readonly<Record<string, Value | undefined>>): number {
    const columns = Object.keys(row).filter((column) => row[column] !== undefined);
    const names = columns.map((column) => `"${column}"`).join(', ');
    const text = `INSERT INTO ${table} (${names}) VALUES (${columns.map(() => '?').join(', ')})`;
    return this.run({ text, values: columns.map((column) => row[column] ?? null) }).id;
  }

  /** Updates columns of the row with this id. Does nothing for an empty change. */
  update(table: string, id: number, change: Readonly<Record<string, Value | undefined>>): void {
    const columns = Object.keys(change).filter((column) => change[column] !== undefined);
    if (columns.length === 0) return;
    const text = `UPDATE ${table} SET ${columns.map((column) => `"${column}" = ?`).join(', ')} WHERE id = ?`;
    this.run({ text, values: [...columns.map((column) => change[column] ?? null), id] });
  }
}

/**
 * The only way to change data. All changes in one turn of the event loop, and in the following turns while each has changes, form
 * one transaction, the batch. It starts with the first change and is committed once at the end. If a piece of work fails, it is
 * rolled back alone, or the others are repeated. Code that must not respond before the change is safe uses `afterCommit`. See
 * src/decisions/group-commit.md.
 */
export abstract class Writer extends Rows {
  readonly commits = new CommitCounts();
  /** Runs inside the next transaction with changes, before its commit. */
  beforeCommit: (() => void) | undefined;
  #trouble: StorageError | undefined;
  #guard: () => StorageError | undefined = () => undefined;
  #depth = 0;
  #batch: Batch | undefined;
  readonly #others: OtherWriters;

  /** `log` has been repaired. `checkpoints` is set for a file. */
  constructor(
    protected readonly handle: SQLite.Database,
    protected readonly log: LogRepair,
    protected readonly checkpoints: Checkpoints | undefined,
    private readonly report: StorageReport,
  ) {
    super(handle);
    this.#others = new OtherWriters(handle, () => this.versions.changedAll());
  }

  /** Why the last commit failed, until one with changes succeeds. Meanwhile, background work is not attempted. */
  get trouble(): StorageError | undefined {
    return this.log.failure ?? this.#guard() ?? this.#trouble;
  }

  /**
   * Sets a condition of all commits. It is checked before each commit, and again before calling the commit's waiters. A rejected
   * commit is rolled back. If the condition fails only after the commit, the changes stay, but the waiters get the error.
   */
  guard(check: () => StorageError | undefined): void {
    this.#guard = check;
  }

  /** Runs and commits a change, bypassing the guard. */
  writeUnguarded(work: () => void): void {
    this.commit();
    const guard = this.#guard;
    this.#guard = () => undefined;
    try {
      this.write(work);
      this.store();
    } finally {
      this.#guard = guard;
    }
  }

  /** Number of rows that this connection has changed, including by triggers and foreign keys. */
  get totalChanges(): number {
    return this.scalar<number>(sql`SELECT total_changes()`);
  }

  /** Detects commits by other processes, at most a quarter of a millisecond late. Call it before building a response. */
  catchUp(): void {
    // No other process can write while this one does.
    if (!this.#batch) this.#others.catchUp();
  }

  /** Runs a change. Must run inside `write`. Returns the new row's id and the number of changed rows. */
  run(change: Sql): { id: number; changes: number } {
    if (this.#depth === 0) throw new Error('A change outside Database.write');
    const batch = this.#begin();
    if (batch.failure !== undefined) throw batch.failure;
    const stored = this.statements.rows(change.text);
    const wasTorn = batch.isTorn;
    batch.isTorn = true;
    const { changes, lastInsertRowid } = stored.run(change.values);
    batch.isTorn = wasTorn;
    this.versions.writes++;
    if (changes > 0) this.changed(stored, changes);
    return { id: Number(lastInsertRowid), changes };
  }

  /** Runs a change before the commit of this batch, unless the calling work is rolled back. Must run inside `write`. */
  changeLast(change: () => void): void {
    if (this.#depth === 0) throw new Error('A change outside Database.write');
    this.#begin().last.push(change);
  }

  /** Runs a piece of work in a savepoint of the batch. If it throws, none of its changes happen. */
  write<T>(work: () => T): T {
    return this.#write(work);
  }

  /**
   * Runs a piece of work that can be repeated as a whole, without a savepoint while the batch has none. If it throws after a
   * change, the entire batch is rolled back: `onRollback` is called, and all waiters of the batch fail with BatchRolledBack.
   */
  writeRepeatable<T>(work: () => T, onRollback: () => void): T {
    return this.#write(work, onRollback);
  }

  #write<T>(work: () => T, onRollback?: () => void): T {
    const batch = this.#begin();
    const before = this.versions.changes;
    const waitingLength = batch.waiting.length;
    const lastLength = batch.last.length;
    if (this.#depth === 0) {
      batch.size++;
      batch.isRepeatable &&= onRollback !== undefined;
      batch.isTorn = false;
    }
    const hasSavepoint = this.#depth > 0 || !batch.isRepeatable;
    if (hasSavepoint) this.#exec('SAVEPOINT work');
    this.#depth++;
    try {
      const result = work();
      if (hasSavepoint) this.#exec('RELEASE work');
      return result;
    } catch (error) {
      batch.waiting.length = waitingLength;
      batch.last.length = lastLength;
      const hasChanged = this.versions.changes !== before;
      if (hasSavepoint || !this.handle.inTransaction) this.#rollBack(batch, error, hasChanged);
      else if (hasChanged || batch.isTorn) {
        this.#rollBackBatch(batch);
        onRollback?.();
      }
      throw storageError(error);
    } finally {
      this.#depth--;
      if (this.#depth === 0 && batch.failure !== undefined) this.commit();
    }
  }

  /**
   * Runs work in a separate transaction without waiting for the sync. For work that is repeated if a power failure undoes it,
   * such as removing old rows. Other changes stay durable, and the writer is blocked only for the work, not for the disk. Also
   * throws if the commit fails. In memory, where nothing is synced, it is an ordinary write. See src/decisions/durability.md.
   */
  writeRelaxed<T>(work: () => T): T {
    if (this.#batch?.isExclusive || this.handle.memory) return this.write(work);
    this.commit();
    this.handle.pragma('synchronous = NORMAL');
    try {
      const result = this.write(work);
      this.store();
      return result;
    } finally {
      this.commit();
      this.handle.pragma('synchronous = FULL');
    }
  }

  /**
   * Copies all rows of tables from a database file, and the last ids of its AUTOINCREMENT tables. Then runs `work`, and commits
   * both in one transaction. Both databases have AUTOINCREMENT tables. Does not check foreign keys. Into an empty table with the
   * same definition and indexes, SQLite copies rows and index entries as they are stored, in a tenth of the time of inserting.
   * `opened` is called when the file is open and may be removed.
   */
  copyTables(file: string, opened: () => void, tables: readonly string[], work: () => void): void {
    this.commit();
    this.handle.prepare('ATTACH ? AS source').run(file);
    // SQLite copies stored rows only while it checks no foreign keys. Neither setting can change inside a transaction.
    this.handle.pragma('foreign_keys = OFF');
    try {
      opened();
      this.write(() => {
        for (const table of tables) this.handle.exec(`INSERT INTO main."${table}" SELECT * FROM source."${table}"`);
        this.handle.exec(`
          DELETE FROM main.sqlite_sequence WHERE name IN (SELECT name FROM source.sqlite_sequence);
          INSERT INTO main.sqlite_sequence SELECT * FROM source.sqlite_sequence`);
        this.versions.writes++;
        this.changedAll();
        work();
      });
      this.store();
    } finally {
      this.commit();
      this.handle.pragma('foreign_keys = ON');
      this.handle.exec('DETACH source');
    }
  }

  /**
   * Runs asynchronous work in one transaction. If it rejects, none of its changes happen. For commands with exclusive use of the
   * database, because everything else written meanwhile shares its outcome.
   */
  async whole<T>(work: () => Promise<T>): Promise<T> {
    this.commit();
    const batch = this.#begin();
    batch.isExclusive = true;
    batch.isRepeatable = false;
    clearImmediate(batch.timer);
    const committed = new Promise<void>((resolve, reject) =>
      batch.waiting.push((error) => (error === undefined ? resolve() : reject(error))),
    );
    committed.catch(() => undefined);
    try {
      const result = await work();
      batch.isExclusive = false;
      this.commit();
      await committed;
      return result;
    } catch (error) {
      this.#abandon(batch, error);
      throw error;
    }
  }

  /**
   * Runs work and rolls back its changes, to report current state that cannot be stored, such as a role that has just expired.
   * Commits pending writes first.
   */
  rollBack<T>(work: () => T): T {
    this.commit();
    try {
      return work();
    } finally {
      if (this.#batch) this.#abandon(this.#batch, this.trouble ?? new Error('Taken back'));
    }
  }

  /** Calls back when all current changes are on disk, with the error on failure, or at once if none are pending. */
  afterCommit(callback: (error?: unknown) => void): void {
    if (this.#batch) this.#batch.waiting.push(callback);
    else callback();
  }

  /** Calls back when the calling work is on disk; never if it fails. */
  onceStored(callback: () => void): void {
    this.afterCommit((error) => error === undefined && callback());
  }

  /** Commits the batch now instead of at the end of the turn, but not in the middle of atomic work. */
  commit(): void {
    const batch = this.#batch;
    if (!batch || batch.isExclusive) return;
    if (this.#depth > 0) throw new Error('A commit inside Database.write');
    if (this.beforeCommit && batch.failure === undefined && this.versions.changes !== batch.before) {
      // This throws only if the storage fails, which fails the batch.
      try {
        this.write(this.beforeCommit);
      } catch (error) {
        batch.failure ??= storageError(error) ?? error;
      }
    }
    if (batch.failure === undefined) this.#finish(batch);
    this.#batch = undefined;
    clearImmediate(batch.timer);
    let failure = batch.failure;
    if (failure === undefined) {
      try {
        // A checkpoint may have failed since the batch started.
        this.log.requireWritable();
        failure = this.#commit(batch);
      } catch (error) {
        failure = storageError(error) ?? new Error('COMMIT failed');
        this.stopAfter(failure);
        this.versions.changedAll();
        if (this.handle.inTransaction) this.#exec('ROLLBACK');
      }
    }
    if (failure instanceof StorageError) this.#note(failure);
    for (const callback of batch.waiting) callback(failure);
    this.checkpoints?.committed(failure === undefined);
  }

  /** Commits the batch now. Unlike `commit`, throws the error of the commit. */
  store(): void {
    let failure: unknown;
    this.afterCommit((error) => (failure = error));
    this.commit();
    if (failure !== undefined) throw failure;
  }

  /** Stops all writing if the error is a failed write or sync. */
  protected stopAfter(error: unknown): void {
    if (isFailedWrite(error)) this.log.fail(error);
  }

  #begin(): Batch {
    if (this.#batch) return this.#batch;
    try {
      this.log.requireWritable();
      this.#exec('BEGIN IMMEDIATE');
    } catch (error) {
      throw storageError(error);
    }
    this.#others.check();
    this.#batch = newBatch(this.versions.changes, () => this.commit());
    return this.#batch;
  }

  /** Runs the last changes of a batch. If one fails, the entire batch fails. */
  #finish(batch: Batch): void {
    this.#depth++;
    try {
      for (const change of batch.last) change();
    } catch (error) {
      batch.failure = storageError(error) ?? error;
      this.stopAfter(error);
      this.versions.changedAll();
      if (this.handle.inTransaction) this.#exec('ROLLBACK');
    } finally {
      this.#depth--;
    }
  }

  #abandon(batch: Batch, error: unknown): void {
    if (this.#batch !== batch) return;
    this.#batch = undefined;
    clearImmediate(batch.timer);
    this.versions.changedAll();
    if (this.handle.inTransaction) this.#exec('ROLLBACK');
    for (const callback of batch.waiting) callback(error);
  }

  #rollBack(batch: Batch, error: unknown, hasChanged: boolean): void {
    if (hasChanged || !this.handle.inTransaction) this.versions.changedAll();
    if (this.handle.inTransaction) {
      this.#exec('ROLLBACK TO work');
      this.#exec('RELEASE work');
      return;
    }
    // A full disk or an I/O error ends the whole transaction: no request of this batch may report success.
    batch.failure ??= storageError(error) ?? new Error('The transaction was lost');
    this.stopAfter(batch.failure);
  }

  #rollBackBatch(batch: Batch): void {
    this.versions.changedAll();
    this.#exec('ROLLBACK');
    batch.failure = new BatchRolledBack();
  }

  /** Commits a batch. Returns the error of the guard if it fails after the commit; throws any other. */
  #commit({ before, size }: Batch): StorageError | undefined {
    const started = performance.now();
    const hasChanged = this.versions.changes !== before;
    const rejection = hasChanged ? this.#guard() : undefined;
    if (rejection) throw rejection;
    this.#exec('COMMIT');
    if (!hasChanged) return undefined;
    this.#trouble = undefined;
    this.commits.sizes.observe(size);
    this.commits.durations.observe((performance.now() - started) / 1000);
    return this.#guard();
  }

  #note(failure: StorageError): void {
    // The owner of the guard reports the error.
    if (failure.reason === 'lease') return;
    this.commits.failures.add(failure.reason);
    this.#trouble = failure;
    // A failed write or sync has already been reported.
    if (!this.log.failure) this.report.failed(failure);
  }

  #exec(text: string): void {
    this.statements.rows(text).run([]);
  }
}

/** Maximum number of rows that a step removes. Steps are small, because writing requests wait for their commits. */
const rowsPerStep = 20;

/**
 * Runs one step of a long removal. Must run inside `write`. `remove` receives the maximum number of rows and returns the number
 * of removed rows. Returns whether more may be left.
 */
export const removeStep = (remove: (limit: number) => number): boolean => remove(rowsPerStep) === rowsPerStep;
