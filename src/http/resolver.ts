import { type LookupAddress, lookup } from 'node:dns';

/** Finds all addresses of a host name. */
export type Resolver = (hostname: string, callback: (error: Error | null, addresses: readonly LookupAddress[]) => void) => void;

/** Asks the machine, as other programs on it do. */
export const systemResolver: Resolver = (hostname, callback) => lookup(hostname, { all: true }, callback);
