import { createHash } from 'node:crypto';
import type { Database } from 'better-sqlite3';

/** The owner of a token. */
export interface Caller {
  readonly id: number;
  readonly uuid: string;
  readonly username: string;
  readonly full_name: string;
  readonly native_name: string;
  readonly is_staff: number;
  readonly is_support: number;
}

export const seesAll = (caller: Caller): boolean => caller.is_staff === 1 || caller.is_support === 1;

export const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest();

interface TokenRow extends Caller {
  readonly last_used: number;
  readonly token_lifetime: number | null;
}

/** Returns the owner of a token; undefined for an unknown, revoked or expired one. */
export function callerFinder(db: Database): (header: string | undefined) => Caller | undefined {
  const find = db.prepare<[Buffer], TokenRow>(`SELECT u.*, t.last_used FROM token t JOIN user u ON u.id = t.user_id
    WHERE t.digest = ? AND t.revoked IS NULL AND u.is_active`);
  return (header) => {
    if (!header?.startsWith('Token ')) return undefined;
    const row = find.get(digestOf(header.slice('Token '.length)));
    if (!row) return undefined;
    const ended = row.token_lifetime !== null && Date.now() * 1000 >= row.last_used + row.token_lifetime * 1_000_000;
    return ended ? undefined : row;
  };
}
