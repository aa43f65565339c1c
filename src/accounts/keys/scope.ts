import { keyContext } from '../../activity/events/context.ts';
import { type Named, namedScope, type Scope } from '../../activity/scopes/scope.ts';
import type { Database } from '../../kernel/db/database.ts';
import { sql } from '../../kernel/db/sql.ts';

interface KeyNames extends Named {
  readonly owner: string;
  readonly username: string;
  readonly full_name: string;
  readonly native_name: string;
}

const keyNames = (db: Database, id: number): KeyNames =>
  db.one<KeyNames>(sql`SELECT k.uuid, k.name, u.uuid AS owner, u.username, u.full_name, u.native_name
    FROM ssh_key k JOIN user u ON u.id = k.user_id WHERE k.id = ${id}`);

/** SSH keys as scopes of alerts and events. */
export const keyScope: Scope = {
  name: 'core.sshpublickey',
  short: 'ssh_public_key',
  path: 'keys',
  table: 'ssh_key',
  accepted: true,
  readable: (user) => sql`SELECT id FROM ssh_key WHERE user_id = ${user}`,
  own: (db, id) => {
    const { owner, ...key } = keyNames(db, id);
    return keyContext(key, { ...key, uuid: owner });
  },
  scope: (db, id) => namedScope(keyNames(db, id)),
};
