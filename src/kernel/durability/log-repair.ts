/** Repairs the write-ahead log at the start, and stops all writing after a failed sync. See src/decisions/durability.md. */
import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import type SQLite from 'better-sqlite3';
import type { Addon } from '../native/native.ts';
import { present } from '../present.ts';
import { closeWithoutCheckpoint } from './handle.ts';
import { type StorageError, type StorageReport, storageError } from './storage-error.ts';
import { countValidPages, firstPages, LogIndex, truncateLog } from './write-ahead-log.ts';

/** Advice to the operator after a failed write or sync. */
const advice = 'check the disk, then start the server again: the start repairs the write-ahead log';

/**
 * After a failed sync, the operating system treats the pages as written. Pages that housekeeping wrote without waiting for the
 * disk may be missing from the log, and a power failure would then lose every later commit, synced or not. So after a disk
 * failure, the database stores nothing more, and the next process that opens it rewrites the log before committing anything.
 */
export class LogRepair {
  #failure: StorageError | undefined;
  #index: LogIndex | undefined;

  constructor(
    private readonly handle: SQLite.Database,
    private readonly addon: Addon | undefined,
    private readonly report: Pick<StorageReport, 'lost'>,
  ) {}

  /**
   * Rewrites the log of an earlier process in place and syncs it. Called right after opening, before the first commit.
   * Closes the database and throws StorageError if the disk fails.
   */
  repair(): void {
    const { handle } = this;
    if (handle.memory) return;
    try {
      const { log } = present(handle.prepare<[], { log: number }>('PRAGMA wal_checkpoint(NOOP)').get());
      if (log > 0) this.#rewriteLog();
    } catch (error) {
      this.#closeWithoutCheckpoint();
      throw storageError(error);
    }
  }

  /** The error that stopped all writing; undefined while the disk works. */
  get failure(): StorageError | undefined {
    return this.#failure;
  }

  /** Stops all writing until the database is opened again, and reports the first error with advice to the operator. */
  fail(error: StorageError, nextStep = advice): void {
    if (this.#failure) return;
    this.#failure = error;
    this.report.lost(error, nextStep);
  }

  /** Throws the error that stopped all writing. Called before a transaction starts and before it is committed. */
  requireWritable(): void {
    if (this.#failure) throw this.#failure;
  }

  /** Closes the database. After a failure it leaves the log to the next process that opens it, and throws StorageError. */
  close(): void {
    if (this.#failure) {
      this.#truncateUncommitted();
      this.#closeWithoutCheckpoint();
      throw this.#failure;
    }
    this.handle.close();
    this.#index?.close();
  }

  #closeWithoutCheckpoint(): void {
    try {
      closeWithoutCheckpoint(this.handle, this.addon);
      this.#index?.close();
    } catch {
      // The database stays open until the process ends: closing it would run a checkpoint.
    }
  }

  /** Removes the pages of a failed commit, which the next process would treat as committed. */
  #truncateUncommitted(): void {
    try {
      this.#withLog((log, index) => truncateLog(log, index.pages));
    } catch {
      // The next process may find these pages. Clients cannot rely on a failed write not being stored.
    }
  }

  /**
   * Also marks every page as not yet moved into the database: an earlier checkpoint that a reader interrupted has not synced the
   * file, so it may lack pages as well.
   */
  #rewriteLog(): void {
    this.#withLog((log, index) => {
      rewrite(log, index.pages);
      index.resetCheckpointed();
    });
  }

  /** Calls `work` with the write lock held, so that no other process writes to the log meanwhile. */
  #withLog(work: (log: string, index: LogIndex) => void): void {
    const { handle } = this;
    this.#index ??= new LogIndex(handle.name);
    this.#index.requireKnownVersion();
    handle.exec('BEGIN IMMEDIATE');
    try {
      work(`${handle.name}-wal`, this.#index);
    } finally {
      handle.exec('ROLLBACK');
    }
  }
}

/** Rewrites the first pages of a log in place and syncs them. Throws if they are invalid. */
function rewrite(file: string, pages: number): void {
  // SQLite writes and syncs a new header before the next first page.
  if (pages === 0) return;
  const content = firstPages(readFileSync(file), pages);
  if (countValidPages(content) < pages) throw new Error(`${file} cannot be read back`);
  const descriptor = openSync(file, 'r+');
  try {
    for (let at = 0; at < content.length; ) at += writeSync(descriptor, content, at, content.length - at, at);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
