/** The users who manage service accounts and their API keys (core.md 4.7). */
import { type Caller, seesAll } from '../../kernel/access/caller.ts';
import type { Request } from '../../kernel/access/request.ts';
import { type Right, right, type Visibility, visibleTo } from '../../kernel/access/right.ts';
import {
  managesProjectUntil,
  managesSomeProject,
  ownsSomeCustomer,
  permanentlyManagedProjects,
  permanentlyOwnedCustomers,
} from '../../kernel/access/rights.ts';
import type { Row } from '../../kernel/collection/collection.ts';
import type { Config } from '../../kernel/config/config.ts';
import { raw, type Sql, sql } from '../../kernel/db/sql.ts';
import { projectsOf, roleManagers } from '../permissions/permissions.ts';
import type { RoleScope } from '../roles/roles.ts';

export interface ServiceAccountRow extends Row {
  readonly user_id: number;
  readonly name: string;
  readonly description: string;
  /** Both null after the deletion of the customer or project. */
  readonly customer_id: number | null;
  readonly project_id: number | null;
  readonly role: string;
}

/** The role of a service account, with its customer or project. */
export interface Target {
  readonly structure: RoleScope;
  /** Id of the customer or project. */
  readonly scope: number;
  readonly role: string;
}

/** Returns the role of a service account; undefined if its customer or project was deleted. */
export function targetOf({ customer_id: customer, project_id: project, role }: ServiceAccountRow): Target | undefined {
  if (customer !== null) return { structure: 'customer', scope: customer, role };
  return project === null ? undefined : { structure: 'project', scope: project, role };
}

/** Roles of service accounts that project managers may also manage. */
const managedByManagers: readonly string[] = ['admin', 'support'];

function manages(request: Request, target: Target | undefined): boolean {
  const { caller, db } = request;
  if (!target) return caller.isStaff;
  const { role, scope, structure } = target;
  if (roleManagers[structure].may(request, { scope, until: null })) return true;
  return structure === 'project' && managedByManagers.includes(role) && managesProjectUntil(db, caller, scope, null);
}

/** The right to create, change and delete a service account with a role, and to manage its keys. */
export const accountManagers: Right<Target | undefined> = right(
  'staff; owners without an end of their role, of a customer itself with the setting owners_can_manage_owners; managers without an end of their role, for the roles admin and support',
  manages,
);

/** Whether the caller could manage any service account. Does not depend on the body. */
export const managesSome = ({ caller, db }: Pick<Request, 'caller' | 'db'>): boolean =>
  caller.isStaff ||
  ownsSomeCustomer(db, caller, { endless: true }) ||
  managesSomeProject(db, caller, { endless: true });

/** Condition: the caller manages the service account in alias `a`. The same right as `accountManagers`. */
export function managedAccounts(caller: Caller, { owners_can_manage_owners: ownersGrant }: Config): Sql {
  if (caller.isStaff) return raw('TRUE');
  const owned = permanentlyOwnedCustomers(caller);
  const roles = sql`SELECT value FROM json_each(${JSON.stringify(managedByManagers)})`;
  return sql`
    a.project_id IN (${projectsOf(owned)})
    OR (a.role IN (${roles}) AND a.project_id IN (${permanentlyManagedProjects(caller)}))
    OR (${Number(ownersGrant)} AND a.customer_id IN (${owned}))`;
}

export const visibleAccounts: Visibility = visibleTo(
  'the users who manage the service account; staff and global support',
  (caller, config) => (seesAll(caller) ? raw('TRUE') : managedAccounts(caller, config)),
);
