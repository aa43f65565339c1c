/** GET /api/users/stats/: roles and last-seen times of a page of users (core.md 4.8). */

import { seesAll } from '../../kernel/access/caller.ts';
import type { Request } from '../../kernel/access/request.ts';
import { authenticated } from '../../kernel/access/right.ts';
import { isoTime } from '../../kernel/clock.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { objectShape } from '../../kernel/collection/field.ts';
import { raw, type Sql, sql } from '../../kernel/db/sql.ts';
import { json, type Reply } from '../../kernel/http/reply.ts';
import type { RoleScope } from '../roles/roles.ts';
import { listedUsers } from '../users/directory.ts';
import { users } from '../users/users.ts';
import { customerPermissions, projectPermissions } from './permissions.ts';

/** Maximum number of roles per user in the response. `role_count` counts all. */
const maxRoles = 3;

interface Stats {
  readonly uuid: string;
  readonly last_seen: number | null;
  /** JSON of `RoleStats`. */
  readonly roles: string;
}

interface RoleStats {
  /** Number of all roles, of which `shown` has the first. */
  readonly count: number;
  readonly shown: readonly { readonly scope_type: RoleScope; readonly uuid: string }[];
}

/** Selects the roles of the user `u` that the caller can read, customer roles first. */
function rolesOf({ caller, config }: Request): Sql {
  const inCustomers = customerPermissions.spec.visible.condition(caller, config);
  const inProjects = projectPermissions.spec.visible.condition(caller, config);
  return sql`
    SELECT 'customer' AS scope_type, r.role, s.uuid, s.name
    FROM active_customer_role r JOIN customer s ON s.id = r.customer_id WHERE r.user_id = u.id AND (${inCustomers})
    UNION ALL
    SELECT 'project', r.role, s.uuid, s.name
    FROM active_project_role r JOIN project s ON s.id = r.project_id WHERE r.user_id = u.id AND (${inProjects})`;
}

/**
 * When the user `u` last used a session or caused an event. Excludes impersonation by staff, and events of a deleted user with
 * the same username.
 */
const lastSeen = raw(`
  max(
    coalesce((SELECT max(t.last_used) FROM token t WHERE t.user_id = u.id AND t.creator_id IS NULL), 0),
    coalesce((SELECT max(e.at) FROM event e WHERE e.actor = u.username_folded AND e.at >= u.date_joined), 0)
  )`);

function readStats(request: Request): Reply {
  const { base, caller, db } = request;
  const { headers, ids } = users.listing.pageIds(request, [listedUsers(request)]);
  const isShown = seesAll(caller) ? raw('TRUE') : sql`u.id = ${caller.userId}`;
  const rows = db.deferrableAll<Stats>(sql`
    SELECT u.uuid,
      CASE WHEN ${isShown} THEN nullif(${lastSeen}, 0) END AS last_seen,
      (SELECT json_object('count', ifnull(max(count), 0), 'shown',
          json_group_array(json_object('scope_type', scope_type, 'role', role, 'uuid', uuid, 'name', name)))
        FROM (SELECT *, count(*) OVER () AS count FROM (${rolesOf(request)})
          ORDER BY scope_type, name COLLATE NOCASE, uuid LIMIT ${maxRoles})) AS roles
    FROM json_each(${JSON.stringify(ids)}) page CROSS JOIN user u ON u.id = page.value
    ORDER BY page.key`);
  return json(
    rows.map(({ last_seen: seen, roles, uuid }) => {
      const { count, shown }: RoleStats = JSON.parse(roles);
      return {
        url: `${base}/api/users/${uuid}/`,
        uuid,
        last_seen: seen === null ? null : isoTime(seen),
        role_count: count,
        roles: shown.map(({ uuid: scope, ...role }) => ({
          ...role,
          scope: `${base}/api/${role.scope_type}s/${scope}/`,
        })),
      };
    }),
    200,
    headers,
  );
}

export const userStats: Endpoint = {
  path: '/api/users/stats/',
  name: 'User Statistics',
  description: 'Roles of users, and when they were last seen.',
  operations: {
    GET: {
      summary: 'Returns the roles of each user of a page of the list of users, and when they were last seen.',
      allowedFor: authenticated.allowedFor,
      ...users.listing.parameters,
      paginated: true,
      selectable: false,
      output: {
        status: 200,
        shape: {
          type: 'array',
          items: objectShape({
            url: { type: 'string', format: 'uri' },
            uuid: { type: 'string' },
            last_seen: { type: ['string', 'null'], format: 'date-time' },
            role_count: { type: 'integer' },
            roles: {
              type: 'array',
              items: objectShape({
                scope_type: { type: 'string', enum: ['customer', 'project'] },
                role: { type: 'string' },
                name: { type: 'string' },
                scope: { type: 'string', format: 'uri' },
              }),
            },
          }),
        },
      },
      handle: readStats,
    },
  },
};
