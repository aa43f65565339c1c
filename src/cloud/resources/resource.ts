import { projectScope } from '../../accounts/projects/scope.ts';
import type { EventContext } from '../../activity/scopes/scope.ts';
import type { Database } from '../../kernel/db/database.ts';
import { sql } from '../../kernel/db/sql.ts';
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
