import type { Basis, Versions } from './versions.ts';

interface Entry<T> extends Basis {
  readonly value: T;
  weight: number;
}

/**
 * Values made from the data, kept by key while nothing has changed that they were made from. Of those that outgrow the bound
 * the ones go that were not asked for lately. See src/decisions/remembered-answers.md.
 */
export class Remembered<T> {
  #young = new Map<string, Entry<T>>();
  #old = new Map<string, Entry<T>>();
  /** Of the young ones. */
  #weight = 0;

  /** `heaviest` bounds the sum of the weights. */
  constructor(
    private readonly versions: Versions,
    private readonly heaviest: number,
  ) {}

  /** The value of a key; undefined when it has to be made. What it was made from counts as read. */
  get(key: string): T | undefined {
    const entry = this.#young.get(key) ?? this.#old.get(key);
    if (entry === undefined) return undefined;
    if (!this.versions.isCurrent(entry)) {
      this.#drop(key, entry);
      return undefined;
    }
    if (this.#young.get(key) !== entry) this.#keep(key, entry);
    if (this.versions.isObserved) for (const parts of entry.reads) this.versions.note(parts);
    return entry.value;
  }

  /** Keeps a value that was just made from these parts, and answers it. */
  set(key: string, value: T, reads: Basis['reads'], weight: number): T {
    if (weight <= this.heaviest / 2) this.#keep(key, { ...this.versions.basis(reads), value, weight });
    return value;
  }

  /** Something that belongs to a kept value has grown by this weight. */
  grow(key: string, value: T, weight: number): void {
    const entry = this.#young.get(key);
    if (entry?.value !== value) return;
    entry.weight += weight;
    this.#weight += weight;
    this.#age();
  }

  #keep(key: string, entry: Entry<T>): void {
    const replaced = this.#young.get(key);
    if (replaced) this.#weight -= replaced.weight;
    this.#young.set(key, entry);
    this.#weight += entry.weight;
    this.#age();
  }

  #drop(key: string, entry: Entry<T>): void {
    if (this.#young.get(key) === entry) {
      this.#young.delete(key);
      this.#weight -= entry.weight;
    }
    if (this.#old.get(key) === entry) this.#old.delete(key);
  }

  /** Half of the bound is for what was asked for lately, half for what was so before. */
  #age(): void {
    if (this.#weight <= this.heaviest / 2) return;
    this.#old = this.#young;
    this.#young = new Map();
    this.#weight = 0;
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

/** Tells what is asked for again from what is asked for the first time in a while. */
export class AskedLately {
  #young = new Set<string>();
  #old = new Set<string>();

  /** `most` keys are known for sure, and at most twice as many. */
  constructor(private readonly most: number) {}

  /** Whether nobody has asked for it lately; from now on somebody has. */
  isNew(key: string): boolean {
    const isKnown = this.#young.has(key) || this.#old.has(key);
    if (this.#young.size >= this.most) {
      this.#old = this.#young;
      this.#young = new Set();
    }
    this.#young.add(key);
    return !isKnown;
  }
}
