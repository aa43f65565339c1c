import type { Sql } from '../db/sql.ts';
import { sql } from '../db/sql.ts';
import type { ApiKey } from './api-key.ts';

/** The user who acts, as events show them. */
export interface Actor {
  readonly uuid: string;
  readonly username: string;
  readonly fullName: string;
  readonly nativeName: string;
}

/** The authenticated user of a request. */
export interface Caller extends Actor {
  readonly id: number;
  readonly isStaff: boolean;
  readonly isSupport: boolean;
  /** The id of the session's row; null for an API key. */
  readonly tokenId: number | null;
  /** The text of the token or API key. */
  readonly token: string;
  /** Null for a session. */
  readonly apiKey: ApiKey | null;
}

/** Staff and global support see every object. */
export const seesAll = (caller: Caller): boolean => caller.isStaff || caller.isSupport;

/** Whether the caller is staff. */
export const isStaff = (caller: Caller): boolean => caller.isStaff;

/** The caller's id as SQL. */
export const callerId = (caller: Caller): Sql => sql`${caller.id}`;
