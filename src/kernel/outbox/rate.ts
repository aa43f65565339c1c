const windowMs = 1000;

/** A limit on starts per second, over a sliding window. Instants are milliseconds of a monotonic clock. */
export class Rate {
  /** Instants of the latest starts, as a ring buffer. */
  readonly #starts: number[] = [];
  #next = 0;

  constructor(private readonly perSecond: number) {}

  /** Returns the milliseconds until the next start is allowed. */
  wait(at: number): number {
    const oldest = this.#starts[this.#next];
    return oldest === undefined ? 0 : Math.max(0, oldest + windowMs - at);
  }

  /** Returns how many starts are allowed now. */
  free(at: number): number {
    return this.perSecond - this.#starts.filter((start) => start + windowMs > at).length;
  }

  /** Counts a start. */
  note(at: number): void {
    this.#starts[this.#next] = at;
    this.#next = (this.#next + 1) % this.perSecond;
  }
}
