import { close, openSync, write, writeSync } from 'node:fs';
import { codeOf, plainReason } from './present.ts';

/** Maximum number of characters to buffer while nothing can be written. Further lines are dropped. */
const maxStored = 16 * 1024 * 1024;
/** Retry delay for a pipe with a slow reader, and how long the exit of the process waits for it. */
const pause = 20;
const timeout = 2000;

/**
 * Appends lines to a file or stderr without waiting. On a full disk, lines are written when there is space again; without a
 * reader, they are dropped. Neither stops the service.
 */
export class LineFile {
  readonly #descriptor: number;
  #waiting = '';
  #isBusy = false;
  #isEnding = false;

  /** Throws a readable error if the file cannot be opened. */
  constructor(file: string | null) {
    try {
      this.#descriptor = file === null ? 2 : openSync(file, 'a', 0o640);
    } catch (error) {
      throw new Error(`cannot open the log file ${plainReason(error)}`, { cause: error });
    }
  }

  write(lines: string): void {
    if (this.#waiting.length + lines.length <= maxStored) this.#waiting += lines;
    this.#begin();
  }

  /** Writes these and all buffered lines, as far as possible. */
  writeNow(lines: string): void {
    let rest = Buffer.from(this.#waiting + lines);
    this.#waiting = '';
    const until = performance.now() + timeout;
    while (rest.length > 0) {
      try {
        rest = rest.subarray(writeSync(this.#descriptor, rest));
      } catch (error) {
        if (codeOf(error) !== 'EAGAIN' || performance.now() > until) return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pause);
      }
    }
  }

  /** Writes the buffered lines, as far as possible, and closes the file. */
  end(): void {
    this.#isEnding = true;
    this.#begin();
  }

  #begin(): void {
    if (this.#isBusy) return;
    if (this.#waiting !== '') {
      const bytes = Buffer.from(this.#waiting);
      this.#waiting = '';
      this.#isBusy = true;
      this.#put(bytes);
    } else if (this.#isEnding && this.#descriptor > 2) close(this.#descriptor);
  }

  #put(bytes: Buffer): void {
    write(this.#descriptor, bytes, (error, written) => {
      const rest = bytes.subarray(written ?? 0);
      if (error?.code === 'EAGAIN') setTimeout(() => this.#put(rest), pause).unref();
      else if (error) this.#fail(rest, error);
      else if (rest.length > 0) this.#put(rest);
      else {
        this.#isBusy = false;
        this.#begin();
      }
    });
  }

  /** Remaining lines are retried with the next ones. */
  #fail(rest: Buffer, { code }: NodeJS.ErrnoException): void {
    this.#isBusy = false;
    this.#waiting = code === 'EPIPE' || this.#isEnding ? '' : rest.toString() + this.#waiting;
    if (this.#isEnding) this.#begin();
  }
}
