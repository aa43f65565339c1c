import type SQLite from 'better-sqlite3';
import { type Access, Accesses } from '../cache/access.ts';
import { present } from '../present.ts';
import { RowStatement, Statement } from './statement.ts';

const maxStatements = 500;

/** Accesses of statements by schema version and text, shared by all databases in the process. */
const accessesBySchema = new Map<unknown, Map<string, Access>>();
const maxAccesses = 5000;

/** The prepared statements of a handle, cached by text. The oldest are dropped first. */
export class Statements {
  readonly #rows = new Map<string, Statement>();
  readonly #values = new Map<string, Statement>();
  #accesses: Accesses | undefined;
  #known: Map<string, Access> | undefined;

  constructor(private readonly handle: SQLite.Database) {}

  /** Returns a statement that yields rows. */
  rows<Row>(text: string): Statement<Row> {
    return typed(
      this.#rows.get(text) ?? store(this.#rows, new RowStatement(this.handle.prepare(planStable(text)), text)),
    );
  }

  /** Returns a statement that yields the first column of its rows. */
  values<T>(text: string): Statement<T> {
    return typed(
      this.#values.get(text) ?? store(this.#values, new Statement(this.handle.prepare(planStable(text)).pluck(), text)),
    );
  }

  /** Returns the accesses of a statement. */
  accessOf(statement: Statement): Access {
    statement.access ??= this.#look(statement.text);
    return statement.access;
  }

  /** Drops data that depends on the schema, after a migration. */
  forgetSchema(): void {
    this.#accesses = undefined;
    this.#known = undefined;
    for (const statement of [...this.#rows.values(), ...this.#values.values()]) statement.forgetSchema();
  }

  #look(text: string): Access {
    this.#known ??= this.#knownOfSchema();
    let access = this.#known.get(text);
    if (access === undefined) {
      this.#accesses ??= new Accesses(this.handle);
      access = this.#accesses.of(text);
      if (this.#known.size >= maxAccesses) this.#known.clear();
      this.#known.set(text, access);
    }
    return access;
  }

  #knownOfSchema(): Map<string, Access> {
    const version = this.handle.pragma('user_version', { simple: true });
    const accesses = accessesBySchema.get(version) ?? new Map<string, Access>();
    // Version 0 is a database without a schema.
    if (version !== 0) accessesBySchema.set(version, accesses);
    return accesses;
  }
}

/**
 * Makes the plan of a statement independent of its parameters. SQLite replans a statement whenever the value of a LIMIT, OFFSET
 * or LIKE parameter changes, which takes longer than many queries, but not for parameters inside expressions.
 */
const planStable = (text: string): string =>
  text.replaceAll(/\b(LIMIT|OFFSET) ([?@]\w*)/g, '$1 $2 + 0').replaceAll(/\bLIKE \?/g, "LIKE ? || ''");

/** Casts a statement. The caller knows the result type of its text. */
const typed = <T>(statement: Statement): Statement<T> => statement as Statement<T>;

function store(statements: Map<string, Statement>, statement: Statement): Statement {
  if (statements.size >= maxStatements) statements.delete(present(statements.keys().next().value));
  statements.set(statement.text, statement);
  return statement;
}
