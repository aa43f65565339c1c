/** The users that a caller can see under users_visible (core.md 4.3). */
import { type Caller, callerId, seesAll } from '../../kernel/access/caller.ts';
import type { Request } from '../../kernel/access/request.ts';
import { connectedCustomers } from '../../kernel/access/visibility.ts';
import { textFilter } from '../../kernel/collection/filter.ts';
import type { LinkTarget } from '../../kernel/collection/links.ts';
import type { Config } from '../../kernel/config/config.ts';
import { hasEmail } from '../../kernel/db/email-address.ts';
import { all, any, caseFold, raw, type Sql, sql } from '../../kernel/db/sql.ts';
import { usersOfCustomers } from './user-filters.ts';

/** Whether the caller sees only users in shared customers. */
export const isRestrictedDirectory = (caller: Caller, config: Config): boolean =>
  (config.users_visible === 'connected' || caller.apiKey?.isBound === true) && !seesAll(caller);

const active = raw('u.is_active AND NOT u.is_staff');

/** Selects the ids of the users with a role in a user's customers or their projects. */
const connectedUsers = (user: Sql): Sql => usersOfCustomers(connectedCustomers(user));

/** Condition: the user in alias `u` is visible to the caller. */
export function visibleUsers(caller: Caller, config: Config): Sql {
  if (seesAll(caller)) return raw('TRUE');
  const others = isRestrictedDirectory(caller, config)
    ? sql`${active} AND u.id IN (${connectedUsers(callerId(caller))})`
    : active;
  return sql`(${others}) OR u.id = ${caller.userId}`;
}

/** Filters that find a user by exact name or email. */
export const filtersByName = {
  username_exact: textFilter('The exact username, in any case.', (name) => sql`u.username_folded = ${caseFold(name)}`),
  email_exact: textFilter('The exact email, in any case.', (email) => hasEmail(email, 'u.email_folded')),
};

/** Filters by fields that are hidden of users found only by exact name. */
const hiddenTexts = ['phone_number', 'organization', 'organization_approved', 'civil_number'];
const hiddenFlags = ['organization_claimed', 'potential'];

/**
 * Condition of GET /api/users/: people, and service accounts only if the query asks for them or for the caller (core.md 4.7).
 */
export function listedUsers(request: Request): Sql {
  const { query } = request;
  const includesServiceAccounts = query.boolean('is_service_account') === true || query.flag('current');
  return includesServiceAccounts
    ? visibleOrNamedUsers(request)
    : all([raw('NOT u.is_service_account'), visibleOrNamedUsers(request)]);
}

/** Condition: visible users and, in a narrow directory, the user with the exact name in a filter. */
function visibleOrNamedUsers(request: Request): Sql {
  const { caller, config, query } = request;
  const visible = visibleUsers(caller, config);
  const filtersHidden =
    hiddenTexts.some((name) => query.one(name) !== undefined) || hiddenFlags.some((name) => query.flag(name));
  if (!isRestrictedDirectory(caller, config) || filtersHidden || caller.apiKey?.isBound) return visible;
  const named = Object.entries(filtersByName).flatMap(([name, { condition }]) => condition(request, name) ?? []);
  return named.length === 0 ? visible : any([visible, all([active, ...named])]);
}

/** Condition of fields that a narrow directory shows only for connected users. */
export const visibleIfConnected = `NOT @narrow OR u.id = @self OR u.id IN (${connectedUsers(raw('@caller')).text})`;

/** Condition: a link in a body may name the user in alias `u`. With a bound API key, only connected users. */
function linkableUsers(caller: Caller, config: Config): Sql {
  if (caller.apiKey?.isBound) return visibleUsers(caller, config);
  return seesAll(caller) ? raw('TRUE') : sql`(${active}) OR u.id = ${caller.id}`;
}

/** Users for links in bodies. Includes users that the caller can find only by name. */
export const namedUsers: LinkTarget = {
  path: 'users',
  visibleId: ({ caller, config, db }, uuid) =>
    db.value<number>(sql`SELECT u.id FROM user u WHERE u.uuid = ${uuid} AND (${linkableUsers(caller, config)})`),
};
