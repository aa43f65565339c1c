import type SQLite from 'better-sqlite3';
import { present } from '../present.ts';

/** Interval between checks. No client can learn of another process's commit and send a request faster. */
const checkIntervalMs = 0.25;

/** Detects writes to a database by other processes. */
export class OtherWriters {
  readonly #dataVersion: SQLite.Statement<[], number>;
  #lastVersion: number;
  #checkedAt = Number.NEGATIVE_INFINITY;

  /** Calls `onWrite` after each detected write. */
  constructor(
    handle: SQLite.Database,
    private readonly onWrite: () => void,
  ) {
    this.#dataVersion = handle.prepare<[], number>('PRAGMA data_version').pluck();
    this.#lastVersion = this.#version();
  }

  /** Checks for writes, at most once per interval. */
  catchUp(): void {
    const now = performance.now();
    if (now - this.#checkedAt < checkIntervalMs) return;
    this.#checkedAt = now;
    this.check();
  }

  /** Checks for writes now. */
  check(): void {
    const version = this.#version();
    if (version === this.#lastVersion) return;
    this.#lastVersion = version;
    this.onWrite();
  }

  #version(): number {
    return present(this.#dataVersion.get());
  }
}
