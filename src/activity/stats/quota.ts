import type { Request } from '../../kernel/access/request.ts';
import { authenticatedOver } from '../../kernel/access/right.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { type Filters, oneOf, parameter } from '../../kernel/collection/filter.ts';
import { raw, type Sql, sql } from '../../kernel/db/sql.ts';
import { collectErrors } from '../../kernel/http/error.ts';
import { json } from '../../kernel/http/reply.ts';
import { present } from '../../kernel/present.ts';
import { isFindable } from '../scopes/scopes.ts';

/**
 * Selects the ids of the service-project links to include: those of the projects that the caller can read, or of one project or
 * customer with the parameter `uuid` (events.md 6.2). Throws 400.
 */
export function selectedLinks(request: Request): Sql {
  const {
    app: { scopes },
    query,
  } = request;
  const [aggregate, uuid] = collectErrors(
    () => query.choice('aggregate', ['customer', 'project']),
    () => query.uuid('uuid'),
  );
  const [project, customer] = [scopes.of('project'), scopes.of('customer')];
  const isSelected =
    uuid === undefined
      ? raw('TRUE')
      : aggregate === 'project'
        ? sql`uuid = ${uuid}`
        : sql`${raw(present(project.parent).column)} = (SELECT id FROM ${raw(customer.table)} WHERE uuid = ${uuid})`;
  const projects = sql`SELECT id FROM ${raw(project.table)} WHERE ${isSelected} AND ${isFindable(request, project, 'id')}`;
  return scopes.childrenOf(projects, 'link');
}

/** The parameters of `selectedLinks`, for the documentation. */
export const linkParameters: Filters = {
  aggregate: parameter('string', 'Kind of the object with `uuid`: customer (default) or project.'),
  uuid: parameter('uuid', 'Only this customer or project.'),
};

/** Sums a column. Unlike sum(), total() cannot overflow. The result is limited to the largest number in JSON. */
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
      filters: { ...linkParameters, quota_name: oneOf('q.name', 'Name of a quota; default: all.') },
      output: { status: 200, shape: { type: 'object', additionalProperties: { type: 'number' } } },
      handle: (request) => {
        const names = request.query.all('quota_name');
        const rows = request.db.deferrableAll<{ name: string; limit: number; usage: number }>(sql`
          SELECT q.name, iif(min(q."limit") = -1, -1, ${sumOf('q."limit"')}) AS "limit", ${sumOf('q.usage')} AS usage
          FROM quota q WHERE q.scope_kind = 'link' AND q.scope_id IN (${selectedLinks(request)})
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
