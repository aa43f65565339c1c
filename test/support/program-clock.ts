import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A settable clock for running programs. */
export class ProgramClock {
  readonly #file: string;
  /** The environment of programs that use it. */
  readonly env: Readonly<Record<string, string>>;

  /** Stores the time in a file in this folder. */
  constructor(folder: string) {
    this.#file = join(folder, 'clock');
    this.env = { CLOCK_FILE: this.#file, NODE_OPTIONS: `--import ${new URL('set-clock.mjs', import.meta.url)}` };
    this.set(0);
  }

  /** Sets it this many seconds ahead of the machine's clock; behind if negative. */
  set(seconds: number): void {
    writeFileSync(`${this.#file}.new`, String(Math.round(seconds * 1000)));
    // Rename, so that a reader never sees a partial time.
    renameSync(`${this.#file}.new`, this.#file);
  }
}
