/** Limits deliveries to one host, across the hooks of all users (events.md 5.5 "Hosts"). */
import ipaddr from 'ipaddr.js';
import type { Config } from '../../kernel/config/config.ts';
import { checkedAddress } from '../../kernel/net/destination.ts';
import { inNetworks, parseNetworks } from '../../kernel/net/networks.ts';
import type { Resolver } from '../../kernel/net/resolver.ts';
import { type ConcurrencyLimit, concurrencyLimit, Rate } from '../../kernel/outbox/delivery-worker.ts';
import { hostOf } from '../../kernel/url.ts';

const maxConcurrent = 20;
const maxPerSecond = 200;
/** Above this number, evict limits of idle hosts. */
const maxHosts = 1000;

/** Limits per host. Hosts in networks that the operator allows have no limit. */
export class HostLimits {
  readonly #allowed: ReturnType<typeof parseNetworks>;
  readonly #limits = new Map<string, ConcurrencyLimit>();
  /** Host names that last resolved to allowed networks. */
  readonly #allowedHosts = new Set<string>();
  /** Resolves names, and records which of them are in allowed networks. */
  readonly resolve: Resolver;

  constructor({ hooks_allowed_networks: networks }: Pick<Config, 'hooks_allowed_networks'>, resolve: Resolver) {
    this.#allowed = parseNetworks(networks);
    this.resolve = (hostname, callback) =>
      resolve(hostname, (error, addresses) => {
        this.#note(hostname, !error && addresses.map(({ address }) => address));
        callback(error, addresses);
      });
  }

  /** Returns the limit of the host of a URL; undefined if it has none. */
  of(url: string): ConcurrencyLimit | undefined {
    const named = hostOf(new URL(url));
    const isAddress = ipaddr.isValid(named);
    const host = isAddress ? checkedAddress(named) : named;
    if (isAddress ? inNetworks(host, this.#allowed) : this.#allowedHosts.has(host)) return undefined;
    const known = this.#limits.get(host);
    if (known) return known;
    if (this.#limits.size >= maxHosts) this.#evictIdle();
    const limit = { ...concurrencyLimit(maxConcurrent), rate: new Rate(maxPerSecond) };
    this.#limits.set(host, limit);
    return limit;
  }

  #note(hostname: string, addresses: readonly string[] | false): void {
    const host = hostname.toLowerCase().replace(/\.$/, '');
    const isAllowed =
      addresses !== false &&
      addresses.length > 0 &&
      addresses.every((address) => inNetworks(checkedAddress(address), this.#allowed));
    if (isAllowed && this.#allowedHosts.size < maxHosts) this.#allowedHosts.add(host);
    else this.#allowedHosts.delete(host);
  }

  #evictIdle(): void {
    const now = performance.now();
    for (const [host, { rate, running, waiting }] of this.#limits)
      if (running === 0 && waiting.size === 0 && rate?.free(now) === maxPerSecond) this.#limits.delete(host);
  }
}
