/** Runs long reads on a thread. See src/decisions/reader-thread.md. */
import type { DeferredQuery, DeferredReads, ReadResult } from '../db/deferred-reads.ts';
import type { SqliteDatabase } from '../db/sqlite-database.ts';
import { type AddonFile, addonFile } from '../durability/handle.ts';
import { HttpError, readTooLong, tooManyReads } from '../http/error.ts';
import type { Log } from '../log.ts';
import { embeddedThread } from '../native/embedded.ts';
import type { Addon } from '../native/native.ts';
import { TaskThread, TaskTimeoutError } from './task-thread.ts';

declare module '../app.ts' {
  interface App {
    /** Runs long reads off the event loop; undefined where the data is in memory. */
    readonly readerThread: ReaderThread | undefined;
  }
}

/** Input of the thread at its start. */
export interface ReaderThreadData {
  readonly file: string;
  readonly addon: AddonFile | undefined;
}

/** The thread that reads the database file beside the program; it starts with the first long read. */
export class ReaderThread {
  /** Time limit for the reads of one round. */
  readonly milliseconds: number = 60_000;
  readonly #thread: TaskThread;

  constructor(
    private readonly db: SqliteDatabase,
    private readonly log: Log,
    file: string,
    addon: Addon | undefined,
  ) {
    const order: ReaderThreadData = { file, addon: addonFile(addon) };
    this.#thread = new TaskThread(() => embeddedThread('kernel/threads/reader-thread'), tooManyReads, order);
  }

  /**
   * Resolves when `reads` has the results of these queries, as of a later instant. Commits pending writes first.
   * Rejects with 503 if too many reads are queued, one takes too long, or `isGone` says that the client has disconnected.
   */
  async result(reads: DeferredReads, queries: readonly DeferredQuery[], isGone: () => boolean): Promise<void> {
    const { db } = this;
    if (!(await committed(db))) return reads.resolve(queries);
    let bases: ReturnType<SqliteDatabase['basisOf']>[] = [];
    const isWanted = (): boolean => {
      // The client did not wait.
      if (isGone()) throw readTooLong();
      if (queries.every((query) => db.isCached(query))) return false;
      bases = queries.map((query) => db.basisOf(query));
      return true;
    };
    const task = queries.map(({ isPlucked, text, values }) => ({ isPlucked, text, values }));
    try {
      const match = await this.#thread.run<readonly ReadResult[]>(task, {
        holder: reads.holder,
        milliseconds: this.milliseconds,
        isWanted,
      });
      if (!match) return;
      for (const [i, { milliseconds }] of match.entries()) {
        const query = queries[i];
        if (query) db.recordThreadRead(query, milliseconds);
      }
      reads.resolve(queries, match, bases);
    } catch (error) {
      if (error instanceof HttpError) throw error;
      if (error instanceof TaskTimeoutError) throw readTooLong();
      this.log.warn(
        { err: error },
        'the reader thread failed: the main thread runs the read, which blocks other requests',
      );
      reads.resolve(queries);
    }
  }

  /** Resolves when the thread has ended. */
  close(): Promise<void> {
    return this.#thread.close();
  }
}

/** Commits pending writes, because the thread sees only committed ones. Resolves with whether that succeeded. */
const committed = (db: SqliteDatabase): Promise<boolean> =>
  new Promise((resolve) => db.afterCommit((error) => resolve(error === undefined)));
