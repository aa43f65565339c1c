import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export type Network = ReturnType<typeof ipaddr.parseCIDR>;

/** Bits of an IPv6 network before the IPv4 address that it contains. */
const mappedBits = 96;

/** Parses addresses and CIDR networks. IPv4 networks mapped into IPv6 become IPv4, as the addresses of clients do. */
export const parseNetworks = (texts: readonly string[]): readonly Network[] =>
  texts.map((text) => {
    const [address = '', bits] = text.split('/');
    const plain = ipaddr.process(address);
    if (bits === undefined) return ipaddr.parseCIDR(`${plain}/${plain.kind() === 'ipv4' ? 32 : 128}`);
    const isMapped = plain.kind() === 'ipv4' && address.includes(':') && Number(bits) >= mappedBits;
    return ipaddr.parseCIDR(isMapped ? `${plain}/${Number(bits) - mappedBits}` : text);
  });

/** Returns the usual form of a network: without host bits, and an address without its length. */
export function normalNetwork(text: string): string {
  const [[address, bits]] = parseNetworks([text]) as [Network];
  if (!text.includes('/')) return address.toString();
  const cidr = `${address}/${bits}`;
  const first = address.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6;
  return `${first.networkAddressFromCIDR(cidr)}/${bits}`;
}

/**
 * Whether a text is an address or CIDR network. Texts that ipaddr.js reads in other ways are not: `10`, `10/8`, and `010.1.1.1`, whose
 * first number it takes as octal. Nor are addresses with a zone, which only have a meaning on one machine, and networks with a mapped
 * IPv4 address that are larger than all of IPv4, such as `::ffff:10.0.0.0/8`.
 */
export function isNetwork(text: string): boolean {
  const [address = '', bits] = text.split('/');
  if (isIP(address) === 0 || address.includes('%')) return false;
  if (bits === undefined) return ipaddr.isValid(text);
  const isMapped = address.includes(':') && ipaddr.process(address).kind() === 'ipv4';
  return /^(0|[1-9]\d*)$/.test(bits) && ipaddr.isValidCIDR(text) && !(isMapped && Number(bits) < mappedBits);
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
