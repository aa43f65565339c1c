/** API objects, and safe access to their members. */

/** An object of the API. */
export type Item = Readonly<Record<string, unknown>>;

/** Returns the path of an API link, `/api/…`, with its query but without the base URL. */
export function pathOf(link: string): string {
  const query = link.indexOf('?');
  return link.slice((query < 0 ? link : link.slice(0, query)).lastIndexOf('/api/'));
}

export const isItem = (value: unknown): value is Item =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns a member of an object as text; empty if it is missing. */
export const textOf = (item: Item, name: string): string => {
  const value = item[name];
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
};

/** Returns the first of several members that has a text; empty if none has. */
export const firstText = (item: Item, ...names: readonly string[]): string =>
  names.map((name) => textOf(item, name)).find(Boolean) ?? '';

/** Returns the name of the project or else the customer of a role, invitation or other object. */
export const placeName = (item: Item): string => firstText(item, 'project_name', 'customer_name');

/** Returns the name of the user of a role, event or other object. */
export const userName = (item: Item): string => firstText(item, 'user_full_name', 'user_username');

/** The list and the uuid in a link of an object; empty if it has none. */
export const listIn = (link: string): string => pathOf(link).split('/')[2] ?? '';
export const uuidIn = (link: string): string => pathOf(link).split('/')[3] ?? '';

/** The place of a value in an order; the values that it lacks share the last one. */
export const rankIn = (order: readonly string[], value: string): number => {
  const index = order.indexOf(value);
  return index < 0 ? order.length : index;
};

/** The items of a list that are objects. */
export const itemsIn = (value: unknown): readonly Item[] => (Array.isArray(value) ? value.filter(isItem) : []);

/** Returns an own property of a table, never an inherited one, because keys may come from addresses and responses. */
export const ownValue = <T>(table: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;

/** Returns the first address at which a machine can be reached; empty for other resources. */
export function addressOf(item: Item): string {
  const addresses = [item.external_ips, item.internal_ips].flatMap((list) => (Array.isArray(list) ? list : []));
  return addresses.find((address): address is string => typeof address === 'string') ?? textOf(item, 'address');
}
