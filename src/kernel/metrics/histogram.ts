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
