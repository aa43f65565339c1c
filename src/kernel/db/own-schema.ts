/**
 * Compares the schema of a database with that of the migrations. A foreign trigger or view would change the reads and writes of
 * this program, so a database file from outside must not contain any.
 */
import type SQLite from 'better-sqlite3';
import { backupTable } from '../durability/snapshot.ts';
import { embeddedMigrations } from '../native/embedded.ts';
import type { Addon } from '../native/native.ts';
import { emptyDatabase, migrate } from './migrate.ts';
import { raw } from './sql.ts';
import { SqliteDatabase } from './sqlite-database.ts';

interface SchemaObject {
  readonly type: string;
  readonly name: string;
  readonly tbl_name: string;
  readonly sql: string | null;
}

const schemaQuery = 'SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name';

const table = (name: string, sql: string): SchemaObject => ({ type: 'table', name, tbl_name: name, sql });

/** Harmless tables from other tools: Litestream and ANALYZE. */
const tolerated: readonly SchemaObject[] = [
  table('_litestream_seq', 'CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)'),
  table('_litestream_lock', 'CREATE TABLE _litestream_lock (id INTEGER)'),
  table('sqlite_stat1', 'CREATE TABLE sqlite_stat1(tbl,idx,stat)'),
  table('sqlite_stat4', 'CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)'),
];

/** Schemas by version. Creating one takes a quarter of a second, and a follower checks every copy. */
const expected = new Map<number, readonly SchemaObject[]>();

function expectedSchema(version: number, addon: Addon | undefined): readonly SchemaObject[] {
  const known = expected.get(version);
  if (known) return known;
  const isNewest = version === embeddedMigrations().length;
  const db = SqliteDatabase.open(isNewest ? emptyDatabase(addon) : ':memory:', addon);
  if (!isNewest) migrate(db, version);
  const objects = db.all<SchemaObject>(raw(schemaQuery));
  db.close();
  expected.set(version, objects);
  return objects;
}

/** Returns the differences from the schema with the same version, one line each; none for an unknown version. */
export function schemaProblems(db: SqliteDatabase, addon?: Addon): string[] {
  return differences(db.all<SchemaObject>(raw(schemaQuery)), Number(db.pragma('user_version')), addon);
}

/** Throws a readable error if the schema of a database differs from the one of the same version. */
export function requireOwnSchema(db: SqliteDatabase, addon: Addon | undefined): void {
  throwProblems(schemaProblems(db, addon));
}

/** Like `requireOwnSchema`, for a file that may be a backup. Throws SQLite's error if it is unreadable. */
export function requireOwnSchemaOf(handle: SQLite.Database, addon: Addon | undefined): void {
  const objects = handle.prepare<[], SchemaObject>(schemaQuery).all();
  throwProblems(
    differences(objects, Number(handle.pragma('user_version', { simple: true })), addon, [
      table(backupTable.name, backupTable.sql),
    ]),
  );
}

function throwProblems([first, ...others]: readonly string[]): void {
  if (first === undefined) return;
  const more = others.length === 0 ? '' : `, and ${others.length} more like this`;
  throw new Error(`The schema of the database is not this program's: ${first}${more}`);
}

function differences(
  objects: readonly SchemaObject[],
  version: number,
  addon: Addon | undefined,
  additional: readonly SchemaObject[] = [],
): string[] {
  if (version < 0 || version > embeddedMigrations().length) return [];
  const missing = new Map(expectedSchema(version, addon).map((object) => [keyOf(object), object]));
  const others = new Map([...tolerated, ...additional].map((object) => [keyOf(object), object]));
  const lines: string[] = [];
  for (const object of objects) {
    const key = keyOf(object);
    const own = missing.get(key) ?? others.get(key);
    if (!own) lines.push(`${object.type} ${object.name} does not belong to it`);
    else if (own.sql !== object.sql || own.tbl_name !== object.tbl_name)
      lines.push(`${object.type} ${object.name} is defined differently`);
    missing.delete(key);
    others.delete(key);
  }
  // Databases from before the table of migrations get it with their next migration.
  missing.delete('table migration');
  for (const { name, type } of missing.values()) lines.push(`${type} ${name} is missing`);
  return lines;
}

const keyOf = ({ name, type }: SchemaObject): string => `${type} ${name}`;
