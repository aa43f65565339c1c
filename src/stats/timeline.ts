import type { Request } from '../access/request.ts';
import { day, second } from '../clock.ts';
import type { Endpoint } from '../collection/endpoint.ts';
import { type Filters, oneOf, timestamp } from '../collection/filter.ts';
import { raw, sql } from '../db/sql.ts';
import { invalid } from '../http/error.ts';
import { json } from '../http/reply.ts';
import { type Bucket, type Interval, bucketsOf, intervals } from './buckets.ts';
import { chosenLinks, chosenLinksParameters } from './quota.ts';

/** The quotas of links that a timeline shows, in their order. */
const items = ['vcpu', 'ram', 'storage'] as const;
type Item = (typeof items)[number];

const mostBuckets = 5000;

/** Limit and usage from an instant on. */
interface Version {
  readonly at: number;
  readonly limit: number;
  readonly usage: number;
}

/** The history of one quota of one link, from its creation on. */
interface History {
  readonly item: Item;
  readonly versions: readonly Version[];
}

interface Average {
  /** -1: unlimited at the end. */
  readonly limit: number;
  readonly usage: number;
}

const parameters: Filters = {
  ...chosenLinksParameters,
  from: timestamp('Start; default: a day ago.', () => raw('TRUE')),
  to: timestamp('End; default: now.', () => raw('TRUE')),
  interval: { type: 'string', help: 'Length of a bucket: hour, day (default), week, month.', condition: () => undefined },
  item: oneOf('name', 'Name of a quota; default: vcpu, ram and storage.'),
};

/** GET /api/stats/quota/timeline/: limits and usages over time (events.md 6.3). */
export const quotaTimeline: Endpoint = {
  path: '/api/stats/quota/timeline/',
  name: 'Quota Timeline',
  description: 'Average limits and usages by hour, day, week or month.',
  operations: {
    GET: {
      summary: 'Averages limits and usages over time.',
      who: 'Everybody, over the projects he sees.',
      filters: parameters,
      output: { status: 200, shape: { type: 'array', items: { type: 'object', additionalProperties: { type: 'number' } } } },
      handle: (request) => {
        const buckets = askedBuckets(request);
        const asked = request.query.all('item');
        const chosen = items.filter((item) => asked.length === 0 || asked.includes(item));
        const histories = historiesOf(request, chosen);
        return json(buckets.map((bucket) => row(bucket, histories, chosen, request.now)));
      },
    },
  },
};

function askedBuckets(request: Request): Bucket[] {
  const interval = request.query.one('interval') ?? 'day';
  if (!intervals.includes(interval as Interval)) throw invalid({ interval: [`"${interval}" is not a valid choice.`] });
  const present = Math.floor(request.now / second) * second;
  const from = request.query.timestamp('from') ?? present - day;
  const to = request.query.timestamp('to') ?? present;
  const buckets = bucketsOf(from, to, interval as Interval, mostBuckets);
  if (!buckets) throw invalid({ interval: [`The range holds more than ${mostBuckets} intervals.`] });
  return buckets;
}

function historiesOf(request: Request, chosen: readonly Item[]): History[] {
  const quotas = request.db.all<{ id: number; name: Item; first_at: number; first_limit: number; first_usage: number }>(sql`
    SELECT id, name, first_at, first_limit, first_usage FROM quota
    WHERE scope_kind = 'link' AND scope_id IN (${chosenLinks(request)}) AND name IN (SELECT value FROM json_each(${JSON.stringify(chosen)}))`);
  return quotas.map(({ first_at: at, first_limit: limit, first_usage: usage, id, name }) => ({
    item: name,
    versions: [
      { at, limit, usage },
      ...request.db.all<Version>(sql`SELECT at, "limit", usage FROM quota_version WHERE quota_id = ${id} ORDER BY at`),
    ],
  }));
}

function row(bucket: Bucket, histories: readonly History[], chosen: readonly Item[], now: number): Record<string, number> {
  const values: Record<string, number> = { from: bucket.from / second, to: bucket.to / second };
  for (const item of chosen) {
    const averages = histories.flatMap((history) => (history.item === item ? (averageIn(history.versions, bucket, now) ?? []) : []));
    if (averages.length === 0) continue;
    values[`${item}_limit`] = averages.some(({ limit }) => limit === -1) ? -1 : rounded(averages.reduce((sum, { limit }) => sum + limit, 0));
    values[`${item}_usage`] = rounded(averages.reduce((sum, { usage }) => sum + usage, 0));
  }
  return values;
}

/** The time-weighted average over the part of the bucket in which the quota existed and that is past; undefined without one. */
function averageIn(versions: readonly Version[], bucket: Bucket, now: number): Average | undefined {
  const start = Math.max(bucket.from, (versions[0] as Version).at);
  const end = Math.min(bucket.to, now);
  if (start >= end) return undefined;
  let usage = 0;
  let limit = 0;
  let limited = 0;
  let last = -1;
  versions.forEach((version, i) => {
    const length = Math.min(versions[i + 1]?.at ?? end, end) - Math.max(version.at, start);
    if (length <= 0) return;
    usage += version.usage * length;
    last = version.limit;
    if (version.limit === -1) return;
    limit += version.limit * length;
    limited += length;
  });
  return { usage: usage / (end - start), limit: last === -1 ? -1 : limit / limited };
}

const rounded = (value: number): number => Math.round(value * 100) / 100;
