import { type Access, type Part, partOf } from '../cache/access.ts';
import type { Versions } from '../cache/versions.ts';
import { verify } from '../verification.ts';
import { DeferredRead, type DeferredReads, type LongReadDetector } from './deferred-reads.ts';
import type { Statements } from './statements.ts';

/** Row counts of tables. Each table is counted once, then its count is maintained from the changes of statements. */
export class RowCounts {
  readonly #known = new Map<Part, number>();
  /** Tables that the reader thread is counting, each with the part that changes if rows are deleted meanwhile. */
  readonly #counting = new Map<Part, Part>();
  #asOf = -1;

  constructor(
    private readonly statements: Statements,
    private readonly versions: Versions,
    private readonly long: LongReadDetector,
  ) {}

  /** Returns the row count of a table with ids. The first count of a large table runs on the reader thread. Throws DeferredRead. */
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
      this.#counting.delete(part);
    }
    return counted;
  }

  /** Records the number of rows that a statement changed. */
  changed({ changes, counted }: Access, count: number): void {
    this.#refresh();
    const known = counted && this.#known.get(counted.table);
    for (const part of changes) this.#known.delete(part);
    if (counted && known !== undefined) this.#known.set(counted.table, known + counted.sign * count);
    if (this.#counting.size === 0) return;
    for (const part of changes) {
      const deleted = this.#counting.get(part);
      if (deleted !== undefined && !(counted?.table === part && counted.sign === 1)) this.versions.changed([deleted]);
    }
  }

  /** Adds rows inserted meanwhile, with ids above the highest id that the thread counted. */
  #deferCount(table: string, part: Part, reads: DeferredReads): number {
    const deleted = this.#counting.get(part) ?? partOf(`${table} deleted`);
    this.#counting.set(part, deleted);
    const text = `SELECT json_array((SELECT count(*) FROM ${table}), (SELECT max(id) FROM ${table}))`;
    const query = { text, values: [], isPlucked: true, reads: [deleted] };
    const [result] = reads.take(query, this.versions) ?? [];
    if (result === undefined && !reads.has(query)) throw new DeferredRead([query]);
    const [counted = 0, upTo = 0]: number[] = JSON.parse(String(result ?? this.#text(text)));
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
    this.#counting.clear();
    this.#asOf = this.versions.generation;
  }
}
