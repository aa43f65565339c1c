/** An export as NDJSON: a header, a line for each row, and a last line with the number of rows. */
import { isoTime } from '../../kernel/clock.ts';
import { type Column, type ExportSource, rowsOf, type StoredValue, type Table } from './tables.ts';

/** The first line. */
export interface Header {
  readonly tenantry: string;
  readonly schema: number;
  readonly made: string;
  /** Text of the key file; null if the settings define the keys. */
  readonly keys: string | null;
}

/** Yields the lines. */
export function* ndjson({ handle, keys, made, schema, tables, version }: ExportSource): Generator<string> {
  const header: Header = { tenantry: version, schema, made: isoTime(made), keys };
  yield `${JSON.stringify(header)}\n`;
  let rows = 0;
  for (const table of tables)
    for (const row of rowsOf(handle, table)) {
      rows++;
      yield lineOf(table, row);
    }
  yield `${JSON.stringify({ rows })}\n`;
}

function lineOf({ columns, name }: Table, row: readonly StoredValue[]): string {
  const members = columns.map((column, i) => [column.name, jsonOf(row[i] ?? null)]);
  return `${JSON.stringify({ table: name, row: Object.fromEntries(members) })}\n`;
}

/** Converts a value to JSON. Only bytes become an object. */
const jsonOf = (value: StoredValue): unknown => (Buffer.isBuffer(value) ? { base64: value.toString('base64') } : value);

/** Returns the values of a line in the order of the columns. Throws an error that ends a sentence about the line. */
export function valuesIn(row: Readonly<Record<string, unknown>>, columns: readonly Column[]): StoredValue[] {
  const names = new Set(columns.map(({ name }) => name));
  const unknown = Object.keys(row).find((name) => !names.has(name));
  if (unknown !== undefined) throw new Error(`has an unknown column ${unknown}`);
  return columns.map(({ name }) => {
    if (!Object.hasOwn(row, name)) throw new Error(`has no column ${name}`);
    return storedOf(row[name]);
  });
}

function storedOf(value: unknown): StoredValue {
  if (value === null || typeof value === 'string' || typeof value === 'number') return value;
  if (typeof value === 'object' && 'base64' in value && typeof value.base64 === 'string')
    return Buffer.from(value.base64, 'base64');
  throw new Error('has a value that is not text, a number, null or {"base64": …}');
}
