/** Returns the value of a key of a table, never what every object inherits: keys come from addresses and responses, too. */
export const ownValue = <T>(table: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;
