import { present } from '../present.ts';

/** A waiting task, with its callback. */
interface Waiting {
  readonly begin: () => void;
  readonly drop: () => void;
}

/**
 * A fair queue: scheduling rounds over the holders of tasks. The first task of each holder comes before the second one of a
 * holder with many.
 */
export class FairQueue {
  /** Tasks by holder, in scheduling order; a holder without waiting tasks has no entry. */
  readonly #queues = new Map<string, Waiting[]>();
  #size = 0;

  constructor(private readonly maxSize: number) {}

  /** Adds a task. If the queue is full, drops the newest task of the holder with the most, which may be the added one. */
  add(holder: string, waiting: Waiting): void {
    const queue = this.#queues.get(holder) ?? [];
    this.#queues.set(holder, queue);
    queue.push(waiting);
    if (++this.#size <= this.maxSize) return;
    // Among holders with equally many, the added task is dropped.
    let [most, longest] = [holder, queue];
    for (const [name, other] of this.#queues) if (other.length > longest.length) [most, longest] = [name, other];
    const last = present(longest.pop());
    if (longest.length === 0) this.#queues.delete(most);
    this.#size--;
    last.drop();
  }

  /** Removes and returns the next task; its holder moves to the end of the round. */
  next(): Waiting | undefined {
    const first = this.#queues.entries().next();
    if (first.done) return undefined;
    const [holder, queue] = first.value;
    const waiting = present(queue.shift());
    this.#queues.delete(holder);
    if (queue.length > 0) this.#queues.set(holder, queue);
    this.#size--;
    return waiting;
  }
}
