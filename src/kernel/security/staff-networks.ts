/** The networks in which the rights of staff and global support apply (core.md 2.14). */
import { type Caller, seesAll } from '../access/caller.ts';
import type { App } from '../app.ts';
import { memoised } from '../memoised.ts';
import { inNetworks, parseNetworks } from '../net/networks.ts';

/** The 403 message for staff operations outside of staff_networks. */
export const restrictedText = 'Staff rights do not apply at this address.';

/** Parses the setting once per deployment. */
const parsed = memoised(parseNetworks);

/** Whether staff rights apply at an address. Without staff_networks, they apply everywhere. */
export const staffRightsApply = (
  { config: { staff_networks: networks } }: Pick<App, 'config'>,
  address: string,
): boolean => networks.length === 0 || inNetworks(address, parsed(networks));

/** Returns the caller with the rights that apply at an address. Staff and global support lose theirs outside staff_networks. */
export const restricted = (app: App, caller: Caller, address: string): Caller =>
  !seesAll(caller) || staffRightsApply(app, address)
    ? caller
    : { ...caller, isStaff: false, isSupport: false, isRestricted: true };
