/**
 * Does all work of an event-loop iteration together at its end. Responses that are sent this way wake the client
 * once, and not each time it has just gone to sleep. See src/decisions/output.md.
 */
export class EndOfTurn {
  #waiting: (() => void)[] = [];

  /** Must not throw: later work of the same iteration would be lost. */
  add(work: () => void): void {
    if (this.#waiting.push(work) > 1) return;
    setImmediate(() => {
      const waiting = this.#waiting;
      this.#waiting = [];
      for (const each of waiting) each();
    });
  }
}
