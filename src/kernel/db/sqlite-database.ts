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
    /** The open database. Modules that only query and write take the interface Database. */
    readonly db: SqliteDatabase;
  }
}

/** A database of SQLite: its file, queries, and the transactions that change it. */
export class SqliteDatabase extends Writer implements Database {
  private constructor(
    handle: SQLite.Database,
    /** That of the one-file build, to open other databases with. */
    readonly addon: Addon | undefined,
    report: StorageReport,
  ) {
    const log = new LogRepair(handle, addon, report);
    log.repair();
    super(handle, log, handle.memory ? undefined : new Checkpoints(handle, log), report);
  }

  /**
   * Opens (and creates) the file, or a database in memory, for `:memory:` or bytes. Throws when SQLite is too old, the file another
   * program's, or the disk fails. `report` receives later failures; every write throws them as well.
   */
  static open(file: string | Buffer, addon?: Addon, report: StorageReport = noReport): SqliteDatabase {
    const db = new SqliteDatabase(openOwnHandle(file, addon), addon, report);
    db.define('fold', caseFold);
    db.define('fold_email', foldedEmail);
    return db;
  }

  /** Starts a thread that checkpoints the log, until `stopCheckpoints`. Calls `failed` if none can run; commits then checkpoint as before. */
  checkpointInThread(addon: Addon | undefined, failed: (error: unknown) => void): void {
    this.checkpoints?.useThread(addon, failed);
  }

  /** Stops checkpoints by commits: another program makes them, or the last process that closes the database. */
  leaveLog(): void {
    this.checkpoints?.leave();
  }

  /** Resolves when the thread has made the requested checkpoint. Work that writes much, without haste, waits so that the log does not grow. */
  async checkpointed(): Promise<void> {
    await this.checkpoints?.idle();
  }

  /** Resolves when the thread has ended. */
  async stopCheckpoints(): Promise<void> {
    await this.checkpoints?.stop();
  }

  /** Milliseconds to wait inside SQLite for another process that writes; then work throws StorageError and may be tried again. */
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

  /** Reads or sets a pragma that returns one value. */
  pragma(text: string): unknown {
    return this.handle.pragma(text, { simple: true });
  }

  /** The whole database as bytes; commits pending writes first. */
  serialize(): Buffer {
    this.commit();
    return this.handle.serialize();
  }

  /** Stores nothing from now on, for example because the file was replaced. */
  fail(error: StorageError, advice: string): void {
    this.log.fail(error, advice);
  }

  /** Commits pending changes and closes; the last process to close moves the log into the file. Throws StorageError after a failed write or sync: the log then stays as it is. */
  close(): void {
    if (!this.handle.open) return;
    this.commit();
    this.log.close();
  }
}
