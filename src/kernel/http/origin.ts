import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';

type Network = ReturnType<typeof ipaddr.parseCIDR>;

/** Reads addresses and CIDR networks as they stand in settings. */
export const parseNetworks = (texts: readonly string[]): readonly Network[] =>
  texts.map((text) => {
    if (text.includes('/')) return ipaddr.parseCIDR(text);
    const address = ipaddr.process(text);
    return ipaddr.parseCIDR(`${address}/${address.kind() === 'ipv4' ? 32 : 128}`);
  });

/** Whether an address lies in one of the networks; an IPv4 address mapped into IPv6 counts as itself. */
export function inNetworks(address: string, networks: readonly Network[]): boolean {
  if (networks.length === 0 || !ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  return networks.some((network) => parsed.kind() === network[0].kind() && parsed.match(network));
}

/** The address a request came from; an IPv4 address mapped into IPv6 as itself. */
export function addressOf({ socket }: IncomingMessage): string {
  const peer = socket.remoteAddress ?? '';
  return peer.startsWith('::ffff:') ? peer.slice(7) : peer;
}

/** The client's address: the peer, or, behind trusted proxies, the last X-Forwarded-For entry that is not one (core.md 2.1). */
export function clientAddress(peer: string, headers: IncomingHttpHeaders, proxies: readonly Network[]): string {
  if (!inNetworks(peer, proxies)) return peer;
  for (const entry of entriesOf(headers['x-forwarded-for']).reverse()) {
    const address = withoutPort(entry);
    // What stands before an entry that is no address was not written by a trusted proxy.
    if (!ipaddr.isValid(address)) return peer;
    if (!inNetworks(address, proxies)) return ipaddr.process(address).toString();
  }
  return peer;
}

/** Some proxies write `192.0.2.1:4711` or `[2001:db8::1]:4711`. */
const withoutPort = (entry: string): string =>
  /^\[([^\]]*)\](?::\d+)?$/.exec(entry)?.[1] ?? /^([^:]*):\d+$/.exec(entry)?.[1] ?? entry;

/** The target and host of a request; a target in absolute form names the host itself (RFC 9112 3.2.2). */
export function targetOf({ url = '/', headers, httpVersion, socket }: IncomingMessage): {
  target: string;
  host: string;
} {
  const absolute = url.startsWith('/') ? null : /^https?:\/\/([^/?]*)(.*)$/i.exec(url);
  if (absolute) {
    const [, named = '', path = ''] = absolute;
    return { target: path.replace(/^(?!\/)/, '/'), host: named };
  }
  // HTTP/1.0 knows no Host header: there, links start with the address that was connected to.
  const host = headers.host ?? (httpVersion === '1.0' ? authority(socket.localAddress ?? '', socket.localPort) : '');
  return { target: url, host };
}

const authority = (address: string, port: number | undefined): string =>
  `${address.includes(':') ? `[${address}]` : address}:${port}`;

const hostPattern = /^[A-Za-z0-9._-]+(:\d{1,5})?$|^\[[0-9A-Fa-f:.]+\](:\d{1,5})?$/;

/** Scheme and host of the request as its client sees it; null when the host is not one (core.md 1.6). */
export function requestBase(
  peer: string,
  named: string,
  headers: IncomingHttpHeaders,
  proxies: readonly Network[],
): string | null {
  let scheme = 'http';
  let host = named;
  if (inNetworks(peer, proxies)) {
    const forwarded = entriesOf(headers['x-forwarded-proto']).at(-1)?.toLowerCase();
    if (forwarded === 'https' || forwarded === 'http') scheme = forwarded;
    host = entriesOf(headers['x-forwarded-host']).at(-1) || host;
  }
  return hostPattern.test(host) ? `${scheme}://${host}` : null;
}

const entriesOf = (header: string | string[] | undefined): string[] =>
  String(header ?? '')
    .split(',')
    .map((entry) => entry.trim());
