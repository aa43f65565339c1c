import type { Database } from '../db/database.ts';
import { type Sql, sql } from '../db/sql.ts';
import type { Caller } from './caller.ts';

/** Whether the caller is an active owner of the customer. */
export const ownsCustomer = (db: Database, caller: Caller, customer: number): boolean =>
  ownership(db, caller, customer) !== undefined;

/**
 * Whether the caller is an owner of the customer for at least as long as until the given instant (core.md 8.2 "until t"):
 * for null, which means without end, only an endless ownership is long enough.
 */
export const ownsCustomerUntil = (db: Database, caller: Caller, customer: number, until: number | null): boolean =>
  lastsUntil(ownership(db, caller, customer), until);

/** The same of a manager of a project. */
export const managesProjectUntil = (db: Database, caller: Caller, project: number, until: number | null): boolean =>
  lastsUntil(
    db.get(sql`SELECT expires FROM active_project_role
      WHERE project_id = ${project} AND user_id = ${caller.id} AND role = 'manager'`),
    until,
  );

/** Projects that the caller manages, as a list of ids. */
export const managedProjects = (caller: Caller): Sql =>
  sql`SELECT project_id FROM active_project_role WHERE user_id = ${caller.id} AND role = 'manager'`;

/** Whether the caller is an active manager of some project. */
export const managesSomeProject = (db: Database, caller: Caller): boolean =>
  db.value(sql`SELECT 1 WHERE EXISTS (${managedProjects(caller)})`) !== undefined;

/** Until when a user is an owner of the customer: null without end; undefined: not at all. */
export const ownsUntil = (db: Database, user: Pick<Caller, 'id'>, customer: number): number | null | undefined =>
  ownership(db, user, customer)?.expires;

/** Customers that the caller owns by a role without an end, as a list of ids. */
export const endlesslyOwnedCustomers = (caller: Caller): Sql =>
  sql`SELECT customer_id FROM active_customer_role WHERE user_id = ${caller.id} AND role = 'owner' AND expires IS NULL`;

/** Whether the caller is an active owner of some customer; `endless`: by a role without an end. */
export const ownsSomeCustomer = (db: Database, caller: Caller, { endless = false } = {}): boolean =>
  db.value(sql`SELECT 1 FROM active_customer_role
    WHERE user_id = ${caller.id} AND role = 'owner' AND (expires IS NULL OR ${Number(!endless)})`) !== undefined;

/** The end of an active role. */
interface RoleEnd {
  readonly expires: number | null;
}

const lastsUntil = (role: RoleEnd | undefined, until: number | null): boolean =>
  role !== undefined && (role.expires === null || (until !== null && role.expires >= until));

function ownership(db: Database, caller: Pick<Caller, 'id'>, customer: number): RoleEnd | undefined {
  return db.get(sql`SELECT expires FROM active_customer_role
    WHERE customer_id = ${customer} AND user_id = ${caller.id} AND role = 'owner'`);
}
