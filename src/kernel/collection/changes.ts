import type { Value } from '../db/sql.ts';
import type { Fields } from './field.ts';

/** Values by column name. */
export type Columns = Readonly<Record<string, Value>>;

/** Returns the columns whose new values differ from the row. */
export function changesOf(row: object, columns: Columns): Record<string, Value> {
  const changes: Record<string, Value> = {};
  for (const name in columns) {
    const value = columns[name];
    if (value !== undefined && Reflect.get(row, name) !== value) changes[name] = value;
  }
  return changes;
}

/**
 * Returns the columns for the values of a body. Every field needs a column unless it is `storedIn` elsewhere, so that a field
 * that is never stored fails at once. Throws TypeError.
 */
export function storedColumns(fields: Fields, values: Readonly<Record<string, unknown>>): Record<string, Value> {
  const columns: Record<string, Value> = {};
  for (const name in values) {
    const value = values[name];
    const column = fields[name]?.input?.column;
    if (column && value !== undefined) columns[column(name)] = storable(name, value);
  }
  return columns;
}

function storable(name: string, value: unknown): Value {
  if (typeof value === 'boolean') return Number(value);
  if (value === null || typeof value === 'string' || typeof value === 'number') return value;
  throw new TypeError(`no column can hold a value of the field ${name}: declare where it is stored`);
}

/** Marks fields that are not stored in columns of the row. */
export const storedElsewhere = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [
      name,
      field.input ? { ...field, input: { ...field.input, column: false } } : field,
    ]),
  );
