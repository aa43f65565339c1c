import type { Request } from '../../kernel/access/request.ts';
import { authenticatedOver } from '../../kernel/access/right.ts';
import { visibleProjects } from '../../kernel/access/visibility.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { type Filters, oneOf, uuidOf } from '../../kernel/collection/filter.ts';
import { raw, type Sql, sql } from '../../kernel/db/sql.ts';
import { gather } from '../../kernel/http/error.ts';
import { json } from '../../kernel/http/reply.ts';

/**
 * Ids of the service-project links that a statistic is about: those of the projects the caller reads, of one customer or
 * project where `uuid` names it (events.md 6.2). Throws 400.
 */
export function chosenLinks(request: Request): Sql {
  const { query } = request;
  const [aggregate, uuid] = gather(
    () => query.choice('aggregate', ['customer', 'project']),
    () => query.uuid('uuid'),
  );
  const chosen =
    uuid === undefined
      ? raw('TRUE')
      : aggregate === 'project'
        ? sql`uuid = ${uuid}`
        : sql`customer_id = (SELECT id FROM customer WHERE uuid = ${uuid})`;
  return sql`SELECT id FROM service_project_link WHERE project_id IN
    (SELECT id FROM project WHERE ${chosen} AND ${visibleProjects(request.caller, 'id')})`;
}

/** Documentation of the parameters of `chosenLinks`. */
export const chosenLinksParameters: Filters = {
  aggregate: { type: 'string', help: 'What uuid names: customer (default) or project.', condition: () => undefined },
  uuid: uuidOf('id', 'customer', 'Only this customer or project.'),
};

/** total() cannot overflow as sum() can; beyond the largest number there is none in JSON. */
const sumOf = (column: string): Sql => raw(`min(total(${column}), ${Number.MAX_VALUE})`);

/** GET /api/stats/quota/: sums of limits and usages over service-project links. */
export const quotaStatistics: Endpoint = {
  path: '/api/stats/quota/',
  name: 'Quota Statistics',
  description: 'Sums of limits and usages.',
  operations: {
    GET: {
      summary: 'Sums limits and usages over projects.',
      allowedFor: authenticatedOver('projects').allowedFor,
      filters: { ...chosenLinksParameters, quota_name: oneOf('q.name', 'Name of a quota; default: all.') },
      output: { status: 200, shape: { type: 'object', additionalProperties: { type: 'number' } } },
      handle: (request) => {
        const names = request.query.all('quota_name');
        const rows = request.db.deferrableAll<{ name: string; limit: number; usage: number }>(sql`
          SELECT q.name, iif(min(q."limit") = -1, -1, ${sumOf('q."limit"')}) AS "limit", ${sumOf('q.usage')} AS usage
          FROM quota q WHERE q.scope_kind = 'link' AND q.scope_id IN (${chosenLinks(request)})
            AND (${names.length === 0 ? 1 : 0} OR q.name IN (SELECT value FROM json_each(${JSON.stringify(names)})))
          GROUP BY q.name`);
        const members = rows.flatMap(
          ({ limit, name, usage }) =>
            [
              [name, limit],
              [`${name}_usage`, usage],
            ] as const,
        );
        return json(Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1))));
      },
    },
  },
};
