/** Erasure in the audit trail (audit.md 7): the private parts of records go, their hashes stay, so that the chain still verifies. */
import type { App } from '../../kernel/app.ts';
import { sql } from '../../kernel/db/sql.ts';

/** Types of audit objects that are users. */
const userTypes = ['users', 'service-accounts'];

/** Returns the uuids of users that the trail names so, as actor or as object: also of deleted users. */
export const recordedUsers = ({ db }: App, username: string): string[] =>
  db.values<string>(sql`
    SELECT DISTINCT uuid FROM (
      SELECT actor AS uuid FROM audit_record WHERE private ->> '$.actor_name' = ${username}
      UNION
      SELECT object FROM audit_record WHERE private ->> '$.object_name' = ${username}
        AND record ->> '$.object.type' IN (SELECT value FROM json_each(${JSON.stringify(userTypes)}))
    ) WHERE uuid IS NOT NULL`);

/**
 * Removes the private parts of all records whose actor, `as` or object is a user, and notes the reason for the record of the
 * command. Returns how many there were. SQLite overwrites the bytes.
 */
export function redactUser({ db, trail }: App, uuid: string, reason: string): number {
  db.pragma('secure_delete = ON');
  const matches = sql`private IS NOT NULL AND (actor = ${uuid} OR acts_as = ${uuid} OR object = ${uuid})`;
  // Searched before the transaction, which keeps the server from writing: it only has to look at later records.
  const ids = db.values<number>(sql`SELECT id FROM audit_record WHERE ${matches}`);
  const newest = db.value<number | null>(sql`SELECT max(id) FROM audit_record`) ?? 0;
  const count = db.write(
    () =>
      db.run(
        sql`UPDATE audit_record SET private = NULL WHERE id IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`,
      ).changes + db.run(sql`UPDATE audit_record SET private = NULL WHERE id > ${newest} AND ${matches}`).changes,
  );
  trail.current?.about('users', uuid, null);
  trail.current?.changes.push({ field: 'reason', from: null, to: reason }, { field: 'records', from: null, to: count });
  db.store();
  return count;
}
