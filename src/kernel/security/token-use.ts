import type { CallerRow } from '../access/caller.ts';
import { minute, second } from '../clock.ts';
import type { Database } from '../db/database.ts';
import { sql } from '../db/sql.ts';

declare module '../app.ts' {
  interface App {
    readonly tokenUse: TokenUse;
  }
}

const savedEvery = minute;
/** Age at which the timer stores uses. */
export const useSavedWithin = savedEvery + 10 * second;

/** The last use of every token, exact in memory but stored with a delay, so that reads do not write. */
export class TokenUse {
  readonly #uses = new Map<number, { last: number; since: number }>();

  /** The later of the stored last use and the one in memory. */
  lastUse(token: number, stored: number): number {
    return Math.max(stored, this.#uses.get(token)?.last ?? 0);
  }

  /** Records a use. */
  note(token: number, now: number): void {
    const use = this.#uses.get(token);
    if (use) use.last = now;
    else this.#uses.set(token, { last: now, since: now });
  }

  /** Stores uses that have been in memory for a minute at `now`; without it, all uses. Must run inside a write. */
  save(db: Database, now = Number.POSITIVE_INFINITY): void {
    for (const [token, use] of this.#uses) {
      if (now - use.since < savedEvery) continue;
      db.run(sql`UPDATE token SET last_used = ${use.last} WHERE id = ${token}`);
      this.#uses.delete(token);
    }
  }

  /** Whether `save` has anything to write. */
  isDue(now: number): boolean {
    for (const use of this.#uses.values()) if (now - use.since >= savedEvery) return true;
    return false;
  }
}

/** A token with its owner. */
export interface TokenRow extends CallerRow {
  readonly token_id: number;
  readonly credential: string;
  readonly last_used: number;
  /** The session ends at this time even if it is in use. */
  readonly ends: number | null;
  readonly revoked: number | null;
  readonly token_lifetime: number | null;
  readonly is_active: number;
  /** The session of the staff user who impersonates the owner; null for the owner's own sessions. */
  readonly creator: TokenRow | null;
  /** How the session started; null for sessions from before this was stored. */
  readonly method: string | null;
  /** Whether the user has a second factor. */
  readonly has_factor: number;
}
