import type { Part } from './access.ts';

/** What something was made from: parts of the schema, as of then. */
export interface Basis {
  readonly reads: readonly (readonly Part[])[];
  readonly stamp: number;
  /** Of all changes, those up to which it has been found unchanged. */
  asOf: number;
}

/**
 * Counts the changes of each part of the schema, and notes which parts are read. Counters only grow, so that the sum of
 * some is the same exactly as long as none of them has changed.
 */
export class Versions {
  /** Grows with every change. */
  changes = 0;
  /** Grows when whatever is known of the data may be wrong. */
  generation = 0;
  readonly #counters: number[] = [];
  #observed: Set<readonly Part[]> | undefined;

  /** These parts have changed. */
  changed(parts: readonly Part[]): void {
    this.changes++;
    for (const part of parts) this.#counters[part] = (this.#counters[part] ?? 0) + 1;
  }

  /** Anything may have changed: another process has written, or what was read has been taken back. */
  changedAll(): void {
    this.changes++;
    this.generation++;
  }

  /** Whether somebody wants to know what is read. */
  get isObserved(): boolean {
    return this.#observed !== undefined;
  }

  /** These parts are being read. */
  note(parts: readonly Part[]): void {
    this.#observed?.add(parts);
  }

  /** Runs work and tells what it has read. */
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

  /** What is made now from these parts. */
  basis(reads: Basis['reads']): Basis {
    return { reads, stamp: this.#sum(reads), asOf: this.changes };
  }

  /** Whether nothing has changed that something was made from. */
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
