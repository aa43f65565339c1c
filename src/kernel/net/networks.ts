import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export type Network = ReturnType<typeof ipaddr.parseCIDR>;

/** Parses addresses and CIDR networks. Networks of IPv4 addresses mapped into IPv6 become IPv4 networks. */
export const parseNetworks = (texts: readonly string[]): readonly Network[] =>
  texts.map((text) => {
    if (!text.includes('/')) {
      const address = ipaddr.process(text);
      return ipaddr.parseCIDR(`${address}/${address.kind() === 'ipv4' ? 32 : 128}`);
    }
    const network = ipaddr.parseCIDR(text);
    const [address, bits] = network;
    const isMapped = 'isIPv4MappedAddress' in address && address.isIPv4MappedAddress() && bits >= mappedBits;
    return isMapped ? [address.toIPv4Address(), bits - mappedBits] : network;
  });

/** Length of the prefix `::ffff:0:0/96`, into which IPv4 addresses are mapped. */
const mappedBits = 96;

/**
 * Whether a text is an address or CIDR network. Texts that ipaddr.js reads in other ways are not: `10`, `10/8`, and `010.1.1.1`, whose
 * first number it takes as octal. Nor are addresses with a zone, which only have a meaning on one machine.
 */
export function isNetwork(text: string): boolean {
  const [address = '', bits = '0'] = text.split('/');
  if (isIP(address) === 0 || address.includes('%') || !/^(0|[1-9]\d*)$/.test(bits)) return false;
  return ipaddr.isValid(text) || ipaddr.isValidCIDR(text);
}

/** Whether an address lies in one of the networks; an IPv4 address mapped into IPv6 counts as itself. */
export function inNetworks(address: string, networks: readonly Network[]): boolean {
  if (networks.length === 0 || !ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  return networks.some((network) => parsed.kind() === network[0].kind() && parsed.match(network));
}

/**
 * The key under which limits count a client (core.md 2.1 "Client address"): an IPv4 address, or the /64
 * network, which one subscriber has alone. A text that is no address stays as it is.
 */
export const prefixOf = (address: string): string => networkOf(address, 64) ?? address;

/** The /48 network of an IPv6 address, the most that one subscriber usually has; undefined for IPv4 addresses. */
export const siteOf = (address: string): string | undefined =>
  address.includes(':') && ipaddr.isValid(address) && ipaddr.process(address).kind() === 'ipv6'
    ? networkOf(address, 48)
    : undefined;

/** The /24 network of an IPv4 address or the /48 network of an IPv6 address (audit.md 2); a text that is no address stays as it is. */
export function clientNetworkOf(address: string): string {
  const network = networkOf(address, 48);
  return network === undefined || network.includes('/') ? (network ?? address) : network.replace(/\d+$/, '0/24');
}

/** The network of an IPv6 address in CIDR notation; an IPv4 address, also one mapped into IPv6, as itself. */
function networkOf(address: string, bits: number): string | undefined {
  if (!ipaddr.isValid(address)) return undefined;
  const parsed = ipaddr.process(address);
  if (!('parts' in parsed)) return parsed.toString();
  const stored = parsed.parts.map((part, i) => (i < bits / 16 ? part : 0));
  return `${new ipaddr.IPv6(stored).toString()}/${bits}`;
}
