/** Grants and revokes rights by a user's groups at an OpenID Connect provider (services.md 11.1 "Group rules"). */
import type { Context } from '../../../kernel/access/context.ts';
import { raw, sql } from '../../../kernel/db/sql.ts';
import { HttpError } from '../../../kernel/http/error.ts';
import { type ActiveRole, activeRolesIn, grantRole, hasRole, type RoleScope, revokeRole } from '../../roles/roles.ts';
import { type UserRow, updateUser, userOf } from '../../users/users.ts';
import type { GroupRule } from './group-rules.ts';
import type { OidcProvider } from './provider-file.ts';

/** Returns the `source` of roles that this provider grants. */
export const sourceOf = ({ name }: Pick<OidcProvider, 'name'>): string => `oidc:${name}`;

/** Roles in ascending order. */
const ranks: Readonly<Record<RoleScope, readonly string[]>> = {
  customer: ['support', 'owner'],
  project: ['support', 'admin', 'manager'],
};

/** Grants a user the roles and rights of these groups, and ends others that this provider granted. Must run inside a write. */
export function applyGroups(
  context: Context,
  provider: OidcProvider,
  user: UserRow,
  groups: ReadonlySet<string>,
): void {
  const rules = provider.groupRules.filter(({ group }) => groups.has(group));
  for (const structure of ['customer', 'project'] as const) applyRoles(context, provider, user, structure, rules);
  const grants = new Set(rules.map(({ grant }) => grant.kind));
  applyRight(context, provider, user.id, 'staff', grants.has('staff'));
  applyRight(context, provider, user.id, 'support', grants.has('support'));
}

interface ManagedRole extends ActiveRole {
  readonly expires: number | null;
}

function applyRoles(
  context: Context,
  provider: OidcProvider,
  { id: user }: UserRow,
  structure: RoleScope,
  rules: readonly GroupRule[],
): void {
  const { db } = context.app;
  const source = sourceOf(provider);
  const expires = provider.groupRolesLast === null ? null : context.now + provider.groupRolesLast;
  const wanted = wantedRoles(context, provider, structure, rules);
  const managed = db.all<ManagedRole>(sql`
    SELECT id, ${raw(`${structure}_id`)} AS scope, user_id, role, expires FROM ${activeRolesIn(structure)}
    WHERE user_id = ${user} AND source = ${source} ORDER BY id`);
  for (const role of managed) {
    if (wanted.get(role.scope) !== role.role) revokeRole(context, structure, role);
    // Skip reminders whose time has already passed.
    else if (role.expires !== expires) db.update(`${structure}_role`, role.id, { expires, reminded: context.now });
  }
  for (const [scope, role] of wanted) {
    // A role from a user or another provider takes precedence.
    if (hasRole(db, structure, scope, user)) continue;
    try {
      grantRole(context, { structure, scope, user, role, expires, author: null }, { source });
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      logRule(context, provider, { role, [structure]: scope, reason: JSON.stringify(error.body) });
    }
  }
}

/** Returns the highest role in each customer or project, by its id. Logs rules for missing customers and projects. */
function wantedRoles(
  context: Context,
  provider: OidcProvider,
  structure: RoleScope,
  rules: readonly GroupRule[],
): ReadonlyMap<number, string> {
  const roles = new Map<number, string>();
  const rank = (role: string | undefined): number => (role === undefined ? -1 : ranks[structure].indexOf(role));
  for (const { grant, group } of rules) {
    if (grant.kind !== structure) continue;
    const id = context.app.db.value<number>(sql`SELECT id FROM ${raw(structure)} WHERE uuid = ${grant.uuid}`);
    if (id === undefined) logRule(context, provider, { group, [structure]: grant.uuid, reason: 'it does not exist' });
    else if (rank(grant.role) > rank(roles.get(id))) roles.set(id, grant.role);
  }
  return roles;
}

/** Logs that a rule has no effect. */
const logRule = ({ app }: Context, { name }: OidcProvider, details: object): void =>
  app.db.onceStored(() => app.log.warn({ provider: name, ...details }, 'a group rule has no effect'));

function applyRight(
  context: Context,
  provider: OidcProvider,
  id: number,
  right: 'staff' | 'support',
  isWanted: boolean,
): void {
  const { db } = context.app;
  const user = userOf({ db }, id);
  const source = sourceOf(provider);
  if (isWanted === (user[`is_${right}`] === 1)) return;
  if (!isWanted && user[`${right}_source`] !== source) return;
  updateUser(context, user, { [`is_${right}`]: isWanted }, false);
  if (isWanted) db.update('user', id, { [`${right}_source`]: source });
}
