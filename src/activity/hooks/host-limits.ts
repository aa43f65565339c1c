/** How much is sent to one host at a time, whoever the hooks are of (events.md 5.5 "Hosts"). */
import ipaddr from 'ipaddr.js';
import type { Config } from '../../kernel/config/config.ts';
import { hostOf, judgedAddress } from '../../kernel/net/destination.ts';
import { inNetworks, parseNetworks } from '../../kernel/net/networks.ts';
import type { Resolver } from '../../kernel/net/resolver.ts';
import { type ConcurrencyLimit, concurrencyLimit } from '../../kernel/outbox/delivery-worker.ts';
import { Rate } from '../../kernel/outbox/rate.ts';

const atOnce = 20;
const perSecond = 200;
/** Beyond so many hosts, those that nothing is sent to are forgotten. */
const keptHosts = 1000;

/** The limits of the hosts that hooks name. Those in networks that the operator allows are the operator's own, and have none. */
export class HostLimits {
  readonly #allowed: ReturnType<typeof parseNetworks>;
  readonly #limits = new Map<string, ConcurrencyLimit>();
  /** Names that were last found to be in allowed networks. */
  readonly #own = new Set<string>();
  /** Finds addresses, and notes which names are the operator's own. */
  readonly resolve: Resolver;

  constructor({ hooks_allowed_networks: networks }: Pick<Config, 'hooks_allowed_networks'>, resolve: Resolver) {
    this.#allowed = parseNetworks(networks);
    this.resolve = (hostname, callback) =>
      resolve(hostname, (error, addresses) => {
        this.#note(hostname, !error && addresses.map(({ address }) => address));
        callback(error, addresses);
      });
  }

  /** The limit of the host of a URL; undefined: none. */
  of(url: string): ConcurrencyLimit | undefined {
    const named = hostOf(new URL(url));
    const isAddress = ipaddr.isValid(named);
    const host = isAddress ? judgedAddress(named) : named;
    if (isAddress ? inNetworks(host, this.#allowed) : this.#own.has(host)) return undefined;
    const known = this.#limits.get(host);
    if (known) return known;
    if (this.#limits.size >= keptHosts) this.#forgetIdle();
    const made = { ...concurrencyLimit(atOnce), rate: new Rate(perSecond) };
    this.#limits.set(host, made);
    return made;
  }

  #note(hostname: string, addresses: readonly string[] | false): void {
    const host = hostname.toLowerCase().replace(/\.$/, '');
    const isOwn =
      addresses !== false &&
      addresses.length > 0 &&
      addresses.every((address) => inNetworks(judgedAddress(address), this.#allowed));
    if (isOwn && this.#own.size < keptHosts) this.#own.add(host);
    else this.#own.delete(host);
  }

  #forgetIdle(): void {
    const now = performance.now();
    for (const [host, { rate, running, waiting }] of this.#limits)
      if (running === 0 && waiting.size === 0 && rate?.free(now) === perSecond) this.#limits.delete(host);
  }
}
