import type SQLite from 'better-sqlite3';
import { type Access, Accesses } from '../cache/access.ts';
import { present } from '../present.ts';
import { Kept, KeptRows } from './kept.ts';

const keptAtMost = 500;

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
    return answering(this.#rows.get(text) ?? keep(this.#rows, new KeptRows(this.handle.prepare(steady(text)), text)));
  }

  /** A statement that answers the first column of its rows. */
  values<T>(text: string): Kept<T> {
    return answering(
      this.#values.get(text) ?? keep(this.#values, new Kept(this.handle.prepare(steady(text)).pluck(), text)),
    );
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
    for (const kept of [...this.#rows.values(), ...this.#values.values()]) kept.forgetSchema();
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

/**
 * The text of a statement that stays prepared. SQLite looks at what is bound to LIMIT, OFFSET and LIKE when it plans, and plans anew
 * whenever that has been bound again, which takes longer than many a query; it does not look into expressions.
 */
const steady = (text: string): string =>
  text.replaceAll(/\b(LIMIT|OFFSET) ([?@]\w*)/g, '$1 $2 + 0').replaceAll(/\bLIKE \?/g, "LIKE ? || ''");

/** Only whoever wrote the text of a statement knows what it answers: hence the cast. */
const answering = <T>(kept: Kept): Kept<T> => kept as Kept<T>;

function keep(statements: Map<string, Kept>, kept: Kept): Kept {
  if (statements.size >= keptAtMost) statements.delete(present(statements.keys().next().value));
  statements.set(kept.text, kept);
  return kept;
}
