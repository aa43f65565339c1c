import type { Request } from '../../kernel/access/request.ts';
import { authenticatedOver } from '../../kernel/access/right.ts';
import { day, second } from '../../kernel/clock.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { type Filters, oneOf, timestamp } from '../../kernel/collection/filter.ts';
import { among, raw, type Sql, sql } from '../../kernel/db/sql.ts';
import { collectErrors, invalid } from '../../kernel/http/error.ts';
import { json } from '../../kernel/http/reply.ts';
import { present } from '../../kernel/present.ts';
import { type Bucket, bucketsOf, intervals } from './buckets.ts';
import { linkParameters, selectedLinks } from './quota.ts';

/** The quotas of links in a timeline, in this order. */
const items = ['vcpu', 'ram', 'storage'] as const;
type Item = (typeof items)[number];

const maxBuckets = 5000;

/** Limit and usage as of a point in time. */
interface Version {
  readonly at: number;
  readonly limit: number;
  readonly usage: number;
}

/** The history of a link's quota since its creation. */
interface History {
  readonly item: Item;
  readonly versions: readonly Version[];
}

/** A link's average over a bucket, or the sum of all links' averages. */
interface Level {
  /** -1 for unlimited at the end of the bucket; in a sum, if any link is unlimited. */
  readonly limit: number;
  readonly usage: number;
}

/** The sums of an item by bucket index; undefined where no quota with this name existed. */
type Levels = (Level | undefined)[];

const parameters: Filters = {
  ...linkParameters,
  from: timestamp('Start; default: a day ago.', () => raw('TRUE')),
  to: timestamp('End; default: now.', () => raw('TRUE')),
  interval: {
    type: 'string',
    help: 'Length of a bucket: hour, day (default), week, month.',
    condition: () => undefined,
  },
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
      allowedFor: authenticatedOver('projects').allowedFor,
      filters: parameters,
      output: {
        status: 200,
        shape: { type: 'array', items: { type: 'object', additionalProperties: { type: 'number' } } },
      },
      handle: (request) => {
        const [buckets, links] = collectErrors(
          () => bucketsOfRequest(request),
          () => selectedLinks(request),
        );
        const requested = request.query.all('item');
        const chosen = items.filter((item) => requested.length === 0 || requested.includes(item));
        const levels = new Map<Item, Levels>();
        for (const { item, versions } of historiesOf(request, links, chosen, buckets)) {
          levels.set(item, addAverages(levels.get(item) ?? [], versions, buckets, request.now));
        }
        return json(
          buckets.map((bucket, i) => ({ from: bucket.from / second, to: bucket.to / second, ...valuesOf(levels, i) })),
        );
      },
    },
  },
};

function bucketsOfRequest(request: Request): Bucket[] {
  const { now, query } = request;
  const currentSecond = Math.floor(now / second) * second;
  const [interval = 'day', from = currentSecond - day, to = currentSecond] = collectErrors(
    () => query.choice('interval', intervals),
    () => query.timestamp('from'),
    () => query.timestamp('to'),
  );
  const buckets = bucketsOf(from, to, interval, maxBuckets);
  if (!buckets) throw invalid({ interval: [`The range holds more than ${maxBuckets} intervals.`] });
  return buckets;
}

/** Loads the histories of the selected quotas, as far as the buckets need them. */
function historiesOf(request: Request, links: Sql, chosen: readonly Item[], buckets: readonly Bucket[]): History[] {
  const quotas = request.db.deferrableAll<{
    id: number;
    name: Item;
    first_at: number;
    first_limit: number;
    first_usage: number;
  }>(sql`
    SELECT id, name, first_at, first_limit, first_usage FROM quota
    WHERE scope_kind = 'link' AND scope_id IN (${links}) AND ${among('name', chosen)}`);
  const [from, to] = [buckets[0]?.from ?? 0, buckets.at(-1)?.to ?? 0];
  return quotas.map(({ first_at: at, first_limit: limit, first_usage: usage, id, name }) => ({
    item: name,
    versions: [
      { at, limit, usage },
      ...request.db.deferrableAll<Version>(sql`SELECT at, "limit", usage FROM quota_version WHERE quota_id = ${id} AND at < ${to}
        AND at >= ifnull((SELECT max(at) FROM quota_version WHERE quota_id = ${id} AND at <= ${from}), 0) ORDER BY at`),
    ],
  }));
}

/** Adds the averages of one quota to the sums, in one pass over its versions. */
function addAverages(levels: Levels, versions: readonly Version[], buckets: readonly Bucket[], now: number): Levels {
  let current = 0;
  return buckets.map((bucket, i) => {
    while ((versions[current + 1]?.at ?? Number.POSITIVE_INFINITY) <= bucket.from) current++;
    const average = averageOfBucket(versions, current, bucket, now);
    const level = levels[i];
    if (!average || !level) return average ?? level;
    return {
      limit: average.limit === -1 || level.limit === -1 ? -1 : level.limit + average.limit,
      usage: level.usage + average.usage,
    };
  });
}

/**
 * Returns the time-weighted average over the past part of a bucket in which the quota existed, starting with the version at
 * `index`; undefined if there is no such part. The limit is averaged over the time with a limit.
 */
function averageOfBucket(versions: readonly Version[], index: number, bucket: Bucket, now: number): Level | undefined {
  const end = Math.min(bucket.to, now);
  const [usage, limit] = [new Mean(), new Mean()];
  let last: number | undefined;
  for (let i = index; i < versions.length; i++) {
    const version = present(versions[i]);
    if (version.at >= end) break;
    const length = Math.min(versions[i + 1]?.at ?? end, end) - Math.max(version.at, bucket.from);
    if (length <= 0) continue;
    usage.add(version.usage, length);
    if (version.limit !== -1) limit.add(version.limit, length);
    last = version.limit;
  }
  return last === undefined ? undefined : { limit: last === -1 ? -1 : limit.value, usage: usage.value };
}

/** A weighted mean. It cannot overflow, because intermediate results never exceed the largest value. */
class Mean {
  value = 0;
  #weight = 0;

  add(value: number, weight: number): void {
    this.#weight += weight;
    this.value += (value - this.value) * (weight / this.#weight);
  }
}

function valuesOf(levels: ReadonlyMap<Item, Levels>, bucket: number): Record<string, number> {
  const values: Record<string, number> = {};
  for (const item of items) {
    const level = levels.get(item)?.[bucket];
    if (!level) continue;
    values[`${item}_limit`] = rounded(level.limit);
    values[`${item}_usage`] = rounded(level.usage);
  }
  return values;
}

/** Rounds to two decimals. Keeps numbers too large for decimals, and replaces infinity, which JSON cannot represent. */
const rounded = (value: number): number =>
  Math.abs(value) < 2 ** 46 ? Math.round(value * 100) / 100 : Math.min(value, Number.MAX_VALUE);
