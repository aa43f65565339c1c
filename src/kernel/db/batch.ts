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
