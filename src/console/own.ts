/** Returns an own value of a table, never an inherited one: keys may come from addresses and responses. */
export const ownValue = <T>(table: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;
