import { authenticated } from '../../kernel/access/right.ts';
import { second } from '../../kernel/clock.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { historyParameters } from '../../kernel/collection/filter.ts';
import type { Database } from '../../kernel/db/database.ts';
import { sql } from '../../kernel/db/sql.ts';
import { historyPoints } from '../../kernel/http/history.ts';
import { Query } from '../../kernel/http/query.ts';
import { json } from '../../kernel/http/reply.ts';
import type { Scopes } from '../scopes/scopes.ts';
import { quotas } from './quotas.ts';
import type { QuotaRow } from './usage.ts';

/** GET /api/quotas/<uuid>/history/ (events.md 2.5) */
export const quotaHistory = (scopes: Scopes): Endpoint => ({
  path: '/api/quotas/:key/history/',
  name: 'Quota History',
  description: 'Limit and usage of a quota at points in time.',
  actions: (request) => {
    quotas(scopes).find(request);
    return undefined;
  },
  operations: {
    GET: {
      summary: 'Returns limit and usage of a quota at points in time.',
      allowedFor: authenticated.as('callers who can see the quota').allowedFor,
      filters: historyParameters,
      output: {
        status: 200,
        shape: {
          type: 'array',
          items: {
            type: 'object',
            properties: { point: { type: 'integer' }, object: quotas(scopes).shape },
            required: ['point'],
          },
        },
      },
      handle: (request) => {
        const quota = quotas(scopes).find(request);
        const points = historyPoints(request.query);
        const current: Readonly<Record<string, unknown>> = JSON.parse(
          quotas(scopes).represent(request.withQuery(new Query('')), quota.id),
        );
        return json(
          points.map((point) => {
            const version = versionAt(request.db, quota, point);
            return version ? { point, object: { ...current, ...version } } : { point };
          }),
        );
      },
    },
  },
});

/** Returns limit and usage at the end of a second; undefined before the quota existed. */
function versionAt(db: Database, quota: QuotaRow, point: number): { limit: number; usage: number } | undefined {
  const before = (point + 1) * second;
  const version = db.get<{ limit: number; usage: number }>(sql`
    SELECT "limit", usage FROM quota_version
    WHERE quota_id = ${quota.id} AND at < ${before}
    ORDER BY at DESC
    LIMIT 1`);
  return version ?? (quota.first_at < before ? { limit: quota.first_limit, usage: quota.first_usage } : undefined);
}
