/** Shared code of the endpoints in this folder: rights, and pages of values that are not in the database. */
import { seesAll } from '../../kernel/access/caller.ts';
import type { Request } from '../../kernel/access/request.ts';
import { operators, staff, visibleTo } from '../../kernel/access/right.ts';
import { textsWithChosen } from '../../kernel/collection/representation.ts';
import { raw } from '../../kernel/db/sql.ts';
import { pageHeaders, pageOf } from '../../kernel/http/query.ts';
import { type Reply, secret } from '../../kernel/http/reply.ts';

/** The right of operators as a condition on rows. */
export const visibleToOperators = visibleTo(operators.words, (caller) => raw(seesAll(caller) ? 'TRUE' : 'FALSE'));

/** Throws 403. */
export const requireStaff = (request: Request): void => staff.require(request, undefined);

/** Returns an uncached page of values that are not in the database. Throws 404. */
export function pageOfValues<T>(request: Request, values: readonly T[], represent: (value: T) => object): Reply {
  const { query, url } = request;
  const page = pageOf(query, values.length);
  const texts = values.slice(page.offset, page.offset + page.size).map((value) => JSON.stringify(represent(value)));
  return secret(`[${textsWithChosen(request, texts).join(',')}]`, pageHeaders(page, values.length, url, query));
}
