/** The write-ahead log after a write or a sync of it has failed. See src/decisions/durability.md. */
import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import type SQLite from 'better-sqlite3';
import type { Addon } from '../native/native.ts';
import { errorOf, present } from '../present.ts';
import { closeAsItIs } from './handle.ts';
import { isFor, StorageError, storageError } from './storage-error.ts';
import { LogIndex, upToPage, wholePages } from './write-ahead-log.ts';

/** How long, in milliseconds, the log may stay as it is. */
const patience = 10_000;
/** Milliseconds between two attempts. */
const pause = 100;

/** Told of what happens to the log: that it is whole again, and, as an error, that it cannot be made so. */
export interface LogReport {
  readonly mended: (message: string) => void;
  /** What was acknowledged is safe; nothing more can be. */
  readonly lost: (error: Error) => void;
}

/**
 * After a failed sync the kernel takes the pages for written. What housekeeping wrote without waiting for the disk may then
 * be missing in the log, and all that is committed behind it, though synced, would be lost with the power. So nothing is
 * committed before all of the log has been written again and is synced. Its pages are moved into the file anew: what was moved
 * before, while somebody read, has not been synced since, and may be missing in the file for the same reason.
 */
export class LogRepair {
  #broken: { readonly error: unknown; readonly since: number; tried: number } | undefined;
  #index: LogIndex | undefined;

  constructor(
    private readonly handle: SQLite.Database,
    private readonly addon: Addon | undefined,
    private readonly report: LogReport,
  ) {}

  /**
   * To be called when the database has been opened: of the log that is there nobody knows any more whether a sync of it has
   * failed. Throws when it cannot be made whole.
   */
  mendFound(): void {
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

  /** Whether the log may have a hole: a checkpoint that the power cuts short would leave the file half moved beside it. */
  get isBroken(): boolean {
    return this.#broken !== undefined;
  }

  /** To be told of every error that a commit or a checkpoint ended with. A full disk leaves what is there. */
  failed(error: unknown): void {
    if (isFor(error, 'broken')) this.#broken ??= { error, since: performance.now(), tried: Number.NEGATIVE_INFINITY };
  }

  /**
   * To be called before a transaction begins; `isMoving` while a thread is moving the log, which nothing else may touch then.
   * Throws StorageError while the log cannot be made whole.
   */
  require(isMoving: boolean): void {
    const broken = this.#broken;
    if (!broken) return;
    const now = performance.now();
    let problem: unknown = broken.error;
    if (!isMoving && now - broken.tried > pause) {
      broken.tried = now;
      try {
        this.#mend();
        this.#broken = undefined;
        this.report.mended('the disk failed; the write-ahead log has been written again, and nothing is lost');
        return;
      } catch (error) {
        problem = storageError(error);
        // It ends by itself, and the disk may be well.
        if (isFor(problem, 'busy')) throw problem;
      }
    }
    const sentence = `the disk fails, nothing can be stored safely: ${errorOf(problem).message}`;
    if (now - broken.since > patience) this.report.lost(new Error(sentence, { cause: problem }));
    throw new StorageError('broken', sentence, problem);
  }

  /**
   * Closes the database, of which no thread is moving the log any more. Where the log cannot be made whole before, nothing of
   * it is moved into the file, and this throws StorageError: whoever opens the database next writes the log again.
   */
  close(): void {
    try {
      if (this.#broken) this.#broken.tried = Number.NEGATIVE_INFINITY;
      this.require(false);
    } catch (error) {
      this.#closeAsItIs();
      throw error;
    }
    this.handle.close();
    this.#index?.close();
  }

  #closeAsItIs(): void {
    closeAsItIs(this.handle, this.addon);
    this.#index?.close();
  }

  #mend(): void {
    const { handle } = this;
    if (handle.memory) return;
    this.#writeAgain();
    try {
      // What has failed is still to be told to this handle.
      handle.prepare('PRAGMA wal_checkpoint(PASSIVE)').get();
    } catch (error) {
      // Where there is no room in the file the log stays, which is whole.
      if (!isFor(storageError(error), 'full')) throw error;
    }
  }

  #writeAgain(): void {
    const { handle } = this;
    this.#index ??= new LogIndex(handle.name);
    // Behind the lock: nobody else writes to the log meanwhile.
    handle.exec('BEGIN IMMEDIATE');
    try {
      rewrite(`${handle.name}-wal`, this.#index.pages);
      this.#index.forgetMoved();
    } finally {
      handle.exec('ROLLBACK');
    }
  }
}

/** Writes so many pages of a log, all that count, over themselves and syncs them. Throws when they cannot be read back. */
function rewrite(file: string, pages: number): void {
  // The next page has a head before it that is synced.
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
