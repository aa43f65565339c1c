import type SQLite from 'better-sqlite3';
import { present } from '../present.ts';

/*
 * Finds the tables that a statement reads and changes in the output of EXPLAIN, which includes cascades of foreign keys and
 * triggers, and expands views. A cached value is valid until one of the parts that it was read from changes. See
 * src/decisions/caching.md.
 */

/**
 * The number of a part of the schema whose changes are counted: `table` for inserted and deleted rows, `table.column` for
 * updates. All databases in the process share the numbers.
 */
export type Part = number;

/** Tables that a statement reads and changes. */
export interface Access {
  readonly reads: readonly Part[];
  readonly changes: readonly Part[];
  /** The table whose row count grows (1) or shrinks (-1) by the statement's number of changed rows. */
  readonly counted: { readonly table: Part; readonly sign: 1 | -1 } | undefined;
  /** The tables and indexes that it scans. */
  readonly walks: readonly Walk[];
  /** Whether it sorts all rows before returning the first. */
  readonly sorts: boolean;
}

/** A table that a statement scans, directly or through an index, entirely or in ranges. */
export interface Walk {
  readonly table: string;
  readonly isWhole: boolean;
}

/** A table or index, identified by its root page. */
interface Tree {
  readonly table: string;
  /** Its columns; for an index, every column in its definition. */
  readonly columns: readonly string[];
  readonly isTable: boolean;
  /** Whether the opcodes address its columns by their position in the table. */
  readonly isPlain: boolean;
  /** Whether it is a partial index. */
  readonly isPartial: boolean;
}

interface SchemaRow {
  readonly type: string;
  readonly name: string;
  readonly tbl_name: string;
  readonly rootpage: number;
  readonly sql: string | null;
}

/** A row of EXPLAIN. */
type Step = [address: number, opcode: string, p1: number, p2: number, p3: number];

interface Opcode {
  readonly opcode: string;
  readonly p1: number;
  readonly p2: number;
  readonly p3: number;
}

const opensTree = new Set(['OpenRead', 'OpenWrite', 'ReopenIdx']);
const startsAtEnd = new Set(['Rewind', 'Last']);
const startsInside = new Set(['SeekGE', 'SeekGT', 'SeekLE', 'SeekLT']);
const advances = new Set(['Next', 'Prev', 'Count']);
const sorts = new Set(['Sort', 'SorterSort']);
const usesVirtualTable = new Set(['VOpen', 'VUpdate']);
/** The opcodes that matter, about a quarter of a program. */
const relevant = new Set([
  ...[opensTree, startsAtEnd, startsInside, advances, sorts, usesVirtualTable].flatMap((opcodes) => [...opcodes]),
  ...['Column', 'Clear'],
]);

const parts = new Map<string, Part>();

/** Returns the number of a part. */
export function partOf(name: string): Part {
  let part = parts.get(name);
  if (part === undefined) {
    part = parts.size;
    parts.set(name, part);
  }
  return part;
}

/** Analyses statements with the schema of a database at the time of construction. */
export class Accesses {
  readonly #schema = new Map<number, SchemaRow>();
  /** Filled on demand, because a start needs only a few. */
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

  /** Returns the accesses of a statement. Throws for invalid SQL. */
  of(text: string): Access {
    const program = this.#programOf(text);
    const reads = new Set<string>();
    const writtenTables: string[] = [];
    const cursors = new Map<number, Tree>();
    for (const { opcode, p1, p2, p3 } of program) {
      const tree = p3 === 0 && opensTree.has(opcode) ? this.#treeAt(p2) : undefined;
      if (opcode !== 'OpenWrite' && tree) {
        cursors.set(p1, tree);
        reads.add(tree.table);
        if (!tree.isPlain) for (const column of tree.columns) reads.add(`${tree.table}.${column}`);
      }
      if (opcode === 'OpenWrite' && tree?.isTable) writtenTables.push(tree.table);
      if (opcode === 'Column') {
        const read = cursors.get(p1);
        const column = read?.isPlain ? read.columns[p2] : undefined;
        if (read && column !== undefined) reads.add(`${read.table}.${column}`);
      }
      // DELETE without a condition empties a table without opening it.
      const cleared = opcode === 'Clear' && p2 === 0 ? this.#treeAt(p1) : undefined;
      if (cleared) writtenTables.push(cleared.table);
    }
    const isVirtual = program.some(({ opcode }) => usesVirtualTable.has(opcode));
    const named = isVirtual ? this.#virtual.filter((name) => text.includes(name)) : [];
    for (const name of named) reads.add(name);
    if (program.some(({ opcode }) => opcode === 'VUpdate')) writtenTables.push(...named);
    return {
      reads: [...reads].map(partOf),
      ...changesOf(text, writtenTables),
      walks: [...this.#walksOf(program), ...named.map((table) => ({ table, isWhole: false }))],
      sorts: program.some(({ opcode }) => sorts.has(opcode)),
    };
  }

  /** Returns the relevant opcodes of a statement. Programs may have thousands of rows, so they are read as arrays. */
  #programOf(text: string): Opcode[] {
    const steps = this.handle
      .prepare<unknown[], Step>(`EXPLAIN ${text}`)
      .raw()
      .all(...parametersOf(text));
    // Destructuring would cost more than the rest of this function before it is optimised.
    return steps
      .filter((step) => relevant.has(step[1]))
      .map((step) => ({ opcode: step[1], p1: step[2], p2: step[3], p3: step[4] }));
  }

  /** Returns the scans: a lookup by key has no opcode that advances its cursor. */
  #walksOf(program: readonly Opcode[]): Walk[] {
    const cursors = new Map<number, Tree>();
    const ranged = new Set<number>();
    const walks: Walk[] = [];
    for (const { opcode, p1, p2, p3 } of program) {
      const opened = p3 === 0 && opensTree.has(opcode) ? this.#treeAt(p2) : undefined;
      if (opened) cursors.set(p1, opened);
      if (startsAtEnd.has(opcode)) ranged.delete(p1);
      if (startsInside.has(opcode)) ranged.add(p1);
      const tree = advances.has(opcode) ? cursors.get(p1) : undefined;
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
    // The automatic index of a key has no definition.
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

  /** Returns the columns of a table by position; virtual generated columns have none. */
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

/** Returns a value for every parameter, positional or named, which EXPLAIN requires. */
function parametersOf(text: string): unknown[] {
  const plain = text.replaceAll(/'(?:[^']|'')*'/g, '');
  const named = [...plain.matchAll(/@(\w+)/g)].map(([, name]) => [name, null]);
  return named.length > 0 ? [Object.fromEntries(named)] : [...plain.matchAll(/\?/g)].map(() => null);
}

/** Returns the changes of a statement that opens these tables for writing. A table is listed each time it is opened. */
function changesOf(text: string, writtenTables: readonly string[]): Pick<Access, 'changes' | 'counted'> {
  const changes = new Set(writtenTables);
  const [, verb, target] = /^\s*(INSERT (?:OR FAIL )?INTO|UPDATE|DELETE FROM)\s+"?(\w+)"?/i.exec(text) ?? [];
  const isOnce = target !== undefined && writtenTables.filter((table) => table === target).length === 1;
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

/** Returns the columns that an UPDATE sets. Returns undefined for unparsable text; then every column counts as changed. */
function columnsSet(text: string): string[] | undefined {
  const start = /^\s*UPDATE\s+"?\w+"?(\s+AS\s+\w+)?\s+SET\s+/i.exec(text)?.[0].length;
  if (start === undefined) return undefined;
  const columns: string[] = [];
  let depth = 0;
  let isName = true;
  // `DISTINCT FROM` is an operator, not the FROM clause.
  const tokens = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\[[^\]]*\]|`[^`]*`|--|\/\*|DISTINCT\s+FROM\b|\w+|[^\s]/gi;
  for (const [token] of text.slice(start).matchAll(tokens)) {
    // A comment may contain anything.
    if (token === '--' || token === '/*') return undefined;
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

/** Returns the names of parts. */
export const namesOf = (wanted: readonly Part[]): string[] => {
  const names = [...parts.keys()];
  return wanted.map((part) => present(names[part]));
};
