import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { countryName } from '../../src/accounts/customers/countries.ts';
import { indexAll } from '../../src/activity/events/search.ts';
import { SqliteDatabase } from '../../src/kernel/db/sqlite-database.ts';
import { type Size, seed, seedDigest } from './seed.ts';

/** The numbers of events and customers for the targets. */
export const events = 2_000_000;
export const size: Size = { name: '1,000', customers: 1000, users: 200 };
const projects = size.customers * 3;

/** Returns a deep page of a log with this many events: page 5,000 of two million, or the same fraction of a smaller log. */
export const deepPage = (count: number): number => Math.max(1, Math.floor((5000 * Math.min(count, events)) / events));

/** A word that very few messages contain. */
export const rareWord = 'zircon';

/** Returns the file name of a log with this many events in `folder`. */
export function logFile(folder: string, count = events): string {
  const own = createHash('sha256')
    .update(seedDigest())
    .update(readFileSync(fileURLToPath(import.meta.url)))
    .digest('hex');
  return `${folder}/events-${count}-${own.slice(0, 12)}.db`;
}

/** Writes a database with the log unless the file exists. Two million events take a minute or two and about 1.5 GB. */
export async function seedLog(file: string, count = events): Promise<void> {
  if (existsSync(file)) return;
  mkdirSync(dirname(file), { recursive: true });
  const seeded = `${file}.seed`;
  const partial = `${file}.partial`;
  for (const path of [seeded, partial])
    for (const ending of ['', '-wal', '-shm']) rmSync(path + ending, { force: true });
  await seed(seeded, size);
  copyFileSync(seeded, partial);
  rmSync(seeded);
  const db = SqliteDatabase.open(partial);
  db.define('country_name', countryName);
  // The file is renamed when it is complete, so it needs no journal before.
  for (const pragma of ['synchronous = OFF', 'cache_size = -1048576']) db.pragma(pragma);
  db.script(script(count));
  indexAll(db);
  db.close();
  renameSync(partial, file);
}

const uuid =
  "lower(hex(randomblob(6)) || '4' || substr(hex(randomblob(2)), 2) || 'a' || substr(hex(randomblob(8)), 2))";

/** Types with their messages, in equal numbers; half of them are about a project. */
const kinds = [
  ['customer_update_succeeded', 'Customer %s has been updated.'],
  ['project_creation_succeeded', 'Project %s has been created.'],
  ['role_granted', 'User has gained role of Owner in customer %s.'],
  ['project_update_succeeded', 'Project %s has been updated.'],
  ['role_revoked', 'User has lost role of Support in customer %s.'],
  ['project_deletion_succeeded', 'Project %s has been deleted.'],
] as const;
const ofType = (part: 0 | 1): string =>
  `CASE i % ${kinds.length} ${kinds.map((pair, i) => `WHEN ${i} THEN '${pair[part]}'`).join(' ')} END`;

/**
 * Events one second apart, of alternating customers and users, with all rows that recording writes. A merge patch drops nulls.
 */
const script = (count: number): string => `BEGIN;
CREATE TEMP TABLE recorded (id INTEGER PRIMARY KEY, customer INTEGER, project INTEGER, actor INTEGER, message TEXT);
INSERT INTO recorded
  WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < ${count}),
    who AS (SELECT i, i * 7919 % ${projects} + 1 AS project, 1 + i * 31 % ${size.users} AS actor FROM n)
  SELECT i, p.customer_id, iif(i % 2, p.id, NULL), actor, printf(${ofType(1)}, iif(i % 2, p.name, c.name)) || iif(i % 100003 = 0, ' ${rareWord}', '')
  FROM who JOIN project p ON p.id = who.project JOIN customer c ON c.id = p.customer_id ORDER BY i;

INSERT INTO event (id, uuid, at, type, level, message, context, actor)
  WITH numbered AS (SELECT *, id AS i FROM recorded)
  SELECT t.i, ${uuid}, 1577836800000000 + t.i * 1000000, ${ofType(0)}, 'info', t.message, json_patch('{}', json_object(
      'ip_address', '192.0.2.7', 'user_uuid', u.uuid, 'user_username', u.username, 'user_full_name', u.full_name, 'user_native_name', u.native_name,
      'project_uuid', p.uuid, 'project_name', p.name,
      'customer_uuid', c.uuid, 'customer_name', c.name, 'customer_abbreviation', c.abbreviation, 'customer_contact_details', c.contact_details)),
    u.username_folded
  FROM numbered t JOIN user u ON u.id = t.actor JOIN customer c ON c.id = t.customer LEFT JOIN project p ON p.id = t.project ORDER BY t.i;

INSERT INTO event_subject (id, kind, uuid) SELECT id, 'user', uuid FROM user
  UNION ALL SELECT ${size.users} + id, 'customer', uuid FROM customer UNION ALL SELECT ${size.users + size.customers} + id, 'project', uuid FROM project;
INSERT INTO event_about (subject_id, at, event_id, customer, project)
  SELECT j.value, 1577836800000000 + t.id * 1000000, t.id, ${size.users} + t.customer, ${size.users + size.customers} + t.project
  FROM recorded t, json_each(json_array(t.actor, ${size.users} + t.customer, ${size.users + size.customers} + t.project)) j
  WHERE j.value IS NOT NULL ORDER BY 1, 2, 3;
DROP TABLE recorded;
COMMIT;`;
