import { type UserNames, userContext } from '../../activity/events/context.ts';
import type { Scope } from '../../activity/scopes/scope.ts';
import { connectedCustomers, isBoundCaller } from '../../kernel/access/visibility.ts';
import type { Database } from '../../kernel/db/database.ts';
import { type Sql, sql } from '../../kernel/db/sql.ts';
import { usersOfCustomers } from './user-filters.ts';

const userNames = (db: Database, id: number): UserNames =>
  db.one<UserNames>(sql`SELECT uuid, username, full_name, native_name FROM user WHERE id = ${id}`);

/** Selects the ids of a user and of all users in shared customers. */
const connected = (user: Sql): Sql => sql`
  SELECT id FROM user
  WHERE (is_active AND NOT is_staff AND id IN (${usersOfCustomers(connectedCustomers(user))})) OR id = ${user}`;

/** Users as scopes of alerts and events. */
export const userScope: Scope = {
  name: 'core.user',
  short: 'user',
  path: 'users',
  table: 'user',
  accepted: true,
  readable: (user) =>
    isBoundCaller(user) ? connected(user) : sql`SELECT id FROM user WHERE (is_active AND NOT is_staff) OR id = ${user}`,
  // A user outside the directory must be indistinguishable from a missing one (core.md 4.3).
  findable: (user, { users_visible: visible }) => (visible === 'all' ? userScope.readable(user) : connected(user)),
  own: (db, id) => userContext(userNames(db, id)),
  scope: (db, id) => {
    const user = userNames(db, id);
    return {
      scope_uuid: user.uuid,
      scope_name: user.username,
      scope_username: user.username,
      scope_full_name: user.full_name,
      scope_native_name: user.native_name,
    };
  },
};
