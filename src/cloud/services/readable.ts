import { type Caller, callerId, seesAll } from '../../kernel/access/caller.ts';
import { connectedProjects, customersWithRole, projectsWithRole } from '../../kernel/access/visibility.ts';
import { raw, type Sql, sql } from '../../kernel/db/sql.ts';

/* Who sees settings, services and links (services.md 2.4). */

/** Ids of the settings that a user reads. */
export const readableSettings = (user: Sql): Sql =>
  sql`SELECT id FROM service_settings WHERE shared OR customer_id IN (${customersWithRole(user)})`;

/** Ids of the settings that a user reads because they are of a customer of theirs alone. */
export const readablePrivateSettings = (user: Sql): Sql =>
  sql`SELECT id FROM service_settings WHERE NOT shared AND customer_id IN (${customersWithRole(user)})`;

/** Ids of the services that a user reads. */
export const readableServices = (
  user: Sql,
): Sql => sql`SELECT id FROM service WHERE customer_id IN (${customersWithRole(user)})
  UNION SELECT l.service_id FROM service_project_link l WHERE l.project_id IN (${projectsWithRole(user)})`;

/** Ids of the service-project links that a user reads. */
export const readableLinks = (user: Sql): Sql =>
  sql`SELECT id FROM service_project_link WHERE project_id IN (${connectedProjects(user)})`;

/** Condition: the caller sees the settings whose id is in the column. */
export const visibleSettings = (caller: Caller, column = 'st.id'): Sql =>
  seesAll(caller) ? raw('TRUE') : sql`${raw(column)} IN (${readableSettings(callerId(caller))})`;

/** Condition: the caller sees the service in alias `v`. */
export const visibleServices = (caller: Caller): Sql =>
  seesAll(caller) ? raw('TRUE') : sql`v.id IN (${readableServices(callerId(caller))})`;
