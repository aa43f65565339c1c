/**
 * Does work at the end of a turn of the event loop, all of it together. Answers that are sent so wake the program that asked
 * once, and not each time it has just gone to sleep. See src/decisions/output.md.
 */
export class EndOfTurn {
  #waiting: (() => void)[] = [];

  /** Must not throw: what was added after it would not be done. */
  add(work: () => void): void {
    if (this.#waiting.push(work) > 1) return;
    setImmediate(() => {
      const waiting = this.#waiting;
      this.#waiting = [];
      for (const each of waiting) each();
    });
  }
}
