import { close, openSync, write, writeSync } from 'node:fs';
import { codeOf, plainReason } from './present.ts';

/** Maximum number of characters to buffer while nothing can be written. Further lines are dropped. */
const maxBufferLength = 16 * 1024 * 1024;
/** Retry delay for a pipe with a slow reader, and how long the exit of the process waits for it. */
const retryDelayMs = 20;
const exitTimeoutMs = 2000;

/**
 * Appends lines to a file or stderr without waiting. On a full disk, lines are written when there is space again; without a
 * reader, they are dropped. Neither stops the service.
 */
export class LineFile {
  readonly #descriptor: number;
  #buffer = '';
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
    if (this.#buffer.length + lines.length <= maxBufferLength) this.#buffer += lines;
    this.#flush();
  }

  /** Writes these and all buffered lines, as far as possible. */
  writeNow(lines: string): void {
    let rest = Buffer.from(this.#buffer + lines);
    this.#buffer = '';
    const until = performance.now() + exitTimeoutMs;
    while (rest.length > 0) {
      try {
        rest = rest.subarray(writeSync(this.#descriptor, rest));
      } catch (error) {
        if (codeOf(error) !== 'EAGAIN' || performance.now() > until) return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryDelayMs);
      }
    }
  }

  /** Writes the buffered lines, as far as possible, and closes the file. */
  end(): void {
    this.#isEnding = true;
    this.#flush();
  }

  #flush(): void {
    if (this.#isBusy) return;
    if (this.#buffer !== '') {
      const bytes = Buffer.from(this.#buffer);
      this.#buffer = '';
      this.#isBusy = true;
      this.#writeBytes(bytes);
    } else if (this.#isEnding && this.#descriptor > 2) close(this.#descriptor);
  }

  #writeBytes(bytes: Buffer): void {
    write(this.#descriptor, bytes, (error, written) => {
      const rest = bytes.subarray(written ?? 0);
      if (error?.code === 'EAGAIN') setTimeout(() => this.#writeBytes(rest), retryDelayMs).unref();
      else if (error) this.#fail(rest, error);
      else if (rest.length > 0) this.#writeBytes(rest);
      else {
        this.#isBusy = false;
        this.#flush();
      }
    });
  }

  /** Remaining lines are retried with the next ones. */
  #fail(rest: Buffer, { code }: NodeJS.ErrnoException): void {
    this.#isBusy = false;
    this.#buffer = code === 'EPIPE' || this.#isEnding ? '' : rest.toString() + this.#buffer;
    if (this.#isEnding) this.#flush();
  }
}
