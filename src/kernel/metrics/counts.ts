/** What separates the values of labels, which have no such character. */
const separator = '\n';

/** How often something happened, by the values of a few labels that the program itself chooses. */
export class Counts<Labels extends readonly string[]> {
  readonly #counts = new Map<string, number>();

  add(...labels: Labels): void {
    const key = labels.join(separator);
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  /** The counts until now: the values of the labels, and how often. */
  list(): { readonly labels: readonly string[]; readonly count: number }[] {
    return [...this.#counts].map(([key, count]) => ({ labels: key.split(separator), count }));
  }
}

/** How many values fell into which ranges, counted at the cost of an array's element. */
export class Histogram {
  /** Of each range how many; the last one is of what lies above every bound. */
  readonly counts: Float64Array;
  sum = 0;

  /** `bounds` are the inclusive upper ends of the ranges, in rising order, in the unit of the values. */
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

/** What the commits of a database were like, those that changed something. */
export class CommitCounts {
  /** Pieces of work that shared one. */
  readonly sizes = new Histogram([1, 2, 4, 8, 16, 32, 64, 128, 256]);
  /** Seconds until the pages were in the log and synced. */
  readonly durations = new Histogram([0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 1]);
  /** Those that failed, by why. */
  readonly failures = new Counts<[reason: string]>();
}
