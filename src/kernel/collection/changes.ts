import type { Value } from '../db/sql.ts';

/** The columns whose new value differs from the row's; booleans count as the 0 and 1 they are stored as. */
export function changesOf(row: object, columns: Readonly<Record<string, unknown>>): Record<string, Value> {
  const changes: Record<string, Value> = {};
  for (const [name, value] of Object.entries(columns)) {
    const stored = typeof value === 'boolean' ? Number(value) : (value as Value);
    if ((row as Record<string, unknown>)[name] !== stored) changes[name] = stored;
  }
  return changes;
}

/** Values of a body as they are stored: booleans become 0 and 1. */
export const storedValues = (values: object): Record<string, Value> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'boolean' ? Number(value) : (value as Value),
    ]),
  );
