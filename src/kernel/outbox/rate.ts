/** Milliseconds of the span that begins are counted in. */
const span = 1000;

/** Lets so many begin in any second. Instants are milliseconds of a clock that is never set. */
export class Rate {
  /** When the last ones began, as a ring. */
  readonly #begun: number[] = [];
  #next = 0;

  constructor(private readonly perSecond: number) {}

  /** How long, in milliseconds, until another may begin. */
  wait(at: number): number {
    const oldest = this.#begun[this.#next];
    return oldest === undefined ? 0 : Math.max(0, oldest + span - at);
  }

  /** How many may begin now. */
  free(at: number): number {
    return this.perSecond - this.#begun.filter((begun) => begun + span > at).length;
  }

  note(at: number): void {
    this.#begun[this.#next] = at;
    this.#next = (this.#next + 1) % this.perSecond;
  }
}
