import type SQLite from 'better-sqlite3';
import { Checkpoints } from '../durability/checkpoints.ts';
import { openOwnHandle } from '../durability/handle.ts';
import { LogRepair } from '../durability/log-repair.ts';
import { noReport, type StorageError, type StorageReport, storageError } from '../durability/storage-error.ts';
import type { Addon } from '../native/native.ts';
import type { Database } from './database.ts';
import { foldedEmail } from './email-address.ts';
import { caseFold } from './sql.ts';
import { Writer } from './writer.ts';

declare module '../app.ts' {
  interface App {
    /** The open database. Modules that only query and write use the interface Database. */
    readonly db: SqliteDatabase;
  }
}

/** An SQLite database: its file, queries and transactions. */
export class SqliteDatabase extends Writer implements Database {
  private constructor(
    handle: SQLite.Database,
    /** The addon of the one-file build, for opening other databases. */
    readonly addon: Addon | undefined,
    report: StorageReport,
  ) {
    const log = new LogRepair(handle, addon, report);
    log.repair();
    super(handle, log, handle.memory ? undefined : new Checkpoints(handle, log), report);
  }

  /**
   * Opens (and creates) the file, or a database in memory for `:memory:` or bytes. Throws if SQLite is too old, the file belongs
   * to another program, or the disk fails. `report` receives later failures, which every write also throws.
   */
  static open(file: string | Buffer, addon?: Addon, report: StorageReport = noReport): SqliteDatabase {
    const db = new SqliteDatabase(openOwnHandle(file, addon), addon, report);
    db.define('fold', caseFold);
    db.define('fold_email', foldedEmail);
    return db;
  }

  /** Starts a checkpoint thread, until `stopCheckpoints`. If it cannot run, calls `failed`, and commits checkpoint instead. */
  checkpointInThread(addon: Addon | undefined, failed: (error: unknown) => void): void {
    this.checkpoints?.useThread(addon, failed);
  }

  /** Stops checkpoints by commits. Another program runs them, or the last process that closes the database. */
  leaveLog(): void {
    this.checkpoints?.leave();
  }

  /** Resolves after the requested checkpoint. Large writes that can wait use it to limit the size of the log. */
  async checkpointed(): Promise<void> {
    await this.checkpoints?.idle();
  }

  /** Resolves when the thread has ended. */
  async stopCheckpoints(): Promise<void> {
    await this.checkpoints?.stop();
  }

  /** Sets how long SQLite waits for another process that writes. After that, work throws StorageError and may be retried. */
  waitFor(milliseconds: number): void {
    if (this.handle.open) this.handle.pragma(`busy_timeout = ${milliseconds}`);
  }

  /** Runs a script of statements, such as a migration. Not part of any batch. */
  script(text: string): void {
    try {
      this.handle.exec(text);
    } catch (error) {
      this.stopAfter(storageError(error));
      throw error;
    }
    this.statements.forgetSchema();
    this.versions.changedAll();
    if (!this.handle.inTransaction) this.checkpoints?.committed(true);
  }

  /** Reads or sets a pragma with one value. */
  pragma(text: string): unknown {
    return this.handle.pragma(text, { simple: true });
  }

  /** Moves the whole write-ahead log into the file of the database. Returns false if another connection prevents it. */
  truncateLog(): boolean {
    return this.pragma('wal_checkpoint(TRUNCATE)') === 0;
  }

  /** Returns the entire database as bytes, after committing pending writes. */
  serialize(): Buffer {
    this.commit();
    return this.handle.serialize();
  }

  /** Stops storing, for example because the file was replaced. */
  fail(error: StorageError, advice: string): void {
    this.log.fail(error, advice);
  }

  /** Commits and closes. The last process moves the log into the file. After a failed write or sync, throws and keeps the log. */
  close(): void {
    if (!this.handle.open) return;
    this.commit();
    this.log.close();
  }
}
