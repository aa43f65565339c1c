import type { Context } from '../access/context.ts';
import { raw, sql } from '../db/sql.ts';
import { removeStep } from '../db/writer.ts';
import type { StoredInstants } from '../jobs/clock-watch.ts';

/** Removes the rows of a table whose column `expires` has passed. */
export interface ExpiringRows {
  /** Corrects their expiries after a clock jump. */
  readonly instants: StoredInstants;
  /** Removes all expired rows, so that setting the clock back does not revive them. Must run inside a write. */
  readonly end: (context: Context) => void;
  /** Removes a batch of expired rows. Returns whether the batch was full. Must run inside a write. */
  readonly removeBatch: (context: Context) => boolean;
}

/** Returns the expiry of a table whose rows last `lifetime` microseconds; `key` is its primary key. */
export function expiringRows(table: string, lifetime: number, key = 'id'): ExpiringRows {
  const [rows, id] = [raw(table), raw(key)];
  return {
    instants: { table, column: 'expires', ahead: lifetime },
    end: ({ app: { db }, now }) => void db.run(sql`DELETE FROM ${rows} WHERE expires <= ${now}`),
    removeBatch: ({ app: { db }, now }) =>
      removeStep(
        (limit) =>
          db.run(sql`
            DELETE FROM ${rows} WHERE ${id} IN (
              SELECT ${id} FROM ${rows} WHERE expires <= ${now} ORDER BY expires LIMIT ${limit})`).changes,
      ),
  };
}
