import type SQLite from 'better-sqlite3';
import { present } from '../present.ts';

/*
 * What a statement reads and changes, as SQLite itself tells by EXPLAIN: cascades of foreign keys and triggers are in it, and
 * views are taken apart. What is remembered of a database is valid while nothing has changed that it was read from.
 * See src/decisions/caching.md.
 */

/**
 * A part of the schema whose changes are counted: `table` for rows that come and go, `table.column` for values that change.
 * Parts are numbered as they are met, the same for all databases of the process.
 */
export type Part = number;

/** What a statement reads and changes. */
export interface Access {
  readonly reads: readonly Part[];
  readonly changes: readonly Part[];
  /** The table whose number of rows grows (1) or shrinks (-1) by as many as the statement says it has changed. */
  readonly counted: { readonly table: Part; readonly sign: 1 | -1 } | undefined;
  /** What it goes through row by row. */
  readonly walks: readonly Walk[];
  /** Whether it sorts what it finds before it answers any of it. */
  readonly sorts: boolean;
}

/** A table, by itself or by an index, that a statement goes through: from an end of it, or within a range or a few. */
export interface Walk {
  readonly table: string;
  readonly isWhole: boolean;
}

/** A table or an index, by the number of the page at which it starts. */
interface Tree {
  readonly table: string;
  /** The columns in it, for an index: every one that its text names. */
  readonly columns: readonly string[];
  readonly isTable: boolean;
  /** Whether its columns are read by their place in the table. */
  readonly isPlain: boolean;
  /** Whether it is an index of some rows alone. */
  readonly isPartial: boolean;
}

interface SchemaRow {
  readonly type: string;
  readonly name: string;
  readonly tbl_name: string;
  readonly rootpage: number;
  readonly sql: string | null;
}

/** A step of a program, as EXPLAIN tells it. */
type Step = [address: number, opcode: string, p1: number, p2: number, p3: number];

interface Opcode {
  readonly opcode: string;
  readonly p1: number;
  readonly p2: number;
  readonly p3: number;
}

const opensTree = new Set(['OpenRead', 'OpenWrite', 'ReopenIdx']);
const startsAtAnEnd = new Set(['Rewind', 'Last']);
const startsInside = new Set(['SeekGE', 'SeekGT', 'SeekLE', 'SeekLT']);
const goesOn = new Set(['Next', 'Prev', 'Count']);
const sorts = new Set(['Sort', 'SorterSort']);
const isOfVirtual = new Set(['VOpen', 'VUpdate']);
/** The steps that are looked at, a quarter of a program. */
const telling = new Set([
  ...[opensTree, startsAtAnEnd, startsInside, goesOn, sorts, isOfVirtual].flatMap((opcodes) => [...opcodes]),
  ...['Column', 'Clear'],
]);

const parts = new Map<string, Part>();

/** The number of a part. */
export function partOf(name: string): Part {
  let part = parts.get(name);
  if (part === undefined) {
    part = parts.size;
    parts.set(name, part);
  }
  return part;
}

/** Tells what statements access, by the schema of one database as it is when it is first asked. */
export class Accesses {
  readonly #schema = new Map<number, SchemaRow>();
  /** Those that were asked for: a start asks for a few. */
  readonly #trees = new Map<number, Tree>();
  readonly #columns = new Map<string, readonly string[]>();
  readonly #virtual: readonly string[];

  constructor(private readonly handle: SQLite.Database) {
    const schema = handle
      .prepare<[], SchemaRow>('SELECT type, name, tbl_name, rootpage, sql FROM main.sqlite_schema ORDER BY type DESC')
      .all();
    for (const row of schema) if (row.type === 'table' || row.type === 'index') this.#schema.set(row.rootpage, row);
    this.#virtual = schema.filter(({ sql }) => /^CREATE VIRTUAL TABLE/i.test(sql ?? '')).map(({ name }) => name);
  }

  /** What a statement accesses. Throws for what is no statement. */
  of(text: string): Access {
    const program = this.#programOf(text);
    const reads = new Set<string>();
    const written: string[] = [];
    const cursors = new Map<number, Tree>();
    for (const { opcode, p1, p2, p3 } of program) {
      const tree = p3 === 0 && opensTree.has(opcode) ? this.#treeAt(p2) : undefined;
      if (opcode !== 'OpenWrite' && tree) {
        cursors.set(p1, tree);
        reads.add(tree.table);
        if (!tree.isPlain) for (const column of tree.columns) reads.add(`${tree.table}.${column}`);
      }
      if (opcode === 'OpenWrite' && tree?.isTable) written.push(tree.table);
      if (opcode === 'Column') {
        const read = cursors.get(p1);
        const column = read?.isPlain ? read.columns[p2] : undefined;
        if (read && column !== undefined) reads.add(`${read.table}.${column}`);
      }
      // A table can be emptied without being opened.
      const cleared = opcode === 'Clear' && p2 === 0 ? this.#treeAt(p1) : undefined;
      if (cleared) written.push(cleared.table);
    }
    const isVirtual = program.some(({ opcode }) => isOfVirtual.has(opcode));
    const named = isVirtual ? this.#virtual.filter((name) => text.includes(name)) : [];
    for (const name of named) reads.add(name);
    if (program.some(({ opcode }) => opcode === 'VUpdate')) written.push(...named);
    return {
      reads: [...reads].map(partOf),
      ...changesOf(text, written),
      walks: [...this.#walksOf(program), ...named.map((table) => ({ table, isWhole: false }))],
      sorts: program.some(({ opcode }) => sorts.has(opcode)),
    };
  }

  /** The steps of a statement's program that are looked at; as arrays first, as one of many kinds of objects has thousands. */
  #programOf(text: string): Opcode[] {
    const steps = this.handle
      .prepare<unknown[], Step>(`EXPLAIN ${text}`)
      .raw()
      .all(...parametersOf(text));
    // By their places: taking arrays apart costs more than all of this while the code has not run often.
    return steps
      .filter((step) => telling.has(step[1]))
      .map((step) => ({ opcode: step[1], p1: step[2], p2: step[3], p3: step[4] }));
  }

  /** By the steps of its loops: of what is found by its key, there is no next one. */
  #walksOf(program: readonly Opcode[]): Walk[] {
    const cursors = new Map<number, Tree>();
    const ranged = new Set<number>();
    const walks: Walk[] = [];
    for (const { opcode, p1, p2, p3 } of program) {
      const opened = p3 === 0 && opensTree.has(opcode) ? this.#treeAt(p2) : undefined;
      if (opened) cursors.set(p1, opened);
      if (startsAtAnEnd.has(opcode)) ranged.delete(p1);
      if (startsInside.has(opcode)) ranged.add(p1);
      const tree = goesOn.has(opcode) ? cursors.get(p1) : undefined;
      if (tree) walks.push({ table: tree.table, isWhole: !ranged.has(p1) && !tree.isPartial });
    }
    return walks;
  }

  #treeAt(page: number): Tree | undefined {
    const row = this.#schema.get(page);
    const known = row && this.#trees.get(page);
    if (!row || known) return known;
    const { sql, tbl_name: table, type } = row;
    const isTable = type === 'table';
    const all = this.#columnsOf(table);
    // An index that SQLite made itself has no text: it is one of the table's keys.
    const named = isTable || sql === null ? undefined : new Set(sql.match(/\w+/g));
    const tree = {
      table,
      columns: named === undefined ? all : all.filter((column) => named.has(column)),
      isTable,
      isPlain: isTable && !/WITHOUT\s+ROWID/i.test(sql ?? ''),
      isPartial: !isTable && /\)\s*WHERE\b/i.test(sql ?? ''),
    };
    this.#trees.set(page, tree);
    return tree;
  }

  /** Those of a table, in their places in its rows, in which generated ones that are not stored have none. */
  #columnsOf(table: string): readonly string[] {
    let columns = this.#columns.get(table);
    if (!columns) {
      columns = this.handle
        .prepare<[string], string>('SELECT name FROM pragma_table_xinfo(?) WHERE hidden <> 2 ORDER BY cid')
        .pluck()
        .all(table);
      this.#columns.set(table, columns);
    }
    return columns;
  }
}

/** A value for every parameter of a statement, positional or named: EXPLAIN wants them, too. */
function parametersOf(text: string): unknown[] {
  const plain = text.replaceAll(/'(?:[^']|'')*'/g, '');
  const named = [...plain.matchAll(/@(\w+)/g)].map(([, name]) => [name, null]);
  return named.length > 0 ? [Object.fromEntries(named)] : [...plain.matchAll(/\?/g)].map(() => null);
}

/** What a statement changes that opens these tables to write to them, each as often as its program does. */
function changesOf(text: string, written: readonly string[]): Pick<Access, 'changes' | 'counted'> {
  const changes = new Set(written);
  const [, verb, target] = /^\s*(INSERT (?:OR FAIL )?INTO|UPDATE|DELETE FROM)\s+"?(\w+)"?/i.exec(text) ?? [];
  const isOnce = target !== undefined && written.filter((table) => table === target).length === 1;
  const rows = { changes: [...changes].map(partOf), counted: undefined };
  if (!isOnce) return rows;
  if (verb?.toUpperCase() === 'UPDATE') {
    const columns = columnsSet(text);
    if (columns === undefined) return rows;
    changes.delete(target);
    return { ...rows, changes: [...changes, ...columns.map((column) => `${target}.${column}`)].map(partOf) };
  }
  if (/\bON\s+CONFLICT\b/i.test(text)) return rows;
  return { ...rows, counted: { table: partOf(target), sign: verb?.toUpperCase() === 'DELETE FROM' ? -1 : 1 } };
}

/** The columns that an UPDATE sets; undefined where its text is not understood. */
function columnsSet(text: string): string[] | undefined {
  const start = /^\s*UPDATE\s+"?\w+"?(\s+AS\s+\w+)?\s+SET\s+/i.exec(text)?.[0].length;
  if (start === undefined) return undefined;
  const columns: string[] = [];
  let [depth, isName] = [0, true];
  for (const [token] of text.slice(start).matchAll(/'(?:[^']|'')*'|"(?:[^"]|"")*"|\w+|[^\s]/g)) {
    if (token === '(') depth++;
    if (token === ')') depth--;
    if (depth === 0 && /^(WHERE|FROM|RETURNING)$/i.test(token)) break;
    if (isName) {
      const name = /^"?(\w+)"?$/.exec(token)?.[1];
      if (name === undefined) return undefined;
      columns.push(name);
    }
    isName = depth === 0 && token === ',';
  }
  return columns;
}

/** What tables and columns statements read, by name; for tests and messages. */
export const namesOf = (wanted: readonly Part[]): string[] => {
  const names = [...parts.keys()];
  return wanted.map((part) => present(names[part]));
};
