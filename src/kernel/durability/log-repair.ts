/** Repairs the write-ahead log at the start, and stops all writing after a failed sync. See src/decisions/durability.md. */
import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import type SQLite from 'better-sqlite3';
import type { Addon } from '../native/native.ts';
import { present } from '../present.ts';
import { closeAsItIs } from './handle.ts';
import { type StorageError, type StorageReport, storageError } from './storage-error.ts';
import { cutLog, LogIndex, upToPage, wholePages } from './write-ahead-log.ts';

/** What the operator does after a failed write or sync. */
const advice = 'check the disk, then start the server again: the start repairs the write-ahead log';

/**
 * After a failed sync the kernel regards the pages as written. What housekeeping wrote without waiting for the disk may then be
 * missing from the log, and a power failure would lose every later commit, synced or not. So a database whose disk has failed
 * stores nothing more, and the next process that opens it writes the log again before it commits anything.
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
   * Writes the log of an earlier process over itself and syncs it; called right after opening, before anything is committed.
   * Closes the database and throws StorageError if the disk fails.
   */
  repair(): void {
    const { handle } = this;
    if (handle.memory) return;
    try {
      const { log } = present(handle.prepare<[], { log: number }>('PRAGMA wal_checkpoint(NOOP)').get());
      if (log > 0) this.#writeAgain();
    } catch (error) {
      this.#closeAsItIs();
      throw storageError(error);
    }
  }

  /** The error after which nothing is stored; undefined while the disk works. */
  get failure(): StorageError | undefined {
    return this.#failure;
  }

  /** Stops all writing until the database is opened again, and reports the first error with advice to the operator. */
  fail(error: StorageError, wayOn = advice): void {
    if (this.#failure) return;
    this.#failure = error;
    this.report.lost(error, wayOn);
  }

  /** Throws the error after which nothing is stored. Called before a transaction begins and before it is committed. */
  requireWhole(): void {
    if (this.#failure) throw this.#failure;
  }

  /** Closes the database. After a failure it leaves the log to the next process that opens it, and throws StorageError. */
  close(): void {
    if (this.#failure) {
      this.#cutUncommitted();
      this.#closeAsItIs();
      throw this.#failure;
    }
    this.handle.close();
    this.#index?.close();
  }

  #closeAsItIs(): void {
    try {
      closeAsItIs(this.handle, this.addon);
      this.#index?.close();
    } catch {
      // The database stays open until the process ends: to close it would move the log.
    }
  }

  /** Cuts off what a failed commit has written, which the next process would find in the log and count as committed. */
  #cutUncommitted(): void {
    try {
      this.#withLog((log, index) => cutLog(log, index.pages));
    } catch {
      // On such a disk the next process may find it: a client cannot know whether a write that failed is stored.
    }
  }

  /**
   * Also marks every page as not yet moved into the file: an earlier checkpoint that a reader cut short has not synced the file,
   * which may therefore have holes as well.
   */
  #writeAgain(): void {
    this.#withLog((log, index) => {
      rewrite(log, index.pages);
      index.forgetMoved();
    });
  }

  /** Works on the file of the log with the write lock held, so that no other process writes to it meanwhile. */
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

/** Writes the first pages of a log, as many as are valid, over themselves and syncs them. Throws if they cannot be read back. */
function rewrite(file: string, pages: number): void {
  // Before the next first page, SQLite writes a header and syncs it.
  if (pages === 0) return;
  const content = upToPage(readFileSync(file), pages);
  if (wholePages(content) < pages) throw new Error(`${file} cannot be read back`);
  const descriptor = openSync(file, 'r+');
  try {
    for (let at = 0; at < content.length; ) at += writeSync(descriptor, content, at, content.length - at, at);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
