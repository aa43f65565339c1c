import { type Caller, callerId, seesAll } from '../../kernel/access/caller.ts';
import type { Request } from '../../kernel/access/request.ts';
import {
  anyOf,
  forbiddenText,
  type Right,
  right,
  rightUnlessDenied,
  rightVia,
  staff,
  type Visibility,
  visibleTo,
} from '../../kernel/access/right.ts';
import {
  managedProjects,
  managesProjectUntil,
  managesSomeProject,
  ownsCustomerUntil,
  ownsSomeCustomer,
  ownsUntil,
} from '../../kernel/access/rights.ts';
import {
  connectedCustomers,
  customersWithRole,
  projectsWithRole,
  visibleCustomers,
  visibleProjects,
} from '../../kernel/access/visibility.ts';
import type { App } from '../../kernel/app.ts';
import { type Columns, changesOf } from '../../kernel/collection/changes.ts';
import { collection, type Row } from '../../kernel/collection/collection.ts';
import type { Config } from '../../kernel/config/config.ts';
import { all, raw, type Sql, sql } from '../../kernel/db/sql.ts';
import { invalid } from '../../kernel/http/error.ts';
import { customerOfScope, grantRole, type RoleScope, revokeRole } from '../roles/roles.ts';
import type { UserRow } from '../users/users.ts';
import { customerFields, fieldsOf, filtersOf, orderings, projectFields } from './fields.ts';

interface RoleRow extends Row {
  readonly user_id: number;
  readonly role: string;
  readonly expires: number | null;
  readonly source: string | null;
}

interface CustomerRoleRow extends RoleRow {
  readonly customer_id: number;
}

interface ProjectRoleRow extends RoleRow {
  readonly project_id: number;
}

/** Selects the ids of the customers that the caller owns. */
const ownedCustomers = (caller: Caller): Sql => sql`${customersWithRole(callerId(caller))} AND role = 'owner'`;

/** Selects the ids of the projects of these customers. */
export const projectsOf = (customerIds: Sql): Sql => sql`SELECT id FROM project WHERE customer_id IN (${customerIds})`;

/** Visibility to staff, global support and callers that meet a condition. */
const visibleBy = (words: string, condition: Visibility['condition']): Visibility =>
  visibleTo(`${words}; staff and global support`, (caller, config) =>
    seesAll(caller) ? raw('TRUE') : condition(caller, config),
  );

/** Condition: under managers_can_manage_admins, the role belongs to an administrator that the caller manages. */
const managedAdministrators = (caller: Caller, { managers_can_manage_admins: isOn }: Config): Sql =>
  isOn ? sql`r.role = 'admin' AND r.project_id IN (${managedProjects(caller)})` : raw('FALSE');

/** Condition: the role is the caller's own. For a bound API key, it must be in one of the key's projects. */
const ownRoles = (caller: Caller): Sql =>
  caller.apiKey?.isBound
    ? sql`r.user_id = ${caller.userId} AND r.project_id IN (${projectsWithRole(callerId(caller))})`
    : sql`r.user_id = ${caller.id}`;

const inOwnedProjects = (caller: Caller): Sql => sql`r.project_id IN (${projectsOf(ownedCustomers(caller))})`;

/** Visibility of active and past roles, and of roles to writes (core.md 8.2). */
const visibility = {
  customer: {
    active: visibleBy(
      'users with a role in the customer or one of its projects',
      (caller) => sql`r.customer_id IN (${connectedCustomers(callerId(caller))})`,
    ),
    addressable: (caller: Caller) => visibleCustomers(caller, 'r.customer_id'),
    past: visibleBy(
      'owners and support of the customer',
      (caller) => sql`r.customer_id IN (${customersWithRole(callerId(caller))})`,
    ),
  },
  project: {
    active: visibleBy(
      'owners of the customer; the user themselves; managers of the project, its administrators with the setting managers_can_manage_admins',
      (caller, config) =>
        sql`${ownRoles(caller)} OR ${inOwnedProjects(caller)} OR ${managedAdministrators(caller, config)}`,
    ),
    addressable: (caller: Caller) => visibleProjects(caller, 'r.project_id'),
    past: visibleBy('owners of the customer', inOwnedProjects),
  },
};

/** The customer or project of a role, and its expiry. */
interface RoleTerm {
  /** Id of the customer or project. */
  readonly scope: number;
  /** Null for no expiry. */
  readonly until: number | null;
}

/** An existing or requested role of a user. */
interface HeldRole extends RoleTerm {
  readonly role: string;
  /** Id of the user. */
  readonly user: number;
}

/** Owners whose own role does not expire earlier. */
const ownersUntil = (structure: RoleScope): Right<RoleTerm> =>
  right('owners of the customer', ({ caller, db }, { scope, until }) =>
    ownsCustomerUntil(db, caller, customerOfScope(db, structure, scope), until),
  );

/** Managers whose own role does not expire earlier, for other administrators of their project. */
const managersOfAdministrators: Right<HeldRole> = right<HeldRole>(
  'managers of the project over its administrators',
  ({ caller, db }, { role, scope, until, user }) =>
    role === 'admin' && user !== caller.userId && managesProjectUntil(db, caller, scope, until),
).when('managers_can_manage_admins');

/** The right to grant, change and revoke any role in a customer or project, and to invite to it (core.md 8.2). */
export const roleManagers: Readonly<Record<RoleScope, Right<RoleTerm>>> = {
  customer: anyOf(staff, ownersUntil('customer').when('owners_can_manage_owners')),
  project: anyOf(staff, ownersUntil('project')),
};

/** The right to grant, change or revoke one role (core.md 8.2). */
const writers: Readonly<Record<RoleScope, Right<HeldRole>>> = {
  customer: roleManagers.customer,
  project: anyOf(roleManagers.project, managersOfAdministrators),
};

/** Whether the caller could grant any role anywhere. Does not depend on the body. */
const canGrantAny: Readonly<Record<RoleScope, (request: Request) => boolean>> = {
  customer: ({ caller, config, db }) =>
    caller.isStaff || (config.owners_can_manage_owners && ownsSomeCustomer(db, caller)),
  project: ({ caller, config, db }) =>
    caller.isStaff ||
    ownsSomeCustomer(db, caller) ||
    (config.managers_can_manage_admins && managesSomeProject(db, caller)),
};

/**
 * Applies `roleManagers` to a user without a request, such as an inviter. Returns the latest expiry of roles that the user may
 * grant: null for no expiry, undefined if they may grant none.
 */
export function rolesGrantedUntil(
  { config, db }: Pick<App, 'config' | 'db'>,
  user: Pick<UserRow, 'id' | 'is_staff'>,
  structure: RoleScope,
  scope: number,
): number | null | undefined {
  if (user.is_staff) return null;
  if (structure === 'customer' && !config.owners_can_manage_owners) return undefined;
  return ownsUntil(db, user, customerOfScope(db, structure, scope));
}

const isServiceAccount = ({ db }: Request, user: number): boolean =>
  db.value(sql`SELECT 1 FROM user WHERE id = ${user} AND is_service_account`) !== undefined;

/** Returns the 409 message for the role of a service account, which changes only with the account (core.md 4.7). */
const serviceAccountReason = (request: Request, { user_id: user }: RoleRow): string | undefined =>
  isServiceAccount(request, user) ? 'This role belongs to a service account.' : undefined;

/** Returns the 409 message for a role that a service account or identity provider manages (core.md 8.4). */
function managedReason(request: Request, row: RoleRow): string | undefined {
  const label = row.source === null ? undefined : request.app.roleSources.get(row.source);
  return label === undefined ? serviceAccountReason(request, row) : `This role is managed by ${label}.`;
}

/** Throws 400 for a service account, which can have only one role. */
function rejectServiceAccount(request: Request, { user }: { readonly user: number }): void {
  if (isServiceAccount(request, user)) throw invalid({ user: ['A service account can have only one role.'] });
}

/** The expiry of a role in a body. */
interface End {
  readonly expiration_time?: number | null;
}

/** Returns a stored role with a different expiry. */
const heldRole = ({ role, user_id: user }: RoleRow, scope: number, until: number | null): HeldRole => ({
  role,
  scope,
  until,
  user,
});

/** The common part of both collections of active roles. `scopeOf` returns the id of a role's customer or project. */
const activeRoles = <R extends RoleRow>(structure: RoleScope, scopeOf: (row: R) => number) => ({
  path: `${structure}-permissions`,
  description: `Active roles of users in ${structure}s.`,
  table: `active_${structure}_role`,
  alias: 'r',
  key: 'pk' as const,
  visible: visibility[structure].active,
  writable: visibility[structure].addressable,
  described: () => true,
  filters: filtersOf(structure),
  orderings: orderings('r.expires'),
  order: '-r.created',
  update: {
    // Checked before reading the body: callers whose own role expires soon may still manage roles that expire earlier.
    right: rightUnlessDenied(
      rightVia((row: R) => heldRole(row, scopeOf(row), 0), writers[structure]),
      ({ caller }, { user_id: user }) => (user === caller.userId ? forbiddenText : undefined),
    ),
    rightWith: rightVia(
      ({ row, values: { expiration_time: end } }: { row: R; values: End }) =>
        heldRole(row, scopeOf(row), end === undefined ? row.expires : end),
      writers[structure],
    ),
    denialReason: managedReason,
    run: ({ db, now }: Request, row: R, _: End, columns: Columns) => {
      const changes = changesOf(row, columns);
      // Skip reminders whose time has already passed.
      db.update(`${structure}_role`, row.id, { ...changes, ...('expires' in changes && { reminded: now }) });
    },
  },
  delete: {
    right: rightVia((row: R) => heldRole(row, scopeOf(row), row.expires), writers[structure]),
    denialReason: managedReason,
    run: (request: Request, row: R) => revokeRole(request, structure, { ...row, scope: scopeOf(row) }),
  },
});

/** The body of a new role, except the customer or project. */
interface NewRole extends End {
  readonly user: number;
  readonly role: string;
}

const grant = (
  request: Request,
  structure: RoleScope,
  scope: number,
  { expiration_time: expires = null, role, user }: NewRole,
  columns: Columns,
): number => grantRole(request, { structure, scope, user, role, expires, author: request.caller.userId }, columns);

export const customerPermissions = collection<CustomerRoleRow>()({
  ...activeRoles<CustomerRoleRow>('customer', (row) => row.customer_id),
  kind: 'Customer Permission',
  fields: fieldsOf('customer', 'customer-permissions', 'r.expires', customerFields),
  create: {
    isPossible: canGrantAny.customer,
    check: rejectServiceAccount,
    rightWith: rightVia(
      ({ customer: scope, expiration_time: until = null, role, user }: NewRole & { customer: number }) => ({
        role,
        scope,
        until,
        user,
      }),
      writers.customer,
    ),
    run: (request, values, columns) => grant(request, 'customer', values.customer, values, columns),
  },
});

export const projectPermissions = collection<ProjectRoleRow>()({
  ...activeRoles<ProjectRoleRow>('project', (row) => row.project_id),
  kind: 'Project Permission',
  fields: fieldsOf('project', 'project-permissions', 'r.expires', projectFields),
  create: {
    isPossible: canGrantAny.project,
    check: rejectServiceAccount,
    rightWith: rightVia(
      ({ expiration_time: until = null, project: scope, role, user }: NewRole & { project: number }) => ({
        role,
        scope,
        until,
        user,
      }),
      writers.project,
    ),
    run: (request, values, columns) => grant(request, 'project', values.project, values, columns),
  },
});

/** The common part of both collections of past roles. */
const pastRoles = (structure: RoleScope) => ({
  path: `${structure}-permissions-log`,
  description: `Roles in ${structure}s that were revoked or have expired.`,
  table: `${structure}_role`,
  alias: 'r',
  key: 'pk' as const,
  visible: {
    ...visibility[structure].past,
    condition: (...caller: Parameters<Visibility['condition']>) =>
      all([sql`r.ended IS NOT NULL`, visibility[structure].past.condition(...caller)]),
  },
  filters: filtersOf(structure),
  orderings: orderings('r.ended'),
  order: '-r.created',
});

export const customerPermissionsLog = collection<RoleRow>()({
  ...pastRoles('customer'),
  kind: 'Customer Permission Log',
  fields: fieldsOf('customer', 'customer-permissions-log', 'r.ended', customerFields),
});

export const projectPermissionsLog = collection<RoleRow>()({
  ...pastRoles('project'),
  kind: 'Project Permission Log',
  fields: fieldsOf('project', 'project-permissions-log', 'r.ended', projectFields),
});
