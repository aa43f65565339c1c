import { present } from '../present.ts';

/** A waiting task, with its callback. */
interface Waiting {
  readonly begin: () => void;
  readonly giveWay: () => void;
}

/**
 * A fair queue: scheduling rounds over the holders of tasks. The first task of each holder comes before the second one of any
 * holds many.
 */
export class FairQueue {
  /** By holder, the next first; a holder without waiting tasks has no entry. */
  readonly #queues = new Map<string, Waiting[]>();
  #size = 0;

  constructor(private readonly atMost: number) {}

  /** Adds one; where the places are full, the newest of the holder of most gives way, which may be the one that is added. */
  add(holder: string, waiting: Waiting): void {
    const queue = this.#queues.get(holder) ?? [];
    this.#queues.set(holder, queue);
    queue.push(waiting);
    if (++this.#size <= this.atMost) return;
    // Among equals the newest of all gives way: the one that has just been added.
    let [most, longest] = [holder, queue];
    for (const [name, other] of this.#queues) if (other.length > longest.length) [most, longest] = [name, other];
    const last = present(longest.pop());
    if (longest.length === 0) this.#queues.delete(most);
    this.#size--;
    last.giveWay();
  }

  /** Takes out the one whose turn it is; its holder's next turn comes after those of all others. */
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
