import type SQLite from 'better-sqlite3';
import { present } from '../present.ts';

/** Notices what other processes have written to a database. */
export class OtherWriters {
  readonly #dataVersion: SQLite.Statement<[], number>;
  #seen: number;
  #isCurrent = false;

  /** `noticed` is told each time that there was something. */
  constructor(
    handle: SQLite.Database,
    private readonly noticed: () => void,
  ) {
    this.#dataVersion = handle.prepare<[], number>('PRAGMA data_version').pluck();
    this.#seen = this.#version();
  }

  /** Looks, once a turn of the event loop. */
  catchUp(): void {
    if (this.#isCurrent) return;
    this.#isCurrent = true;
    setImmediate(() => {
      this.#isCurrent = false;
    });
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
