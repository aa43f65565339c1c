import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { countryName } from '../../src/accounts/customers/countries.ts';
import { quotaNames } from '../../src/activity/quotas/usage.ts';
import { migrate } from '../../src/kernel/db/migrate.ts';
import { SqliteDatabase } from '../../src/kernel/db/sqlite-database.ts';
import { PasswordHasher } from '../../src/kernel/security/passwords.ts';

/** The size of a database. Each customer has three projects. */
export interface Size {
  readonly name: string;
  readonly customers: number;
  readonly users: number;
}

export const small: Size = { name: '100', customers: 100, users: 120 };
export const medium: Size = { name: '10,000', customers: 10_000, users: 2_000 };
export const large: Size = { name: '100,000', customers: 100_000, users: 20_000 };
export const huge: Size = { name: '1,000,000', customers: 1_000_000, users: 200_000 };

/** The users whose tokens the benchmark uses. Their ids are 1, 2 and 3, and all other users follow. */
export const people = ['staff', 'owner', 'member'] as const;
export type Person = (typeof people)[number];

/** The number of concurrent users in the mixed cases. Each owns customers. */
export const crowd = 100;

/** Returns the token of one of these users, or of a user of the crowd by id. It never expires. */
export const tokenOf = (person: Person | number): string =>
  createHash('sha1').update(`token of ${person}`).digest('hex');

/** The password of all users. */
export const password = 'correct horse battery staple 7';

/** Returns the name of the user with this id, from `people.length + 1` on. */
export const usernameOf = (id: number): string => `user.${String(id).padStart(5, '0')}`;

/** The input of a stored database: this file. Migrations update the database instead. */
export const seedDigest = (): string =>
  createHash('sha256')
    .update(readFileSync(fileURLToPath(import.meta.url)))
    .digest('hex')
    .slice(0, 12);

/** Writes a database of this size. Updates one that exists. */
export async function seed(file: string, size: Size): Promise<void> {
  if (existsSync(file)) return opened(file).close();
  mkdirSync(dirname(file), { recursive: true });
  const partial = `${file}.partial`;
  for (const ending of ['', '-wal', '-shm']) rmSync(partial + ending, { force: true });
  const db = opened(partial);
  // Write without a journal: an incomplete database is useless anyway.
  for (const pragma of ['journal_mode = OFF', 'synchronous = OFF', 'cache_size = -524288']) db.pragma(pragma);
  db.script(script(size, await new PasswordHasher().hash(password)));
  db.pragma('journal_mode = WAL');
  db.close();
  renameSync(partial, file);
}

function opened(file: string): SqliteDatabase {
  const db = SqliteDatabase.open(file);
  db.define('country_name', countryName);
  migrate(db);
  return db;
}

const text = (value: string): string => `'${value.replaceAll("'", "''")}'`;
const uuid =
  "lower(hex(randomblob(6)) || '4' || substr(hex(randomblob(2)), 2) || 'a' || substr(hex(randomblob(8)), 2))";
const numbers = (count: number): string =>
  `WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`;
const oneOf = (values: readonly string[], index: string): string =>
  `json_extract(${text(JSON.stringify(values))}, '$[' || ((${index}) % ${values.length}) || ']')`;

const firstNames = [
  'Aino',
  'Björn',
  'Chiara',
  'Daniel',
  'Élodie',
  'Farid',
  'Grete',
  'Hanna',
  'Ivo',
  'Jüri',
  'Katarzyna',
];
const lastNames = [
  'Tamm',
  'Ström',
  'Rossi',
  'O’Neill',
  'Lefèvre',
  'Haddad',
  'Müller',
  'Saar',
  'Novák',
  'Kask',
  'Wójcik',
  'Ng',
  'Pärn',
];
const firstWords = [
  'Nordic',
  'Blue',
  'Golden',
  'United',
  'Põhja',
  'Urban',
  'Silver',
  'Global',
  'Baltic',
  'Open',
  'Prime',
];
const lastWords = [
  'Analytics',
  'Foods',
  'Energy',
  'Robotics',
  'Logistics',
  'Media',
  'Software',
  'Textiles',
  'Bio',
  'Timber',
  'Rail',
  'Optics',
  '"Quoted" Labs',
];
const projectWords = ['Website', 'Data warehouse', 'Staging', 'Machine learning', 'Intranet', 'Backups', 'Shop'];

/** 2020-01-01, a microsecond and a minute apart. */
const instant = (index: string): string => `1577836800000000 + ${index} * 60000001`;
/** The smallest PNG. */
const image =
  "x'89504E470D0A1A0A0000000D49484452000000010000000108000000003A7E9B550000000A49444154789C6360000000020001485DA0D60000000049454E44AE426082'";

/** Users with a token, by id. */
const holders = [...people, ...Array.from({ length: crowd }, (_, i) => people.length + 1 + i)];

/** Insert everything in one transaction, with one statement per table. */
function script({ customers, users }: Size, passwordHash: string): string {
  const others = users - people.length;
  const other = (index: string): string => `${people.length} + 1 + (${index}) % ${others}`;
  return `BEGIN;
INSERT INTO user (uuid, username, username_folded, full_name, job_title, email, email_folded, phone_number, organization, is_staff,
    token_lifetime, date_joined, agreement_date, preferred_language, password_hash)
  ${numbers(users)}, named AS (SELECT i, ${people.map((name, i) => `iif(i = ${i + 1}, ${text(name)}, `).join('')}printf('user.%05d', i)${')'.repeat(people.length)} AS name FROM n)
  SELECT ${uuid}, name, name, ${oneOf(firstNames, 'i')} || ' ' || ${oneOf(lastNames, 'i')}, 'Engineer', name || '@example.com', name || '@example.com',
    printf('+372 5%07d', i), 'Example', i = 1, iif(i <= ${people.length + crowd}, NULL, 3600), ${instant('i')}, ${instant('i')}, 'en', ${text(passwordHash)} FROM named;
INSERT INTO token (digest, user_id, created, last_used) VALUES
  ${holders.map((holder, i) => `(x'${createHash('sha256').update(tokenOf(holder)).digest('hex')}', ${i + 1}, ${instant('0')}, ${instant('0')})`).join(', ')};

INSERT INTO customer (uuid, created, name, native_name, abbreviation, contact_details, agreement_number, email, phone_number, registration_code, country, vat_code, is_company)
  ${numbers(customers)}, named AS (SELECT i, ${oneOf(firstWords, 'i * 7')} || ' ' || ${oneOf(lastWords, 'i * 5')} || printf(' %05d', i * 7919 % 100003) AS name FROM n)
  SELECT ${uuid}, ${instant('i')}, name, name || ' OÜ', printf('C%d', i), printf('Narva mnt %d, 10120 Tallinn', i % 200), 100000 + i, printf('office@customer-%d.example', i),
    printf('+372 6%06d', i), printf('1%07d', i), ${oneOf(['EE', 'FI', 'SE', 'DE', ''], 'i')}, '', i % 4 > 0 FROM named;
INSERT INTO customer_image (customer_id, content_type, content) SELECT id, 'image/png', ${image} FROM customer WHERE id % 10 = 0;
INSERT INTO project (uuid, customer_id, name, description, created)
  ${numbers(customers * 3)} SELECT ${uuid}, (i + 2) / 3, ${oneOf(projectWords, 'i * 3')} || ' ' || i, 'What the team works on', ${instant('i')} FROM n;
INSERT INTO service_certification (uuid, name, description, link)
  SELECT ${uuid}, value, 'Certified for ' || value, 'https://example.com/' || key FROM json_each('["ISO 27001", "SOC 2", "GDPR"]');
INSERT INTO project_certification (project_id, certification_id) SELECT id, 1 + id % 3 FROM project WHERE id % 5 = 0;

INSERT INTO customer_role (customer_id, user_id, role, created, created_by)
  SELECT id, ${other('id')}, 'owner', created, 1 FROM customer
  UNION ALL SELECT id, ${other('id + 1')}, 'support', created, 1 FROM customer WHERE id % 2 = 0
  UNION ALL SELECT id, 2, 'owner', created, 1 FROM customer WHERE id % ${customers / 50} = 0;
INSERT INTO project_role (project_id, user_id, role, created, created_by)
  SELECT id, ${other('id * 5')}, 'admin', created, 1 FROM project
  UNION ALL SELECT id, ${other('id * 5 + 1')}, 'manager', created, 1 FROM project
  UNION ALL SELECT id, 3, 'manager', created, 1 FROM project WHERE id IN (${[1, 2, 3].map((quarter) => (customers / 4) * quarter * 3).join(', ')});

INSERT INTO quota (uuid, scope_kind, scope_id, name, usage, first_at)
  SELECT ${uuid}, 'customer', c.id, value, CASE value WHEN 'nc_project_count' THEN 3 WHEN 'nc_user_count' THEN (SELECT count(*) FROM (
      SELECT user_id FROM customer_role WHERE customer_id = c.id
      UNION SELECT user_id FROM project_role r JOIN project p ON p.id = r.project_id WHERE p.customer_id = c.id)) ELSE 0 END, c.created
    FROM customer c CROSS JOIN json_each(${text(JSON.stringify([...quotaNames.customer].sort()))})
  UNION ALL SELECT ${uuid}, 'project', p.id, value, 0, p.created FROM project p CROSS JOIN json_each(${text(JSON.stringify([...quotaNames.project].sort()))})
  UNION ALL SELECT ${uuid}, 'global', 0, value, iif(value = 'nc_global_customer_count', ${customers}, ${customers * 3}), ${instant('0')} FROM json_each(${text(JSON.stringify(quotaNames.global))});
INSERT INTO quota_version (quota_id, at, "limit", usage) SELECT id, first_at, "limit", usage FROM quota WHERE usage <> 0;
COMMIT;`;
}
