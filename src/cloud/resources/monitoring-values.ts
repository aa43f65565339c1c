import type { Request } from '../../kernel/access/request.ts';
import { sql } from '../../kernel/db/sql.ts';

/** Number of stored values per item: a week of values reported every ten minutes. */
const maxValuesPerItem = 1000;

/** Stores a value of a monitoring item; replaces the oldest at the limit. Must run in a write transaction. */
export function keepValue({ db, now }: Request, resource: number, name: string, value: number): void {
  db.run(sql`
    INSERT OR REPLACE INTO monitoring_value (resource_id, name, at, value)
    VALUES (${resource}, ${name}, ${now}, ${value})`);
  db.run(sql`
    DELETE FROM monitoring_value
    WHERE resource_id = ${resource} AND name = ${name} AND at <= (
      SELECT at FROM monitoring_value
      WHERE resource_id = ${resource} AND name = ${name}
      ORDER BY at DESC
      LIMIT 1 OFFSET ${maxValuesPerItem})`);
}

/** Forgets what an item was, which is gone itself. */
export const forgetValues = ({ db }: Request, resource: number, name: string): void =>
  void db.run(sql`DELETE FROM monitoring_value WHERE resource_id = ${resource} AND name = ${name}`);
