import type { Request } from '../../kernel/access/request.ts';
import { authenticatedOver } from '../../kernel/access/right.ts';
import { visibleCustomers, visibleProjects } from '../../kernel/access/visibility.ts';
import { day, second } from '../../kernel/clock.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { parameter, required } from '../../kernel/collection/filter.ts';
import { raw, sql } from '../../kernel/db/sql.ts';
import { gather, invalid, invalidRequest } from '../../kernel/http/error.ts';
import type { Query } from '../../kernel/http/query.ts';
import { json } from '../../kernel/http/reply.ts';
import { present } from '../../kernel/present.ts';

/** What can be counted: the table, and who sees its rows. */
const counted = {
  customer: { table: 'customer', visible: visibleCustomers },
  project: { table: 'project', visible: visibleProjects },
} as const;

const latest = 253_402_300_799;

/** GET /api/stats/creation-time/: how many objects were created in each part of a range (events.md 6.1). */
export const creationTime: Endpoint = {
  path: '/api/stats/creation-time/',
  name: 'Creation Time Statistics',
  description: 'Counts of created customers or projects over time.',
  operations: {
    GET: {
      summary: 'Counts what was created in each part of a range.',
      allowedFor: authenticatedOver('objects').allowedFor,
      filters: {
        type: required(parameter('string', 'What is counted: customer or project.')),
        from: parameter('integer', 'Start, UNIX timestamp; default: 30 days ago.'),
        to: parameter('integer', 'End, UNIX timestamp; default: now.'),
        datapoints: parameter('integer', 'Number of parts, 1 to 1000; default: 6.'),
      },
      output: {
        status: 200,
        shape: {
          type: 'array',
          items: {
            type: 'object',
            properties: { to: { type: 'integer' }, from: { type: 'integer' }, value: { type: 'integer' } },
          },
        },
      },
      handle: (request) => {
        const { datapoints, from, to, type } = requested(request);
        const borders = Array.from(
          { length: datapoints + 1 },
          (_, i) => from + Math.floor((i * (to - from)) / datapoints),
        );
        const values = new Array<number>(datapoints).fill(0);
        for (const created of creations(request, type, from, to)) {
          const part = partOf(borders, created);
          values[part] = (values[part] ?? 0) + 1;
        }
        return json(values.map((value, i) => ({ to: borders[i + 1], from: borders[i], value })));
      },
    },
  },
};

/** Seconds in which the objects that the caller sees were created, within the range and its last second. */
function creations({ caller, db }: Request, type: keyof typeof counted, from: number, to: number): number[] {
  const { table, visible } = counted[type];
  return db.deferrableValues<number>(sql`SELECT created / ${second} FROM ${raw(table)}
    WHERE created >= ${from * second} AND created < ${(to + 1) * second} AND ${visible(caller, 'id')}`);
}

/** Index of the last part that begins at or before a second; the end of the last part belongs to it. */
function partOf(borders: readonly number[], created: number): number {
  let [low, high] = [0, borders.length - 2];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (present(borders[middle]) <= created) low = middle;
    else high = middle - 1;
  }
  return low;
}

interface Asked {
  readonly type: keyof typeof counted;
  /** Seconds. */
  readonly from: number;
  readonly to: number;
  readonly datapoints: number;
}

/** The parameters. Throws 400 with all that is wrong with them. */
function requested({ now, query }: Request): Asked {
  const present = Math.floor(now / second);
  const [type, from = present - (30 * day) / second, to = present, datapoints = 6] = gather(
    () => askedType(query),
    () => query.integer('from', 0, latest),
    () => query.integer('to', 0, latest),
    () => query.integer('datapoints', 1, 1000),
  );
  if (from >= to) throw invalidRequest('End must occur after start.');
  return { type, from, to, datapoints };
}

function askedType(query: Query): keyof typeof counted {
  const type = query.choice('type', ['customer', 'project']);
  if (type === undefined) throw invalid({ type: ['This field is required.'] });
  return type;
}
