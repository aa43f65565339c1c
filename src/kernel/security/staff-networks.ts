/** The networks in which the rights of staff and global support apply (core.md 2.14). */
import { type Caller, seesAll } from '../access/caller.ts';
import type { App } from '../app.ts';
import { memoised } from '../memoised.ts';
import { inNetworks, parseNetworks } from '../net/networks.ts';

/** The message of the 403 for operations of staff outside of their networks. */
export const restrictedText = 'Staff rights do not apply at this address.';

/** Parses the setting once for each deployment. */
const parsed = memoised(parseNetworks);

/** Whether staff rights apply to clients at an address; without the setting staff_networks they apply everywhere. */
export const staffRightsApply = (
  { config: { staff_networks: networks } }: Pick<App, 'config'>,
  address: string,
): boolean => networks.length === 0 || inNetworks(address, parsed(networks));

/** Returns the caller with the rights that apply at an address: outside of the networks, those of staff and global support do not. */
export const restricted = (app: App, caller: Caller, address: string): Caller =>
  !seesAll(caller) || staffRightsApply(app, address)
    ? caller
    : { ...caller, isStaff: false, isSupport: false, isRestricted: true };
