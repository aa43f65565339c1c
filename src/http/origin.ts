import type { IncomingHttpHeaders } from 'node:http';
import ipaddr from 'ipaddr.js';

type Network = ReturnType<typeof ipaddr.parseCIDR>;

/** Reads addresses and CIDR networks as they stand in settings. */
export const parseNetworks = (texts: readonly string[]): readonly Network[] =>
  texts.map((text) => {
    if (text.includes('/')) return ipaddr.parseCIDR(text);
    const address = ipaddr.process(text);
    return [address, address.kind() === 'ipv4' ? 32 : 128] as Network;
  });

/** Whether an address lies in one of the networks; an IPv4 address mapped into IPv6 counts as itself. */
export function inNetworks(address: string, networks: readonly Network[]): boolean {
  if (networks.length === 0 || !ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  return networks.some((network) => parsed.kind() === network[0].kind() && parsed.match(network));
}

/** The client's address: the peer, or, behind trusted proxies, the last X-Forwarded-For entry that is not one (core.md 2.1). */
export function clientAddress(peer: string, headers: IncomingHttpHeaders, proxies: readonly Network[]): string {
  const own = peer.startsWith('::ffff:') ? peer.slice(7) : peer;
  if (!inNetworks(own, proxies)) return own;
  const entries = String(headers['x-forwarded-for'] ?? '').split(',').map((entry) => entry.trim());
  for (const entry of entries.reverse()) {
    if (ipaddr.isValid(entry) && !inNetworks(entry, proxies)) return ipaddr.process(entry).toString();
  }
  return own;
}

const hostPattern = /^[A-Za-z0-9._-]+(:\d{1,5})?$|^\[[0-9A-Fa-f:.]+\](:\d{1,5})?$/;

/** Scheme and host of the request as its client sees it; null when the Host header is not one (core.md 1.6). */
export function requestBase(peer: string, headers: IncomingHttpHeaders, proxies: readonly Network[]): string | null {
  let scheme = 'http';
  let host = headers.host ?? 'localhost';
  if (proxies.length > 0 && inNetworks(peer, proxies)) {
    const forwarded = lastEntry(headers['x-forwarded-proto']);
    if (forwarded === 'https' || forwarded === 'http') scheme = forwarded;
    host = lastEntry(headers['x-forwarded-host']) || host;
  }
  return hostPattern.test(host) ? `${scheme}://${host}` : null;
}

const lastEntry = (header: string | string[] | undefined): string => String(header ?? '').split(',').at(-1)?.trim() ?? '';
