import type { Request } from '../../kernel/access/request.ts';
import { textsWithChosen } from '../../kernel/collection/chosen.ts';
import { pageHeaders, pageOf } from '../../kernel/http/page.ts';
import { type Reply, secret } from '../../kernel/http/reply.ts';

/** A page of values that are in no database, so that nothing tells when they change. Throws 404. */
export function pageOfValues<T>(request: Request, values: readonly T[], represent: (value: T) => object): Reply {
  const { query, url } = request;
  const page = pageOf(query, values.length);
  const shown = values.slice(page.offset, page.offset + page.size).map((value) => JSON.stringify(represent(value)));
  return secret(`[${textsWithChosen(request, shown).join(',')}]`, pageHeaders(page, values.length, url, query));
}
