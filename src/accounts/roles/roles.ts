import {
  affectedUser,
  type CustomerNames,
  customerContext,
  projectContext,
  type UserNames,
} from '../../activity/events/context.ts';
import { record } from '../../activity/events/record.ts';
import { isReminderDue, notify, responsibleFor, weekAndDay } from '../../activity/notifications/notify.ts';
import { requireQuotas, setUsage } from '../../activity/quotas/usage.ts';
import type { EventContext } from '../../activity/scopes/scope.ts';
import type { Context } from '../../kernel/access/context.ts';
import { isoTime } from '../../kernel/clock.ts';
import type { Columns } from '../../kernel/collection/changes.ts';
import type { Database } from '../../kernel/db/database.ts';
import { raw, type Sql, sql } from '../../kernel/db/sql.ts';
import { invalidRequest } from '../../kernel/http/error.ts';

/** The kind of object in which users have roles. */
export type RoleScope = 'customer' | 'project';

/** Names of the roles in events. */
export const roleNames: Readonly<Record<RoleScope, Readonly<Record<string, string>>>> = {
  customer: { owner: 'Owner', support: 'Support' },
  project: { admin: 'Administrator', manager: 'Manager', support: 'Support' },
};

declare module '../../kernel/app.ts' {
  interface App {
    /** The labels of the identity providers that manage roles, by the `source` of those roles. */
    readonly roleSources: ReadonlyMap<string, string>;
  }
  interface Reactions {
    /** A user has lost a role in a customer or project. */
    readonly roleEnded: (context: Context, user: number) => void;
  }
}

interface Grant {
  readonly structure: RoleScope;
  /** Ids of the customer or project and of the user. */
  readonly scope: number;
  readonly user: number;
  readonly role: string;
  /** When the role expires; null for never. */
  readonly expires: number | null;
  /** Id of the granting user. */
  readonly author: number | null;
}

export interface ActiveRole {
  readonly id: number;
  readonly scope: number;
  readonly user_id: number;
  readonly role: string;
}

/**
 * Grants a role to a user, for permissions and invitations. Throws 400 if the user already has an active role there, and 409 if a
 * new user would exceed the customer's user quota. Returns the permission's pk. `columns` are additional columns of its row.
 */
export function grantRole(context: Context, grant: Grant, columns: Columns = {}): number {
  const { db } = context.app;
  const { structure } = grant;
  if (hasRole(db, structure, grant.scope, grant.user)) {
    throw invalidRequest(`The fields ${structure} and user must make a unique set.`);
  }
  const customer = customerOfScope(db, structure, grant.scope);
  if (!isConnected(db, customer, grant.user)) {
    requireQuotas(context, [{ scope: 'customer', id: customer, name: 'nc_user_count', delta: 1 }]);
  }
  const id = db.insert(`${structure}_role`, {
    ...columns,
    [`${structure}_id`]: grant.scope,
    user_id: grant.user,
    role: grant.role,
    created: context.now,
    created_by: grant.author,
    expires: grant.expires,
  });
  recountUsers(context, customer);
  const details = roleContext(db, structure, { ...grant, user_id: grant.user });
  record(context, 'role_granted', details, { inMessage: scopeName(details) });
  return id;
}

/** The view of the active roles in customers or projects. */
export const activeRolesIn = (structure: RoleScope): Sql => raw(`active_${structure}_role`);

/** Whether a user has an active role in this customer or project itself. */
export const hasRole = (db: Database, structure: RoleScope, scope: number, user: number): boolean =>
  db.value(sql`
    SELECT 1 FROM ${activeRolesIn(structure)}
    WHERE ${raw(`${structure}_id`)} = ${scope} AND user_id = ${user}`) !== undefined;

/**
 * Ends an active role. `at` is the stored end: now or its expiry. `extraRecipients` are users who must receive the event although
 * the same operation ends their access.
 */
export function revokeRole(
  context: Context,
  structure: RoleScope,
  role: ActiveRole,
  at = context.now,
  extraRecipients: readonly number[] = [],
): void {
  const { db } = context.app;
  db.run(sql`UPDATE ${raw(`${structure}_role`)} SET ended = ${at} WHERE id = ${role.id} AND ended IS NULL`);
  recountUsers(context, customerOfScope(db, structure, role.scope));
  context.app.reactions.roleEnded(context, role.user_id);
  const details = roleContext(db, structure, role);
  record(context, 'role_revoked', details, { extraRecipients, inMessage: scopeName(details) });
}

/** Ends all roles in a customer or project that is about to be deleted. */
export function revokeRolesIn(
  context: Context,
  structure: RoleScope,
  scope: number,
  extraRecipients: readonly number[],
): void {
  for (const role of activeRoles(context.app.db, structure, `${structure}_id`, scope)) {
    revokeRole(context, structure, role, context.now, extraRecipients);
  }
}

/** Returns the ids of the users whose roles let them see the events about a customer or project (events.md 4.5). */
export function eventReaders(db: Database, structure: RoleScope, scope: number): number[] {
  const customer = customerOfScope(db, structure, scope);
  const ofCustomer = sql`SELECT user_id FROM active_customer_role WHERE customer_id = ${customer}`;
  if (structure === 'customer') return db.values<number>(ofCustomer);
  return db.values<number>(sql`
    ${ofCustomer}
    UNION SELECT user_id FROM active_project_role WHERE project_id = ${scope}`);
}

/** Ends all roles of a user who is about to be deleted. */
export function revokeRolesOf(context: Context, user: { readonly id: number }): void {
  for (const structure of ['customer', 'project'] as const) {
    for (const role of activeRoles(context.app.db, structure, 'user_id', user.id)) revokeRole(context, structure, role);
  }
}

/** Ends every expired role. The events have no actor. */
export function expireRoles(context: Context): void {
  const { db } = context.app;
  for (const structure of ['customer', 'project'] as const) {
    const due = db.all<ActiveRole & { expires: number }>(sql`
      SELECT id, ${raw(`${structure}_id`)} AS scope, user_id, role, expires
      FROM ${activeRolesIn(structure)}
      WHERE expires <= ${context.now}
      ORDER BY expires, id`);
    for (const role of due) revokeRole(context, structure, role, role.expires);
  }
}

/** Reminds users, and the managers of the customer or project, of roles that expire soon. */
export function remindOfRoles(context: Context): void {
  const { app, now } = context;
  const { db } = app;
  for (const structure of ['customer', 'project'] as const) {
    const due = db.all<ActiveRole & { expires: number }>(sql`
      SELECT id, ${raw(`${structure}_id`)} AS scope, user_id, role, expires FROM ${activeRolesIn(structure)}
      WHERE expires <= ${now + Math.max(...weekAndDay)}
        AND ${isReminderDue(raw('expires'), raw('ifnull(reminded, created)'), weekAndDay, now)}
      ORDER BY expires, id`);
    for (const role of due) {
      const details = roleContext(db, structure, role);
      db.update(`${structure}_role`, role.id, { reminded: now });
      notify(context, 'role_expiring', {
        context: { ...details, expiration_time: isoTime(role.expires) },
        users: sql`SELECT ${role.user_id} UNION ${responsibleFor(app, details)}`,
        about: `${structure} role ${role.id}`,
        detail: scopeName(details).structure_name ?? '',
      });
    }
  }
}

/** Returns when the next role expires; undefined if no role will. */
export function nextExpiry(db: Database): number | undefined {
  const next = db.value<number | null>(sql`
    SELECT min(at) FROM (
      SELECT min(expires) AS at FROM active_customer_role WHERE expires IS NOT NULL
      UNION ALL SELECT min(expires) FROM active_project_role WHERE expires IS NOT NULL
    )`);
  return next ?? undefined;
}

/** Sets nc_user_count of a customer to the number of distinct users with an active role in it or its projects. */
export function recountUsers(context: Context, customer: number): void {
  const { db } = context.app;
  const users = db.scalar<number>(sql`
    SELECT count(*) FROM (
      SELECT user_id FROM active_customer_role WHERE customer_id = ${customer}
      UNION
      SELECT r.user_id FROM project p JOIN active_project_role r ON r.project_id = p.id
      WHERE p.customer_id = ${customer}
    )`);
  setUsage(context, 'customer', customer, 'nc_user_count', users);
}

/** Whether a user has an active role in a customer or one of its projects. */
export const isConnected = (db: Database, customer: number, user: number): boolean =>
  db.value(sql`
    SELECT 1 FROM active_customer_role WHERE customer_id = ${customer} AND user_id = ${user}
    UNION ALL
    SELECT 1 FROM active_project_role r JOIN project p ON p.id = r.project_id
    WHERE r.user_id = ${user} AND p.customer_id = ${customer}
    LIMIT 1`) !== undefined;

function activeRoles(db: Database, structure: RoleScope, column: string, id: number): ActiveRole[] {
  return db.all<ActiveRole>(sql`
    SELECT id, ${raw(`${structure}_id`)} AS scope, user_id, role
    FROM ${activeRolesIn(structure)}
    WHERE ${raw(column)} = ${id}
    ORDER BY id`);
}

/** Returns the id of the customer: the scope itself, or the customer of the project. */
export const customerOfScope = (db: Database, structure: RoleScope, scope: number): number =>
  structure === 'customer' ? scope : db.scalar<number>(sql`SELECT customer_id FROM project WHERE id = ${scope}`);

/** Returns the context keys CUST or PROJ, and ROLE (events.md 1.3, 4.1). */
function roleContext(
  db: Database,
  structure: RoleScope,
  role: { scope: number; user_id: number; role: string },
): EventContext {
  const user = db.one<UserNames>(
    sql`SELECT uuid, username, full_name, native_name FROM user WHERE id = ${role.user_id}`,
  );
  const customer = db.one<CustomerNames>(sql`
    SELECT uuid, name, abbreviation, contact_details FROM customer
    WHERE id = ${customerOfScope(db, structure, role.scope)}`);
  const project = db.get<{ uuid: string; name: string }>(sql`SELECT uuid, name FROM project WHERE id = ${role.scope}`);
  const isProject = structure === 'project' && project !== undefined;
  return {
    ...(isProject ? projectContext(project, customer) : customerContext(customer)),
    ...affectedUser(user),
    structure_type: structure,
    role_name: roleNames[structure][role.role],
  };
}

/** The name of the customer or project of a role. */
const scopeName = ({ customer_name: customer, project_name: project }: EventContext): Record<string, string> => ({
  structure_name: String(project ?? customer),
});
