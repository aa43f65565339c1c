import type { Request } from '../access/request.ts';
import { type Sql, sql } from '../db/sql.ts';
import { pageHeaders, pageOf } from '../http/query.ts';

/** A page of rows, and its paging headers. */
interface RowPage<Row> {
  readonly rows: readonly Row[];
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Reads a page of a query, for lists without a `Listing`: `from` has the tables and conditions, `order` the terms of an order
 * without ties. Throws 404, DeferredRead.
 */
export function rowPage<Row>(request: Request, columns: Sql, from: Sql, order: Sql): RowPage<Row> {
  const { db, query, url } = request;
  const total = db.count(sql`SELECT count(*) ${from}`);
  const page = pageOf(query, total);
  const rows = db.deferrableAll<Row>(
    sql`SELECT ${columns} ${from} ORDER BY ${order} LIMIT ${page.size} OFFSET ${page.offset}`,
  );
  return { rows, headers: pageHeaders(page, total, url, query) };
}
