/**
 * A size limit that several caches share, in bytes or entries. Each cache has a young and an old generation. When the young
 * values of all caches reach half of the limit, every cache drops its old generation and starts a new young one.
 */
export class CacheBudget {
  /** Total size of the young values. */
  #size = 0;
  readonly #caches: { age(): void }[] = [];

  constructor(private readonly maxSize: number) {}

  /** Returns whether a value of this size can be cached at all. */
  fits(size: number): boolean {
    return size <= this.maxSize / 2;
  }

  /** Creates a cache within this budget. `sizeOf` returns the size of a value. */
  cache<K, V>(sizeOf: (value: V) => number): GenerationalCache<K, V> {
    const cache = new GenerationalCache<K, V>(sizeOf, (size) => this.#grow(size));
    this.#caches.push(cache);
    return cache;
  }

  #grow(size: number): void {
    this.#size += size;
    if (this.fits(this.#size)) return;
    this.#size = 0;
    for (const cache of this.#caches) cache.age();
  }
}

/** Values by key in two generations. Reading an old value makes it young again. */
export class GenerationalCache<K, V> {
  #young = new Map<K, V>();
  #old = new Map<K, V>();

  /** `onGrowth` receives the change in size of the young generation. */
  constructor(
    private readonly sizeOf: (value: V) => number,
    private readonly onGrowth: (size: number) => void,
  ) {}

  /** Returns the value of a key and marks it as recently used. */
  get(key: K): V | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: K, value: V): void {
    this.delete(key);
    this.#young.set(key, value);
    this.onGrowth(this.sizeOf(value));
  }

  /** Records that a cached value has grown by this size, which `sizeOf` includes from now on. */
  recordGrowth(key: K, value: V, size: number): void {
    if (this.#young.get(key) === value) this.onGrowth(size);
  }

  delete(key: K): void {
    const young = this.#young.get(key);
    if (young !== undefined) {
      this.#young.delete(key);
      this.onGrowth(-this.sizeOf(young));
    }
    this.#old.delete(key);
  }

  clear(): void {
    this.#young = new Map();
    this.#old = new Map();
  }

  /** Drops the values that were not used in the last generation. */
  age(): void {
    this.#old = this.#young;
    this.#young = new Map();
  }
}
