import { isIP } from 'node:net';
import type { Setting } from './setting.ts';

/** A host and port to listen on or connect to. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Default address of the operator's port. */
export const usualAdminAddress: Address = { host: '127.0.0.1', port: 9480 };

/** Parses `host:port`, `[IPv6]:port` or a port alone (on the loopback interface); undefined for anything else. */
export function addressOf(text: string): Address | undefined {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]:|([^:[\]]+):)?(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === undefined || port > 65_535 || (bracketed !== undefined && isIP(bracketed) !== 6)) return undefined;
  return { host: bracketed ?? plain ?? usualAdminAddress.host, port };
}

/** Formats an address for a URL. */
export const authorityOf = ({ host, port }: Address): string => `${host.includes(':') ? `[${host}]` : host}:${port}`;

/** Returns the address at which this machine reaches a listener, even one on all addresses. */
export const reachable = (host: string): string => (host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host);

/** An address, stored as `host:port`, or `off`; null if unset. */
export const listenAddress = (help: string): Setting<string | null> => ({
  kind: 'text',
  fallback: null,
  help,
  read: (text) => {
    if (text === '' || text === 'off') return text || null;
    const address = addressOf(text);
    if (!address) throw new Error('must be off, a port, or a host with a port such as 127.0.0.1:9480 or [::1]:9480');
    return authorityOf(address);
  },
});
