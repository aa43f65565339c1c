/**
 * Values made from the data, kept by key until anything is written. When they outgrow the bound all are dropped, and those
 * still asked for come back. See src/decisions/remembered-answers.md.
 */
export class QueryCache<T> {
  readonly #values = new Map<string, T>();
  #madeAfter = -1;
  #weight = 0;

  /** `db.writes` grows with every change; `heaviest` bounds the sum of the weights. */
  constructor(
    private readonly db: { readonly writes: number },
    private readonly heaviest: number,
  ) {}

  /** The value of a key; undefined when it has to be made. */
  get(key: string): T | undefined {
    return this.#madeAfter === this.db.writes ? this.#values.get(key) : undefined;
  }

  /** Keeps a value that was just made, and answers it. */
  set(key: string, value: T, weight = 1): T {
    if (weight > this.heaviest) return value;
    if (this.#madeAfter !== this.db.writes || this.#weight + weight > this.heaviest) {
      this.#values.clear();
      this.#madeAfter = this.db.writes;
      this.#weight = 0;
    }
    this.#values.set(key, value);
    this.#weight += weight;
    return value;
  }

  /** Something that belongs to a kept value has grown by this weight. */
  grow(key: string, value: T, weight: number): void {
    if (this.get(key) !== value) return;
    this.#weight += weight;
    if (this.#weight > this.heaviest) this.#madeAfter = -1;
  }
}
