/** Prints and counts the steps of a life cycle. */
export class Steps {
  #passed = 0;
  #failed = 0;

  /** Runs a step and prints its duration; returns its result. Rejects if it fails. */
  async step<T>(name: string, work: () => Promise<T>): Promise<T> {
    const begun = performance.now();
    const seconds = (): string => `${((performance.now() - begun) / 1000).toFixed(1).padStart(6)} s`;
    try {
      const result = await work();
      this.#passed++;
      process.stdout.write(`${seconds()}  ${name}\n`);
      return result;
    } catch (error) {
      this.#failed++;
      process.stdout.write(`${seconds()}  FAILED ${name}: ${error instanceof Error ? error.message : error}\n`);
      throw error;
    }
  }

  /** The last line: the number of steps. */
  get sum(): string {
    return `${this.#passed} passed, ${this.#failed} failed`;
  }

  get hasFailed(): boolean {
    return this.#failed > 0;
  }
}
