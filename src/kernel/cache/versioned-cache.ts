import { CacheBudget, type GenerationalCache } from './generational-cache.ts';
import type { Basis, Versions } from './versions.ts';

interface Entry<T> extends Basis {
  readonly value: T;
  size: number;
}

/** A cache of values computed from the database, valid until the parts that they read change. See src/decisions/caching.md. */
export class VersionedCache<T> {
  readonly #budget: CacheBudget;
  readonly #entries: GenerationalCache<string, Entry<T>>;

  /** `maxSize` limits the total size in bytes. */
  constructor(
    private readonly versions: Versions,
    maxSize: number,
  ) {
    this.#budget = new CacheBudget(maxSize);
    this.#entries = this.#budget.cache(({ size }) => size);
  }

  /** Returns the current value of a key, and records the read of its parts. */
  get(key: string): T | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (!this.versions.isCurrent(entry)) {
      this.#entries.delete(key);
      return undefined;
    }
    if (this.versions.isObserved) for (const parts of entry.reads) this.versions.note(parts);
    return entry.value;
  }

  /** Caches a value that was just read from these parts, and returns it. */
  set(key: string, value: T, reads: Basis['reads'], size: number): T {
    if (this.#budget.fits(size)) this.#entries.set(key, { ...this.versions.basis(reads), value, size });
    return value;
  }

  /** Records that a cached value has grown by this size. */
  recordGrowth(key: string, value: T, size: number): void {
    const entry = this.#entries.get(key);
    if (entry?.value !== value) return;
    entry.size += size;
    this.#entries.recordGrowth(key, entry, size);
  }
}

/** A single value computed from the database, and recomputed after the parts that it read have changed. */
export class DerivedValue<T> {
  #cached: { readonly value: T; readonly basis: Basis } | undefined;

  constructor(
    private readonly versions: Versions,
    private readonly compute: () => T,
  ) {}

  /** The current value. */
  get value(): T {
    if (!this.#cached || !this.versions.isCurrent(this.#cached.basis)) {
      const { result, reads } = this.versions.observe(this.compute);
      this.#cached = { value: result, basis: this.versions.basis(reads) };
    }
    return this.#cached.value;
  }
}
