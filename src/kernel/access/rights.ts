import type { Database } from '../db/database.ts';
import { type Sql, sql } from '../db/sql.ts';
import { type Caller, callerId } from './caller.ts';
import { roleView } from './visibility.ts';

/** Whether the caller is an active owner of the customer. */
export const ownsCustomer = (db: Database, caller: Caller, customer: number): boolean =>
  ownership(db, caller, customer) !== undefined;

/**
 * Whether the caller owns the customer at least until an instant (core.md 8.2 "until t"). Null means forever, which requires a
 * role without expiry.
 */
export const ownsCustomerUntil = (db: Database, caller: Caller, customer: number, until: number | null): boolean =>
  lastsUntil(ownership(db, caller, customer), until);

/** Whether the caller manages the project at least until an instant; null means forever. */
export const managesProjectUntil = (db: Database, caller: Caller, project: number, until: number | null): boolean =>
  lastsUntil(
    db.get(sql`SELECT expires FROM ${roleView('project', callerId(caller))}
      WHERE project_id = ${project} AND user_id = ${caller.id} AND role = 'manager'`),
    until,
  );

/** Selects the ids of the projects that the caller manages. */
export const managedProjects = (caller: Caller): Sql =>
  sql`SELECT project_id FROM ${roleView('project', callerId(caller))} WHERE user_id = ${caller.id} AND role = 'manager'`;

/** Selects the ids of the projects that the caller manages without expiry. */
export const permanentlyManagedProjects = (caller: Caller): Sql => sql`${managedProjects(caller)} AND expires IS NULL`;

/** Whether the caller manages any project; with `endless`, by a role without expiry. */
export const managesSomeProject = (db: Database, caller: Caller, { endless = false } = {}): boolean =>
  db.value(sql`SELECT 1 WHERE EXISTS (${(endless ? permanentlyManagedProjects : managedProjects)(caller)})`) !==
  undefined;

/** Returns the expiry of a user's ownership of the customer: null without expiry, undefined without ownership. */
export const ownsUntil = (db: Database, user: Pick<Caller, 'id'>, customer: number): number | null | undefined =>
  ownership(db, user, customer)?.expires;

/** Selects the ids of the customers that the caller owns without expiry. */
export const permanentlyOwnedCustomers = (caller: Caller): Sql =>
  sql`SELECT customer_id FROM ${roleView('customer', callerId(caller))} WHERE user_id = ${caller.id} AND role = 'owner' AND expires IS NULL`;

/** Whether the caller owns any customer; with `endless`, by a role without expiry. */
export const ownsSomeCustomer = (db: Database, caller: Caller, { endless = false } = {}): boolean =>
  db.value(sql`SELECT 1 FROM ${roleView('customer', callerId(caller))}
    WHERE user_id = ${caller.id} AND role = 'owner' AND (expires IS NULL OR ${Number(!endless)})`) !== undefined;

/** The expiry of an active role. */
interface RoleEnd {
  readonly expires: number | null;
}

const lastsUntil = (role: RoleEnd | undefined, until: number | null): boolean =>
  role !== undefined && (role.expires === null || (until !== null && role.expires >= until));

function ownership(db: Database, caller: Pick<Caller, 'id'>, customer: number): RoleEnd | undefined {
  return db.get(sql`SELECT expires FROM ${roleView('customer', callerId(caller))}
    WHERE customer_id = ${customer} AND user_id = ${caller.id} AND role = 'owner'`);
}
