import type SQLite from 'better-sqlite3';
import { present } from '../present.ts';

/** Milliseconds, in which no process ends and no request arrives that was sent because of it. */
const justNow = 0.25;

/** Notices what other processes have written to a database. */
export class OtherWriters {
  readonly #dataVersion: SQLite.Statement<[], number>;
  #seen: number;
  #lookedAt = Number.NEGATIVE_INFINITY;

  /** `noticed` is told each time that there was something. */
  constructor(
    handle: SQLite.Database,
    private readonly noticed: () => void,
  ) {
    this.#dataVersion = handle.prepare<[], number>('PRAGMA data_version').pluck();
    this.#seen = this.#version();
  }

  /** Looks, unless it has just done so: nobody learns of a commit, and asks about it, as soon as that. */
  catchUp(): void {
    const now = performance.now();
    if (now - this.#lookedAt < justNow) return;
    this.#lookedAt = now;
    this.look();
  }

  look(): void {
    const version = this.#version();
    if (version === this.#seen) return;
    this.#seen = version;
    this.noticed();
  }

  #version(): number {
    return present(this.#dataVersion.get());
  }
}
