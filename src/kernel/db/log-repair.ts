/** The write-ahead log after a write or a sync of it has failed. See src/decisions/failed-syncs.md. */
import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import type SQLite from 'better-sqlite3';
import { errorOf, present } from '../present.ts';
import { StorageError } from './storage-error.ts';
import { forgetMoved, wholePages } from './write-ahead-log.ts';

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
 * committed before all of the log has been written again, is synced, and has been moved into the file. All of it: what was
 * moved before, while somebody read, has not been synced since, and may be missing in the file for the same reason.
 */
export class LogRepair {
  #broken: { readonly error: unknown; readonly since: number; tried: number } | undefined;

  constructor(
    private readonly handle: SQLite.Database,
    private readonly report: LogReport,
  ) {}

  /** Whether the log may have a hole: a checkpoint that the power cuts short would leave the file half moved beside it. */
  get isBroken(): boolean {
    return this.#broken !== undefined;
  }

  /** To be told of every error that a commit, or a checkpoint in a thread, ended with. A full disk leaves what is there. */
  failed(error: unknown): void {
    if (error instanceof StorageError && error.reason === 'broken')
      this.#broken ??= { error, since: performance.now(), tried: Number.NEGATIVE_INFINITY };
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
        problem = error;
      }
    }
    const sentence = `the disk fails, nothing can be stored safely: ${errorOf(problem).message}`;
    if (now - broken.since > patience) this.report.lost(new Error(sentence, { cause: problem }));
    throw new StorageError('broken', sentence, problem);
  }

  #mend(): void {
    const { handle } = this;
    if (handle.memory) return;
    // SQLite does not tell inside a transaction; where others begin the log anew in between, the next attempt finds out.
    const { log } = present(handle.prepare<[], { log: number }>('PRAGMA wal_checkpoint(NOOP)').get());
    // Behind the lock: nobody else writes to the log meanwhile.
    handle.exec('BEGIN IMMEDIATE');
    try {
      rewrite(`${handle.name}-wal`, log);
      forgetMoved(`${handle.name}-shm`);
    } finally {
      handle.exec('ROLLBACK');
    }
    const { busy } = present(handle.prepare<[], { busy: number }>('PRAGMA wal_checkpoint(TRUNCATE)').get());
    if (busy !== 0) throw new Error('another process is reading the write-ahead log');
  }
}

/** Writes a log, of which so many pages count, over itself and syncs it. Throws when what can be read of it is not whole. */
function rewrite(file: string, pages: number): void {
  const content = readFileSync(file);
  if (pages > 0 && wholePages(content) < pages) throw new Error(`${file} cannot be read back`);
  const descriptor = openSync(file, 'r+');
  try {
    for (let at = 0; at < content.length; ) at += writeSync(descriptor, content, at, content.length - at, at);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
