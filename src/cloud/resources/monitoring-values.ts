import type { Request } from '../../kernel/access/request.ts';
import { sql } from '../../kernel/db/sql.ts';

/** So many values of an item are kept: of one that is told every ten minutes those of a week. */
const keptOfItem = 1000;

/** Keeps a value of a monitoring item, in the place of the oldest where there are too many. Must run inside a write. */
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
      LIMIT 1 OFFSET ${keptOfItem})`);
}

/** Forgets what an item was, which is gone itself. */
export const forgetValues = ({ db }: Request, resource: number, name: string): void =>
  void db.run(sql`DELETE FROM monitoring_value WHERE resource_id = ${resource} AND name = ${name}`);
