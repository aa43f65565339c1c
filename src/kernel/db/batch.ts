/** All changes of a turn of the event loop, which are committed together. */
export interface Batch {
  /** Pieces of work in it. */
  size: number;
  /** Changes before it. */
  readonly before: number;
  readonly waiting: ((error?: unknown) => void)[];
  /** Whether it goes on over turns of the event loop. */
  isExclusive: boolean;
  failure: unknown;
  readonly timer: NodeJS.Immediate;
}

/** One without changes, which `commit` ends at the end of this turn; `before`: changes until now. */
export const newBatch = (before: number, commit: () => void): Batch => ({
  size: 0,
  waiting: [],
  before,
  isExclusive: false,
  failure: undefined,
  timer: setImmediate(commit),
});
