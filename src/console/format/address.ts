/** Addresses of resources. */
import { type Item, textOf } from '../item.ts';

/** Returns the first address at which a machine can be reached; empty for other resources. */
export function addressOf(item: Item): string {
  const addresses = [item.external_ips, item.internal_ips].flatMap((list) => (Array.isArray(list) ? list : []));
  return addresses.find((address): address is string => typeof address === 'string') ?? textOf(item, 'address');
}
