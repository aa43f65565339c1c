import type { Request } from '../../kernel/access/request.ts';
import { textsOfKinds } from '../../kernel/collection/chosen.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { any, raw, sql } from '../../kernel/db/sql.ts';
import { gather } from '../../kernel/http/error.ts';
import { pageHeaders, pageOf } from '../../kernel/http/page.ts';
import { document, type Reply } from '../../kernel/http/reply.ts';
import { visibleHooks } from './hook.ts';
import { emailHooks } from './hooks-email.ts';
import { pushHooks } from './hooks-push.ts';
import { webHooks } from './hooks-web.ts';

/** In the order of the list. */
const kinds = [webHooks, pushHooks, emailHooks];
const rank = raw("CASE h.kind WHEN 'web' THEN 0 WHEN 'push' THEN 1 ELSE 2 END");

/** What hooks of any kind show. */
const memberNames = (): string[] => kinds.flatMap(({ shape }) => Object.keys(shape.properties ?? {}));

/** A page of all hooks the caller sees, each in the representation of its kind; a kind heeds its own filters only. */
function list(request: Request): Reply {
  const { db, query } = request;
  const conditions = gather(
    ...kinds.map(
      ({ listing, spec }) =>
        () =>
          listing.condition(request, [spec.visible.condition(request.caller, request.config)]),
    ),
  );
  const from = sql`FROM hook h WHERE ${any(conditions)}`;
  const total = db.count(sql`SELECT count(*) ${from}`);
  const page = pageOf(query, total);
  const rows = db.deferrableAll<{ id: number; rank: number }>(sql`
    SELECT h.id, ${rank} AS rank ${from}
    ORDER BY rank, h.id
    LIMIT ${page.size} OFFSET ${page.offset}`);
  const texts = textsOfKinds(request, memberNames, (asked) =>
    kinds.flatMap(({ listing }, kind) =>
      listing.represent(
        asked,
        rows.filter((row) => row.rank === kind).map((row) => row.id),
      ),
    ),
  );
  return document(`[${texts.join(',')}]`, pageHeaders(page, total, request.url, query));
}

/** GET /api/hooks/: web, then push, then email hooks. */
export const hooks: Endpoint = {
  path: '/api/hooks/',
  name: 'Hook List',
  description: 'Hooks of every kind: web, then push, then email.',
  operations: {
    GET: {
      summary: 'Lists the hooks of every kind that the caller sees.',
      allowedFor: visibleHooks.allowedFor,
      filters: Object.fromEntries(kinds.flatMap(({ spec }) => Object.entries(spec.filters))),
      paginated: true,
      output: { status: 200, shape: { type: 'array', items: { oneOf: kinds.map((kind) => kind.shape) } } },
      handle: list,
    },
  },
};
