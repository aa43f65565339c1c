import type { Context } from '../access/deployment.ts';
import type { Database } from '../db/database.ts';
import { among, sql } from '../db/sql.ts';

/** So many rows are removed in one step, which takes a few milliseconds. */
const removedAtOnce = 500;

/** Removes a bounded number of the deliveries that finished longer ago than the setting hook_delivery_retention. */
export function removeOldDeliveries({ deployment: { config, db }, now }: Context): void {
  remove(db, db.values(sql`SELECT id FROM delivery WHERE finished < ${now - config.hook_delivery_retention} ORDER BY finished LIMIT ${removedAtOnce}`));
}

/** Removes a bounded number of the deliveries that deleted hooks have left behind. */
export function removeLeftDeliveries({ deployment: { db } }: Context): void {
  const hook = db.value<number>(sql`SELECT id FROM removed_hook LIMIT 1`);
  if (hook === undefined) return;
  const left = db.values<number>(sql`SELECT id FROM delivery WHERE hook_id = ${hook} LIMIT ${removedAtOnce}`);
  remove(db, left);
  if (left.length < removedAtOnce) db.run(sql`DELETE FROM removed_hook WHERE id = ${hook}`);
}

function remove(db: Database, deliveries: readonly number[]): void {
  if (deliveries.length > 0) db.run(sql`DELETE FROM delivery WHERE ${among('id', deliveries)}`);
}
