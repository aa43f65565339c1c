/** Effects of `restore`, `import`, `promote` and resets on the audit trail and on the copies in sinks (audit.md 3, 6). */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { createServer } from 'tenantry';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { copiedTrail } from '../../../src/activity/audit/exported-trail.ts';
import { storedKeys } from '../../../src/activity/audit/stored-trail.ts';
import { verifyTrail } from '../../../src/activity/audit/verify.ts';
import { SqliteDatabase } from '../../../src/kernel/db/sqlite-database.ts';
import { repeatableRandom } from '../../../src/kernel/random.ts';
import { Client, type Json } from '../../support/fixture.ts';
import { type Ended, nativeCache, Program, type Serving } from '../../support/program.ts';

const test = suite('replaced audit trails');
const program = new Program(nativeCache);
const path = (name: string): string => join(program.folder, name);
const run = (...words: readonly string[]): Promise<Ended> => program.run(words);
const verify = (...words: readonly string[]): Promise<Ended> => run('audit', 'verify', ...words);
const linesOf = (name: string): string[] => readFileSync(path(name), 'utf8').split('\n').slice(0, -1);
const noHeads = 'No external heads were given: a rewritten trail would go unnoticed.\n';
const noKey = 'No key was given: the signatures of heads were not verified.\n';

const serve = (data: string, sink = `${data}.sink`): Promise<Serving> =>
  program.serve(['--data', data, '--audit-file', sink]);

/** Serves a folder, creates customers and stops. Returns the records of the trail, oldest first. */
async function fill(data: string, count: number, sink?: string): Promise<Json[]> {
  const server = await serve(data, sink);
  const { stdout } = await run('token', 'admin', '--data', data);
  const staff = new Client(server, stdout.trim());
  for (let i = 0; i < count; i++)
    assert.is((await staff.post('/api/customers/', { name: `Customer "${i}"` })).status, 201);
  writeFileSync(path('keys'), JSON.stringify((await staff.get('/api/audit/key/')).body));
  const { body } = await staff.get('/api/audit/?page_size=300');
  assert.is(await server.stop(), 0);
  return body.reverse();
}

const startOf = (records: readonly Json[]): Json => {
  const start = records.filter(({ operation }) => operation === 'audit.chain_started').at(-1);
  return { object: start.object, previous: start.previous, changes: start.private.changes };
};

/** Creates `data` with a restored backup, and the records that its sink has received of both histories. */
let before: Json[] = [];
let after: Json[] = [];
/** The sentence about the records that the restore replaced. */
let replaced: string;

test.before(async () => {
  await fill('data', 3);
  await run('backup', 'copy', '--data', 'data');
  before = await fill('data', 5);
  writeFileSync(path('first.sink'), readFileSync(path('data.sink')));
  for (const ending of ['', '-wal', '-shm']) rmSync(path(`data/tenantry.db${ending}`), { force: true });
  rmSync(path('data/initial-password'), { force: true });
  assert.is((await run('restore', 'copy', '--data', 'data')).code, 0);
});
test.after(() => program.end());

test('a restored folder has no problem before its first start, although its log has later heads', async () => {
  assert.equal(await run('doctor', '--data', 'data'), { code: 0, stdout: 'no problems\n', stderr: '' });
  assert.is((await verify('--data', 'data')).code, 0);
});

test('the first record of the new chain names the restore, which explains later heads', async () => {
  after = await fill('data', 2);
  const old = before[0]?.chain;
  const common = after.filter(({ chain }) => chain === old);
  assert.equal(startOf(after), {
    object: { type: 'audit-chain', uuid: old },
    previous: common.at(-1)?.hash,
    changes: [{ field: 'command', from: null, to: 'restore' }],
  });
  const [behind, last] = [common.length, before.length];
  replaced = `Records ${behind + 1} to ${last} of chain ${old} were signed, and then replaced by restore.\n`;
  assert.ok(behind < last);
  const { code, stdout } = await verify('--data', 'data');
  assert.equal([code, stdout.replace(/^.*\n/, '')], [0, replaced + noHeads]);
  writeFileSync(
    path('heads'),
    linesOf('data.sink')
      .filter((line) => line.startsWith('{"head"'))
      .join('\n'),
  );
  const external = await verify('--data', 'data', '--heads', 'heads', '--key', 'keys');
  assert.equal([external.code, external.stdout.replace(/^.*\n/, '')], [0, replaced]);
  assert.is((await run('doctor', '--data', 'data')).stdout, 'no problems\n');
});

test('verifies the copy of a sink, which has both histories', async () => {
  const total = before.length + after.filter(({ chain }) => chain !== before[0]?.chain).length;
  assert.equal(await verify('--copy', 'data.sink', '--key', 'keys', '--heads', 'heads'), {
    code: 0,
    stdout: `Verified ${total} records in 2 chains, 0 redacted.\n${replaced}`,
    stderr: '',
  });
  assert.match((await verify('--copy', 'data.sink')).stdout, new RegExp(`${noHeads}${noKey}$`));
  assert.equal(await verify('data.sink'), {
    code: 1,
    stdout: '',
    stderr: `tenantry: ${path('data.sink')} has heads between records: use --copy\n`,
  });
  assert.equal(await verify('--copy'), { code: 2, stdout: '', stderr: 'tenantry: --copy needs a FILE\n' });
});

test('accepts batches that a sink received twice, and a partially written line', async () => {
  const lines = linesOf('first.sink');
  const again = [...lines.slice(0, 9), ...lines.slice(3)];
  writeFileSync(path('again'), `${again.join('\n')}\n{"actor":{"ki`);
  const { code, stdout } = await verify('--copy', 'again', '--key', 'keys');
  assert.equal([code, stdout], [0, `Verified ${before.length} records in 1 chains, 0 redacted.\n${noHeads}`]);
});

test('finds changes of a trail that a restore has continued', async () => {
  const file = path('data/tenantry.db');
  const start = after.findIndex(
    ({ operation, sequence }, i) => i > 0 && operation === 'audit.chain_started' && sequence === 1,
  );
  const damaged = async (statement: string, ...words: readonly string[]): Promise<string> => {
    writeFileSync(path('intact'), readFileSync(file));
    const db = new SQLite(file);
    db.exec(statement);
    db.close();
    const { stdout } = await verify('--data', 'data', ...words);
    renameSync(path('intact'), file);
    for (const ending of ['-wal', '-shm']) rmSync(`${file}${ending}`, { force: true });
    return stdout;
  };
  const newest = after.length;
  const last = after.at(-1);
  const ends = `The trail ends at record ${last?.sequence - 1}, but record ${last?.sequence} was signed.\n`;
  assert.is(await damaged(`DELETE FROM audit_record WHERE id = ${newest}`), ends);
  assert.is(
    await damaged(`DELETE FROM audit_record WHERE id = ${start}`),
    'Record 1 does not follow record 4.\n'.replace('4', String(start - 1)),
  );
  assert.is(
    await damaged(`UPDATE audit_record SET private = replace(private, 'restore', 'restart')`),
    'Record 1 was changed.\n',
  );
  const cut = `UPDATE audit_record SET private = NULL WHERE id = ${start + 1}`;
  // Without the recorded command, the later heads have no explanation.
  assert.match(await damaged(cut, '--heads', 'heads'), /^The trail ends at record \d+, but record \d+ was signed\.\n$/);
});

test('finds a continuation that only the database has', async () => {
  const log = path('data/audit-heads.log');
  const intact = readFileSync(log, 'utf8');
  writeFileSync(log, intact.replace(/^{"replaced_by".*\n/m, ''));
  const { code, stdout } = await verify('--data', 'data');
  writeFileSync(log, intact);
  assert.equal([code, /^The trail ends at record \d+, but record \d+ was signed\.\n$/.test(stdout)], [1, true]);
});

const random = repeatableRandom('copies');
const below = (count: number): number => random(4).readUInt32BE(0) % count;

test('names each of 300 random changes of a copy', () => {
  const db = SqliteDatabase.open(path('data/tenantry.db'));
  const keys = storedKeys(db);
  db.close();
  const original = linesOf('first.sink');
  const isRecord = (line: string | undefined): boolean => line?.startsWith('{"actor"') === true;
  const places = original.flatMap((line, i) => (isRecord(line) ? [i] : []));
  assert.is(verifyTrail(copiedTrail(path('first.sink'), keys, [])).finding, undefined);
  for (let i = 0; i < 300; i++) {
    const lines = [...original];
    // A copy may start at any record.
    const place = places[1 + below(places.length - 1)] ?? 0;
    const line = lines[place] ?? '';
    const kind = below(3);
    const at = below(line.length);
    if (kind === 0) lines[place] = `${line.slice(0, at)}${line[at] === '~' ? '!' : '~'}${line.slice(at + 1)}`;
    else if (kind === 1) lines.splice(place, 1);
    else {
      const other = places.find((one) => one > place);
      if (other === undefined) continue;
      lines[place] = lines[other] ?? '';
      lines[other] = line;
    }
    writeFileSync(path('damaged'), `${lines.join('\n')}\n`);
    const { finding } = verifyTrail(copiedTrail(path('damaged'), keys, []));
    assert.match(
      finding ?? 'nothing',
      /^(Record \d+ |The trail ends at record |The signature of head )/,
      `${kind} at ${place}`,
    );
  }
});

test('a restore on another machine is explained by its first start', async () => {
  await run('restore', 'copy', '--data', 'other');
  const { code, stdout } = await verify('--data', 'other', '--heads', 'heads');
  assert.equal([code, /^The trail ends at record \d+, but record \d+ was signed\.\n$/.test(stdout)], [1, true]);
  await fill('other', 1);
  writeFileSync(
    path('first.heads'),
    linesOf('first.sink')
      .filter((line) => line.startsWith('{"head"'))
      .join('\n'),
  );
  const later = await verify('--data', 'other', '--heads', 'first.heads');
  assert.equal([later.code, later.stdout.replace(/^.*\n/, '')], [0, replaced]);
});

test('an import and a promotion begin a chain that names them', async () => {
  const file = (await run('export', '--data', 'data')).stdout;
  await program.run(['import', '-', '--data', 'imported'], { input: file });
  const imported = await fill('imported', 1);
  assert.equal(startOf(imported).changes, [{ field: 'command', from: null, to: 'import' }]);
  assert.is(startOf(imported).object.uuid, after.at(-1)?.chain);
  assert.is((await run('promote', '--follow', path('data'), '--data', 'promoted')).code, 0);
  const promoted = await fill('promoted', 1);
  assert.equal(startOf(promoted).changes, [{ field: 'command', from: null, to: 'promote' }]);
  for (const data of ['imported', 'promoted']) assert.is((await verify('--data', data)).code, 0);
  const chains = [imported, promoted].map((records) => records.at(-1)?.chain);
  assert.is(new Set([...chains, after.at(-1)?.chain]).size, 3);
});

test('each reset in memory begins a chain after the snapshot', async () => {
  const server = await createServer({ ephemeral: true, port: 0, log_level: 'silent' });
  try {
    const list = async (): Promise<Json[]> => (await server.as('admin')('/api/audit/?page_size=300')).json();
    await server.as('admin')('/api/customers/', { method: 'POST', json: { name: 'Alice' } });
    const [created] = await list();
    await server.reset();
    const first = (await list()).filter(({ operation }) => operation === 'audit.chain_started');
    await server.reset();
    const second = (await list()).filter(({ operation }) => operation === 'audit.chain_started');
    assert.is(created.operation, 'createCustomer');
    assert.equal([first.length, second.length], [2, 2]);
    assert.is(new Set([created, first[0], second[0]].map(({ chain }) => chain)).size, 3);
    for (const [start, old] of [first, second]) assert.equal(start.object, { type: 'audit-chain', uuid: old.chain });
  } finally {
    await server.close();
  }
});

test.run();
