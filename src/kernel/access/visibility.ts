import { ofCaller, raw, type Sql, sql } from '../db/sql.ts';
import { type Caller, callerId, seesAll } from './caller.ts';

/*
 * Visibility as SQL conditions (core.md 6.3, 7.3). Each rule exists once, for an expression with the user's id: a query
 * parameter, or `@caller` in a prepared representation.
 */

/** Whether the SQL of a caller's id represents a bound API key. */
export const isBoundCaller = ({ values: [id] }: Sql): boolean => typeof id === 'number' && id < 0;

/** Returns the view with the active roles of a user or a bound API key (core.md 2.10). */
export function roleView(structure: 'customer' | 'project', user: Sql): Sql {
  if (isBoundCaller(user)) return raw(`bound_${structure}_role`);
  return raw(`active_${structure}_role${user.text === '@caller' ? ofCaller : ''}`);
}

/** Selects the ids of the customers in which a user has an active customer role. */
export const customersWithRole = (user: Sql): Sql =>
  sql`SELECT customer_id FROM ${roleView('customer', user)} WHERE user_id = ${user}`;

/** Selects the ids of the projects in which a user has an active role. */
export const projectsWithRole = (user: Sql): Sql =>
  sql`SELECT project_id FROM ${roleView('project', user)} WHERE user_id = ${user}`;

/** Selects the ids of the customers in which, or in whose projects, a user has a role. */
export const connectedCustomers = (user: Sql): Sql => sql`${customersWithRole(user)}
  UNION SELECT p.customer_id FROM ${roleView('project', user)} r JOIN project p ON p.id = r.project_id WHERE r.user_id = ${user}`;

/** Selects the ids of the projects in which, or in whose customers, a user has a role. */
export const connectedProjects = (user: Sql): Sql => sql`${projectsWithRole(user)}
  UNION SELECT p.id FROM ${roleView('customer', user)} r JOIN project p ON p.customer_id = r.customer_id WHERE r.user_id = ${user}`;

/** Condition: the caller can see the customer whose id is in `column`. */
export const visibleCustomers = (caller: Caller, column: string): Sql =>
  seesAll(caller) ? raw('TRUE') : sql`${raw(column)} IN (${connectedCustomers(callerId(caller))})`;

/** Condition: the caller can see the project whose id is in `column`. */
export const visibleProjects = (caller: Caller, column: string): Sql =>
  seesAll(caller) ? raw('TRUE') : sql`${raw(column)} IN (${connectedProjects(callerId(caller))})`;
