import type { EventContext } from '../../activity/events/context.ts';
import { scopes } from '../../activity/scopes/scopes.ts';
import type { Row } from '../../kernel/collection/collection.ts';
import type { Database } from '../../kernel/db/database.ts';
import { sql } from '../../kernel/db/sql.ts';

/** A row of any kind of resource. */
export interface ResourceRow extends Row {
  readonly kind: string;
  readonly is_part: number;
  readonly link_id: number;
  readonly service_id: number;
  readonly settings_id: number;
  readonly project_id: number;
  readonly customer_id: number;
  readonly parent_id: number | null;
  readonly instance_id: number | null;
  readonly name: string;
  readonly description: string;
  readonly state: State;
  readonly runtime_state: string;
  readonly error_message: string;
  readonly backend_id: string;
  readonly action: string;
  readonly start_time: number | null;
  readonly cores: number;
  readonly ram: number;
  readonly disk: number;
  readonly size: number;
  /** JSON */
  readonly details: string;
  readonly secrets: Uint8Array | null;
  readonly revision: number;
}

/** States of a resource (services.md 8.1). */
export type State =
  | 'Creation Scheduled'
  | 'Creating'
  | 'Update Scheduled'
  | 'Updating'
  | 'Deletion Scheduled'
  | 'Deleting'
  | 'OK'
  | 'Erred';

/** A resource's row by id. */
export const resourceOf = (db: Database, id: number): ResourceRow | undefined =>
  db.get<ResourceRow>(sql`SELECT * FROM resource WHERE id = ${id}`);

/** Values of one kind that have no column. */
export const detailsOf = (resource: Pick<ResourceRow, 'details'>): Record<string, unknown> =>
  JSON.parse(resource.details);

/** `<Type> <Kind> <name>` */
export const fullName = (resource: Pick<ResourceRow, 'kind' | 'name'>): string =>
  `${resource.kind.replace('.', ' ')} ${resource.name}`;

/** RES: a resource with its project, customer, service and settings (events.md 1.3). */
export function resourceContext(db: Database, resource: ResourceRow): EventContext {
  return {
    resource_uuid: resource.uuid,
    resource_name: resource.name,
    resource_full_name: fullName(resource),
    resource_type: resource.kind,
    ...scopes.service?.own(db, resource.service_id),
    ...scopes.project?.own(db, resource.project_id),
  };
}
