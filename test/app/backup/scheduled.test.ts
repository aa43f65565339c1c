/** Backups at a target, on the command line: in a folder and in an object store, plain and encrypted (core.md 14.10). */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { bech32 } from '@scure/base';
import { Decrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import SQLite from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually } from '../../support/eventually.ts';
import { ObjectStore } from '../../support/object-store.ts';
import { preparing } from '../../support/prepared.ts';
import { type Ended, failed, type Program } from '../../support/program.ts';

const test = suite('scheduled backups on the command line');
let program: Program;
let store: ObjectStore;
const path = (name: string): string => join(program.folder, name);
const run = (words: readonly string[], options: readonly string[] = []): Promise<Ended> =>
  program.run([...words, ...options], { env: store.environment });
const namePattern = /tenantry-\d{8}T\d{6}Z-[0-9a-f]{8}\.db\.gz(?:\.age)?/;

test.before(async () => {
  store = await ObjectStore.start();
});
test.after(() => store.close());

const prepared = preparing((first) => first.run(['user', 'add', 'alice', '--staff', '--data', 'data'], {}));
test.before.each(async () => {
  ({ program } = await prepared());
  const identity = await generateX25519Identity();
  writeFileSync(path('identity'), `# made for the test\n${identity}\n`);
  writeFileSync(path('recipients'), `# ops\n\n${await identityToRecipient(identity)}\n`);
});
test.after.each(async () => {
  await program.end();
  store.objects.clear();
  store.uploads.clear();
  store.requests.length = 0;
  store.fault = () => undefined;
});

const database = (): SQLite.Database => new SQLite(path('data/tenantry.db'));
const rows = (text: string): unknown[] => {
  const db = database();
  try {
    return db.prepare(text).all();
  } finally {
    db.close();
  }
};
/** Names of backups contain seconds, and commands use the machine's clock. */
const nextSecond = (): Promise<void> => pause(1000 - (Date.now() % 1000));
const encrypted = (): string[] => [...store.options(), '--backup-recipients-file', 'recipients'];
const withIdentity = ['--backup-identity-file', 'identity'];

/** Returns the operations of audit records about backups, with the names of their objects, oldest first. */
const recorded = (): unknown[] =>
  rows(
    `SELECT operation, private -> 'object_name' ->> '$' AS name FROM audit_record WHERE operation LIKE 'backup.%' ORDER BY id`,
  ).map((row) => Object.values(row as object));

test('makes, lists, verifies, fetches and restores a backup in a folder', async () => {
  const made = await run(['backups', 'now']);
  const name = namePattern.exec(made.stdout)?.[0] as string;
  assert.equal(made, { code: 0, stdout: `Backup ${name} is complete in ${path('data/backups')}.\n`, stderr: '' });
  assert.equal(readdirSync(path('data/backups')), [name]);
  assert.match((await run(['backups', 'list'])).stdout, new RegExp(`^\\S+Z +\\d+  ${name}\n$`));
  const [row] = rows('SELECT name, sha256, is_encrypted, verified FROM backup') as { sha256: string }[];
  const file = readFileSync(path(`data/backups/${name}`));
  const sha256 = createHash('sha256').update(file).digest('hex');
  assert.equal(row, { name, sha256, is_encrypted: 0, verified: null });
  const verified = `Backup ${name} is verified: it was restored and has no problems.\n`;
  assert.equal(await run(['backups', 'verify']), { code: 0, stdout: verified, stderr: '' });
  assert.match((await run(['backups', 'list'])).stdout, new RegExp(`^\\S+Z +\\d+  ${name}  verified \\S+Z\n$`));
  const [listed] = JSON.parse((await run(['backups', 'list', '--json'])).stdout);
  assert.match(listed.verified, /Z$/);
  assert.is((rows('SELECT verified FROM backup WHERE verified IS NOT NULL') as unknown[]).length, 1);
  await run(['backups', 'fetch', name, 'copy']);
  assert.ok(readFileSync(path('copy')).equals(file));
  assert.equal(recorded(), [
    ['backup.made', name],
    ['backup.verified', name],
    ['backup.fetched', name],
  ]);
  assert.is((await run(['restore', 'copy', '--data', 'again'])).code, 0);
  assert.is((await run(['doctor', '--data', 'again'])).stdout, 'no problems\n');
  const age = String.raw`\S+Z \(\d minutes ago\)`;
  for (const options of [[], ['--backup-schedule', '03:00']])
    assert.match(
      (await run(['doctor'], options)).stdout,
      new RegExp(`^no problems\nlast complete backup: ${age}; last verified: ${age}\n$`),
    );
  assert.is(
    (await run(['doctor', '--data', 'again'], ['--backup-schedule', '03:00'])).stdout,
    'no complete backup is known: a start of the server lists those at the target\n' +
      'last complete backup: none; last verified: none\n',
  );
});

test('two servers with the same prefix: each verifies its own backups, and a restore needs a name', async () => {
  const own = namePattern.exec((await run(['backups', 'now'], encrypted())).stdout)?.[0] as string;
  assert.is((await program.run(['user', 'add', 'bob', '--data', 'other'])).code, 0);
  await nextSecond();
  const made = await run(['backups', 'now', '--data', 'other'], [...encrypted(), '--backup-keep', '1d']);
  const other = namePattern.exec(made.stdout)?.[0] as string;
  assert.equal([...store.objects.keys()].sort(), [`prod/${own}`, `prod/${other}`].sort());
  const restore = (source: string): Promise<Ended> =>
    run(['restore', source, '--identity', 'identity', '--data', 'machine'], ['--backup-s3-endpoint', store.url]);
  assert.equal(
    await restore('s3://backups/prod'),
    failed(`s3://backups/prod has backups of several installations: name one of ${other}, ${own}`),
  );
  assert.match(
    (await run(['backups', 'verify'], [...encrypted(), ...withIdentity])).stdout,
    new RegExp(`^Backup ${own} is verified`),
  );
  assert.equal(rows('SELECT name FROM backup'), [{ name: own }], 'the catalogue has its own backups only');
  assert.is((await restore(`s3://backups/prod/${other}`)).code, 0);
  assert.match((await run(['user', 'list', '--data', 'machine'])).stdout, /bob/);
});

test('a backup made by a fast clock neither hides nor removes the others', async () => {
  const first = namePattern.exec((await run(['backups', 'now'])).stdout)?.[0] as string;
  const year = new Date().getUTCFullYear() + 1;
  const ahead = first.replace(/\d{8}T/, `${year}0101T`);
  writeFileSync(path(`data/backups/${ahead}`), readFileSync(path(`data/backups/${first}`)));
  await run(['backups', 'verify', ahead]);
  await nextSecond();
  const made = await run(['backups', 'now'], ['--backup-keep', '1d']);
  const name = namePattern.exec(made.stdout)?.[0] as string;
  assert.equal(readdirSync(path('data/backups')).sort(), [name, ahead, `${ahead}.verification`]);
  assert.match(
    (await run(['doctor'], ['--backup-schedule', '03:00'])).stdout,
    /\nlast complete backup: \S+Z \(\d minutes ago\); last verified: none\n$/,
  );
  assert.match((await run(['backups', 'verify'])).stdout, new RegExp(`^Backup ${name} is verified`));
});

test('fails when the folder of known backups is missing, and when there is too little space', async () => {
  const target = ['--backup-target', 'mounted/backups'];
  assert.is((await run(['backups', 'now'], target)).code, 0);
  rmSync(path('mounted'), { recursive: true });
  const missing = failed(`${path('mounted/backups')} is missing: mount its disk, or create the folder again`);
  assert.equal(await run(['backups', 'now'], target), missing);
  assert.equal(await run(['backups', 'verify'], target), missing);
  assert.is((rows('SELECT 1 FROM backup') as unknown[]).length, 1, 'the catalogue keeps it');
  mkdirSync(path('mounted/backups'), { recursive: true });
  writeFileSync(
    path('full.mjs'),
    `import fs from 'node:fs';
     import { syncBuiltinESMExports } from 'node:module';
     fs.statfsSync = () => ({ bavail: 1000, bsize: 4096, type: 0 });
     syncBuiltinESMExports();`,
  );
  const env = { ...store.environment, NODE_OPTIONS: `--import ${path('full.mjs')}` };
  const { code, stderr } = await program.run(['backups', 'now', ...target], { env });
  assert.is(code, 1);
  assert.match(stderr, /^tenantry: \S+mounted\/backups has 5 MB of free space, and 1\d\d MB are needed\n$/);
  assert.equal(readdirSync(path('mounted/backups')), []);
});

test('encrypts a backup so that age opens it, and only with the right identity', async () => {
  const name = namePattern.exec((await run(['backups', 'now'], encrypted())).stdout)?.[0] as string;
  assert.match(name, /\.age$/);
  const sealed = store.objects.get(`prod/${name}`) as Buffer;
  assert.is(sealed.toString('latin1', 0, 21), 'age-encryption.org/v1');
  const decrypter = new Decrypter();
  decrypter.addIdentity(/AGE-SECRET-KEY-\S+/.exec(readFileSync(path('identity'), 'utf8'))?.[0] as string);
  const plain = await decrypter.decrypt(sealed);
  assert.equal([...plain.subarray(0, 2)], [0x1f, 0x8b]);
  assert.match((await run(['backups', 'verify'], encrypted())).stdout, /stays unverified\.\n$/);
  assert.is((rows('SELECT 1 FROM backup WHERE verified IS NOT NULL') as unknown[]).length, 0);
  assert.match((await run(['backups', 'verify', name], [...encrypted(), ...withIdentity])).stdout, /is verified/);
  writeFileSync(path('sealed.age'), sealed);
  assert.equal(
    await run(['restore', 'sealed.age', '--data', 'r']),
    failed('sealed.age is encrypted: name an age identity with --identity'),
  );
  writeFileSync(path('other'), `${await generateX25519Identity()}\n`);
  assert.equal(
    await run(['restore', 'sealed.age', '--identity', 'other', '--data', 'r']),
    failed('No identity can decrypt this backup.'),
  );
  assert.equal(
    readdirSync(program.folder).filter((one) => one === 'r'),
    [],
    'nothing is left behind',
  );
  assert.is((await run(['restore', 'sealed.age', '--identity', 'identity', '--data', 'r'])).code, 0);
});

test('reports a mistyped key with its line, before it reads or writes a backup', async () => {
  const name = namePattern.exec((await run(['backups', 'now'], encrypted())).stdout)?.[0] as string;
  const mistyped = (file: string): void => {
    const last = /(.)\n$/.exec(readFileSync(path(file), 'utf8'))?.[1] as string;
    const other = last.toLowerCase() === 'q' ? 'p' : 'q';
    const text = readFileSync(path(file), 'utf8').slice(0, -2);
    writeFileSync(path(`${file}-mistyped`), `${text}${last === last.toUpperCase() ? other.toUpperCase() : other}\n`);
  };
  mistyped('identity');
  mistyped('recipients');
  assert.equal(
    await run(['backups', 'now'], [...store.options(), '--backup-recipients-file', 'recipients-mistyped']),
    failed('backup_recipients_file: line 3 of recipients-mistyped is not an age public key (age1…)', 2),
  );
  const invalid = failed('line 2 of identity-mistyped is not a valid age identity');
  store.requests.length = 0;
  const identity = ['--backup-identity-file', 'identity-mistyped'];
  assert.equal(await run(['backups', 'fetch', name, 'copy'], [...encrypted(), ...identity]), invalid);
  assert.equal(await run(['backups', 'verify', name], [...encrypted(), ...identity]), invalid);
  assert.equal(
    await run(['restore', 's3://backups/prod', '--identity', 'identity-mistyped', '--data', 'r'], store.options()),
    invalid,
  );
  assert.is(store.requests.filter((request) => request.includes('.age')).length, 0, 'nothing is downloaded');
});

test('accepts only public keys for X25519, in lower case and of 32 bytes', async () => {
  const key = readFileSync(path('recipients'), 'utf8').trim().split('\n').at(-1) as string;
  const { words } = bech32.decode(key as `${string}1${string}`);
  const others = [
    key.toUpperCase(),
    `age1${key.slice(4).toUpperCase()}`,
    bech32.encode('age1pq', words),
    bech32.encodeFromBytes('age', new Uint8Array(31)),
    // The last character has bits that do not belong to the 32 bytes.
    bech32.encode('age', [...words.slice(0, -1), 1]),
    'age1',
  ];
  for (const other of others) {
    writeFileSync(path('other'), `${other}\n`);
    assert.equal(
      await run(['backups', 'list'], [...store.options(), '--backup-recipients-file', 'other']),
      failed('backup_recipients_file: line 1 of other is not an age public key (age1…)', 2),
      other,
    );
  }
});

test('names an encrypted backup that is damaged, and reports existing data without a crash', async () => {
  const name = namePattern.exec((await run(['backups', 'now'], encrypted())).stdout)?.[0] as string;
  const sealed = store.objects.get(`prod/${name}`) as Buffer;
  const restored = (source: string, data: string) =>
    run(['restore', source, '--identity', 'identity', '--data', data], store.options());
  const exists = failed(`${path('data/tenantry.db')} exists already: move it away, or restore into another folder`);
  writeFileSync(path('sealed'), sealed);
  assert.equal(await restored('s3://backups/prod', 'data'), exists);
  assert.equal(await restored('sealed', 'data'), exists);
  writeFileSync(path('part'), sealed.subarray(0, -1));
  assert.equal(
    await restored('part', 'r'),
    failed(`cannot restore ${path('part')}: The backup is damaged (invalid tag)`),
  );
  store.objects.set(`prod/${name}`, sealed.subarray(0, -1));
  assert.equal(
    await restored('s3://backups/prod', 'r'),
    failed(`cannot restore ${name}: The backup is damaged (invalid tag)`),
  );
});

test('leaves an existing file alone when a backup cannot be fetched into it', async () => {
  const name = namePattern.exec((await run(['backups', 'now'], encrypted())).stdout)?.[0] as string;
  writeFileSync(path('copy'), 'mine');
  writeFileSync(path('other'), `${await generateX25519Identity()}\n`);
  const fetchTo = (file: string, identity: string) =>
    run(['backups', 'fetch', name, file], [...encrypted(), '--backup-identity-file', identity]);
  store.requests.length = 0;
  assert.equal(await fetchTo('copy', 'identity'), failed('cannot fetch the backup: file already exists'));
  assert.equal((await fetchTo('copy', 'other')).code, 1);
  assert.is(readFileSync(path('copy'), 'utf8'), 'mine');
  assert.is(store.requests.filter((what) => what === 'GET object').length, 0, 'nothing is downloaded');
  const wrong = 'cannot fetch the backup: No identity can decrypt this backup.';
  assert.equal(await fetchTo('new', 'other'), failed(wrong));
  assert.not(readdirSync(program.folder).includes('new'));
});

test('restores a plain backup although the settings name an identity', async () => {
  assert.is((await run(['backup', 'plain', '--data', 'data'])).code, 0);
  assert.match((await run(['restore', 'plain', '--data', 'r'], withIdentity)).stdout, /is restored in /);
});

test('an empty machine restores the newest backup of a bucket with one command, and serves it', async () => {
  // A prefix that starts like the name of a backup.
  await run(['backups', 'now'], [...store.options('backups/tenantry-prod'), '--backup-recipients-file', 'recipients']);
  const restored = await run(
    ['restore', 's3://backups/tenantry-prod', '--identity', 'identity', '--data', 'machine'],
    ['--backup-s3-endpoint', store.url],
  );
  assert.match(restored.stdout, /^The backup of \S+Z is restored in /);
  assert.match((await run(['user', 'list', '--data', 'machine'])).stdout, /alice/);
});

test('does not start with a target in S3 and without recipients, credentials or valid keys', async () => {
  const config = (...options: readonly string[]) => program.run(['backups', 'now', ...store.options(), ...options], {});
  assert.equal(await config(), failed('backup_recipients_file is required: a backup contains the encryption keys.', 2));
  assert.match(
    (await config('--backup-recipients-file', 'recipients')).stderr,
    /backup_target needs credentials: set /,
  );
  writeFileSync(path('wrong'), '# first\nage1wrong\n');
  assert.equal(
    await config('--backup-recipients-file', 'wrong'),
    failed('backup_recipients_file: line 2 of wrong is not an age public key (age1…)', 2),
  );
  assert.equal(
    await run(['backups', 'list', '--backup-target', 's3://backups/../other']),
    failed('--backup-target must be s3://BUCKET/PREFIX, without the segments . and ..', 2),
  );
  const served = await program.run(['serve', '--port', '0', ...store.options()], {});
  assert.equal([served.code, served.stdout], [2, '']);
});

test('takes each part of the credentials from its setting or the environment', async () => {
  const { accessKeyId, secretAccessKey } = store.credentials;
  writeFileSync(path('secret'), `${secretAccessKey}\n`);
  writeFileSync(path('empty'), '\n');
  const list = (env: Readonly<Record<string, string>>, ...options: readonly string[]): Promise<Ended> =>
    program.run(['backups', 'list', ...store.options(), '--backup-recipients-file', 'recipients', ...options], { env });
  const listed = { code: 0, stdout: '', stderr: 'tenantry: nothing found\n' };
  const id = ['--backup-s3-access-key-id', accessKeyId];
  const secret = ['--backup-s3-secret-access-key-file', 'secret'];
  const foreign = { AWS_ACCESS_KEY_ID: 'foreign', AWS_SECRET_ACCESS_KEY: 'foreign', AWS_SESSION_TOKEN: 'foreign' };
  assert.equal(await list(foreign, ...id, ...secret), listed);
  assert.equal(await list({ AWS_ACCESS_KEY_ID: 'foreign', AWS_SECRET_ACCESS_KEY: secretAccessKey }, ...id), listed);
  assert.equal(await list({ AWS_ACCESS_KEY_ID: accessKeyId }, ...secret), listed);
  assert.match((await list({}, ...id)).stderr, /backup_target needs credentials: /);
  assert.equal(
    await list({}, ...id, '--backup-s3-secret-access-key-file', 'empty'),
    failed('backup_s3_secret_access_key_file: empty is empty', 2),
  );
});

test('a failure at any request leaves no backup, aborts the upload and notifies staff at once', async () => {
  const attempt = async (fault: ObjectStore['fault']): Promise<string> => {
    store.fault = fault;
    const { code, stderr, stdout } = await run(['backups', 'now'], encrypted());
    store.fault = () => undefined;
    assert.equal([code, stdout], [1, '']);
    assert.equal([[...store.objects.keys()], [...store.uploads.keys()]], [[], []]);
    assert.equal(
      readdirSync(path('data')).filter((name) => name.startsWith('backup-')),
      [],
    );
    return stderr.trim();
  };
  assert.is(
    await attempt((what) => (what === 'PUT part' ? 403 : undefined)),
    'tenantry: cannot upload a part in s3://backups/prod: the object store responds with 403 Fault403 (As the test wants)',
  );
  assert.match(await attempt((what) => (what === 'POST complete' ? 400 : undefined)), /cannot complete the upload/);
  assert.match(await attempt((what) => (what === 'GET list' ? 403 : undefined)), /cannot list the backups/);
  const messages = (rows('SELECT kind, message FROM notification ORDER BY id') as Record<string, string>[]).map(
    ({ kind, message }) => `${kind}: ${message}`,
  );
  assert.is(messages.length, 3);
  assert.match(messages[0] as string, /^backup_failed: A backup has failed: cannot upload a part in s3/);
  assert.equal(
    recorded(),
    Array.from({ length: 3 }, () => ['backup.failed', null]),
  );
});

test('gives all threads of a backup the lowest priority', async () => {
  const priorities = new Set<string>();
  let pid: number | undefined;
  store.fault = (what) => {
    if (what === 'PUT part')
      // The 19th field; the second one is a name in parentheses.
      for (const thread of readdirSync(`/proc/${pid}/task`))
        priorities.add(readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8').split(') ')[1]?.split(' ')[16] ?? '');
    return undefined;
  };
  const child = program.start(['backups', 'now', '--quiet', ...encrypted()], { env: store.environment });
  pid = child.pid;
  await once(child, 'close');
  assert.equal([...priorities], ['19']);
});

test('makes a backup although the store does not list uploads, and logs it', async () => {
  store.fault = (what) => (what === 'GET uploads' ? 403 : undefined);
  const { code, stderr } = await run(['backups', 'now'], encrypted());
  assert.is(code, 0, stderr);
  assert.match(
    stderr,
    /cannot list the uploads in s3:\/\/backups\/prod: [^"]+403.*failed to abort uploads of killed backups/,
  );
  assert.is(store.objects.size, 1);
});

test('repeats requests that were interrupted or failed in the store', async () => {
  const failures = new Map<string, number>();
  store.fault = (what) => {
    const count = failures.get(what) ?? 0;
    failures.set(what, count + 1);
    return count === 0 ? (what === 'PUT part' ? 'cut' : 500) : undefined;
  };
  assert.is((await run(['backups', 'now'], encrypted())).code, 0);
  assert.is(store.objects.size, 1);
});

test('resumes an interrupted download, unless the backup has changed', async () => {
  const name = namePattern.exec((await run(['backups', 'now'], encrypted())).stdout)?.[0] as string;
  let count = 0;
  store.fault = (what) => (what === 'GET object' && ++count <= 3 ? 'cut inside' : undefined);
  assert.match((await run(['backups', 'verify'], [...encrypted(), ...withIdentity])).stdout, /is verified/);
  assert.is(count, 4);
  const content = store.objects.get(`prod/${name}`) as Buffer;
  store.fault = (what) => {
    if (what !== 'GET object') return undefined;
    store.objects.set(`prod/${name}`, Buffer.concat([content, Buffer.from(String(++count))]));
    return 'cut inside';
  };
  const { code, stderr } = await run(['backups', 'fetch', name, 'copy'], encrypted());
  assert.equal([code, /the object store responds with 412/.test(stderr)], [1, true], stderr);
  assert.not(readdirSync(program.folder).includes('copy'));
});

test('accepts a complete upload although the response of the store was lost', async () => {
  let count = 0;
  store.fault = (what) => (what === 'POST complete' && count++ === 0 ? 'cut after' : undefined);
  const { code, stdout } = await run(['backups', 'now'], encrypted());
  const name = namePattern.exec(stdout)?.[0];
  assert.equal([code, [...store.objects.keys()], store.uploads.size], [0, [`prod/${name}`], 0]);
  assert.is(store.requests.filter((what) => what === 'POST complete').length, 2);
});

test('completes an upload again after a conflict, and without a condition in stores that do not support it', async () => {
  let conflicts = 0;
  const faults: Readonly<Record<string, ObjectStore['fault']>> = {
    conflict: () => (conflicts++ === 0 ? 409 : undefined),
    unsupported: (_what, headers) => (headers['if-none-match'] === undefined ? undefined : 501),
  };
  for (const [name, fault] of Object.entries(faults)) {
    store.fault = (what, headers) => (what === 'POST complete' ? fault(what, headers) : undefined);
    assert.is((await run(['backups', 'now'], encrypted())).code, 0, name);
    assert.is(store.requests.filter((what) => what === 'POST complete').length, 2);
    store.requests.length = 0;
    await nextSecond();
  }
});

test('a wrong secret is rejected by the store with its reason', async () => {
  const { code, stderr } = await program.run(['backups', 'now', ...encrypted()], {
    env: { ...store.environment, AWS_SECRET_ACCESS_KEY: 'wrong' },
  });
  assert.equal([code, /SignatureDoesNotMatch/.test(stderr)], [1, true]);
});

test('removes old backups of this installation only, and never the newest nor the newest verified one', async () => {
  await run(['backups', 'now']);
  const [{ installation }] = rows('SELECT installation FROM deployment') as [{ installation: string }];
  const folder = path('data/backups');
  const old = (day: string, id = installation): string => `tenantry-202601${day}T030000Z-${id}.db.gz`;
  for (const name of [old('01'), old('02'), old('03'), old('03', '00000000'), 'other.txt'])
    writeFileSync(join(folder, name), '');
  await run(['backups', 'verify', old('02')]);
  const db = database();
  db.exec(`UPDATE backup SET verified = 1 WHERE name = '${old('02')}'; UPDATE deployment SET verification_error = 'x'`);
  db.close();
  await nextSecond();
  await run(['backups', 'now'], ['--backup-keep', '1d']);
  assert.is(readdirSync(folder).length, 7, 'while the last verification has failed, nothing is removed');
  const again = database();
  again.exec("UPDATE deployment SET verification_error = ''");
  again.close();
  await nextSecond();
  const newest = namePattern.exec((await run(['backups', 'now'], ['--backup-keep', '1d'])).stdout)?.[0] as string;
  assert.equal(readdirSync(folder).sort(), ['other.txt', old('02'), old('03', '00000000'), newest].sort());
  const names = recorded().filter((row) => (row as string[])[0] === 'backup.removed');
  assert.equal(
    [names.length, ...[old('01'), old('03')].map((name) => names.some((row) => (row as string[])[1] === name))],
    [4, true, true],
  );
});

test('a backup is complete although the retention cannot list the others', async () => {
  let count = 0;
  store.fault = (what) => (what === 'GET list' && ++count > 1 ? 403 : undefined);
  const { code, stdout } = await run(['backups', 'now'], encrypted());
  const name = namePattern.exec(stdout)?.[0];
  assert.equal([code, count, rows('SELECT name FROM backup')], [0, 2, [{ name }]]);
});

test('a backup that was changed at the target is not verified', async () => {
  const name = namePattern.exec((await run(['backups', 'now'])).stdout)?.[0] as string;
  const file = path(`data/backups/${name}`);
  const bytes = readFileSync(file);
  bytes[bytes.length - 20] = (bytes[bytes.length - 20] as number) ^ 1;
  writeFileSync(file, bytes);
  assert.equal(await run(['backups', 'verify']), failed(`${name} differs from what was written`));
  assert.equal(rows('SELECT verification_error FROM deployment'), [
    { verification_error: `${name} differs from what was written` },
  ]);
  assert.match(
    (await run(['doctor'], ['--backup-schedule', '03:00'])).stdout,
    /the last verification of a backup failed: /,
  );
});

test('does not count a wrong name as a failed verification, but a missing backup', async () => {
  const name = namePattern.exec((await run(['backups', 'now'])).stdout)?.[0] as string;
  const problem = (missing: string): string => `there is no backup ${missing} in ${path('data/backups')}`;
  assert.equal(await run(['backups', 'verify', 'monday']), failed(problem('monday')));
  assert.equal(rows('SELECT verification_error FROM deployment'), [{ verification_error: '' }]);
  assert.match((await run(['doctor'])).stdout, /^no problems\n/);
  rmSync(path(`data/backups/${name}`));
  assert.equal(await run(['backups', 'verify', name]), failed(problem(name)));
  assert.equal(rows('SELECT verification_error FROM deployment'), [{ verification_error: problem(name) }]);
});

/** Verify on a machine that has the identity but not the data. */
const verifyElsewhere = (...words: readonly string[]): Promise<Ended> =>
  run(['backups', 'verify', ...words, '--data', 'none'], [...encrypted(), ...withIdentity]);
const nowKeepingOneDay = (): Promise<Ended> => run(['backups', 'now'], [...encrypted(), '--backup-keep', '1d']);

test('imports a verification by a machine without the data, and never removes that backup as the last verified one', async () => {
  const name = namePattern.exec((await run(['backups', 'now'], encrypted())).stdout)?.[0] as string;
  assert.match((await verifyElsewhere()).stdout, /is verified: it was restored and has no problems/);
  await nextSecond();
  const second = namePattern.exec((await nowKeepingOneDay()).stdout)?.[0] as string;
  await nextSecond();
  const third = namePattern.exec((await nowKeepingOneDay()).stdout)?.[0] as string;
  assert.equal(
    [...store.objects.keys()].sort(),
    [`prod/${name}`, `prod/${name}.verification`, `prod/${third}`].sort(),
    'the second one was removed',
  );
  assert.equal(rows('SELECT name, verified IS NOT NULL AS is_verified FROM backup ORDER BY id'), [
    { name, is_verified: 1 },
    { name: third, is_verified: 0 },
  ]);
  assert.equal(recorded(), [
    ['backup.made', name],
    ['backup.made', second],
    ['backup.verified', name],
    ['backup.made', third],
    ['backup.removed', second],
  ]);
  await verifyElsewhere();
  await nextSecond();
  await nowKeepingOneDay();
  assert.not(
    [...store.objects.keys()].some((key) => key.includes(name)),
    'the record goes with its backup',
  );
});

test('knows after the loss of a machine which backups were verified', async () => {
  const name = namePattern.exec((await run(['backups', 'now'], encrypted())).stdout)?.[0] as string;
  assert.is((await run(['backups', 'verify'], [...encrypted(), ...withIdentity])).code, 0);
  const source = ['restore', 's3://backups/prod', '--identity', 'identity', '--data', 'machine'];
  assert.is((await run(source, ['--backup-s3-endpoint', store.url])).code, 0);
  await nextSecond();
  const settings = [...encrypted(), '--backup-keep', '1d', '--data', 'machine'];
  for (let i = 0; i < 2; i++) {
    assert.is((await run(['backups', 'now'], settings)).code, 0);
    await nextSecond();
  }
  assert.match((await run(['backups', 'list'], settings)).stdout, new RegExp(`${name}  verified \\S+Z\n$`));
});

test('ignores the record of a verification that its writer could not make, or that is of other content', async () => {
  const name = namePattern.exec((await run(['backups', 'now'], encrypted())).stdout)?.[0] as string;
  await verifyElsewhere();
  const key = `prod/${name}.verification`;
  const record = JSON.parse(String(store.objects.get(key)));
  const isImported = async (changes: object): Promise<boolean> => {
    store.objects.set(key, Buffer.from(JSON.stringify({ ...record, ...changes })));
    await run(['backups', 'verify'], encrypted());
    return (rows('SELECT 1 FROM backup WHERE verified IS NOT NULL') as unknown[]).length > 0;
  };
  const sha256 = '0'.repeat(64);
  for (const changes of [{ hmac: '' }, { hmac: sha256 }, { sha256 }, { size: 1 }, { at: record.at + 1 }, { at: 'now' }])
    assert.is(await isImported(changes), false, JSON.stringify(changes));
  assert.is(await isImported({}), true);
});

test('removes nothing after a failed verification on another machine, until the newest backup is verified', async () => {
  const name = namePattern.exec((await run(['backups', 'now'], encrypted())).stdout)?.[0] as string;
  const content = store.objects.get(`prod/${name}`) as Buffer;
  store.objects.set(`prod/${name}`, Buffer.alloc(content.length));
  assert.is((await verifyElsewhere()).code, 1);
  const error = (): string =>
    (rows('SELECT verification_error AS text FROM deployment') as { text: string }[])[0]?.text ?? '';
  await nextSecond();
  await nowKeepingOneDay();
  assert.match(error(), new RegExp(`^on another machine: ${name}, \\S+Z: `));
  assert.match((await run(['doctor'])).stdout, /^the last verification of a backup failed: on another machine: /);
  assert.is((rows('SELECT 1 FROM backup') as unknown[]).length, 2);
  // Without the identity, the server only compares.
  await run(['backups', 'verify'], encrypted());
  assert.not.equal(error(), '');
  store.objects.set(`prod/${name}`, content);
  await run(['backups', 'verify', name], [...encrypted(), ...withIdentity]);
  assert.not.equal(error(), '', 'an older backup proves nothing about the newest one');
  await verifyElsewhere();
  await nextSecond();
  await nowKeepingOneDay();
  assert.is(error(), '');
  assert.not((rows('SELECT name FROM backup') as { name: string }[]).some((row) => row.name === name));
});

test('reports that the record of a verification cannot be written', async () => {
  await run(['backups', 'now'], encrypted());
  store.fault = (what) => (what === 'PUT object' ? 403 : undefined);
  const { code, stderr, stdout } = await verifyElsewhere();
  assert.is(code, 1);
  assert.match(stdout, /is verified: /);
  assert.match(stderr, /^tenantry: failed to record the verification of tenantry-\S+: cannot write a verification in /);
});

test('a killed backup leaves nothing that is listed, and the next one removes its remains', async () => {
  store.fault = (what) => (what === 'POST complete' ? 'cut' : undefined);
  const child = program.start(['backups', 'now', ...encrypted()], { env: store.environment });
  await eventually('an upload has begun', () => store.uploads.size > 0);
  child.kill('SIGKILL');
  await once(child, 'close');
  store.fault = () => undefined;
  const none = { code: 0, stdout: '', stderr: 'tenantry: nothing found\n' };
  assert.equal(await run(['backups', 'list'], encrypted()), none);
  assert.is(store.uploads.size, 1);
  for (const [id, upload] of store.uploads) {
    const began = '2026-01-01T00:00:00.000Z';
    store.uploads.set(id, { ...upload, began });
    store.uploads.set('other', { ...upload, began, key: upload.key.replace(/-[0-9a-f]{8}\./, '-00000000.') });
  }
  assert.is((await run(['backups', 'now'], encrypted())).code, 0);
  assert.equal([[...store.uploads.keys()], store.objects.size], [['other'], 1], 'only its own upload is aborted');
  // Files that it left in the data folder are also removed a day later: another backup may still be running.
  const [left, ...more] = readdirSync(path('data')).filter((name) => name.startsWith('backup-'));
  assert.equal([left !== undefined, more], [true, []]);
  const old = new Date(Date.now() - 25 * 3_600_000);
  utimesSync(path(`data/${left}`), old, old);
  const [{ installation }] = rows('SELECT installation FROM deployment') as [{ installation: string }];
  const draftOf = (id: string): string => `.partial-tenantry-20260101T030000Z-${id}.db.gz`;
  const [ours, others, young] = [draftOf(installation), draftOf('00000000'), `.partial-${installation}-young`];
  for (const name of [ours, others, young]) writeFileSync(path(name), '');
  for (const name of [ours, others]) utimesSync(path(name), old, old);
  await nextSecond();
  assert.is((await run(['backups', 'now'], encrypted())).code, 0);
  assert.equal(
    readdirSync(path('data')).filter((name) => name.startsWith('backup-')),
    [],
  );
  assert.is((await run(['backups', 'now'], ['--backup-target', '.'])).code, 0);
  assert.equal(
    readdirSync(program.folder)
      .filter((name) => name.startsWith('.partial-'))
      .sort(),
    [others, young].sort(),
  );
});

test.run();
