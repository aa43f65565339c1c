/** Objects as the API sends them, and safe access to their members. */

/** An object of the API. */
export type Item = Readonly<Record<string, unknown>>;

/** The path of a link of the API, `/api/…` with its query, without its base. */
export function pathOf(link: string): string {
  const query = link.indexOf('?');
  return link.slice((query < 0 ? link : link.slice(0, query)).lastIndexOf('/api/'));
}

export const isItem = (value: unknown): value is Item =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A member of an object as text; empty if it is missing. */
export const textOf = (item: Item, name: string): string => {
  const value = item[name];
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
};

/** The items of a list that are objects. */
export const itemsIn = (value: unknown): readonly Item[] => (Array.isArray(value) ? value.filter(isItem) : []);

/** Returns an own value of a table, never an inherited one: keys may come from addresses and responses. */
export const ownValue = <T>(table: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;
