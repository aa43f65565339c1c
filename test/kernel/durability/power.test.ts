/**
 * Guarantees when the disk fails or is full, and when the power fails: short forms of `npm run chaos`. `npm test` builds the
 * program first.
 */
import { once } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { canFail, FaultyDisk } from '../../chaos/faulty-disk.ts';
import { lostPower, recordEnds, recordsOf } from '../../chaos/lost-power.ts';
import { cutPowerOfServers, post, serveOn, survivors, unlessEnded } from '../../chaos/power.ts';
import { builtProgram, nativeCache, Program } from '../../support/program.ts';
import { Receiver } from '../../support/receiver.ts';

const test = suite('disk and power');
const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));
// Without a C compiler the runner shows that it was skipped.
const onFaultyDisk = canFail ? test : test.skip;

onFaultyDisk(
  'no cut of the power loses an acknowledged write, whatever sectors are torn and whichever syncs failed before',
  async () => {
    const seen = { writes: 0, rejected: 0, windows: 0 };
    const isEnough = (): boolean => seen.writes > 20 && seen.rejected > 0 && seen.windows > 2;
    // A busy machine writes only a little in five seconds.
    for (let round = 0; round < 5 && !isEnough(); round++) {
      const { damaged, losses, rejected, windows, writes } = await cutPowerOfServers(50, 5000, [builtProgram]);
      assert.equal({ damaged, losses }, { damaged: 0, losses: 0 });
      seen.writes += writes;
      seen.rejected += rejected;
      seen.windows += windows;
    }
    assert.ok(isEnough(), JSON.stringify(seen));
  },
);

onFaultyDisk(
  'pages that were moved without a sync, and lost by one that failed later, are moved again by the next server',
  async () => {
    const disk = new FaultyDisk();
    let server = await serveOn(disk, [builtProgram]);
    const { token } = server;
    let reader: SQLite.Database | undefined;
    try {
      const written: string[] = [];
      const isWritten = async (): Promise<boolean> => {
        const response = await unlessEnded(post(server.url, token, '/api/customers/', { name: 'Customer' }));
        if (response?.status !== 201) return false;
        written.push(String(response.body.uuid));
        return true;
      };
      const file = join(disk.folder, 'tenantry.db');
      /** What the thread did to the file: moved pages, or failed syncs. */
      const done = (operation: 'W' | 'S', hasFailed = false): number =>
        [...recordsOf(disk.trace)].filter(
          (r) => r.path === file && r.operation === operation && r.hasFailed === hasFailed,
        ).length;
      const writeUntil = async (isOver: () => boolean): Promise<void> => {
        for (let i = 0; i < 300 && !isOver(); i++) await Promise.all([1, 2, 3, 4].map(isWritten));
        assert.ok(isOver());
      };
      // A reader of an older state prevents the thread from moving all pages. It does not sync a partial move.
      reader = new SQLite(file, { readonly: true });
      await writeUntil(() => written.length >= 100);
      reader.exec('BEGIN');
      reader.prepare('SELECT count(*) FROM customer').get();
      const [moved, synced] = [done('W'), done('S')];
      await writeUntil(() => done('W') > moved);
      assert.is(done('S'), synced);
      // The reader stays open and keeps the index of the log through the restart.
      reader.exec('COMMIT');
      const ended = once(server.child, 'close');
      disk.set('file', true);
      await writeUntil(() => done('S', true) > 0);
      assert.equal(await ended, [1, null]);
      assert.match(server.errors(), /the server stops: check the disk/);
      disk.set('file', false);
      const restarted = disk.position;
      server = await serveOn(disk, [builtProgram]);
      // The first page of the log is overwritten when all pages have been moved.
      const log = `${file}-wal`;
      const hasBegunAgain = (): boolean => {
        const syncedFile = recordEnds(disk.trace).find(
          ({ at, operation, path }) => at > restarted && operation === 'S' && path === file,
        );
        return recordEnds(disk.trace).some(
          ({ at, offset, operation, path }) =>
            at > (syncedFile?.at ?? Number.POSITIVE_INFINITY) && operation === 'W' && path === log && offset === 0,
        );
      };
      await writeUntil(hasBegunAgain);
      server.child.kill('SIGKILL');
      await once(server.child, 'close');
      const folder = join(disk.folder, '../after');
      for (const _ of lostPower(disk.trace, [disk.position], folder)) {
        const present = survivors(join(folder, 'tenantry.db'));
        assert.equal(
          written.filter((uuid) => !present?.has(uuid)),
          [],
        );
      }
    } finally {
      reader?.close();
      server.child.kill('SIGKILL');
      disk.remove();
    }
  },
);

onFaultyDisk(
  'on a full disk writes are 507, every read gets a response, hooks get nothing twice, and all continues with room',
  async () => {
    const disk = new FaultyDisk();
    const receiver = await Receiver.start();
    const { child, errors, token, url } = await serveOn(
      disk,
      [builtProgram],
      ['--hooks-allowed-networks', '127.0.0.0/8'],
    );
    try {
      const write = (): ReturnType<typeof post> => post(url, token, '/api/customers/', { name: 'Customer' });
      const read = async (): Promise<number> =>
        (await fetch(`${url}/api/customers/`, { headers: { Authorization: `Token ${token}` } })).status;
      const hook = { destination_url: receiver.url, event_types: ['customer_creation_succeeded'] };
      assert.is((await post(url, token, '/api/hooks-web/', hook)).status, 201);
      assert.is((await write()).status, 201);
      disk.set('space', true);
      let [stored, rejection] = [1, 0];
      // The log may have space left at first.
      for (let i = 0; i < 200 && rejection < 20; i++) {
        const [written, ...reads] = await Promise.all([write(), read(), read(), read(), read()]);
        if (written.status === 201) stored++;
        else {
          rejection++;
          assert.equal([written.status, written.body], [507, { detail: 'Out of storage.' }]);
        }
        assert.equal(reads, [200, 200, 200, 200]);
      }
      assert.is(rejection, 20);
      await pause(2500);
      const ids = receiver.requests.map(({ headers }) => headers['webhook-id']);
      assert.is(new Set(ids).size, ids.length, 'what cannot be written down is not sent again');
      disk.set('space', false);
      assert.is((await write()).status, 201);
      for (let i = 0; i < 50 && receiver.requests.length < stored + 1; i++) await pause(100);
      assert.is(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size, stored + 1);
      assert.is(receiver.requests.length, stored + 1);
      const lines = errors()
        .split('\n')
        .filter((line) => line.includes('nothing can be stored'));
      assert.is(lines.length, 1, 'the log tells it once a minute');
      assert.match(lines[0] ?? '', /"free_bytes":\d+,"needed_bytes":100000000/);
    } finally {
      child.kill('SIGKILL');
      await once(child, 'close');
      await receiver.close();
      disk.remove();
    }
  },
);

onFaultyDisk('a first start syncs the names of new files before anything depends on them', async () => {
  const disk = new FaultyDisk();
  const { child } = await serveOn(disk, [builtProgram], [], join(disk.folder, 'new/data'));
  child.kill('SIGKILL');
  await once(child, 'close');
  const records = [...recordsOf(disk.trace)];
  const named = (path: string): number =>
    records.findIndex(
      ({ data, operation, path: of }) =>
        (operation === 'L' && data.toString() === path) || (operation === 'T' && of === path),
    );
  const synced = (path: string, from: number): number =>
    records.findIndex(({ operation, path: of }, i) => i >= from && operation === 'S' && of === path);
  const folder = join(disk.folder, 'new/data');
  const log = `${folder}/tenantry.db-wal`;
  const uses = (text: string): number =>
    records.findIndex(({ data, operation, path }) => operation === 'W' && path === log && data.includes(text));
  const placed = [
    // The first value encrypted with the key, and the user whose password it is.
    [
      'secret.key',
      records.findIndex(
        ({ data, operation, path }, i) =>
          i > named(join(folder, 'secret.key')) && operation === 'W' && path === log && data.length > 100,
      ),
    ],
    ['initial-password', uses('$argon2id$')],
  ] as const;
  for (const [name, use] of placed) {
    const at = named(join(folder, name));
    assert.ok(at >= 0 && use > at, `${name} is made, and used later`);
    const onDisk = synced(folder, at);
    assert.ok(onDisk > at && onDisk < use, `the folder is synced between ${at} and ${use}: ${onDisk}`);
  }
  const draft = records.find(
    ({ operation, data }) => operation === 'L' && data.toString().endsWith('/secret.key'),
  )?.path;
  assert.ok(synced(draft ?? '', 0) < named(join(folder, 'secret.key')), 'the content is on disk before the name is');
  assert.ok(synced(join(folder, 'initial-password'), named(join(folder, 'initial-password'))) < uses('$argon2id$'));
  for (const above of [disk.folder, join(disk.folder, 'new')])
    assert.ok(synced(above, 0) >= 0 && synced(above, 0) < named(join(folder, 'secret.key')), above);
  disk.remove();
});

onFaultyDisk('while the disk keeps failing, the process reports why, exits with 1, and does not start', async () => {
  const disk = new FaultyDisk();
  const { child, errors, token, url } = await serveOn(disk, [builtProgram]);
  try {
    disk.set('sync', true);
    const response = await unlessEnded(post(url, token, '/api/customers/', { name: 'Customer' }));
    assert.is(response?.status ?? 500, 500);
    assert.is(child.exitCode ?? (await once(child, 'close'))[0], 1);
    assert.match(errors(), /the server stops: check the disk/);
    const start = await serveOn(disk, [builtProgram]).catch((error: Error) => error.message);
    assert.match(String(start), /^The server does not start: tenantry: [^\n]*(EIO|i\/o error)[^\n]*\n$/i);
  } finally {
    child.kill('SIGKILL');
    disk.remove();
  }
});

onFaultyDisk('a server that cannot save its last changes at shutdown reports this and exits with 1', async () => {
  const disk = new FaultyDisk();
  const { child, errors, token, url } = await serveOn(disk, [builtProgram]);
  // The use of a token is saved with a delay, at the latest when the server stops.
  await fetch(`${url}/api/customers/`, { headers: { Authorization: `Token ${token}` } });
  disk.set('write', true);
  child.kill('SIGTERM');
  const [code] = await once(child, 'close');
  disk.remove();
  assert.is(code, 1);
  assert.match(errors(), /\ntenantry: failed to save pending work: the disk fails/);
});

onFaultyDisk('a backup or a restored database whose name cannot be synced does not exist', async () => {
  const disk = new FaultyDisk();
  const program = new Program(nativeCache);
  const data = join(disk.folder, 'data');
  const run = (...words: string[]): ReturnType<Program['run']> => program.run(words, { env: disk.environment });
  assert.is((await run('user', 'add', 'bob', '--data', data)).code, 0);
  const backup = ['backup', join(disk.folder, 'backup'), '--data', data];
  const restore = ['restore', join(disk.folder, 'backup'), '--data', join(disk.folder, 'restored')];
  for (const [words, file] of [
    [backup, 'backup'],
    [restore, 'restored/tenantry.db'],
  ] as const) {
    // The folder of the restored data exists, so its name does not fail.
    mkdirSync(join(disk.folder, 'restored'), { recursive: true });
    disk.set('folder', true);
    const { code, stderr } = await run(...words);
    disk.set('folder', false);
    assert.is(code, 1);
    assert.match(stderr, /^tenantry: [^\n]*(EIO|i\/o error)[^\n]*\n$/);
    assert.not(existsSync(join(disk.folder, file)));
    assert.is((await run(...words)).code, 0);
  }
  await program.end();
  disk.remove();
});

test.run();
