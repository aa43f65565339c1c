/** An export as a script for psql: tables with their keys, rows, references between them, and views. */
import type SQLite from 'better-sqlite3';
import { isoTime } from '../../kernel/clock.ts';
import { type Exported, listed, quoted, rowsOf, type Stored, type Table } from './tables.ts';

/** Where the tables are made; there may be none of that name. */
const place = 'tenantry';

const types: Readonly<Record<string, string>> = { INTEGER: 'bigint', NUMERIC: 'numeric', TEXT: 'text', BLOB: 'bytea' };

/** The lines of the script, one transaction. */
export function* postgres({ handle, made, schema, tables, version }: Exported): Generator<string> {
  yield `-- Tenantry ${version}, schema ${schema}, as of ${isoTime(made)}: psql -v ON_ERROR_STOP=1 -f FILE\n`;
  yield '-- Instants are microseconds since 1970: to_timestamp(created / 1000000.0). Secrets are encrypted.\n';
  yield `BEGIN;\nCREATE SCHEMA ${place};\nSET LOCAL search_path TO ${place};\n`;
  const filled = tables.filter(({ name }) => !name.startsWith('sqlite_'));
  for (const table of filled) {
    yield `${definitionOf(handle, table)}\n`;
    yield `COPY ${quoted(table.name)} (${listed(table.columns.map(({ name }) => name))}) FROM stdin;\n`;
    for (const row of rowsOf(handle, table)) yield `${row.map(copied).join('\t')}\n`;
    yield '\\.\n';
  }
  for (const table of filled) yield* referencesOf(handle, table);
  yield* viewsOf(handle);
  yield 'COMMIT;\n';
}

function definitionOf(handle: SQLite.Database, { columns, name }: Table): string {
  const key = columns.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk);
  const lines = [
    ...columns.map(
      (column) => `${quoted(column.name)} ${types[column.type] ?? 'text'}${column.notnull ? ' NOT NULL' : ''}`,
    ),
    ...(key.length > 0 ? [`PRIMARY KEY (${listed(key.map((column) => column.name))})`] : []),
    ...uniqueOf(handle, name).map((names) => `UNIQUE (${listed(names)})`),
  ];
  return `CREATE TABLE ${quoted(name)} (\n  ${lines.join(',\n  ')}\n);`;
}

/** Columns of each constraint that the table declares; those of indexes may have conditions, which are SQLite's own. */
function uniqueOf(handle: SQLite.Database, table: string): string[][] {
  const indexes = handle
    .prepare<[string], string>(`SELECT name FROM pragma_index_list(?) WHERE origin = 'u' AND NOT partial`)
    .pluck()
    .all(table);
  const columns = handle.prepare<[string], string>('SELECT name FROM pragma_index_info(?) ORDER BY seqno').pluck();
  return indexes.map((index) => columns.all(index));
}

interface Reference {
  readonly id: number;
  readonly table: string;
  readonly from: string;
  readonly to: string | null;
}

function* referencesOf(handle: SQLite.Database, { name }: Table): Generator<string> {
  const parts = handle
    .prepare<[string], Reference>('SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?) ORDER BY id, seq')
    .all(name);
  for (const id of new Set(parts.map((part) => part.id))) {
    const own = parts.filter((part) => part.id === id);
    const to = own.flatMap((part) => part.to ?? []);
    const target = `${quoted(own[0]?.table ?? '')}${to.length > 0 ? ` (${listed(to)})` : ''}`;
    yield `ALTER TABLE ${quoted(name)} ADD FOREIGN KEY (${listed(own.map(({ from }) => from))}) REFERENCES ${target};\n`;
  }
}

function* viewsOf(handle: SQLite.Database): Generator<string> {
  for (const text of handle
    .prepare<[], string>(`SELECT sql FROM sqlite_schema WHERE type = 'view' ORDER BY name`)
    .pluck()
    .iterate())
    yield `${text};\n`;
}

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** A value in the text format of COPY. */
function copied(value: Stored): string {
  if (value === null) return '\\N';
  if (Buffer.isBuffer(value)) return `\\\\x${value.toString('hex')}`;
  return typeof value === 'number'
    ? String(value)
    : value.replace(/[\\\t\n\r]/g, (character) => escapes[character] ?? '');
}
