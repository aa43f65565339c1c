import type { Context } from '../../kernel/access/context.ts';
import type { Database } from '../../kernel/db/database.ts';
import { among, sql } from '../../kernel/db/sql.ts';
import { removeStep } from '../../kernel/db/writer.ts';

/**
 * Removes a batch of deliveries that finished longer than hook_delivery_retention ago. Returns whether the batch was full.
 */
export function removeOldDeliveries({ app: { config, db }, now }: Context): boolean {
  return removeStep((limit) => {
    const old = db.values<number>(sql`
      SELECT id FROM delivery
      WHERE finished < ${now - config.hook_delivery_retention}
      ORDER BY finished
      LIMIT ${limit}`);
    return remove(db, old);
  });
}

/** Removes a batch of deliveries of deleted hooks. Returns whether there may be more. */
export function removeLeftDeliveries({ app: { db } }: Context): boolean {
  const hook = db.value<number>(sql`SELECT id FROM removed_hook LIMIT 1`);
  if (hook === undefined) return false;
  const isMore = removeStep((limit) =>
    remove(db, db.values(sql`SELECT id FROM delivery WHERE hook_id = ${hook} LIMIT ${limit}`)),
  );
  if (!isMore) db.run(sql`DELETE FROM removed_hook WHERE id = ${hook}`);
  return true;
}

/** Removes deliveries and returns their number. */
function remove(db: Database, deliveries: readonly number[]): number {
  if (deliveries.length > 0) db.run(sql`DELETE FROM delivery WHERE ${among('id', deliveries)}`);
  return deliveries.length;
}
