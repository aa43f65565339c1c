import type { Request } from '../../kernel/access/request.ts';
import { authenticatedOver } from '../../kernel/access/right.ts';
import { day, second } from '../../kernel/clock.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { parameter, required } from '../../kernel/collection/filter.ts';
import { raw, sql } from '../../kernel/db/sql.ts';
import { collectErrors, invalid, invalidRequest } from '../../kernel/http/error.ts';
import type { Query } from '../../kernel/http/query.ts';
import { json } from '../../kernel/http/reply.ts';
import { present } from '../../kernel/present.ts';
import { isFindable } from '../scopes/scopes.ts';

/** Kinds of objects to count. */
const kinds = ['customer', 'project'] as const;
type Kind = (typeof kinds)[number];

/** The end of the year 9999. */
const maxTimestamp = 253_402_300_799;

/** GET /api/stats/creation-time/: counts the objects created in each part of a range (events.md 6.1). */
export const creationTime: Endpoint = {
  path: '/api/stats/creation-time/',
  name: 'Creation Time Statistics',
  description: 'Counts of created customers or projects over time.',
  operations: {
    GET: {
      summary: 'Counts the objects created in each part of a range.',
      allowedFor: authenticatedOver('objects').allowedFor,
      filters: {
        type: required(parameter('string', 'Kind of object to count: customer or project.')),
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
        const { datapoints, from, to, type } = parametersOf(request);
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

/** Returns the creation times (seconds) of visible objects in the range, including its last second. */
function creations(request: Request, type: Kind, from: number, to: number): number[] {
  const scope = request.app.scopes.of(type);
  return request.db.deferrableValues<number>(sql`SELECT created / ${second} FROM ${raw(scope.table)}
    WHERE created >= ${from * second} AND created < ${(to + 1) * second} AND ${isFindable(request, scope, 'id')}`);
}

/** Returns the index of the last part that starts at or before a second. The last part includes its end. */
function partOf(borders: readonly number[], created: number): number {
  let [low, high] = [0, borders.length - 2];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (present(borders[middle]) <= created) low = middle;
    else high = middle - 1;
  }
  return low;
}

interface Parameters {
  readonly type: Kind;
  /** Seconds. */
  readonly from: number;
  readonly to: number;
  readonly datapoints: number;
}

/** Parses the parameters. Throws 400 with every invalid one. */
function parametersOf({ now, query }: Request): Parameters {
  const currentSecond = Math.floor(now / second);
  const [type, from = currentSecond - (30 * day) / second, to = currentSecond, datapoints = 6] = collectErrors(
    () => typeOf(query),
    () => query.integer('from', 0, maxTimestamp),
    () => query.integer('to', 0, maxTimestamp),
    () => query.integer('datapoints', 1, 1000),
  );
  if (from >= to) throw invalidRequest('End must occur after start.');
  return { type, from, to, datapoints };
}

function typeOf(query: Query): Kind {
  const type = query.choice('type', kinds);
  if (type === undefined) throw invalid({ type: ['This field is required.'] });
  return type;
}
