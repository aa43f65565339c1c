import { CacheBudget, type GenerationalCache } from './generational-cache.ts';
import type { Basis, Versions } from './versions.ts';

interface Entry<T> extends Basis {
  readonly value: T;
  size: number;
}

/** Values computed from the database, valid until a part that they were read from changes. See src/decisions/caching.md. */
export class VersionedCache<T> {
  readonly #budget: CacheBudget;
  readonly #entries: GenerationalCache<string, Entry<T>>;

  /** `maxSize` limits the sum of the sizes, in bytes. */
  constructor(
    private readonly versions: Versions,
    maxSize: number,
  ) {
    this.#budget = new CacheBudget(maxSize);
    this.#entries = this.#budget.cache(({ size }) => size);
  }

  /** Returns the current value of a key, and notes what it was read from. */
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

  /** Caches a value that was just read from these parts; returns the value. */
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

/** One value computed from the database, computed again after a part that it was read from has changed. */
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
