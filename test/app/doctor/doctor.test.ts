/** `doctor` of the built program examines a database file. `npm test` builds the program first. */

import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { createServer } from 'tenantry';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { builtProgram, nativeCache } from '../../support/program.ts';

const test = suite('tenantry doctor');
/** The data folder that each test copies. */
let prepared: string;
let folder: string;
let file: string;

/** Returns the exit code and the printed lines. */
function doctor(...words: string[]): { code: number | null; lines: string[]; error: string } {
  const { status, stderr, stdout } = spawnSync(process.execPath, [builtProgram, 'doctor', '--data', folder, ...words], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, TENANTRY_NATIVE_CACHE: nativeCache },
  });
  return { code: status, lines: stdout.split('\n').slice(0, -1), error: stderr };
}

const healthy = { code: 0, lines: ['no problems'], error: '' };

/** Changes the file without the program and without foreign keys. */
function corrupt(script: string): void {
  const db = new SQLite(file);
  db.unsafeMode();
  db.pragma('foreign_keys = OFF');
  db.function('country_name', (code: unknown) => code);
  db.exec(script);
  db.close();
}

/** The first column of the first row. */
function stored(query: string): unknown {
  const db = new SQLite(file, { readonly: true });
  const value = db.prepare(query).pluck().get();
  db.close();
  return value;
}

test.before(async () => {
  prepared = mkdtempSync(join(tmpdir(), 'tenantry-doctor-'));
  const server = await createServer({ data: prepared, native_cache: nativeCache, port: 0, log_level: 'silent' });
  const post = async (path: string, body: unknown): Promise<{ url: string }> => {
    const headers = { Authorization: `Token ${token}`, 'Content-Type': 'application/json' };
    return (await fetch(server.url + path, { method: 'POST', headers, body: JSON.stringify(body) })).json() as Promise<{
      url: string;
    }>;
  };
  const token = server.issueToken();
  const customer = await post('/api/customers/', { name: 'Alice' });
  const project = await post('/api/projects/', { name: 'Rocket', customer: customer.url });
  const user = await post('/api/users/', { username: 'worker' });
  await post('/api/project-permissions/', { project: project.url, user: user.url, role: 'admin' });
  await post('/api/alerts/', { alert_type: 'x', message: 'x', severity: 'Info', scope: project.url });
  await server.close();
});
test.after(() => rmSync(prepared, { recursive: true }));
test.before.each(() => {
  folder = mkdtempSync(join(tmpdir(), 'tenantry-doctor-'));
  cpSync(prepared, folder, { recursive: true, preserveTimestamps: true });
  file = join(folder, 'tenantry.db');
});
test.after.each(() => rmSync(folder, { recursive: true }));

test('reports a database without problems with exit code 0, and does not change it', () => {
  assert.equal(doctor(), healthy);
  assert.equal(doctor('--repair'), healthy);
});

test('reports a wrong usage with exit code 1; --repair corrects it with a version in its history', () => {
  corrupt(`UPDATE quota SET usage = 7 WHERE name = 'nc_project_count'; UPDATE quota SET usage = 0 WHERE name = 'nc_user_count';
    UPDATE quota SET usage = 12 WHERE name = 'nc_global_customer_count'; UPDATE quota SET usage = 2 WHERE name = 'nc_service_project_link_count'`);
  const lines = [
    'quota nc_project_count of customer 1: usage 7, counted 1',
    'quota nc_user_count of customer 1: usage 0, counted 1',
    'quota nc_service_project_link_count of customer 1: usage 2, counted 0',
    'quota nc_service_project_link_count of project 1: usage 2, counted 0',
    'quota nc_global_customer_count of global 0: usage 12, counted 1',
  ];
  assert.equal(doctor(), { code: 1, lines, error: '' });
  assert.equal(doctor(), { code: 1, lines, error: '' }, 'nothing changes without --repair');
  assert.equal(doctor('--repair'), { code: 0, lines: lines.map((line) => `${line}, repaired`), error: '' });
  assert.equal(doctor(), healthy);
  assert.is(
    stored(
      `SELECT v.usage FROM quota_version v JOIN quota q ON q.id = v.quota_id WHERE q.name = 'nc_project_count' ORDER BY at DESC`,
    ),
    1,
  );
});

test('raises and closes alerts that depend on a repaired usage', () => {
  corrupt(`UPDATE quota SET usage = 0, threshold = 1 WHERE name = 'nc_user_count'`);
  assert.is(doctor('--repair').code, 0);
  assert.is(
    stored(`SELECT alert_type FROM alert WHERE scope_kind = 'customer' AND closed IS NULL`),
    'threshold_exceeded',
  );
});

test('reports missing quotas; --repair creates and counts them', () => {
  corrupt(`DELETE FROM quota WHERE name IN ('nc_project_count', 'nc_global_project_count') OR (scope_kind = 'project' AND name = 'nc_vm_count');
    DELETE FROM quota_version WHERE quota_id NOT IN (SELECT id FROM quota)`);
  const lines = [
    'quota nc_project_count of customer 1 is missing',
    'quota nc_vm_count of project 1 is missing',
    'quota nc_global_project_count of global 0 is missing',
  ];
  assert.equal(doctor(), { code: 1, lines, error: '' });
  assert.equal(doctor('--repair'), { code: 0, lines: lines.map((line) => `${line}, repaired`), error: '' });
  assert.equal(doctor(), healthy);
  assert.is(stored(`SELECT sum(usage) FROM quota WHERE name IN ('nc_project_count', 'nc_global_project_count')`), 2);
});

test('reports quotas and alerts of missing objects; --repair deletes them', () => {
  corrupt(
    `UPDATE alert SET scope_id = 77; INSERT INTO quota (uuid, scope_kind, scope_id, name, first_at) VALUES ('q', 'project', 78, 'nc_vm_count', 0)`,
  );
  const lines = [
    'quota nc_vm_count of project 78, which does not exist',
    'alert x of project 77, which does not exist',
  ];
  assert.equal(doctor(), { code: 1, lines, error: '' });
  assert.equal(doctor('--repair'), { code: 0, lines: lines.map((line) => `${line}, repaired`), error: '' });
  assert.equal([stored('SELECT count(*) FROM alert'), doctor()], [0, healthy]);
});

test('reports a reference to a missing row and does not change it: exit code 1 also with --repair', () => {
  corrupt(`UPDATE project_role SET user_id = 99; INSERT INTO project_certification VALUES (1, 55)`);
  const dangling = [
    'database: a row of project_certification refers to a missing service_certification',
    'database: row 1 of project_role refers to a missing user',
  ];
  const { code, lines } = doctor();
  assert.equal([code, lines.sort()], [1, dangling]);
  corrupt(`UPDATE quota SET usage = 7 WHERE name = 'nc_project_count'`);
  const repaired = doctor('--repair');
  assert.equal(
    [repaired.code, repaired.lines.sort()],
    [1, [...dangling, 'quota nc_project_count of customer 1: usage 7, counted 1, repaired']],
  );
  assert.equal([doctor().lines.sort(), stored('SELECT user_id FROM project_role')], [dangling, 99]);
});

test('reports the first of many problems of one kind, and the number of the others', () => {
  corrupt(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30) INSERT INTO project_certification SELECT 1, 100 + i FROM n`,
  );
  const { code, lines } = doctor();
  assert.equal([code, lines.length, lines.at(-1)], [1, 21, 'and 10 more like this']);
});

test('reports a damaged file and does not write to it', () => {
  corrupt(`UPDATE quota SET usage = 7 WHERE name = 'nc_project_count'; PRAGMA writable_schema = ON;
    UPDATE sqlite_schema SET sql = replace(sql, 'usage NUMERIC NOT NULL DEFAULT 0', 'usage NUMERIC NOT NULL DEFAULT 0 CHECK (usage < 5)') WHERE name = 'quota'`);
  const { code, lines } = doctor('--repair');
  assert.equal(
    [code, lines],
    [
      1,
      [
        'database: CHECK constraint failed in quota',
        'schema: table quota is defined differently',
        'quota nc_project_count of customer 1: usage 7, counted 1',
      ],
    ],
  );
  assert.is(stored(`SELECT usage FROM quota WHERE name = 'nc_project_count'`), 7);
});

test('reports a changed byte in a value of an index', () => {
  corrupt('PRAGMA wal_checkpoint(TRUNCATE)');
  const content = readFileSync(file);
  const table = stored("SELECT rootpage FROM sqlite_schema WHERE name = 'project'");
  const at = content.indexOf('Rocket', (Number(table) - 1) * Number(stored('PRAGMA page_size')));
  content.write('P', at);
  writeFileSync(file, content);
  assert.is(stored('SELECT name FROM project NOT INDEXED'), 'Pocket');
  const { code, lines } = doctor();
  assert.is(code, 1);
  assert.ok(lines.includes('database: row 1 missing from index project_by_name'), lines.join('\n'));
});

test('reports damaged pages that prevent other checks, one line each', () => {
  corrupt('VACUUM; PRAGMA wal_checkpoint(TRUNCATE)');
  const [page, bytes] = [stored("SELECT rootpage FROM sqlite_schema WHERE name = 'quota'"), stored('PRAGMA page_size')];
  const content = readFileSync(file);
  writeFileSync(file, content.fill(0x55, (Number(page) - 1) * Number(bytes), Number(page) * Number(bytes)));
  const { code, error, lines } = doctor();
  assert.equal([code, error], [1, '']);
  assert.ok(lines.length > 0 && lines.every((line) => /^database: [^*]/.test(line)), lines.join('\n'));
});

test('removes control characters and line breaks from contents of a damaged file', () => {
  corrupt(
    `PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE TABLE quota (id "' || char(27) || '[31m' || char(10) || 'next' WHERE name = 'quota'`,
  );
  const { code, error } = doctor();
  assert.is(code, 1);
  assert.match(error, /^tenantry: [ -~]*: malformed database schema \(quota\)[ -~]*\n$/);
});

test('rejects a folder without a database, and a file that is not one, in one line; creates nothing', () => {
  rmSync(file);
  assert.equal(doctor(), { code: 1, lines: [], error: `tenantry: there is no database in ${folder}\n` });
  assert.is(existsSync(file), false);
  writeFileSync(file, 'This is no database, only some text that is long enough to be read as one.'.repeat(20));
  assert.equal(doctor(), { code: 1, lines: [], error: `tenantry: ${file}: file is not a database\n` });
});

test('rejects unknown words and options with exit code 2', () => {
  for (const words of [['now'], ['--fix']]) {
    const { code, error } = doctor(...words);
    assert.equal([code, error.startsWith('tenantry: ')], [2, true]);
  }
});

test.run();
