/** Commands of the program that change data leave an audit record; the others change nothing (audit.md 2 "Commands"). */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Json } from '../../support/fixture.ts';
import { nativeCache, Program } from '../../support/program.ts';

const test = suite('audit records of commands');
const program = new Program(nativeCache);
const file = join(program.folder, 'data/tenantry.db');
const password = 'correct-horse-7';
test.after(() => program.end());

/** Commands in an order in which each has an effect, with their records. */
const performed: readonly (readonly [words: string, records: readonly string[]])[] = [
  ['user add alice --staff', ['audit.chain_started', 'user add']],
  ['user add bob', ['user add']],
  ['user list', []],
  ['user show bob', []],
  ['user password bob --password-stdin', ['user password']],
  ['user disable bob', ['user disable']],
  ['user disable bob', []],
  ['user enable bob', ['user enable']],
  ['user recover bob', ['user recover']],
  ['user grant bob staff', ['user grant']],
  ['user grant bob staff', []],
  ['user revoke bob staff', ['user revoke']],
  ['account list', []],
  ['token bob', ['token']],
  ['key add bob CI --scopes customers:read', ['key add']],
  ['key list', []],
  ['key revoke UUID', ['key revoke']],
  ['doctor', []],
  ['doctor --accept-clock', ['doctor']],
  ['backup copy', ['backup.made']],
  ['backups now', ['backup.made']],
  ['backups list', []],
  ['backups fetch NAME fetched', ['backup.fetched']],
  ['backups verify', ['backup.verified']],
  ['export', ['export']],
  ['rotate-key', ['rotate-key']],
  ['audit verify', []],
  ['audit redact bob --reason Erasure', ['audit redact']],
  ['openapi', []],
  ['config', []],
  ['completion bash', []],
  ['example docker', []],
  ['licenses', []],
  ['version', []],
  ['help', []],
];

/** Commands that this test does not perform, and why. */
const others: Readonly<Record<string, string>> = {
  serve: 'its requests and jobs have records',
  demo: 'sample data have no records',
  restore: 'test/app/audit/replaced.test.ts: it begins a chain',
  import: 'test/app/audit/replaced.test.ts: it begins a chain',
  promote: 'test/app/audit/replaced.test.ts: it begins a chain',
  'login-check': 'it opens no data',
  healthcheck: 'it opens no data',
  listen: 'it opens no data',
};

interface Content {
  readonly records: readonly Json[];
  /** A digest of all data except the audit trail. */
  readonly digest: string;
}

function content(): Content {
  const db = new SQLite(file, { fileMustExist: false });
  try {
    const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").pluck().all();
    const digest = createHash('sha256');
    for (const table of tables as string[])
      if (!table.startsWith('audit_')) digest.update(JSON.stringify(db.prepare(`SELECT * FROM "${table}"`).all()));
    const records = tables.includes('audit_record')
      ? (db.prepare('SELECT operation, record FROM audit_record ORDER BY id').all() as Json[])
      : [];
    return { records, digest: digest.digest('hex') };
  } finally {
    db.close();
  }
}

const first = (query: string): string => {
  const db = new SQLite(file);
  try {
    return String(db.prepare(query).pluck().get());
  } finally {
    db.close();
  }
};

test('each command that changes something has a record, and the others change nothing', async () => {
  assert.is((await program.run(['user', 'add', 'zoe', '--data', 'other'])).code, 0);
  let before: Content = { records: [], digest: '' };
  for (const [words, operations] of performed) {
    const values = words
      .replace('UUID', words.includes('UUID') ? first('SELECT uuid FROM api_key') : '')
      .replace('NAME', words.includes('NAME') ? first('SELECT name FROM backup') : '')
      .split(' ');
    const { code, stderr } = await program.run([...values, '--data', 'data'], { input: `${password}\n` });
    assert.is(code, 0, `${words}: ${stderr}`);
    const after = content();
    const added = after.records.slice(before.records.length);
    assert.equal(
      added.map(({ operation }) => operation),
      operations,
      words,
    );
    if (added.length === 0) assert.is(after.digest, before.digest, `${words} changes something`);
    for (const { operation, record } of added)
      if (operation !== 'audit.chain_started') assert.is(JSON.parse(record).actor.kind, 'cli', words);
    before = after;
  }
});

test('names each command of the program', async () => {
  const { stdout } = await program.run(['help', 'all']);
  const names = [...stdout.matchAll(/^Usage: tenantry ((?:[a-z-]+ ?)+)/gm)].map(([, name = '']) => name.trim());
  assert.ok(names.length > 30);
  for (const name of names)
    assert.ok(
      name in others || performed.some(([words]) => words === name || words.startsWith(`${name} `)),
      `${name} is neither performed nor excepted`,
    );
  for (const name of Object.keys(others)) assert.ok(names.includes(name), name);
});

test.run();
