import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { inNetworks, type Network } from '../net/networks.ts';
import { urlOf } from '../url.ts';

/** The remote address of a connection; IPv4-mapped IPv6 addresses are unmapped. */
export function peerOf(socket: Socket): string {
  const peer = socket.remoteAddress ?? '';
  return peer.startsWith('::ffff:') ? peer.slice(7) : peer;
}

/** The client's address: the peer, or, behind trusted proxies, the last X-Forwarded-For entry that is not one (core.md 2.1). */
export function clientAddress(peer: string, headers: IncomingHttpHeaders, proxies: readonly Network[]): string {
  if (!inNetworks(peer, proxies)) return peer;
  for (const entry of entriesOf(headers['x-forwarded-for']).reverse()) {
    const address = withoutPort(unquoted(entry));
    // Entries before one that is not an address were not written by a trusted proxy.
    if (!ipaddr.isValid(address)) return peer;
    if (!inNetworks(address, proxies)) return ipaddr.process(address).toString();
  }
  return peer;
}

/** Some proxies quote addresses as in the header of RFC 7239. */
const unquoted = (entry: string): string => /^"([^"\\]*)"$/.exec(entry)?.[1] ?? entry;

/** Some proxies write `192.0.2.1:4711` or `[2001:db8::1]:4711`. */
const withoutPort = (entry: string): string =>
  /^\[([^\]]*)\](?::\d+)?$/.exec(entry)?.[1] ?? /^([^:]*):\d+$/.exec(entry)?.[1] ?? entry;

/**
 * The target and host of a request; a target in absolute form names the host itself (RFC 9112 3.2.2). Without a host,
 * as in HTTP/1.0, or with several Host headers, the host is empty. All decisions about the target use
 * this form, never the one of the message.
 */
export function targetOf(message: IncomingMessage): { target: string; host: string } {
  const { headers, rawHeaders } = message;
  const url = normalized(message.url ?? '/');
  if (namesSeveralHosts(rawHeaders)) return { target: url, host: '' };
  const absolute = url.startsWith('/') ? null : /^https?:\/\/([^/?]*)(.*)$/i.exec(url);
  if (absolute) {
    const [, named = '', path = ''] = absolute;
    return { target: path.replace(/^(?!\/)/, '/'), host: named };
  }
  return { target: url, host: headers.host ?? '' };
}

const encodedUnreserved = /%(?:2[de]|3\d|4[1-9a-f]|5[\daf]|6[1-9a-f]|7[\dae])/gi;

/** A target whose path has no letters, digits and other unreserved characters percent-encoded (RFC 3986 6.2.2.2). */
function normalized(url: string): string {
  if (!url.includes('%')) return url;
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  const decoded = path.replace(encodedUnreserved, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)));
  return mark < 0 ? decoded : decoded + url.slice(mark);
}

/** Whether there is more than one Host header; node:http shows only the first. */
function namesSeveralHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0;
  // Names and values alternate.
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]?.length === 4 && rawHeaders[i]?.toLowerCase() === 'host') hosts++;
  return hosts > 1;
}

/** Longer than any host name with its port. */
const maxHostLength = 300;
const hostPattern = /^[A-Za-z0-9._-]+(:\d{1,5})?$|^\[[0-9A-Fa-f:.]+\](:\d{1,5})?$/;

/** The protocol between a server and its clients. */
type Scheme = 'http' | 'https';

/** Scheme and host of the request as its client sees them; null if the host is invalid (core.md 1.6). */
export function requestBase(
  peer: string,
  named: string,
  headers: IncomingHttpHeaders,
  proxies: readonly Network[],
  ownScheme: Scheme = 'http',
): string | null {
  const own = baseOf(ownScheme, named);
  if (own === null || proxies.length === 0 || !inNetworks(peer, proxies)) return own;
  const [protocol, host, port] = (['proto', 'host', 'port'] as const).map((name) =>
    entriesOf(headers[`x-forwarded-${name}`]).at(-1),
  );
  const reports = protocol?.toLowerCase() === 'https' ? 'https' : 'http';
  const scheme = protocol ? reports : ownScheme;
  const displayed = host || named;
  return baseOf(scheme, port && !/:\d+$/.test(displayed) ? `${displayed}:${port}` : displayed);
}

/** Hosts are few: each is parsed once. */
const bases = { http: new Map<string, string | null>(), https: new Map<string, string | null>() } as const;
const maxCachedBases = 1000;
const defaultPorts = { http: /:0*80$/, https: /:0*443$/ } as const;

/** Returns the base of links with this host; null if it is not the host of a URL. The default port of the scheme is omitted. */
function baseOf(scheme: Scheme, host: string): string | null {
  if (host.length > maxHostLength) return null;
  const known = bases[scheme];
  let base = known.get(host);
  if (base === undefined) {
    const text = `${scheme}://${host}`;
    base = hostPattern.test(host) && urlOf(text) ? text.replace(defaultPorts[scheme], '') : null;
    if (known.size >= maxCachedBases) known.clear();
    known.set(host, base);
  }
  return base;
}

const entriesOf = (header: string | string[] | undefined): string[] =>
  String(header ?? '')
    .split(',')
    .map((entry) => entry.trim());
