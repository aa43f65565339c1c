import type SQLite from 'better-sqlite3';
import { present } from '../present.ts';
import { type Access, Accesses } from './access.ts';

/** A statement whose results are of a kind, and what it accesses, once that has been asked. */
export interface Kept<T = unknown> {
  readonly statement: SQLite.Statement<unknown[], T>;
  readonly text: string;
  /** Whether it answers the first column of its rows alone. */
  readonly isPlucked: boolean;
  /** Names it among all of this program, in fewer letters. */
  readonly number: number;
  access: Access | undefined;
}

const keptAtMost = 500;
let count = 0;

/** What statements access, by the version of the schema and their text: the same for all databases of this program. */
const known = new Map<unknown, Map<string, Access>>();
const knownAtMost = 5000;

/** The statements of a handle, each text prepared once and kept; of very many the oldest go. */
export class Statements {
  readonly #rows = new Map<string, Kept>();
  readonly #values = new Map<string, Kept>();
  #accesses: Accesses | undefined;
  #known: Map<string, Access> | undefined;

  constructor(private readonly handle: SQLite.Database) {}

  /** A statement that answers whole rows. */
  rows<Row>(text: string): Kept<Row> {
    return answering(this.#rows.get(text) ?? keep(this.#rows, text, this.handle.prepare(text), false));
  }

  /** A statement that answers the first column of its rows. */
  values<T>(text: string): Kept<T> {
    return answering(this.#values.get(text) ?? keep(this.#values, text, this.handle.prepare(text).pluck(), true));
  }

  /** What a statement reads and changes. */
  accessOf(kept: Kept): Access {
    kept.access ??= this.#look(kept.text);
    return kept.access;
  }

  /** The schema has changed. */
  forgetSchema(): void {
    this.#accesses = undefined;
    this.#known = undefined;
    for (const kept of [...this.#rows.values(), ...this.#values.values()]) kept.access = undefined;
  }

  #look(text: string): Access {
    this.#known ??= this.#knownOfSchema();
    let access = this.#known.get(text);
    if (access === undefined) {
      this.#accesses ??= new Accesses(this.handle);
      access = this.#accesses.of(text);
      if (this.#known.size >= knownAtMost) this.#known.clear();
      this.#known.set(text, access);
    }
    return access;
  }

  #knownOfSchema(): Map<string, Access> {
    const version = this.handle.pragma('user_version', { simple: true });
    const present = known.get(version) ?? new Map<string, Access>();
    // Without a version it is nobody's schema yet.
    if (version !== 0) known.set(version, present);
    return present;
  }
}

/** Only whoever wrote the text of a statement knows what it answers: hence the cast. */
const answering = <T>(kept: Kept): Kept<T> => kept as Kept<T>;

function keep(statements: Map<string, Kept>, text: string, statement: SQLite.Statement, isPlucked: boolean): Kept {
  if (statements.size >= keptAtMost) statements.delete(present(statements.keys().next().value));
  const kept = { statement, text, isPlucked, number: ++count, access: undefined };
  statements.set(text, kept);
  return kept;
}
