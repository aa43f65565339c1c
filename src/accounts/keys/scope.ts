import { keyContext } from '../../activity/events/context.ts';
import { type Named, namedScope, type Scope } from '../../activity/scopes/scope.ts';
import type { Database } from '../../kernel/db/database.ts';
import { sql } from '../../kernel/db/sql.ts';
import { userNames } from '../users/scope.ts';

type KeyNames = Named & { readonly user_id: number };

const keyNames = (db: Database, id: number): KeyNames =>
  db.get<KeyNames>(sql`SELECT uuid, name, user_id FROM ssh_key WHERE id = ${id}`) as KeyNames;

/** SSH keys as scopes of alerts and events. */
export const keyScope: Scope = {
  name: 'core.sshpublickey',
  short: 'ssh_public_key',
  path: 'keys',
  table: 'ssh_key',
  accepted: true,
  readable: (user) => sql`SELECT id FROM ssh_key WHERE user_id = ${user}`,
  own: (db, id) => {
    const key = keyNames(db, id);
    return keyContext(key, userNames(db, key.user_id));
  },
  scope: (db, id) => namedScope(keyNames(db, id)),
};
