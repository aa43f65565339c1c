import type SQLite from 'better-sqlite3';
import { CommitCounts } from '../metrics/commits.ts';
import type { Addon } from '../native/native.ts';
import { type Batch, newBatch } from './batch.ts';
import { Checkpoints } from './checkpoints.ts';
import { openOwnHandle } from './handle.ts';
import { LogRepair } from './log-repair.ts';
import { OtherWriters } from './other-writers.ts';
import { Rows } from './rows.ts';
import { caseFold, type Sql } from './sql.ts';
import { StorageError, storageError } from './storage-error.ts';
import { endProcess, type StorageReport } from './storage-report.ts';

/**
 * The database: what it answers, and the one way to change anything.
 * All changes of one turn of the event loop, and of the next ones while each brings several, form one transaction, the batch,
 * which begins with the first change and is committed once at the end of the turn. Each piece of work in it is a savepoint, so a failing request rolls back alone.
 * Whoever must not speak before the change is safe waits with `afterCommit`. See src/decisions/group-commit.md.
 */
export class Database extends Rows {
  /** Grows whenever rows that were read in a transaction may be gone: after a rollback, and after writes of other processes. */
  rollbackCount = 0;
  /** Why the last commit failed, until one succeeds that wrote: what is not asked for need not be tried meanwhile. */
  trouble: StorageError | undefined;
  readonly commits = new CommitCounts();
  readonly #raw: SQLite.Database;
  readonly #others: OtherWriters;
  #depth = 0;
  #batch: Batch | undefined;
  readonly #checkpoints: Checkpoints | undefined;
  readonly #log: LogRepair;
  readonly #report: StorageReport;

  private constructor(handle: SQLite.Database, addon: Addon | undefined, report: StorageReport) {
    super(handle);
    this.#raw = handle;
    this.#report = report;
    this.#log = new LogRepair(handle, addon, report);
    this.#log.mendFound();
    this.#checkpoints = handle.memory ? undefined : new Checkpoints(handle, this.#log);
    this.#others = new OtherWriters(handle, () => this.#forget());
  }

  /**
   * Opens (and creates) the file, or a database in memory, for `:memory:` or bytes. Throws when SQLite is too old, the file another
   * program's, or the disk fails. `report` is told when it does later; without it the process ends where nothing can be stored safely.
   */
  static open(file: string | Buffer, addon?: Addon, report: StorageReport = endProcess): Database {
    const db = new Database(openOwnHandle(file, addon), addon, report);
    db.define('fold', caseFold);
    return db;
  }

  /** From now on a thread moves the log, until `stopCheckpoints`. `failed` is told when none can, and commits do it as before. */
  checkpointInThread(addon: Addon | undefined, failed: (error: unknown) => void): void {
    this.#checkpoints?.useThread(addon, failed);
  }

  /** From now on commits do not move the log: another program does, or whoever closes the database last. */
  leaveLog(): void {
    this.#checkpoints?.leave();
  }

  /** Resolves when the thread has moved what it was asked to: whoever writes much, without haste, waits so that the log does not grow. */
  async checkpointed(): Promise<void> {
    await this.#checkpoints?.idle();
  }

  /** Resolves when the thread has ended. */
  async stopCheckpoints(): Promise<void> {
    await this.#checkpoints?.stop();
  }

  /** Notices what other processes have written, as far as that is a quarter of a millisecond ago; to be called before anything is answered. */
  catchUp(): void {
    this.#others.catchUp();
  }

  #forget(): void {
    this.versions.changedAll();
    this.rollbackCount++;
  }

  /** Makes a change; only inside `write`. Answers the new row's id and the number of changed rows. */
  run(change: Sql): { id: number; changes: number } {
    if (this.#depth === 0) throw new Error('A change outside Database.write');
    if (this.#batch?.failure !== undefined) throw this.#batch.failure;
    const kept = this.statements.rows(change.text);
    const result = kept.statement.run(change.values);
    if (result.changes > 0) this.changed(kept, result.changes);
    return { id: Number(result.lastInsertRowid), changes: result.changes };
  }

  /** Runs a piece of work in a savepoint of the batch: all of its changes happen, or, when it throws, none. */
  write<T>(work: () => T): T {
    const batch = this.#begin();
    const [before, waiting] = [this.versions.changes, batch.waiting.length];
    if (this.#depth === 0) batch.size++;
    this.#exec('SAVEPOINT work');
    this.#depth++;
    try {
      const result = work();
      this.#exec('RELEASE work');
      return result;
    } catch (error) {
      batch.waiting.length = waiting;
      this.#rollBack(batch, error, this.versions.changes !== before);
      throw storageError(error);
    } finally {
      this.#depth--;
      if (this.#depth === 0 && batch.failure !== undefined) this.commit();
    }
  }

  /**
   * Runs work as a transaction of its own, and does not wait until it is on the disk. For work that is done again when a
   * power failure has undone it, such as removing what is old: nobody else's change is made less safe, and the writer is kept
   * for as long as the work takes, not for as long as the disk does. Throws, too, when it cannot be committed.
   * See src/decisions/relaxed-writes.md.
   */
  writeRelaxed<T>(work: () => T): T {
    if (this.#batch?.isExclusive) return this.write(work);
    this.commit();
    this.#raw.pragma('synchronous = NORMAL');
    try {
      const result = this.write(work);
      this.store();
      return result;
    } finally {
      this.commit();
      this.#raw.pragma('synchronous = FULL');
    }
  }

  /**
   * Runs work whose pieces wait for each other in one transaction: all of its changes happen, or, when it rejects, none. For
   * commands that have the database to themselves: whatever else is written meanwhile shares its fate.
   */
  async whole<T>(work: () => Promise<T>): Promise<T> {
    this.commit();
    const batch = this.#begin();
    batch.isExclusive = true;
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
   * Runs work and takes back what it changes: what is told of the present though that cannot be stored, such as a role that
   * has just ended. Commits what is pending first.
   */
  trial<T>(work: () => T): T {
    this.commit();
    try {
      return work();
    } finally {
      if (this.#batch) this.#abandon(this.#batch, this.trouble ?? new Error('Taken back'));
    }
  }

  /** Milliseconds to wait inside SQLite for another process that writes; then work throws StorageError and may be tried again. */
  waitFor(milliseconds: number): void {
    if (this.#raw.open) this.#raw.pragma(`busy_timeout = ${milliseconds}`);
  }

  /** Calls back when all changes so far are on disk, with the error when they could not be, or at once when none is pending. */
  afterCommit(callback: (error?: unknown) => void): void {
    if (this.#batch) this.#batch.waiting.push(callback);
    else callback();
  }

  /** Calls back when the work that asks for it is on disk, and never if it does not come so far. */
  onceStored(callback: () => void): void {
    this.afterCommit((error) => error === undefined && callback());
  }

  /** Commits the batch now instead of at the end of the turn; not in the middle of whole work. */
  commit(): void {
    const batch = this.#batch;
    if (!batch || batch.isExclusive) return;
    if (this.#depth > 0) throw new Error('A commit inside Database.write');
    this.#batch = undefined;
    clearImmediate(batch.timer);
    let failure = batch.failure;
    if (failure === undefined) {
      try {
        this.#commit(batch);
      } catch (error) {
        failure = storageError(error) ?? new Error('COMMIT failed');
        this.#log.failed(failure);
        this.#forget();
        if (this.#raw.inTransaction) this.#exec('ROLLBACK');
      }
    }
    if (failure instanceof StorageError) this.#note(failure);
    for (const callback of batch.waiting) callback(failure);
    this.#checkpoints?.committed(failure === undefined);
  }

  /** Commits the batch now. Throws what made that fail: whoever only calls `commit` does not hear of it. */
  store(): void {
    let failure: unknown;
    this.afterCommit((error) => (failure = error));
    this.commit();
    if (failure !== undefined) throw failure;
  }

  /** Runs a script of statements, such as a migration. Not part of any batch. */
  script(text: string): void {
    this.#raw.exec(text);
    this.statements.forgetSchema();
    this.#forget();
    if (!this.#raw.inTransaction) this.#checkpoints?.committed(true);
  }

  /** Reads or sets a pragma that answers one value. */
  pragma(text: string): unknown {
    return this.#raw.pragma(text, { simple: true });
  }

  /** The whole database as bytes; commits what is pending first. */
  serialize(): Buffer {
    this.commit();
    return this.#raw.serialize();
  }

  /** Commits what is pending and closes; who is last moves the log into the file. Throws StorageError where the log stays, as it may have a hole. */
  close(): void {
    if (!this.#raw.open) return;
    this.commit();
    this.#log.close();
  }

  #begin(): Batch {
    if (this.#batch) return this.#batch;
    try {
      this.#log.require(this.#checkpoints?.isMoving ?? false);
      this.#exec('BEGIN IMMEDIATE');
    } catch (error) {
      throw storageError(error);
    }
    this.#others.look();
    this.#batch = newBatch(this.versions.changes, () => this.commit());
    return this.#batch;
  }

  #abandon(batch: Batch, error: unknown): void {
    if (this.#batch !== batch) return;
    this.#batch = undefined;
    clearImmediate(batch.timer);
    this.#forget();
    if (this.#raw.inTransaction) this.#exec('ROLLBACK');
    for (const callback of batch.waiting) callback(error);
  }

  #rollBack(batch: Batch, error: unknown, hasChanged: boolean): void {
    if (hasChanged || !this.#raw.inTransaction) this.#forget();
    if (this.#raw.inTransaction) {
      this.#exec('ROLLBACK TO work');
      this.#exec('RELEASE work');
      return;
    }
    // A full disk or an I/O error ends the whole transaction: nobody in this batch may be told of success.
    batch.failure ??= storageError(error) ?? new Error('The transaction was lost');
    this.#log.failed(batch.failure);
  }

  #commit({ before, size }: Batch): void {
    const started = performance.now();
    this.#exec('COMMIT');
    if (this.versions.changes === before) return;
    this.trouble = undefined;
    this.commits.sizes.observe(size);
    this.commits.durations.observe((performance.now() - started) / 1000);
  }

  #note(failure: StorageError): void {
    this.commits.failures.add(failure.reason);
    this.trouble = failure;
    this.#report.failed(failure);
  }

  #exec(text: string): void {
    this.statements.rows(text).statement.run();
  }
}
