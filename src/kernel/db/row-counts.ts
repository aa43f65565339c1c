import { type Access, type Part, partOf } from '../cache/access.ts';
import type { Versions } from '../cache/versions.ts';
import { verify } from '../verification.ts';
import { DeferredRead, type DeferredReads, type LongReadDetector } from './deferred-reads.ts';
import type { Statements } from './statements.ts';

/** How many rows tables have, counted once: what comes and goes is added and taken away. */
export class RowCounts {
  readonly #known = new Map<Part, number>();
  /** Tables of which the thread counts the rows, each with the part that changes with whatever goes meanwhile. */
  readonly #begun = new Map<Part, Part>();
  #asOf = -1;

  constructor(
    private readonly statements: Statements,
    private readonly versions: Versions,
    private readonly long: LongReadDetector,
  ) {}

  /** The rows of a table with ids; of a large one they are first counted by the thread where `reads` may be put off. Throws DeferredRead. */
  of(table: string, part: Part, reads: DeferredReads | undefined): number {
    this.#refresh();
    const count = (): number => this.#value(`SELECT count(*) FROM ${table}`);
    const known = this.#known.get(part);
    if (known !== undefined) {
      verify(
        () => `The number of rows in ${table}`,
        () => known,
        count,
      );
      return known;
    }
    const counted = reads && this.long.isLarge(table) ? this.#deferCount(table, part, reads) : count();
    if (!reads?.isOutdated) {
      this.#known.set(part, counted);
      this.#begun.delete(part);
    }
    return counted;
  }

  /** A statement that accesses this has changed so many rows. */
  changed({ changes, counted }: Access, count: number): void {
    this.#refresh();
    const known = counted && this.#known.get(counted.table);
    for (const part of changes) this.#known.delete(part);
    if (counted && known !== undefined) this.#known.set(counted.table, known + counted.sign * count);
    if (this.#begun.size === 0) return;
    for (const part of changes) {
      const lost = this.#begun.get(part);
      if (lost !== undefined && !(counted?.table === part && counted.sign === 1)) this.versions.changed([lost]);
    }
  }

  /** The thread tells how many there were, and up to which id: those that have come meanwhile have higher ones. */
  #deferCount(table: string, part: Part, reads: DeferredReads): number {
    const lost = this.#begun.get(part) ?? partOf(`${table} lost`);
    this.#begun.set(part, lost);
    const text = `SELECT json_array((SELECT count(*) FROM ${table}), (SELECT max(id) FROM ${table}))`;
    const query = { text, values: [], isPlucked: true, reads: [lost] };
    const [found] = reads.take(query, this.versions) ?? [];
    if (found === undefined && !reads.has(query)) throw new DeferredRead([query]);
    const [counted = 0, upTo = 0]: number[] = JSON.parse(String(found ?? this.#text(text)));
    return counted + this.#value(`SELECT count(*) FROM ${table} WHERE id > ?`, upTo);
  }

  #text(text: string): string {
    return String(this.statements.values<string>(text).get([]));
  }

  #value(text: string, ...values: number[]): number {
    return Number(this.statements.values<number>(text).get(values));
  }

  #refresh(): void {
    if (this.#asOf === this.versions.generation) return;
    this.#known.clear();
    this.#begun.clear();
    this.#asOf = this.versions.generation;
  }
}
