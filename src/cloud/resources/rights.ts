import { type Caller, callerId, seesAll } from '../../kernel/access/caller.ts';
import type { Request } from '../../kernel/access/request.ts';
import { anyOf, ownersOf, type Right, right, staff, visibleTo } from '../../kernel/access/right.ts';
import { ownsCustomer, ownsSomeCustomer } from '../../kernel/access/rights.ts';
import { roleView, visibleProjects } from '../../kernel/access/visibility.ts';
import { raw, type Sql, sql } from '../../kernel/db/sql.ts';
import type { ResourceRow } from '../catalogue/resource-row.ts';

/** Condition: the caller can see the project of the resource in alias `r`. */
export const visibleResources = (caller: Caller): Sql =>
  seesAll(caller) ? raw('TRUE') : visibleProjects(caller, 'r.project_id');

/** Visibility of resources in alias `r`. */
export const resourceReaders = visibleTo('callers who can see the project', visibleResources);

/** The subject of a right about resources: a resource, or the place of a new one. */
export type ResourcePlace = Pick<ResourceRow, 'customer_id' | 'project_id'>;

const projectManagers: Right<ResourcePlace> = right(
  'managers and administrators of the project',
  ({ caller, db }, { project_id: project }) =>
    db.value(sql`
      SELECT 1 FROM ${roleView('project', callerId(caller))}
      WHERE project_id = ${project} AND user_id = ${caller.id} AND role IN ('admin', 'manager')`) !== undefined,
);

/** The right to create, change and delete the resources of a project (services.md 8.7). */
export const resourceWriters: Right<ResourcePlace> = anyOf<ResourcePlace>(
  staff,
  ownersOf('customer_id'),
  projectManagers,
);

/** The right to unlink resources, which then no longer count here but still cost the account's owner (services.md 8.7). */
export const unlinkers: Right<ResourcePlace & Pick<ResourceRow, 'settings_id'>> = anyOf<
  ResourcePlace & Pick<ResourceRow, 'settings_id'>
>(
  staff,
  right(
    'owners of the customer on private settings',
    ({ caller, db }, { customer_id: customer, settings_id: settings }) =>
      ownsCustomer(db, caller, customer) &&
      db.value(sql`SELECT 1 FROM service_settings WHERE id = ${settings} AND NOT shared`) !== undefined,
  ),
);

/** Whether the caller may create, change and delete resources in any project. */
export const mayChangeSomeResources = ({ caller, db }: Pick<Request, 'caller' | 'db'>): boolean =>
  caller.isStaff ||
  ownsSomeCustomer(db, caller) ||
  db.value(sql`
    SELECT 1 FROM ${roleView('project', callerId(caller))}
    WHERE user_id = ${caller.id} AND role IN ('admin', 'manager')`) !== undefined;
