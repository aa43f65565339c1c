import type { Request } from '../access/request.ts';
import { raw, type Sql, sql } from '../db/sql.ts';
import type { Row } from './row.ts';

/** Where the rows of a collection are. */
interface Place {
  readonly table: string;
  readonly alias: string;
}

/** What a row is looked up by. */
type Named = { readonly id: number } | { readonly uuid: string };

/** The row with an id or a uuid, if it fulfils the condition. See src/decisions/caching.md. */
export function seek<R extends Row>(
  { app, db }: Request,
  { alias: name, table }: Place,
  named: Named,
  visible: Sql,
): R | undefined {
  const alias = raw(name);
  const row = (condition: Sql): R | undefined =>
    db.get<R>(sql`SELECT ${alias}.* FROM ${raw(table)} ${alias} WHERE ${condition} AND (${visible})`);
  if ('id' in named) return row(sql`${alias}.id = ${named.id}`);
  const { ids } = app.objectCaches;
  const { uuid } = named;
  const known = ids.get(uuid);
  // Its id leads straight to the row; the index of UUIDs would read pages of a large table that no other request has read recently.
  const result = known === undefined ? undefined : row(sql`${alias}.id = ${known} AND +${alias}.uuid = ${uuid}`);
  if (result) return result;
  const searched = row(sql`${alias}.uuid = ${uuid}`);
  if (searched) ids.set(uuid, searched.id);
  return searched;
}
