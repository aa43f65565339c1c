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
