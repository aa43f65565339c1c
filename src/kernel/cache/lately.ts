/**
 * How much several maps keep together, in bytes or entries. Half of it is for what was asked for lately, half for what was so
 * before: whenever the first half is full, all of them forget what was not asked for since the last time.
 */
export class Allowance {
  /** Of what was asked for lately. */
  #weight = 0;
  readonly #maps: { age(): void }[] = [];

  constructor(private readonly most: number) {}

  /** Whether something that weighs so much can be kept at all. */
  fits(weight: number): boolean {
    return weight <= this.most / 2;
  }

  /** A map that keeps what it can within this allowance; `weigh` tells what a value weighs. */
  map<K, V>(weigh: (value: V) => number): Lately<K, V> {
    const made = new Lately<K, V>(weigh, (weight) => this.#grow(weight));
    this.#maps.push(made);
    return made;
  }

  #grow(weight: number): void {
    this.#weight += weight;
    if (this.fits(this.#weight)) return;
    this.#weight = 0;
    for (const map of this.#maps) map.age();
  }
}

/** Values by key, of which those are forgotten that were not asked for lately. */
export class Lately<K, V> {
  #young = new Map<K, V>();
  #old = new Map<K, V>();

  /** `grow` is told what the young values weigh more, or less. */
  constructor(
    private readonly weigh: (value: V) => number,
    private readonly grow: (weight: number) => void,
  ) {}

  /** The value of a key, which has now been asked for; undefined when there is none, or it was forgotten. */
  get(key: K): V | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  /** Keeps a value. */
  set(key: K, value: V): void {
    this.delete(key);
    this.#young.set(key, value);
    this.grow(this.weigh(value));
  }

  /** A kept value has become heavier by so much; `weigh` tells of it from now on. */
  grown(key: K, value: V, weight: number): void {
    if (this.#young.get(key) === value) this.grow(weight);
  }

  delete(key: K): void {
    const young = this.#young.get(key);
    if (young !== undefined) {
      this.#young.delete(key);
      this.grow(-this.weigh(young));
    }
    this.#old.delete(key);
  }

  clear(): void {
    this.#young = new Map();
    this.#old = new Map();
  }

  /** Forgets what was not asked for since the last time. */
  age(): void {
    this.#old = this.#young;
    this.#young = new Map();
  }
}
