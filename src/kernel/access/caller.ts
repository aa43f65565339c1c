import type { Sql } from '../db/sql.ts';
import { sql } from '../db/sql.ts';

/** Who does something, as events tell it. */
export interface Actor {
  readonly uuid: string;
  readonly username: string;
  readonly fullName: string;
  readonly nativeName: string;
}

/** An authenticated user, as far as rights and events need to know them. */
export interface Caller extends Actor {
  readonly id: number;
  readonly isStaff: boolean;
  readonly isSupport: boolean;
  /** The token of this request: its row, and the text presented. */
  readonly tokenId: number;
  readonly token: string;
}

/** Staff and global support see every object. */
export const seesAll = (caller: Caller): boolean => caller.isStaff || caller.isSupport;

/** Whether the caller is staff: the right that most writes ask for. */
export const isStaff = (caller: Caller): boolean => caller.isStaff;

/** The caller's id as a piece of SQL. */
export const callerId = (caller: Caller): Sql => sql`${caller.id}`;
