import { projectScope } from '../../accounts/projects/scope.ts';
import { type EventContext, namedScope, type Scope } from '../../activity/scopes/scope.ts';
import { connectedProjects } from '../../kernel/access/visibility.ts';
import type { Database } from '../../kernel/db/database.ts';
import { sql } from '../../kernel/db/sql.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { ResourceRow } from '../catalogue/resource-row.ts';
import { serviceContext } from '../services/scopes.ts';

/** Returns a resource by id. */
export const resourceOf = (db: Database, id: number): ResourceRow | undefined =>
  db.get<ResourceRow>(sql`SELECT * FROM resource WHERE id = ${id}`);

/** Returns an existing resource by id. */
export const knownResource = (db: Database, id: number): ResourceRow =>
  db.one<ResourceRow>(sql`SELECT * FROM resource WHERE id = ${id}`);

/** Returns the values of a resource without columns. */
export const detailsOf = (resource: Pick<ResourceRow, 'details'>): Record<string, unknown> =>
  JSON.parse(resource.details);

/** `<Type> <Kind> <name>` */
const fullName = (resource: Pick<ResourceRow, 'kind' | 'name'>): string =>
  `${resource.kind.replace('.', ' ')} ${resource.name}`;

/** Returns RES: a resource with its project, customer, service and settings (events.md 1.3). */
export function resourceContext(db: Database, resource: ResourceRow): EventContext {
  return {
    resource_uuid: resource.uuid,
    resource_name: resource.name,
    resource_full_name: fullName(resource),
    resource_type: resource.kind,
    ...serviceContext(db, resource.service_id),
    ...projectScope.own(db, resource.project_id),
  };
}

/** Resources as scopes of quotas, alerts and events. */
export const resourceScope = ({ kinds }: Catalogue): Scope => ({
  short: undefined,
  typed: kinds.map(({ kind, name }) => ({
    name: name.toLowerCase(),
    type: name,
    path: kind.path,
    only: `kind = '${name}'`,
    isPart: kind.isPart ?? false,
  })),
  table: 'resource',
  parent: { kind: 'project', column: 'project_id' },
  accepted: false,
  readable: (user) => sql`SELECT id FROM resource WHERE project_id IN (${connectedProjects(user)})`,
  own: (db, id) => resourceContext(db, knownResource(db, id)),
  scope: (db, id) => namedScope(knownResource(db, id)),
});
