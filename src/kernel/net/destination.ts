import ipaddr from 'ipaddr.js';
import { once } from '../memoised.ts';
import { present } from '../present.ts';
import { hostOf, portOf } from '../url.ts';
import { inNetworks, parseNetworks } from './networks.ts';

/** The message about a rejected destination of a request. */
export const rejectedDestination = 'Destination address is not allowed.';

/** Addresses in the operator's networks, or that do not belong to a single host (events.md 5.8). */
const rejection = once(() =>
  parseNetworks([
    '127.0.0.0/8',
    '::1/128',
    '10.0.0.0/8',
    '172.16.0.0/12',
    '192.168.0.0/16',
    '100.64.0.0/10',
    'fc00::/7',
    '169.254.0.0/16',
    'fe80::/10',
    'fec0::/10',
    '0.0.0.0/8',
    '::/128',
    '224.0.0.0/4',
    'ff00::/8',
    '192.0.0.0/24',
    '198.18.0.0/15',
    '240.0.0.0/4',
    '64:ff9b:1::/48',
    // The metadata address of clouds, which serves credentials to virtual machines.
    '168.63.129.16/32',
  ]),
);

/** Whether an address may be connected to. */
export type AddressRule = (address: string) => boolean;

/** Returns the effective address: the IPv4 address embedded in an IPv6 one, else the address itself. */
export const checkedAddress = (address: string): string => embeddedAddress(address) ?? address;

/** The rule with the operator's exceptions. */
export function addressRule(allowedNetworks: readonly string[]): AddressRule {
  const allowed = parseNetworks(allowedNetworks);
  return (address) => {
    const plain = address.replace(/%.*$/, '');
    if (!ipaddr.isValid(plain)) return false;
    const checked = checkedAddress(plain);
    return inNetworks(checked, allowed) || !inNetworks(checked, rejection());
  };
}

/** The rule for public addresses, which are neither in the operator's networks nor exceptions. */
export function openRule(exceptions: readonly string[]): AddressRule {
  const isOpen = addressRule([]);
  const excepted = parseNetworks(exceptions);
  return (address) => isOpen(address) && !inNetworks(checkedAddress(address), excepted);
}

/** Whether a port may be connected to. */
export type PortRule = (port: number) => boolean;

/** The rule for ports: those of web servers, unprivileged ports, and the operator's exceptions. */
export const portRule =
  (allowedPorts: readonly number[]): PortRule =>
  (port) =>
    port === 80 || port === 443 || port >= 1024 || allowedPorts.includes(port);

const anyPort: PortRule = () => true;

/**
 * Whether the host of a URL is allowed as a destination. A literal address must be allowed, `localhost` counts as the loopback
 * address, and other names are checked when resolved. The URL parser has already normalised every notation of an IPv4 address
 * (hexadecimal, octal, a single number, full-width digits).
 */
export function isDestinationAllowed(url: URL, allows: AddressRule, allowsPort: PortRule = anyPort): boolean {
  if (!allowsPort(portOf(url))) return false;
  const host = hostOf(url);
  if (/^(.+\.)?localhost$/.test(host)) return allows('127.0.0.1');
  return !ipaddr.isValid(host) || allows(host);
}

/** Whether the host of a URL is this machine. */
export function isLoopback(address: string): boolean {
  const host = hostOf(new URL(address));
  return host === 'localhost' || (ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback');
}

/** Forms of IPv6 addresses that embed IPv4 ones: the leading 16-bit groups, and the position of the embedded address. */
const embeddings: readonly {
  readonly prefix: readonly number[];
  readonly groups: readonly [number, number];
  readonly inverted?: boolean;
}[] = [
  { prefix: [0, 0, 0, 0, 0, 0xffff], groups: [6, 7] }, // mapped (RFC 4291)
  { prefix: [0, 0, 0, 0, 0xffff, 0], groups: [6, 7] }, // translated (RFC 2765)
  { prefix: [0x64, 0xff9b, 0, 0, 0, 0], groups: [6, 7] }, // NAT64 (RFC 6052)
  { prefix: [0x2002], groups: [1, 2] }, // 6to4 (RFC 3056)
  { prefix: [0x2001, 0], groups: [6, 7], inverted: true }, // Teredo (RFC 4380)
  { prefix: [0, 0, 0, 0, 0, 0], groups: [6, 7] }, // compatible (RFC 4291); also :: and ::1, which are checked before
];

/** Returns the IPv4 address embedded in an IPv6 address, if there is one. */
function embeddedAddress(address: string): string | undefined {
  if (ipaddr.IPv4.isValid(address) || /^::1?$/.test(ipaddr.IPv6.parse(address).toString())) return undefined;
  const { parts } = ipaddr.IPv6.parse(address);
  const isIsatap = (present(parts[4]) & ~0x0200) === 0 && parts[5] === 0x5efe;
  const result =
    embeddings.find(({ prefix }) => prefix.every((group, i) => parts[i] === group)) ??
    (isIsatap ? { groups: [6, 7] as const, inverted: false } : undefined);
  if (!result) return undefined;
  const [high = 0, low = 0] = result.groups.map((group) => present(parts[group]) ^ (result.inverted ? 0xffff : 0));
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}
