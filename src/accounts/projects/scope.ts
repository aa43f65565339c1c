import { projectContext } from '../../activity/events/context.ts';
import { type Named, namedScope, type Scope } from '../../activity/scopes/scope.ts';
import { connectedProjects } from '../../kernel/access/visibility.ts';
import type { Database } from '../../kernel/db/database.ts';
import { sql } from '../../kernel/db/sql.ts';
import { customerNames } from '../customers/scope.ts';

type ProjectNames = Named & { readonly customer_id: number };

const projectNames = (db: Database, id: number): ProjectNames =>
  db.one<ProjectNames>(sql`SELECT uuid, name, customer_id FROM project WHERE id = ${id}`);

/** Projects as scopes of quotas, alerts and events. */
export const projectScope: Scope = {
  name: 'structure.project',
  short: 'project',
  path: 'projects',
  table: 'project',
  parent: { kind: 'customer', column: 'customer_id' },
  accepted: true,
  readable: connectedProjects,
  quotaCounts: {
    customer: {
      nc_project_count: `SELECT customer_id AS scope_id, count(*) AS counted FROM project GROUP BY customer_id`,
      nc_user_count: `
      SELECT scope_id, count(*) AS counted FROM (
        SELECT customer_id AS scope_id, user_id FROM active_customer_role
        UNION
        SELECT p.customer_id, r.user_id FROM active_project_role r JOIN project p ON p.id = r.project_id)
      GROUP BY scope_id`,
    },
    global: { nc_global_project_count: `SELECT 0 AS scope_id, count(*) AS counted FROM project` },
  },
  own: (db, id) => {
    const project = projectNames(db, id);
    return projectContext(project, customerNames(db, project.customer_id));
  },
  scope: (db, id) => namedScope(projectNames(db, id)),
};
