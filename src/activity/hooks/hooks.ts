import type { Request } from '../../kernel/access/request.ts';
import { day, isoTime } from '../../kernel/clock.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { objectShape } from '../../kernel/collection/field.ts';
import { type Filters, parameter } from '../../kernel/collection/filter.ts';
import { textsOfKinds } from '../../kernel/collection/representation.ts';
import { rowPage } from '../../kernel/collection/row-page.ts';
import { any, join, raw, sql } from '../../kernel/db/sql.ts';
import { collectErrors, invalidRequest } from '../../kernel/http/error.ts';
import { document, json, type Reply } from '../../kernel/http/reply.ts';
import { present } from '../../kernel/present.ts';
import { deliveryStatuses } from './deliveries.ts';
import { visibleHooks } from './hook.ts';
import { emailHooks } from './hooks-email.ts';
import { pushHooks } from './hooks-push.ts';
import { webHooks } from './hooks-web.ts';

/** In the order of the list. */
const kinds = [webHooks, pushHooks, emailHooks];
const rank = raw("CASE h.kind WHEN 'web' THEN 0 WHEN 'push' THEN 1 ELSE 2 END");

/** Names of the fields that any kind of hook has. */
const memberNames = (): string[] => kinds.flatMap(({ shape }) => Object.keys(shape.properties ?? {}));

/** Reads a page of the hooks that the caller sees. Each kind evaluates only its own filters. Throws 400, 404. */
function readPage(request: Request) {
  const conditions = collectErrors(
    ...kinds.map(
      ({ listing, spec }) =>
        () =>
          listing.condition(request, [spec.visible.condition(request.caller, request.config)]),
    ),
  );
  return rowPage<{ id: number; rank: number }>(
    request,
    sql`h.id, ${rank} AS rank`,
    sql`FROM hook h WHERE ${any(conditions)}`,
    raw('rank, h.id'),
  );
}

/** Responds with a page of hooks of every kind, each in the representation of its kind. */
function listHooks(request: Request): Reply {
  const { headers, rows } = readPage(request);
  const texts = textsOfKinds(request, memberNames, (requested) =>
    kinds.flatMap(({ listing }, kind) =>
      listing.represent(
        requested,
        rows.filter((row) => row.rank === kind).map((row) => row.id),
      ),
    ),
  );
  return document(`[${texts.join(',')}]`, headers);
}

/** Default length of the counted period. */
const defaultPeriod = 7 * day;

/** Parses the period into instants. Throws 400 with every error. */
function readPeriod({ now, query }: Request): { from: number; to: number } {
  const { from = now - defaultPeriod, to = now + 1 } = query.range('from', 'to');
  if (from >= to) throw invalidRequest('End must occur after start.');
  return { from, to };
}

/** Counts the deliveries of a page of hooks that were queued in a period, by current status. */
function countDeliveries(request: Request): Reply {
  const { base, db } = request;
  const { from, to } = readPeriod(request);
  const { headers, rows } = readPage(request);
  const counts = db.deferrableAll<
    Record<(typeof deliveryStatuses)[number], number> & { uuid: string; last: number | null }
  >(sql`
    SELECT h.uuid, ${join(
      deliveryStatuses.map((status) => sql`count(*) FILTER (WHERE d.status = ${status}) AS ${raw(status)}`),
      ', ',
    )},
      max(d.finished) FILTER (WHERE d.status = 'delivered') AS last
    FROM json_each(${JSON.stringify(rows.map(({ id }) => id))}) page
    CROSS JOIN hook h ON h.id = page.value
    LEFT JOIN delivery d ON d.hook_id = h.id AND d.created >= ${from} AND d.created < ${to}
    GROUP BY page.key ORDER BY page.key`);
  return json(
    counts.map(({ last, uuid, ...numbers }, index) => {
      const { spec } = present(kinds[present(rows[index]).rank]);
      return {
        url: `${base}/api/${spec.path}/${uuid}/`,
        uuid,
        ...numbers,
        last_delivered: last === null ? null : isoTime(last),
      };
    }),
    200,
    headers,
  );
}

const filters: Filters = Object.fromEntries(kinds.flatMap(({ spec }) => Object.entries(spec.filters)));

/** GET /api/hooks/: web, then push, then email hooks. */
const hookList: Endpoint = {
  path: '/api/hooks/',
  name: 'Hook List',
  description: 'Hooks of every kind: web, then push, then email.',
  operations: {
    GET: {
      summary: 'Lists the hooks of every kind that the caller sees.',
      allowedFor: visibleHooks.allowedFor,
      filters,
      paginated: true,
      output: { status: 200, shape: { type: 'array', items: { oneOf: kinds.map((kind) => kind.shape) } } },
      handle: listHooks,
    },
  },
};

/** GET /api/hooks/stats/: counts of deliveries (events.md 5.9). */
const deliveryCounts: Endpoint = {
  path: '/api/hooks/stats/',
  name: 'Hook Statistics',
  description: 'Counts of the deliveries of hooks of every kind.',
  operations: {
    GET: {
      summary: 'Counts the deliveries of a period by status, for each hook of a page of the list of hooks.',
      allowedFor: visibleHooks.allowedFor,
      filters: {
        ...filters,
        from: parameter('integer', 'Start of the period, UNIX timestamp; default: 7 days ago.'),
        to: parameter('integer', 'End of the period, UNIX timestamp; default: now.'),
      },
      paginated: true,
      output: {
        status: 200,
        shape: {
          type: 'array',
          items: objectShape({
            url: { type: 'string', format: 'uri' },
            uuid: { type: 'string' },
            ...Object.fromEntries(deliveryStatuses.map((status) => [status, { type: 'integer' }])),
            last_delivered: { type: ['string', 'null'], format: 'date-time' },
          }),
        },
      },
      handle: countDeliveries,
    },
  },
};

export const hookEndpoints: readonly Endpoint[] = [hookList, deliveryCounts];
