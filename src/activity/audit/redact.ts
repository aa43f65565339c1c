/** Erasure in the audit trail (audit.md 7). Removes private parts but keeps their hashes, so that the chain still verifies. */
import type { App } from '../../kernel/app.ts';
import { sql } from '../../kernel/db/sql.ts';

/** Types of audit objects that are users. */
const userTypes = ['users', 'service-accounts'];

/** Returns the uuids of all users, including deleted ones, that the trail names `username` as actor or object. */
export const recordedUsers = ({ db }: App, username: string): string[] =>
  db.values<string>(sql`
    SELECT DISTINCT uuid FROM (
      SELECT actor AS uuid FROM audit_record WHERE private ->> '$.actor_name' = ${username}
      UNION
      SELECT object FROM audit_record WHERE private ->> '$.object_name' = ${username}
        AND record ->> '$.object.type' IN (SELECT value FROM json_each(${JSON.stringify(userTypes)}))
    ) WHERE uuid IS NOT NULL`);

/** Fields of users that identify a person. */
const identifyingFields = ['username', 'full_name', 'native_name', 'email', 'phone_number', 'civil_number'];

/** Whether a text is unambiguous even inside a longer one: an address, a name of two words, or a number. */
const isDistinctive = (text: string): boolean => /[@ ]/.test(text) || /\d{6}/.test(text);

/** Returns all current and former names of a user in the database and the trail. */
function namesOf({ db }: App, uuid: string): string[] {
  const fields = JSON.stringify(identifyingFields);
  const names = db.values<unknown>(sql`
    SELECT c.value ->> m.key FROM audit_record r, json_each(r.private, '$.changes') c, json_each('{"from":0,"to":0}') m
    WHERE r.object = ${uuid} AND c.value ->> 'field' IN (SELECT value FROM json_each(${fields}))
    UNION SELECT private ->> '$.object_name' FROM audit_record
      WHERE object = ${uuid} AND record ->> '$.object.type' IN (SELECT value FROM json_each(${JSON.stringify(userTypes)}))
    UNION SELECT private ->> '$.actor_name' FROM audit_record WHERE actor = ${uuid}`);
  const user = db.get<Record<string, unknown>>(sql`SELECT * FROM user WHERE uuid = ${uuid}`);
  const texts = [...names, ...identifyingFields.map((field) => user?.[field])];
  return [...new Set(texts)].filter((text): text is string => typeof text === 'string' && text.length > 1);
}

/**
 * Removes the private parts of all records whose actor, `as` or object is a user, or whose changes name the user, and adds the
 * reason to the record of the command. Returns the number of records. SQLite overwrites the bytes.
 */
export function redactUser(app: App, uuid: string, reason: string): number {
  const { db, trail } = app;
  db.pragma('secure_delete = ON');
  const names = namesOf(app, uuid);
  const inTexts = JSON.stringify(names.filter(isDistinctive).map((name) => name.toLowerCase()));
  // A one-word name can be part of unrelated text, so it must be the entire value, and not the name of another object.
  const asValues = JSON.stringify(names.filter((name) => !isDistinctive(name)));
  const isNamed = sql`
    EXISTS (SELECT 1 FROM json_tree(private, '$.changes') t WHERE t.type = 'text' AND (
      EXISTS (SELECT 1 FROM json_each(${inTexts}) n WHERE instr(lower(t.atom), n.value) > 0)
      OR t.atom IN (SELECT value FROM json_each(${asValues})) AND t.key <> 'field'
        AND private ->> (substr(t.fullkey, 1, instr(t.fullkey, ']')) || '.field') <> 'name'))
    OR EXISTS (SELECT 1 FROM json_each(${inTexts}) n WHERE instr(lower(private ->> '$.object_name'), n.value) > 0)`;
  const matches = sql`
    private IS NOT NULL AND (actor = ${uuid} OR acts_as = ${uuid} OR object = ${uuid} OR ${isNamed})`;
  // Search before the transaction, which blocks the server's writes, so that the transaction only has to check newer records.
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
