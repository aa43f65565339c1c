import type { Config } from '../../kernel/config/config.ts';
import { type AddressRule, addressRule, openRule, type PortRule, portRule } from '../../kernel/net/destination.ts';

/** The destinations that hooks of users may have (events.md 5.8). */
export interface Destinations {
  readonly allows: AddressRule;
  readonly allowsPort: PortRule;
  /** Addresses whose responses the delivery log may show: those that any client could get. */
  readonly mayReveal: AddressRule;
}

/** Returns the rules for web hooks, with the operator's exceptions. */
export const destinationsOf = (config: Config): Destinations => ({
  allows: addressRule(config.hooks_allowed_networks),
  allowsPort: portRule(config.hooks_allowed_ports),
  mayReveal: openRule(config.hooks_allowed_networks),
});
