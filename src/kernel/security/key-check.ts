import type { Database } from '../db/database.ts';
import { raw, sql } from '../db/sql.ts';
import { sealedColumns } from './rotation.ts';
import type { Secrets } from './secrets.ts';

/** What is sealed in the database, so that a start with another key notices it. */
const known = 'tenantry';
/** In the place of the uuid of an object. */
const owner = 'deployment';

const readCheck = (db: Database): Uint8Array | null =>
  db.value<Uint8Array | null>(sql`SELECT key_check FROM deployment`) ?? null;

/** Whether the database holds nothing that a key has sealed: only then may one be made. */
export const isUnsealed = (db: Database): boolean =>
  readCheck(db) === null &&
  sealedColumns.every(
    ({ column, table }) =>
      db.value(sql`SELECT 1 FROM ${raw(table)} WHERE ${raw(column)} IS NOT NULL LIMIT 1`) === undefined,
  );

/** Whether keys are those of a database, as far as it says; one of an earlier version does not. */
export function areKeysOf(db: Database, secrets: Secrets): boolean {
  const tells = db.value(sql`SELECT 1 FROM pragma_table_info('deployment') WHERE name = 'key_check'`) !== undefined;
  const check = tells ? readCheck(db) : null;
  return check === null || opensCheck(secrets, check);
}

/** Throws with a sentence when these are not the keys of the database; `source` says where they come from. */
export function requireKeys(db: Database, secrets: Secrets, source: string): void {
  const check = readCheck(db);
  const opens = check === null ? unopened(db, secrets, 1).length === 0 : opensCheck(secrets, check);
  if (!opens)
    throw new Error(`${source} does not open what the database holds sealed: it has not the keys of this database`);
  if (check === null) {
    db.write(() => db.run(sql`UPDATE deployment SET key_check = ${secrets.seal(known, owner)}`));
    db.store();
  }
}

/** What these keys do not open, a line each; of every column at most so many. */
export function unopened(db: Database, secrets: Secrets, most: number): string[] {
  const check = readCheck(db);
  const lines =
    check === null || opensCheck(secrets, check) ? [] : ['the encryption keys are not those of this database'];
  for (const { column, table, uuid } of sealedColumns) {
    if (table === 'deployment') continue;
    let found = 0;
    for (const row of db.all<{ id: number; uuid: string; value: Uint8Array }>(
      sql`SELECT id, ${raw(uuid)} AS uuid, ${raw(column)} AS value FROM ${raw(table)} WHERE ${raw(column)} IS NOT NULL ORDER BY id`,
    )) {
      if (opens(secrets, row.value, row.uuid)) continue;
      lines.push(`${column} of ${table} ${row.id} cannot be opened with the encryption keys`);
      if (++found === most) break;
    }
  }
  return lines;
}

const opensCheck = (secrets: Secrets, check: Uint8Array): boolean => opens(secrets, check, owner);

function opens(secrets: Secrets, value: Uint8Array, uuid: string): boolean {
  try {
    secrets.open(value, uuid);
    return true;
  } catch {
    return false;
  }
}
