import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The clock of programs that run, which is set while they do. */
export class ProgramClock {
  readonly #file: string;
  /** What programs are started with to have it. */
  readonly env: Readonly<Record<string, string>>;

  /** Keeps it in a file of this folder. */
  constructor(folder: string) {
    this.#file = join(folder, 'clock');
    this.env = { CLOCK_FILE: this.#file, NODE_OPTIONS: `--import ${new URL('set-clock.mjs', import.meta.url)}` };
    this.set(0);
  }

  /** Sets it to so many seconds ahead of this machine's, or behind when negative. */
  set(seconds: number): void {
    writeFileSync(`${this.#file}.new`, String(Math.round(seconds * 1000)));
    // A reader sees the old or the new one, and none that is half written.
    renameSync(`${this.#file}.new`, this.#file);
  }
}
