/** Backups on the command line: created beside a busy server, and restored elsewhere. `npm test` builds the program first. */
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import SQLite from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { applicationId } from '../../../src/kernel/durability/handle.ts';
import { embeddedMigrations } from '../../../src/kernel/native/embedded.ts';
import { openSecrets } from '../../../src/kernel/security/secrets.ts';
import { copyDemoData } from '../../support/demo-data.ts';
import { eventually } from '../../support/eventually.ts';
import type { Json } from '../../support/fixture.ts';
import { failed, nativeCache, Program } from '../../support/program.ts';

const test = suite('backup and restore');
let program: Program;
const path = (name: string): string => join(program.folder, name);
const run: Program['run'] = (...values) => program.run(...values);

test.before.each(() => {
  program = new Program(nativeCache);
});
test.after.each(() => program.end());

const mode = (file: string): string => (statSync(file).mode & 0o777).toString(8);
const holdsKeys = 'It contains the encryption keys: anyone who reads it can read every secret.';
const written = (file: string): string => `Backup of ${path('data')} written to ${file}. ${holdsKeys}\n`;

/** Returns a file with modified bytes. */
function changed(file: string, change: (bytes: Buffer) => Buffer): string {
  writeFileSync(`${file}.changed`, change(readFileSync(file)));
  return `${file}.changed`;
}

/** Returns a file with the backup of a small data folder, which `script` changes first. */
async function backedUp(script = ''): Promise<string> {
  assert.is((await run(['user', 'add', 'bob', '--staff', '--data', 'data'])).code, 0);
  const db = new SQLite(path('data/tenantry.db'));
  db.exec(script);
  db.close();
  const { code, stderr } = await run(['backup', 'b']);
  assert.equal([code, stderr], [0, '']);
  return path('b');
}

const olderSchema = 3;

/** Creates the data folder of an older version, with the user Zoe. */
function makeOlder(): void {
  mkdirSync(path('data'));
  const old = new SQLite(path('data/tenantry.db'));
  for (const { sql } of embeddedMigrations().slice(0, olderSchema)) old.exec(sql);
  old.exec(
    `PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${olderSchema}; INSERT INTO user (uuid, username, username_folded, date_joined) VALUES ('u', 'Zoe', 'zoe', 1)`,
  );
  old.close();
}

const restored = (folder: string): RegExp =>
  new RegExp(`^The backup of \\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z is restored in ${path(folder)}\\.\n$`);

async function call(url: string, token: string, body?: unknown): Promise<{ status: number; body: Json }> {
  const headers = { Authorization: `Token ${token}`, 'Content-Type': 'application/json' };
  const response = await fetch(
    url,
    body === undefined
      ? { headers, redirect: 'manual' }
      : { headers, method: 'POST', redirect: 'manual', body: JSON.stringify(body) },
  );
  return { status: response.status, body: await response.json() };
}

test('contains all writes acknowledged before a backup beside a busy server, and restores them elsewhere', async () => {
  await copyDemoData(path('data'));
  assert.is((await run(['user', 'add', 'bob', '--staff'])).code, 0);
  const token = (await run(['token', 'bob'])).stdout.trim();
  const server = await program.serve();
  const settings = await call(`${server.url}/api/service-settings/`, token, {
    name: 'Secretive',
    type: 'DigitalOcean',
    shared: true,
    token: 'the credential',
  });
  assert.is(settings.status, 201);

  const acknowledged: string[] = [];
  let isWriting = true;
  const writing = Promise.all(
    ['a', 'b', 'c'].map(async (writer) => {
      for (let i = 0; isWriting; i++) {
        const { status } = await call(`${server.url}/api/customers/`, token, { name: `${writer} ${i}` });
        if (status === 201) acknowledged.push(`${writer} ${i}`);
        // Keep the server busy, but do not spend most of the time on writes.
        await pause(25);
      }
    }),
  );
  // The error surfaces where it is awaited, below.
  writing.catch(() => undefined);
  for (const file of ['first', 'second']) {
    for (const count = acknowledged.length; acknowledged.length === count; ) await pause(100);
    const before = [...acknowledged];
    assert.equal(await run(['backup', file]), { code: 0, stdout: written(path(file)), stderr: '' });
    assert.ok(before.length > 0 && acknowledged.length > before.length, 'there were writes meanwhile');
    assert.is(mode(path(file)), '600');
    const result = await run(['restore', file, '--data', `${file}-data`]);
    assert.equal([result.code, result.stderr], [0, '']);
    assert.match(result.stdout, restored(`${file}-data`));
    const db = new SQLite(path(`${file}-data/tenantry.db`));
    const names = new Set(db.prepare('SELECT name FROM customer').pluck().all());
    db.close();
    assert.equal(
      before.filter((name) => !names.has(name)),
      [],
    );
  }
  isWriting = false;
  await writing;
  assert.is(await server.stop(), 0);
  rmSync(path('data'), { recursive: true });

  assert.equal(
    [mode(path('second-data')), mode(path('second-data/tenantry.db')), mode(path('second-data/secret.key'))],
    ['700', '600', '600'],
  );
  assert.equal(readdirSync(path('second-data')).sort(), ['audit-heads.log', 'secret.key', 'serve.lock', 'tenantry.db']);
  assert.equal(await run(['doctor', '--data', 'second-data']), {
    code: 0,
    stdout: 'DigitalOcean account Field droplets is Erred: Simulated failure of ping\n',
    stderr: '',
  });
  const remote = await program.serve(['--data', 'second-data']);
  const [me] = (await call(`${remote.url}/api/users/?current`, token)).body;
  assert.is(me.username, 'bob', 'tokens work');
  await remote.stop();
  assert.is(remote.errors(), '');
  const db = new SQLite(path('second-data/tenantry.db'));
  const { sealed, uuid } = db
    .prepare("SELECT token AS sealed, uuid FROM service_settings WHERE name = 'Secretive'")
    .get() as { sealed: Buffer; uuid: string };
  assert.is(openSecrets([], path('second-data'), () => Buffer.alloc(0)).open(sealed, uuid), 'the credential');
  assert.is(db.prepare("SELECT count(*) FROM sqlite_schema WHERE name = 'tenantry_backup'").pluck().get(), 0);
  const key = readFileSync(path('second-data/secret.key'), 'utf8').trim();
  db.close();
  assert.not(
    readFileSync(path('second-data/tenantry.db'), 'latin1').includes(key),
    'the database has no copy of the keys',
  );
});

test('writes a backup to standard output and reads one from standard input', async () => {
  await backedUp();
  const child = program.start(['backup', '-']);
  const parts: Buffer[] = [];
  let output = '';
  child.stdout?.on('data', (part: Buffer) => parts.push(part));
  child.stderr?.on('data', (part: Buffer) => (output += part.toString()));
  assert.equal(await once(child, 'close'), [0, null]);
  assert.is(output, `Backup of ${path('data')} written. ${holdsKeys}\n`);
  const { code, stdout, stderr } = await run(['restore', '-', '--data', 'c'], { input: Buffer.concat(parts) });
  assert.equal([code, stderr], [0, '']);
  assert.match(stdout, restored('c'));
  assert.match((await run(['token', 'bob', '--data', 'c'])).stdout, /^[0-9a-f]{40}\n$/);
});

test('omits keys of the settings from a backup, and says so', async () => {
  const env = { TENANTRY_ENCRYPTION_KEYS: `k:${Buffer.alloc(32, 7).toString('base64')}` };
  await run(['user', 'add', 'bob', '--data', 'data'], { env });
  const created = await run(['backup', 'b'], { env });
  const withoutKeys = 'It does not contain the encryption keys, which come from the settings: store them, too.';
  assert.equal(created, {
    code: 0,
    stdout: `Backup of ${path('data')} written to ${path('b')}. ${withoutKeys}\n`,
    stderr: '',
  });
  const { stdout } = await run(['restore', 'b', '--data', 'c'], { env });
  assert.match(stdout, / Its encryption keys were in the settings at that time\.\n$/);
  assert.not(existsSync(path('c/secret.key')));
  writeFileSync(path('data/secret.key'), `1:${Buffer.alloc(32).toString('base64')}\n`);
  assert.ok(
    (await run(['backup', 'd'], { env })).stdout.endsWith(`${withoutKeys}\n`),
    'an older key file does not replace them',
  );
});

test('backs up an existing database only, overwrites nothing, and changes nothing', async () => {
  assert.equal(await run(['backup', 'b']), failed(`there is no database in ${path('data')}`));
  assert.equal(readdirSync(program.folder), []);
  makeOlder();
  assert.is((await run(['backup', 'b'])).code, 0);
  const file = path('b');
  const data = readdirSync(path('data')).sort();
  const before = readFileSync(file);
  assert.equal(await run(['backup', 'b']), failed(`${file} exists already`));
  assert.ok(readFileSync(file).equals(before));
  assert.equal(data, ['tenantry.db']);
  const db = new SQLite(path('data/tenantry.db'));
  assert.is(
    db.pragma('user_version', { simple: true }),
    olderSchema,
    'no migration ran: the program that wrote the data can still use them',
  );
  db.close();
});

/** Rows of this many hundred bytes, which compress to half their size. */
const filled = (rows: number): string =>
  `INSERT INTO address_failure (address, at) WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
   SELECT hex(randomblob(200)), i FROM n`;

test('reports a full disk in one line, and leaves no part of a backup', async () => {
  await backedUp(filled(4000));
  // The maximum file size in KiB: too small for the copy, or for the compressed backup.
  for (const limit of [500, 1000]) {
    const { code, stdout, stderr } = await run(['backup', 'c'], { shell: `ulimit -f ${limit}` });
    assert.equal([code, stdout], [1, '']);
    assert.match(stderr, /^tenantry: cannot write the backup: [^\n]+\n$/);
    assert.equal(readdirSync(program.folder).sort(), ['b', 'data']);
  }
  const { code, stderr } = await run(['restore', 'b', '--data', 'c'], { shell: 'ulimit -f 500' });
  assert.is(code, 1);
  assert.match(stderr, /^tenantry: cannot restore [^\n]+: file too large\n$/);
  assert.not(existsSync(path('c')));
  assert.equal(
    await run(['backup', 'no/folder/b']),
    failed(`cannot write the backup: cannot write to ${path('no/folder')}: no such file or directory`),
  );
});

/** Runs an action during a command, at moments from its first step to after its last. */
async function signalDuring(
  words: readonly string[],
  signal: NodeJS.Signals,
  then: () => Promise<void>,
): Promise<void> {
  const begun = performance.now();
  assert.is((await run(words)).code, 0);
  const whole = performance.now() - begun;
  await then();
  for (const part of [0.3, 0.5, 0.6, 0.7, 0.8, 0.9]) {
    const child = program.start(words);
    const ended = once(child, 'close');
    await pause(whole * part);
    child.kill(signal);
    await ended;
    await then();
  }
}

test('leaves nothing of an interrupted backup', async () => {
  await backedUp(filled(8000));
  const outcomes = new Set<boolean>();
  await signalDuring(['backup', 'c'], 'SIGTERM', async () => {
    const exists = existsSync(path('c'));
    outcomes.add(exists);
    assert.equal(readdirSync(program.folder).sort(), exists ? ['b', 'c', 'data'] : ['b', 'data']);
    rmSync(path('c'), { force: true });
  });
  assert.is(outcomes.size, 2, 'both outcomes occurred');
});

/** Reads bytes of a large file as text, without the rest of the file. */
function textAt(file: string, position: number, length: number): string {
  const descriptor = openSync(file, 'r');
  try {
    const bytes = Buffer.alloc(length);
    readSync(descriptor, bytes, 0, length, position);
    return bytes.toString('latin1');
  } finally {
    closeSync(descriptor);
  }
}

/** Rows with indexes that take long to verify, in a backup and in a restore. */
const slowlyChecked = `INSERT INTO address_failure (address, at)
  WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600000) SELECT hex(randomblob(4)), i FROM n`;

test('ends a backup and a restore by a signal, in the middle of a SQLite call, with one line', async () => {
  await backedUp(slowlyChecked);
  const partial = (): string | undefined => readdirSync(program.folder).find((name) => name.startsWith('c.partial-'));
  const commands: [words: string[], copy: () => string][] = [
    [['backup', 'c'], () => path(`${partial()}/tenantry.db`)],
    [['restore', 'b', '--data', 'c'], () => path('c/restoring/tenantry.db')],
  ];
  for (const [words, copy] of commands)
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const child = program.start(words);
      let output = '';
      child.stderr?.on('data', (part: Buffer) => (output += part.toString()));
      const ended = once(child, 'close');
      // The mark of a backup, which is followed by the check.
      const isChecked = (): boolean => existsSync(copy()) && textAt(copy(), 68, 4) === 'TNRB';
      await eventually('the copy is marked', isChecked, 60, 5);
      // The check has started, which is not visible from outside.
      await pause(200);
      assert.is(child.exitCode, null, 'the check still runs');
      child.kill(signal);
      assert.equal(
        [await ended, output],
        [[null, signal], `tenantry: stopped by ${signal}; partial files are removed\n`],
      );
      assert.equal(partial(), undefined);
      assert.not(existsSync(path('c')));
    }
});

test('rejects a file that is not a backup, or is truncated', async () => {
  const file = await backedUp();
  const assertRejected = async (source: string, reason: string): Promise<void> => {
    assert.equal(await run(['restore', source, '--data', 'c']), failed(`cannot restore ${source}: ${reason}`));
    assert.not(existsSync(path('c')));
  };
  assert.equal(
    await run(['restore', 'nothing']),
    failed(`cannot read the backup ${path('nothing')}: no such file or directory`),
  );
  assert.not(existsSync(path('nothing')));
  const foreign = 'The file is not a backup';
  await assertRejected(
    changed(file, () => Buffer.alloc(0)),
    'The backup is damaged (unexpected end of file)',
  );
  await assertRejected(
    changed(file, () => Buffer.from('something else')),
    foreign,
  );
  await assertRejected(
    changed(file, () => gzipSync('something else')),
    foreign,
  );
  await assertRejected(
    changed(file, () => gzipSync(readFileSync(path('data/tenantry.db')))),
    foreign,
  );
  await assertRejected(
    changed(file, (bytes) => bytes.subarray(0, bytes.length - 9)),
    'The backup is damaged (unexpected end of file)',
  );
  await assertRejected(
    changed(file, (bytes) => bytes.subarray(0, bytes.length >> 1)),
    'The backup is damaged (unexpected end of file)',
  );
  const flipped = changed(file, (bytes) => {
    const sum = bytes.length - 8;
    return bytes.fill((bytes[sum] as number) ^ 1, sum, sum + 1);
  });
  await assertRejected(flipped, 'The backup is damaged (incorrect data check)');
  await assertRejected(
    changed(file, (bytes) => Buffer.concat([bytes, Buffer.alloc(9)])),
    'The backup is damaged (something follows its end)',
  );
  for (const further of ['', 'something else'])
    await assertRejected(
      changed(file, (bytes) => Buffer.concat([bytes, gzipSync(further)])),
      further === ''
        ? 'The backup is damaged (something follows its end)'
        : 'The backup is damaged (it is longer than it says)',
    );
  const longer = 'The backup is damaged (it is longer than it says)';
  await assertRejected(
    changed(file, (bytes) => Buffer.concat([bytes, bytes])),
    longer,
  );
  await assertRejected(
    changed(file, (bytes) => gzipSync(Buffer.concat([gunzipSync(bytes), Buffer.alloc(1_000_000)]))),
    longer,
  );
  await assertRejected(
    changed(file, () => gzipSync(Buffer.alloc(50_000_000))),
    foreign,
  );
  const torn = changed(file, (bytes) => {
    const database = gunzipSync(bytes);
    return gzipSync(database.fill(0x55, database.length - 3000));
  });
  const { stderr } = await run(['restore', torn, '--data', 'c']);
  assert.match(stderr, /^tenantry: cannot restore .*: The backup is damaged \(.*\)\n$/);
  assert.not(existsSync(path('c')));
});

/** Returns the names of all files and folders below a folder. */
const namesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true })
    .map((name) => String(name))
    .sort();

test('leaves a folder as it was when a restore, an import or a promotion into it fails', async () => {
  writeFileSync(path('junk'), 'junk');
  // Without a shared folder, the program unpacks its native code into the data folder.
  const plain = new Program(undefined);
  const attempt = async (words: readonly string[], folder: string): Promise<void> => {
    const { code } = await plain.run([...words, '--data', path(folder)]);
    assert.is(code, 1, words.join(' '));
  };
  mkdirSync(path('empty'));
  mkdirSync(path('used/native'), { recursive: true });
  for (const name of ['mine', 'native/theirs', 'serve.lock']) writeFileSync(path(`used/${name}`), '');
  try {
    for (const words of [['restore', path('junk')], ['import', path('junk')], ['promote']]) {
      await attempt(words, 'missing/inner');
      await attempt(words, 'empty');
      assert.equal([existsSync(path('missing')), namesBelow(path('empty'))], [false, []], words.join(' '));
    }
    await attempt(['restore', path('junk')], 'used');
    const theirs = ['mine', 'native', 'native/theirs', 'serve.lock'];
    assert.equal(
      namesBelow(path('used')).filter((name) => theirs.includes(name)),
      theirs,
    );
  } finally {
    await plain.end();
  }
});

test('leaves the files of a command that fills the folder meanwhile', async () => {
  const file = await backedUp();
  const waiting = program.start(['restore', '-', '--data', 'c']);
  const closed = once(waiting, 'close');
  await eventually('the restore has started', () => existsSync(path('c/restoring/tenantry.db')));
  assert.equal(await run(['restore', file, '--data', 'c']), failed(`another server uses the data folder ${path('c')}`));
  assert.ok(existsSync(path('c/restoring/tenantry.db')));
  waiting.stdin?.end(readFileSync(file));
  assert.is((await closed)[0], 0);
  assert.equal(await run(['doctor', '--data', 'c']), { code: 0, stdout: 'no problems\n', stderr: '' });
});

test('creates a database in a folder whose lock a killed command has left', async () => {
  mkdirSync(path('c'));
  for (const name of ['serve.lock', 'serve.lock-journal']) writeFileSync(path(`c/${name}`), '');
  assert.is((await run(['user', 'add', 'alice', '--data', 'c'])).code, 0);
});

test('rejects a backup of a newer version', async () => {
  const newer = await backedUp('PRAGMA user_version = 99');
  const { code, stderr } = await run(['restore', newer, '--data', 'c']);
  assert.is(code, 1);
  assert.match(
    stderr,
    /^tenantry: cannot restore .*: The database has schema 99, newer than this version's \d+: use a newer Tenantry\n$/,
  );
  assert.not(existsSync(path('c')));
});

test('migrates a restored backup of an older version with the first command that opens it', async () => {
  makeOlder();
  assert.is((await run(['backup', 'b'])).code, 0);
  assert.is((await run(['restore', 'b', '--data', 'c'])).code, 0);
  assert.match((await run(['token', 'zoe', '--data', 'c'])).stdout, /^[0-9a-f]{40}\n$/);
  const db = new SQLite(path('c/tenantry.db'));
  assert.is(db.pragma('user_version', { simple: true }), embeddedMigrations().length);
  db.close();
});

test('never overwrites existing data', async () => {
  const file = await backedUp();
  const advice = 'move it away, or restore into another folder';
  assert.equal(await run(['restore', file]), failed(`${path('data/tenantry.db')} exists already: ${advice}`));
  const server = await program.serve();
  assert.equal(await run(['restore', file]), failed(`another server uses the data folder ${path('data')}`));
  await server.stop();
  for (const [name, content] of [
    ['tenantry.db-wal', 'x'],
    ['initial-password', 'x'],
  ] as const) {
    mkdirSync(path('c'));
    writeFileSync(path(`c/${name}`), content);
    assert.equal(await run(['restore', file, '--data', 'c']), failed(`${path(`c/${name}`)} exists already: ${advice}`));
    rmSync(path('c'), { recursive: true });
  }
  mkdirSync(path('c'));
  writeFileSync(path('c/secret.key'), `1:${Buffer.alloc(32).toString('base64')}\n`);
  assert.equal(
    await run(['restore', file, '--data', 'c']),
    failed(`${path('c/secret.key')} has other keys than the backup: ${advice}`),
  );
  assert.equal(readdirSync(path('c')), ['secret.key']);
});

test('leaves no database or a complete one after a killed restore, which can be repeated', async () => {
  await backedUp(filled(8000));
  const outcomes = new Set<boolean>();
  await signalDuring(['restore', 'b', '--data', 'c'], 'SIGKILL', async () => {
    const exists = existsSync(path('c/tenantry.db'));
    outcomes.add(exists);
    if (!exists) assert.is((await run(['restore', 'b', '--data', 'c'])).code, 0);
    assert.equal(await run(['doctor', '--data', 'c']), { code: 0, stdout: 'no problems\n', stderr: '' });
    assert.ok(readFileSync(path('c/secret.key')).equals(readFileSync(path('data/secret.key'))));
    rmSync(path('c'), { recursive: true });
  });
  assert.is(outcomes.size, 2, 'both outcomes occurred');
});

test('repeats a restore even if a killed one has written the keys', async () => {
  const file = await backedUp();
  mkdirSync(path('c/restoring'), { recursive: true });
  writeFileSync(path('c/restoring/tenantry.db'), 'half');
  writeFileSync(path('c/secret.key'), readFileSync(path('data/secret.key')));
  assert.is((await run(['restore', file, '--data', 'c'])).code, 0);
  assert.equal(readdirSync(path('c')).sort(), ['audit-heads.log', 'secret.key', 'serve.lock', 'tenantry.db']);
});

test.run();
