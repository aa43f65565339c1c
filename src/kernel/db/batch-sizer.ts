/** Sizes of the steps of a long removal. See src/decisions/batch-sizes.md. */
import type { Database } from './database.ts';

const least = 5;
const most = 40;
/** Milliseconds of a step, its commit included: after a shorter one the next may be larger, after a longer one it is smaller. */
const short = 2;
const long = 4;

/**
 * How many rows a step of a long removal takes: as many as the machine removes without keeping the writer for long. Most of the
 * time goes into the pages that the commit writes, so what counts is the time until a step is committed.
 */
export class BatchSizer {
  readonly #sizes = new WeakMap<Database, number>();

  /** `elapsed` is a clock in milliseconds that nobody sets. */
  constructor(private readonly elapsed: () => number = () => performance.now()) {}

  /** Runs a step, inside `write`, with the most rows it may remove; it answers how many it did. Answers whether more may be left. */
  step(db: Database, remove: (atMost: number) => number): boolean {
    const size = this.#sizes.get(db) ?? least;
    const started = this.elapsed();
    const isMore = remove(size) === size;
    // A step that is not the last of its removal is committed by itself; others share their commit, and tell nothing.
    if (isMore) db.afterCommit(() => this.#sizes.set(db, next(size, this.elapsed() - started)));
    return isMore;
  }
}

function next(size: number, milliseconds: number): number {
  if (milliseconds > long) return Math.max(least, Math.floor(size / 2));
  return milliseconds < short ? Math.min(most, size + least) : size;
}
