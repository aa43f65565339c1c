/** Changes of a turn of the event loop, and of those that follow while each brings several: they are committed together. */
export interface Batch {
  /** Pieces of work in it. */
  size: number;
  /** Changes before it. */
  readonly before: number;
  readonly waiting: ((error?: unknown) => void)[];
  /** Whether it goes on over turns of the event loop, however little they bring. */
  isExclusive: boolean;
  /** Whether all work in it can be run again: then none of it needs a savepoint. */
  isRepeatable: boolean;
  /** Whether a statement of the present piece of work has failed, which may leave a part of its changes. */
  isTorn: boolean;
  failure: unknown;
  timer: NodeJS.Immediate;
}

/** Pieces of work from which on no further turn is waited for: while they are committed, what comes next is on its way. */
const most = 64;
/** Milliseconds after which no further turn is waited for: so much longer is nobody's answer on its way. */
const longest = 10;

/**
 * One without changes, which `commit` ends at the end of the first turn that adds no piece of work; `before`:
 * changes until now. See src/decisions/group-commit.md.
 */
export function newBatch(before: number, commit: () => void): Batch {
  const until = performance.now() + longest;
  let known = 0;
  const endTurn = (): void => {
    if (batch.size <= known || batch.size >= most || performance.now() > until) {
      commit();
      return;
    }
    known = batch.size;
    batch.timer = setImmediate(endTurn);
  };
  const batch: Batch = {
    size: 0,
    waiting: [],
    before,
    isExclusive: false,
    isRepeatable: true,
    isTorn: false,
    failure: undefined,
    timer: setImmediate(endTurn),
  };
  return batch;
}
