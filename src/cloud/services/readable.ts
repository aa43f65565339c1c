import { type Caller, callerId, seesAll } from '../../kernel/access/caller.ts';
import { connectedProjects, customersWithRole, projectsWithRole } from '../../kernel/access/visibility.ts';
import { raw, type Sql, sql } from '../../kernel/db/sql.ts';

/* Visibility of settings, services and links (services.md 2.4). */

/** Selects the ids of the settings that a user can read. */
export const readableSettings = (user: Sql): Sql =>
  sql`SELECT id FROM service_settings WHERE shared OR customer_id IN (${customersWithRole(user)})`;

/** Selects the ids of private settings that a user can read through their customers. */
export const readablePrivateSettings = (user: Sql): Sql =>
  sql`SELECT id FROM service_settings WHERE NOT shared AND customer_id IN (${customersWithRole(user)})`;

/** Selects the ids of the services that a user can read. */
export const readableServices = (
  user: Sql,
): Sql => sql`SELECT id FROM service WHERE customer_id IN (${customersWithRole(user)})
  UNION SELECT l.service_id FROM service_project_link l WHERE l.project_id IN (${projectsWithRole(user)})`;

/** Selects the ids of the service-project links that a user can read. */
export const readableLinks = (user: Sql): Sql =>
  sql`SELECT id FROM service_project_link WHERE project_id IN (${connectedProjects(user)})`;

/** Condition: the caller can see the settings whose id is in the column. */
export const visibleSettings = (caller: Caller, column = 'st.id'): Sql =>
  seesAll(caller) ? raw('TRUE') : sql`${raw(column)} IN (${readableSettings(callerId(caller))})`;

/** Condition: the caller can see the service in alias `v`. */
export const visibleServices = (caller: Caller): Sql =>
  seesAll(caller) ? raw('TRUE') : sql`v.id IN (${readableServices(callerId(caller))})`;
