import type { Value } from '../db/sql.ts';

/** Values of fields, by name; those that a body did not bring are absent or undefined. */
type Given = Readonly<Record<string, Value | boolean | undefined>>;

/** The columns whose new value differs from the row's; booleans count as the 0 and 1 they are stored as. */
export function changesOf(row: object, columns: Given): Record<string, Value> {
  const stored = Object.entries(storedValues(columns));
  return Object.fromEntries(stored.filter(([name, value]) => Reflect.get(row, name) !== value));
}

/** Values of a body as they are stored: booleans become 0 and 1. */
export function storedValues(values: Given): Record<string, Value> {
  const stored: Record<string, Value> = {};
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined) stored[name] = typeof value === 'boolean' ? Number(value) : value;
  }
  return stored;
}
