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
  accepted: true,
  readable: connectedProjects,
  own: (db, id) => {
    const project = projectNames(db, id);
    return projectContext(project, customerNames(db, project.customer_id));
  },
  scope: (db, id) => namedScope(projectNames(db, id)),
};
