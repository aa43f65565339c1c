/** Separates label values, which never contain this character. */
const separator = '\n';

/** A counter by a few labels whose values the program chooses. */
export class Counts<Labels extends readonly string[]> {
  readonly #counts = new Map<string, number>();

  add(...labels: Labels): void {
    const key = labels.join(separator);
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  /** Returns the counts with their label values. */
  list(): { readonly labels: readonly string[]; readonly count: number }[] {
    return [...this.#counts].map(([key, count]) => ({ labels: key.split(separator), count }));
  }
}

/** A histogram with the cost of one array element per value. */
export class Histogram {
  /** The count of each range; the last is for values above all bounds. */
  readonly counts: Float64Array;
  sum = 0;

  /** `bounds` are the inclusive upper bounds of the ranges, ascending, in the unit of the values. */
  constructor(readonly bounds: readonly number[]) {
    this.counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    const { bounds, counts } = this;
    let range = 0;
    while (range < bounds.length && value > (bounds[range] ?? 0)) range++;
    counts[range] = (counts[range] ?? 0) + 1;
    this.sum += value;
  }
}

/** Statistics of the commits that changed data. */
export class CommitCounts {
  /** Writes per commit. */
  readonly sizes = new Histogram([1, 2, 4, 8, 16, 32, 64, 128, 256]);
  /** Seconds until the pages were in the log and synced. */
  readonly durations = new Histogram([0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 1]);
  /** Failed commits by reason. */
  readonly failures = new Counts<[reason: string]>();
}
