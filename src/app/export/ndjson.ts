/** An export as lines of JSON: a head, a line for each row, and an end that tells how many there were. */
import { isoTime } from '../../kernel/clock.ts';
import { type Column, type Exported, rowsOf, type Stored, type Table } from './tables.ts';

/** The first line. */
export interface Head {
  readonly tenantry: string;
  readonly schema: number;
  readonly made: string;
  /** Text of the key file; null where the keys stand in the settings. */
  readonly keys: string | null;
}

/** The lines of all tables. */
export function* ndjson({ handle, keys, made, schema, tables, version }: Exported): Generator<string> {
  const head: Head = { tenantry: version, schema, made: isoTime(made), keys };
  yield `${JSON.stringify(head)}\n`;
  let rows = 0;
  for (const table of tables)
    for (const row of rowsOf(handle, table)) {
      rows++;
      yield lineOf(table, row);
    }
  yield `${JSON.stringify({ rows })}\n`;
}

function lineOf({ columns, name }: Table, row: readonly Stored[]): string {
  const members = columns.map((column, i) => [column.name, written(row[i] ?? null)]);
  return `${JSON.stringify({ table: name, row: Object.fromEntries(members) })}\n`;
}

/** Bytes as an object, which no other value is. */
const written = (value: Stored): unknown => (Buffer.isBuffer(value) ? { base64: value.toString('base64') } : value);

/** The values of a line in the order of the columns. Throws with the end of a sentence. */
export function valuesIn(row: Readonly<Record<string, unknown>>, columns: readonly Column[]): Stored[] {
  const names = new Set(columns.map(({ name }) => name));
  const unknown = Object.keys(row).find((name) => !names.has(name));
  if (unknown !== undefined) throw new Error(`has a column ${unknown} that the table has not`);
  return columns.map(({ name }) => {
    if (!Object.hasOwn(row, name)) throw new Error(`has no column ${name}`);
    return storedOf(row[name]);
  });
}

function storedOf(value: unknown): Stored {
  if (value === null || typeof value === 'string' || typeof value === 'number') return value;
  if (typeof value === 'object' && 'base64' in value && typeof value.base64 === 'string')
    return Buffer.from(value.base64, 'base64');
  throw new Error('has a value that is no text, number, null or {"base64": …}');
}
