import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The clock of running programs, which a test sets. */
export class ProgramClock {
  readonly #file: string;
  /** The arguments and environment of programs that use it. */
  readonly env: Readonly<Record<string, string>>;

  /** Stores the time in a file of this folder. */
  constructor(folder: string) {
    this.#file = join(folder, 'clock');
    this.env = { CLOCK_FILE: this.#file, NODE_OPTIONS: `--import ${new URL('set-clock.mjs', import.meta.url)}` };
    this.set(0);
  }

  /** Sets it so many seconds ahead of the machine's clock, or behind when negative. */
  set(seconds: number): void {
    writeFileSync(`${this.#file}.new`, String(Math.round(seconds * 1000)));
    // Renamed, so that a reader sees the old or the new time, never a partial one.
    renameSync(`${this.#file}.new`, this.#file);
  }
}
