/** The encrypted columns of the database, the check of the keys at start, and key rotation. */
import type { App } from '../../kernel/app.ts';
import type { Database } from '../../kernel/db/database.ts';
import { raw, sql } from '../../kernel/db/sql.ts';
import type { Secrets } from '../../kernel/security/secrets.ts';

interface EncryptedColumn {
  readonly table: string;
  readonly column: string;
  /** SQL of the UUID that a value is bound to. The same bytes do not decrypt in another row. */
  readonly uuid: string;
}

export const encryptedColumns: readonly EncryptedColumn[] = [
  { table: 'hook', column: 'secret', uuid: 'uuid' },
  { table: 'hook', column: 'old_secret', uuid: 'uuid' },
  { table: 'hook', column: 'token', uuid: 'uuid' },
  { table: 'hook_confirmation', column: 'secret', uuid: 'uuid' },
  { table: 'digest_key', column: 'sealed', uuid: "'digest_key'" },
  ...['password', 'token', 'certificate', 'secret_options'].map((column) => ({
    table: 'service_settings',
    column,
    uuid: 'uuid',
  })),
  { table: 'invitation_mail', column: 'secret', uuid: 'uuid' },
  { table: 'password_reset', column: 'secret', uuid: 'uuid' },
  { table: 'second_factor', column: 'secret', uuid: 'uuid' },
  { table: 'totp_enrolment', column: 'secret', uuid: 'uuid' },
  { table: 'pending_login', column: 'session', uuid: 'uuid' },
  { table: 'oidc_session', column: 'id_token', uuid: 'uuid' },
  { table: 'resource', column: 'secrets', uuid: 'uuid' },
  { table: 'deployment', column: 'key_check', uuid: "'deployment'" },
  { table: 'job', column: 'secrets', uuid: "ifnull((SELECT uuid FROM resource WHERE id = resource_id), '')" },
];

/** The plain text of `deployment.key_check`, which detects wrong keys at start, and the id that it is bound to. */
const keyCheck = { text: 'tenantry', uuid: 'deployment' };

interface EncryptedValue {
  readonly id: number;
  readonly uuid: string;
  readonly value: Uint8Array;
}

const readValues = (db: Database, { column, table, uuid }: EncryptedColumn): EncryptedValue[] =>
  db.all(
    sql`SELECT id, ${raw(uuid)} AS uuid, ${raw(column)} AS value FROM ${raw(table)}
      WHERE ${raw(column)} IS NOT NULL ORDER BY id`,
  );

/** Re-encrypts every stored secret with the first of these keys, in one transaction. Returns the number of secrets. */
export function reencryptSecrets({ db }: Pick<App, 'db'>, secrets: Secrets): number {
  let count = 0;
  db.write(() => {
    for (const encrypted of encryptedColumns) {
      const values = readValues(db, encrypted);
      for (const { id, uuid, value } of values)
        db.update(encrypted.table, id, { [encrypted.column]: secrets.seal(secrets.open(value, uuid), uuid) });
      count += values.length;
    }
  });
  db.store();
  return count;
}

/** Encrypts the values of these tables, which are plain text. Must run inside a write. */
export function sealPlainValues({ db, secrets }: Pick<App, 'db' | 'secrets'>, tables: readonly string[]): void {
  for (const encrypted of encryptedColumns)
    if (tables.includes(encrypted.table))
      for (const { id, uuid, value } of readValues(db, encrypted))
        db.update(encrypted.table, id, { [encrypted.column]: secrets.seal(Buffer.from(value).toString(), uuid) });
}

const readCheck = (db: Database): Uint8Array | null =>
  db.value<Uint8Array | null>(sql`SELECT key_check FROM deployment`) ?? null;

/** Whether the database has no encrypted values. Only then may a start create a key. */
export const hasNoSecrets = (db: Database): boolean =>
  readCheck(db) === null &&
  encryptedColumns.every(
    ({ column, table }) =>
      db.value(sql`SELECT 1 FROM ${raw(table)} WHERE ${raw(column)} IS NOT NULL LIMIT 1`) === undefined,
  );

/** Whether the keys match a database. A database from before `key_check` existed matches any keys. */
export function fitsKeys(db: Database, secrets: Secrets): boolean {
  const hasCheck = db.value(sql`SELECT 1 FROM pragma_table_info('deployment') WHERE name = 'key_check'`) !== undefined;
  const check = hasCheck ? readCheck(db) : null;
  return check === null || decryptsCheck(secrets, check);
}

/** Throws if the keys do not match the database. The message names their `source`. */
export function requireKeys(db: Database, secrets: Secrets, source: string): void {
  const check = readCheck(db);
  const fits = check === null ? findUndecryptable(db, secrets, 1).length === 0 : decryptsCheck(secrets, check);
  if (!fits) throw new Error(`${source} does not have the keys of this database, which cannot be decrypted with it`);
  if (check === null) {
    db.write(() => db.run(sql`UPDATE deployment SET key_check = ${secrets.seal(keyCheck.text, keyCheck.uuid)}`));
    db.store();
  }
}

/** Returns one line for each value that these keys cannot decrypt, at most `maxPerColumn` per column. */
export function findUndecryptable(db: Database, secrets: Secrets, maxPerColumn: number): string[] {
  const check = readCheck(db);
  const lines =
    check === null || decryptsCheck(secrets, check) ? [] : ['the encryption keys are not those of this database'];
  for (const encrypted of encryptedColumns) {
    if (encrypted.table === 'deployment') continue;
    const { column, table } = encrypted;
    lines.push(
      ...readValues(db, encrypted)
        .filter(({ uuid, value }) => !decrypts(secrets, value, uuid))
        .slice(0, maxPerColumn)
        .map(({ id }) => `${column} of ${table} ${id} cannot be opened with the encryption keys`),
    );
  }
  return lines;
}

const decryptsCheck = (secrets: Secrets, check: Uint8Array): boolean => decrypts(secrets, check, keyCheck.uuid);

function decrypts(secrets: Secrets, value: Uint8Array, uuid: string): boolean {
  try {
    secrets.open(value, uuid);
    return true;
  } catch {
    return false;
  }
}
