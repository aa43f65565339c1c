import type { Part } from './access.ts';

/** The parts of the schema that a value was read from, and their version at that time. */
export interface Basis {
  readonly reads: readonly (readonly Part[])[];
  readonly stamp: number;
  /** The number of changes at the last check. */
  asOf: number;
}

/**
 * Counts the changes of each part of the schema, and records which parts are read. Counters only grow, so their sum is unchanged
 * exactly as long as none of them changes.
 */
export class Versions {
  /** Grows with every change. */
  changes = 0;
  /** Grows with every statement that may write, even if it changes no rows. */
  writes = 0;
  /** Grows when every cached value may be outdated. */
  generation = 0;
  readonly #counters: number[] = [];
  #observed: Set<readonly Part[]> | undefined;

  /** Records a change of these parts. */
  changed(parts: readonly Part[]): void {
    this.changes++;
    for (const part of parts) this.#counters[part] = (this.#counters[part] ?? 0) + 1;
  }

  /** Records that anything may have changed: another process wrote, or a transaction with observed reads was rolled back. */
  changedAll(): void {
    this.changes++;
    this.generation++;
  }

  /** Whether `observe` is running. */
  get isObserved(): boolean {
    return this.#observed !== undefined;
  }

  /** Records a read of these parts. */
  note(parts: readonly Part[]): void {
    this.#observed?.add(parts);
  }

  /** Runs work; returns its result and the parts that it read. */
  observe<T>(work: () => T): { readonly result: T; readonly reads: readonly (readonly Part[])[] } {
    const outer = this.#observed;
    const reads = new Set<readonly Part[]>();
    this.#observed = reads;
    try {
      return { result: work(), reads: [...reads] };
    } finally {
      this.#observed = outer;
      if (outer) for (const parts of reads) outer.add(parts);
    }
  }

  /** Runs work whose reads an enclosing `observe` does not record. */
  unobserved<T>(work: () => T): T {
    const outer = this.#observed;
    this.#observed = undefined;
    try {
      return work();
    } finally {
      this.#observed = outer;
    }
  }

  /** Returns the current version of these parts. */
  basis(reads: Basis['reads']): Basis {
    return { reads, stamp: this.#sum(reads), asOf: this.changes };
  }

  /** Returns whether no part of a basis has changed. */
  isCurrent(basis: Basis): boolean {
    if (basis.asOf === this.changes) return true;
    if (this.#sum(basis.reads) !== basis.stamp) return false;
    basis.asOf = this.changes;
    return true;
  }

  #sum(reads: Basis['reads']): number {
    let sum = this.generation;
    for (const parts of reads) for (const part of parts) sum += this.#counters[part] ?? 0;
    return sum;
  }
}
