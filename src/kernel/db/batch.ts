/** The writes of one or more event-loop iterations that share a commit. See src/decisions/group-commit.md. */
export interface Batch {
  /** The number of writes in it. */
  size: number;
  /** The number of changes of the connection before it. */
  readonly before: number;
  readonly waiting: ((error?: unknown) => void)[];
  /** Changes that are made before the commit. */
  readonly last: (() => void)[];
  /** Whether it stays open over event-loop iterations without writes. */
  isExclusive: boolean;
  /** Whether every write in it can be repeated, so that none needs a savepoint. */
  isRepeatable: boolean;
  /** Whether a statement of the current write failed, which may leave partial changes. */
  isTorn: boolean;
  failure: unknown;
  timer: NodeJS.Immediate;
}

/** The number of writes, and the age, above which a batch is committed at the end of the turn. */
const maxWrites = 64;
const maxAgeMs = 10;

/** Starts an empty batch. It calls `commit` at the end of the first turn of the event loop that adds no write. */
export function newBatch(before: number, commit: () => void): Batch {
  const until = performance.now() + maxAgeMs;
  let sizeBefore = 0;
  const endTurn = (): void => {
    if (batch.size <= sizeBefore || batch.size >= maxWrites || performance.now() > until) {
      commit();
      return;
    }
    sizeBefore = batch.size;
    batch.timer = setImmediate(endTurn);
  };
  const batch: Batch = {
    size: 0,
    waiting: [],
    last: [],
    before,
    isExclusive: false,
    isRepeatable: true,
    isTorn: false,
    failure: undefined,
    timer: setImmediate(endTurn),
  };
  return batch;
}
