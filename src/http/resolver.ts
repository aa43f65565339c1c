import { type LookupAddress, lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';

/** Finds all addresses of a host name. */
export type Resolver = (hostname: string, callback: (error: Error | null, addresses: readonly LookupAddress[]) => void) => void;

/** Asks the machine, as other programs on it do. */
export const systemResolver: Resolver = (hostname, callback) => lookup(hostname, { all: true }, callback);

/** How a connection finds its address: the ones of the name, unless `refuse` answers an error about them. The connection goes to what was judged. */
export const judgedLookup =
  (resolve: Resolver, refuse: (addresses: readonly LookupAddress[]) => Error | undefined): LookupFunction =>
  (hostname, options, callback) =>
    resolve(hostname, (error, addresses) => {
      const [first] = addresses ?? [];
      const refusal = error ?? refuse(addresses) ?? (first ? undefined : new Error('The host name has no address.'));
      if (refusal || !first) return callback(refusal as Error, '');
      if (options.all) callback(null, [...addresses]);
      else callback(null, first.address, first.family);
    });
