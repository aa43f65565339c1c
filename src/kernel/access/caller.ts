import type { App } from '../app.ts';
import { raw, type Sql, sql } from '../db/sql.ts';
import { memoised } from '../memoised.ts';
import { inNetworks, parseNetworks } from '../net/networks.ts';
import { type ApiKey, closedText, impersonatedText } from './api-key.ts';

/** The acting user as shown in events. */
export interface Actor {
  readonly uuid: string;
  readonly username: string;
  readonly fullName: string;
  readonly nativeName: string;
}

/** The authenticated user of a request. */
export interface Caller extends Actor {
  /** The id with the caller's roles: of the user, or the negated id of a bound API key (core.md 2.10). */
  readonly id: number;
  /** The id of the user, for objects that they own or created. */
  readonly userId: number;
  readonly isStaff: boolean;
  readonly isSupport: boolean;
  readonly isServiceAccount: boolean;
  /** Whether staff or global support rights of the user do not apply at this address (core.md 2.14). */
  readonly isRestricted: boolean;
  /** Whether the session can only be used to set up a second factor (core.md 2.11). */
  readonly mustEnrol: boolean;
  /** The id of the session's row; null for an API key. */
  readonly tokenId: number | null;
  /** The text of the token or API key. */
  readonly token: string;
  /** The API key; null for a session. */
  readonly apiKey: ApiKey | null;
  /** The uuid of the session or API key. */
  readonly credential: string;
  /** The staff user who impersonates this user; null in the user's own sessions. */
  readonly impersonator: Actor | null;
}

/** The columns of a user that make up a caller. */
export interface CallerRow {
  readonly id: number;
  readonly uuid: string;
  readonly username: string;
  readonly full_name: string;
  readonly native_name: string;
  readonly is_staff: number;
  readonly is_support: number;
  readonly is_service_account: number;
}

/** Selects the columns of a caller from `user u`. */
export const callerColumns: Sql = raw(
  'u.id, u.uuid, u.username, u.full_name, u.native_name, u.is_staff, u.is_support, u.is_service_account',
);

/** Converts the row of a user to an actor. */
export const actorOfRow = (row: CallerRow): Actor => ({
  uuid: row.uuid,
  username: row.username,
  fullName: row.full_name,
  nativeName: row.native_name,
});

/** Converts the row of a user to a caller with a credential. */
export const callerOf = (
  row: CallerRow,
  credential: Pick<Caller, 'tokenId' | 'token' | 'apiKey' | 'credential' | 'impersonator'>,
): Caller => ({
  id: row.id,
  userId: row.id,
  ...actorOfRow(row),
  isStaff: row.is_staff === 1,
  isSupport: row.is_support === 1,
  isServiceAccount: row.is_service_account === 1,
  isRestricted: false,
  mustEnrol: false,
  ...credential,
});

/** Returns why operations that require the user in person are closed to a caller; undefined in the user's own sessions. */
export const closedReason = ({ apiKey, impersonator }: Pick<Caller, 'apiKey' | 'impersonator'>): string | undefined =>
  apiKey ? closedText : impersonator ? impersonatedText : undefined;

/** Whether the caller sees every object: staff and global support. */
export const seesAll = (caller: Caller): boolean => caller.isStaff || caller.isSupport;

/** Whether the caller is staff. */
export const isStaff = (caller: Caller): boolean => caller.isStaff;

/** The caller's id as SQL. */
export const callerId = (caller: Pick<Caller, 'id'>): Sql => sql`${caller.id}`;

/** The uuid that makes events the caller's own; none for a bound API key, which sees only events of its objects. */
export const personalUuid = ({ apiKey, uuid }: Caller): string => (apiKey?.isBound ? '' : uuid);

/* The networks in which the rights of staff and global support apply (core.md 2.14). */

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
