/** An export as a script for psql: tables with keys, rows, foreign keys and views. */
import type SQLite from 'better-sqlite3';
import { isoTime } from '../../kernel/clock.ts';
import { columnList, type ExportSource, quoted, rowsOf, type StoredValue, type Table } from './tables.ts';

/** The schema of the tables, which must not exist. */
const schemaName = 'tenantry';

const types: Readonly<Record<string, string>> = { INTEGER: 'bigint', NUMERIC: 'numeric', TEXT: 'text', BLOB: 'bytea' };

/** Yields the lines of the script, which is one transaction. */
export function* postgres({ handle, made, schema, tables, version }: ExportSource): Generator<string> {
  yield `-- Tenantry ${version}, schema ${schema}, as of ${isoTime(made)}: psql -v ON_ERROR_STOP=1 -f FILE\n`;
  yield '-- Instants are microseconds since 1970: to_timestamp(created / 1000000.0). Secrets are encrypted.\n';
  yield `BEGIN;\nCREATE SCHEMA ${schemaName};\nSET LOCAL search_path TO ${schemaName};\n`;
  const ownTables = tables.filter(({ name }) => !name.startsWith('sqlite_'));
  for (const table of ownTables) {
    yield `${definitionOf(handle, table)}\n`;
    yield `COPY ${quoted(table.name)} (${columnList(table.columns.map(({ name }) => name))}) FROM stdin;\n`;
    for (const row of rowsOf(handle, table)) yield `${row.map(copyText).join('\t')}\n`;
    yield '\\.\n';
  }
  for (const table of ownTables) yield* referencesOf(handle, table);
  yield* viewsOf(handle);
  yield 'COMMIT;\n';
}

function definitionOf(handle: SQLite.Database, { columns, name }: Table): string {
  const key = columns.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk);
  const lines = [
    ...columns.map(
      (column) => `${quoted(column.name)} ${types[column.type] ?? 'text'}${column.notnull ? ' NOT NULL' : ''}`,
    ),
    ...(key.length > 0 ? [`PRIMARY KEY (${columnList(key.map((column) => column.name))})`] : []),
    ...uniqueOf(handle, name).map((names) => `UNIQUE (${columnList(names)})`),
  ];
  return `CREATE TABLE ${quoted(name)} (\n  ${lines.join(',\n  ')}\n);`;
}

/** Returns the columns of each UNIQUE constraint. Omits unique indexes, because their conditions are specific to SQLite. */
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
    const target = `${quoted(own[0]?.table ?? '')}${to.length > 0 ? ` (${columnList(to)})` : ''}`;
    yield `ALTER TABLE ${quoted(name)} ADD FOREIGN KEY (${columnList(own.map(({ from }) => from))}) REFERENCES ${target};\n`;
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

/** Returns a value in the text format of COPY. */
function copyText(value: StoredValue): string {
  if (value === null) return '\\N';
  if (Buffer.isBuffer(value)) return `\\\\x${value.toString('hex')}`;
  return typeof value === 'number'
    ? String(value)
    : value.replace(/[\\\t\n\r]/g, (character) => escapes[character] ?? '');
}
