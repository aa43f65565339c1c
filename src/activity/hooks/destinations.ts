import type { Config } from '../../kernel/config/config.ts';
import { type AddressRule, addressRule, openRule, type PortRule, portRule } from '../../kernel/net/destination.ts';

/** Where users may send to (events.md 5.8). */
export interface Destinations {
  readonly allows: AddressRule;
  readonly allowsPort: PortRule;
  /** Addresses whose answers the delivery log may tell from: what they answer to the server they may answer to anybody. */
  readonly tells: AddressRule;
}

/** The rule for what web hooks name, with the operator's exceptions. */
export const destinationsOf = (config: Config): Destinations => ({
  allows: addressRule(config.hooks_allowed_networks),
  allowsPort: portRule(config.hooks_allowed_ports),
  tells: openRule(config.hooks_allowed_networks),
});
