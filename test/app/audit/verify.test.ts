/** `tenantry audit verify` of a data folder and of an export (audit.md 6). `npm test` builds the program first. */
import { createHash } from 'node:crypto';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { canonicalJson } from '../../../src/activity/audit/append.ts';
import { exportedTrail } from '../../../src/activity/audit/exported-trail.ts';
import { storedKeys, storedTrail } from '../../../src/activity/audit/stored-trail.ts';
import { verifyTrail } from '../../../src/activity/audit/verify.ts';
import { sql } from '../../../src/kernel/db/sql.ts';
import { SqliteDatabase } from '../../../src/kernel/db/sqlite-database.ts';
import { repeatableRandom } from '../../../src/kernel/random.ts';
import { Client, type Json } from '../../support/fixture.ts';
import { type Ended, nativeCache, Program, type Serving } from '../../support/program.ts';

const test = suite('audit verify');
const program = new Program(nativeCache);
const path = (name: string): string => join(program.folder, name);
const verify = (...args: readonly string[]): Promise<Ended> => program.run(['audit', 'verify', ...args]);
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const withoutHeads = 'No external heads were given: a rewritten trail would go unnoticed.\n';
const passed = (stdout: string): Ended => ({ code: 0, stdout, stderr: '' });
const found = (line: string): Ended => ({ code: 1, stdout: `${line}\n`, stderr: '' });

async function staffOf(server: Serving, data: string): Promise<Client> {
  const { stdout } = await program.run(['token', 'admin', '--data', data]);
  return new Client(server, stdout.trim());
}

async function fill(client: Client, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const { body: customer } = await client.post('/api/customers/', { name: `Customer ${i} \u{1F600} "é"` });
    await client.post('/api/projects/', { name: 'Web', customer: customer.url });
    await client.patch(customer.url, { abbreviation: 'ABC' });
  }
}

/** Prepares `data` with two chains, the heads of both, and an export with its keys. */
test.before(async () => {
  const first = await program.serve(['--data', 'first']);
  await fill(await staffOf(first, 'first'), 8);
  await first.stop();
  await program.run(['backup', 'copy', '--data', 'first']);
  assert.is((await program.run(['restore', 'copy', '--data', 'data'])).code, 0);
  const second = await program.serve(['--data', 'data']);
  const staff = await staffOf(second, 'data');
  await fill(staff, 8);
  const headers = { Authorization: `Token ${staff.token}` };
  writeFileSync(path('export'), await (await fetch(`${second.url}/api/audit/export/`, { headers })).text());
  writeFileSync(path('keys'), await (await fetch(`${second.url}/api/audit/key/`, { headers })).text());
  const { body } = await staff.get('/api/audit/?page_size=1');
  const ranged = `/api/audit/export/?chain=${body[0].chain}&first=5&last=9`;
  writeFileSync(path('range'), await (await fetch(second.url + ranged, { headers })).text());
  await second.stop();
  const heads = ['first', 'data'].map((data) => readFileSync(path(`${data}/audit-heads.log`), 'utf8'));
  writeFileSync(path('heads'), heads.join(''));
});
test.after(() => program.end());

const linesOf = (name: string): string[] => readFileSync(path(name), 'utf8').split('\n').slice(0, -1);
const countOf = (name: string): number => linesOf(name).filter((line) => line.startsWith('{"actor"')).length;

test('verifies a data folder, also while a server uses it', async () => {
  const server = await program.serve(['--data', 'data']);
  const { stdout } = await verify('--data', 'data');
  assert.match(stdout, new RegExp(`^Verified \\d+ records in 2 chains, 0 redacted\\.\\n${withoutHeads}$`));
  await server.stop();
  const verified = stdout.split('\n', 1)[0];
  assert.equal(await verify('--data', 'data', '--heads', 'heads', '--key', 'keys'), passed(`${verified}\n`));
  assert.is((await program.run(['doctor', '--data', 'data'])).stdout, 'no problems\n');
});

test('verifies an export, or a part of one', async () => {
  const verified = `Verified ${countOf('export')} records in 2 chains, 0 redacted.\n`;
  const noKey = 'No key was given: the signatures of heads were not verified.\n';
  assert.equal(await verify('export', '--heads', 'heads', '--key', 'keys'), passed(verified));
  assert.equal(await verify('export'), passed(verified + withoutHeads + noKey));
  assert.equal(
    await verify('range', '--heads', 'heads', '--key', 'keys'),
    passed('Verified 5 records in 1 chains, 0 redacted.\n'),
  );
  const [key] = JSON.parse(readFileSync(path('keys'), 'utf8'));
  writeFileSync(path('plain-keys'), `${key.public_key}\n`);
  assert.is(
    (await verify('export', '--key', 'plain-keys')).code,
    JSON.parse(readFileSync(path('keys'), 'utf8')).length > 1 ? 1 : 0,
  );
  assert.is(
    (await verify('missing')).stderr,
    `tenantry: cannot read the export ${path('missing')}: no such file or directory\n`,
  );
  assert.is(
    (await verify('export', '--heads', 'export')).stderr,
    `tenantry: line 1 of ${path('export')} is not a head\n`,
  );
});

test('only heads from elsewhere disprove a trail that was rewritten with its log', async () => {
  cpSync(path('data'), path('rewritten'), { recursive: true });
  const db = new SQLite(path('rewritten/tenantry.db'));
  const rows = db.prepare('SELECT * FROM audit_record ORDER BY id').all() as Json[];
  let previous = rows[9].hash;
  for (const row of rows.slice(10)) {
    const hidden = { ...JSON.parse(row.private), actor_name: 'mallory' };
    const record = { ...JSON.parse(row.record), previous, private_hash: sha256(canonicalJson(hidden)) };
    const text = canonicalJson(record);
    previous = sha256(text);
    db.prepare('UPDATE audit_record SET record = ?, private = ?, hash = ? WHERE id = ?').run(
      ...[text, canonicalJson(hidden), previous, row.id],
    );
  }
  db.close();
  const sentence = /^Record \d+ is not the one that was signed\.\n$/;
  const { code, stdout } = await verify('--data', 'rewritten');
  assert.is(code, 1);
  assert.match(stdout, sentence);
  const doctor = await program.run(['doctor', '--data', 'rewritten']);
  assert.equal([doctor.code, doctor.stdout], [1, `audit trail: ${stdout}`]);
  rmSync(path('rewritten/audit-heads.log'));
  assert.is((await verify('--data', 'rewritten')).code, 0);
  assert.match((await verify('--data', 'rewritten', '--heads', 'heads')).stdout, sentence);
});

test('names a head whose signature is invalid', async () => {
  const line = linesOf('data/audit-heads.log').find((one) => one.startsWith('{"chain"')) ?? '';
  const head = JSON.parse(line);
  writeFileSync(path('forged'), `${JSON.stringify({ ...head, at: '2018-01-05T04:47:04.000000Z' })}\n`);
  assert.equal(
    await verify('--data', 'data', '--heads', 'forged'),
    found(`The signature of head ${head.sequence} is invalid.`),
  );
});

/** The expected report of each change. */
const sentences = [
  /^Record \d+ (was changed|is missing|occurs twice|is out of order|is not the one that was signed)\.$/,
  /^Record \d+ does not follow record \d+\.$/,
  /^The trail ends at record \d+, but record \d+ was signed\.$/,
  /^The signature of head \d+ is invalid\.$/,
];
const isNamed = (finding: string | undefined): boolean => sentences.some((sentence) => sentence.test(finding ?? ''));

const random = repeatableRandom('audit');
const below = (count: number): number => random(4).readUInt32BE(0) % count;

/** Replaces one character at a random place. */
function edited(text: string): string {
  const at = below(text.length);
  const character = String.fromCharCode(97 + ((text.charCodeAt(at) + 1 + below(24)) % 26));
  return text.slice(0, at) + (character === text[at] ? '~' : character) + text.slice(at + 1);
}

const columns = [
  'record',
  'private',
  'hash',
  'operation',
  'outcome',
  'object',
  'customers',
  'sequence',
  'at',
  'chain_id',
];

/** Changes a database at random. Returns a description and, if only one finding is possible, that finding. */
function damage(db: SqliteDatabase, rows: readonly Json[]): [description: string, expected: string | undefined] {
  const index = below(rows.length);
  const { id, sequence } = rows[index];
  const kind = below(5);
  const moveTo = (from: number, to: number) => db.run(sql`UPDATE audit_record SET id = ${to} WHERE id = ${from}`);
  if (kind === 0) {
    const column = columns[below(columns.length)] as string;
    const old = rows[index][column];
    const outcome = old === 'done' ? 'refused' : 'done';
    const value =
      column === 'outcome' ? outcome : typeof old === 'number' ? old + 1 + below(5) : edited(`${old ?? ''}x`);
    db.update('audit_record', id, { [column]: value });
    return [`${column} of ${sequence}`, `Record ${sequence} was changed.`];
  }
  if (kind === 1) {
    db.run(sql`DELETE FROM audit_record WHERE id = ${id}`);
    const isLastOfChain = rows[index + 1]?.chain_id !== rows[index].chain_id;
    return [`deletion of ${sequence}`, isLastOfChain ? undefined : `Record ${sequence} is missing.`];
  }
  if (kind === 2) {
    const place = rows[below(rows.length)].id;
    db.run(sql`UPDATE audit_record SET id = -id WHERE id >= ${place}`);
    db.run(sql`UPDATE audit_record SET id = 1 - id WHERE id < 0`);
    db.insert('audit_record', { ...rows[index], id: place });
    return [`copy of ${sequence} at ${place}`, sequence > 1 ? `Record ${sequence} occurs twice.` : undefined];
  }
  if (kind === 3) {
    const other = rows[(index + 1 + below(rows.length - 1)) % rows.length];
    moveTo(id, 0);
    moveTo(other.id, id);
    moveTo(0, other.id);
    return [`swap of ${id} and ${other.id}`, undefined];
  }
  db.run(sql`DELETE FROM audit_record WHERE id >= ${id}`);
  return [`truncation from ${id}`, undefined];
}

test('names each of 500 random changes of a database', () => {
  const db = SqliteDatabase.open(path('data/tenantry.db'));
  const rows = db.all<Json>(sql`SELECT * FROM audit_record ORDER BY id`);
  assert.is(verifyTrail(storedTrail(db, path('data'))).finding, undefined);
  for (let i = 0; i < 500; i++)
    db.rollBack(() => {
      const [description, expected] = db.write(() => damage(db, rows));
      const { finding } = verifyTrail(storedTrail(db, path('data')));
      assert.ok(isNamed(finding), `${description}: ${finding}`);
      if (expected !== undefined) assert.is(finding, expected, description);
    });
  db.close();
});

/** Changes the lines of an export at random. Returns a description. */
function damageLines(lines: string[]): string {
  const index = below(lines.length);
  const line = lines[index] as string;
  switch (below(5)) {
    case 0:
      lines[index] = edited(line);
      return `edit of line ${index}: ${lines[index]}`;
    case 1:
      lines.splice(index, 1);
      return `deletion of line ${index}`;
    case 2: {
      const place = below(lines.length + 1);
      lines.splice(place, 0, line);
      return `copy of line ${index} at ${place}`;
    }
    case 3: {
      const other = (index + 1 + below(lines.length - 1)) % lines.length;
      lines[index] = lines[other] as string;
      lines[other] = line;
      return `swap of lines ${index} and ${other}`;
    }
    default:
      lines.splice(index + 1);
      lines[index] = line.slice(0, 1 + below(line.length - 1));
      return `truncation in line ${index}`;
  }
}

test('names each of 500 random changes of an export', () => {
  const db = SqliteDatabase.open(path('data/tenantry.db'));
  const keys = storedKeys(db);
  db.close();
  const original = linesOf('export');
  for (let i = 0; i < 500; i++) {
    const lines = [...original];
    const description = damageLines(lines);
    writeFileSync(path('damaged'), `${lines.join('\n')}\n`);
    const { finding } = verifyTrail(exportedTrail(path('damaged'), keys, []));
    assert.ok(isNamed(finding), `${description}: ${finding}`);
  }
});

test.run();
