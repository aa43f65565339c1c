import { Allowance, type Lately } from './lately.ts';
import type { Basis, Versions } from './versions.ts';

interface Entry<T> extends Basis {
  readonly value: T;
  weight: number;
}

/**
 * Values made from the data, kept by key while nothing has changed that they were made from. Of those that outgrow the bound
 * the ones go that were not asked for lately. See src/decisions/caching.md.
 */
export class Remembered<T> {
  readonly #allowance: Allowance;
  readonly #entries: Lately<string, Entry<T>>;

  /** `heaviest` bounds the sum of the weights. */
  constructor(
    private readonly versions: Versions,
    heaviest: number,
  ) {
    this.#allowance = new Allowance(heaviest);
    this.#entries = this.#allowance.map(({ weight }) => weight);
  }

  /** The value of a key; undefined when it has to be made. What it was made from counts as read. */
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

  /** Keeps a value that was just made from these parts, and answers it. */
  set(key: string, value: T, reads: Basis['reads'], weight: number): T {
    if (this.#allowance.fits(weight)) this.#entries.set(key, { ...this.versions.basis(reads), value, weight });
    return value;
  }

  /** Something that belongs to a kept value has grown by this weight. */
  grow(key: string, value: T, weight: number): void {
    const entry = this.#entries.get(key);
    if (entry?.value !== value) return;
    entry.weight += weight;
    this.#entries.grown(key, entry, weight);
  }
}

/** A value made from the data, made anew when that has changed. */
export class Derived<T> {
  #made: { readonly value: T; readonly basis: Basis } | undefined;

  constructor(
    private readonly versions: Versions,
    private readonly make: () => T,
  ) {}

  /** As of now. */
  get value(): T {
    if (!this.#made || !this.versions.isCurrent(this.#made.basis)) {
      const { result, reads } = this.versions.observe(this.make);
      this.#made = { value: result, basis: this.versions.basis(reads) };
    }
    return this.#made.value;
  }
}
