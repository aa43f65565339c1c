import type { Request } from '../../kernel/access/request.ts';
import { textsWithChosen } from '../../kernel/collection/chosen.ts';
import { pageHeaders, pageOf } from '../../kernel/http/page.ts';
import { type Reply, secret } from '../../kernel/http/reply.ts';

/** Returns a page of values from outside of the database, which is never cached. Throws 404. */
export function pageOfValues<T>(request: Request, values: readonly T[], represent: (value: T) => object): Reply {
  const { query, url } = request;
  const page = pageOf(query, values.length);
  const texts = values.slice(page.offset, page.offset + page.size).map((value) => JSON.stringify(represent(value)));
  return secret(`[${textsWithChosen(request, texts).join(',')}]`, pageHeaders(page, values.length, url, query));
}
