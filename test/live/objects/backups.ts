import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import SQLite from 'better-sqlite3';
import * as assert from 'uvu/assert';
import { FaultyProxy, type ProxyFault } from '../../support/faulty-proxy.ts';
import { type Ended, nativeCache, Program } from '../../support/program.ts';
import { goInstalled } from '../packages.ts';
import { print } from '../python.ts';
import type { Steps } from '../steps.ts';
import { Bucket, type Store } from './bucket.ts';

/** Rows of 400 random bytes, so that a backup has several parts. */
const rows = 45_000;
const prefix = 'prod';
const ageVersion = 'v1.3.2';
/** Rate of the slow upload in bytes per second. */
const slowRate = 4_000_000;
/** Maximum memory of an upload in megabytes. */
const maxMegabytes = 400;

const faults = {
  full: { status: 507, body: '<Error><Code>QuotaExceeded</Code><Message>The bucket is full</Message></Error>' },
  expired: { status: 403, body: '<Error><Code>ExpiredToken</Code><Message>The token has expired</Message></Error>' },
} as const;

/** The kind of a request to the store: `start`, `part 1`, `complete`, `abort`, `uploads`, `list`, or the method. */
function kindOf(method: string, target: string): string {
  const query = new URL(target, 'http://store').searchParams;
  if (query.has('uploads')) return method === 'POST' ? 'start' : 'uploads';
  if (query.has('partNumber')) return `part ${query.get('partNumber')}`;
  if (query.has('uploadId')) return method === 'POST' ? 'complete' : 'abort';
  return query.has('list-type') ? 'list' : method;
}

/** Backups of one server to one store, through a proxy that fails on request. */
export class Backups {
  readonly #bucket: Bucket;
  /** The kinds of requests of a backup that uploads data. */
  #uploading: string[] = [];

  private constructor(
    private readonly store: Store,
    private readonly proxy: FaultyProxy,
    private readonly program: Program,
  ) {
    this.#bucket = new Bucket(store, 'backups');
  }

  /** Fills a data folder, and creates the bucket. */
  static async prepare(store: Store): Promise<Backups> {
    const program = new Program(nativeCache);
    const backups = new Backups(store, await FaultyProxy.start(store.url), program);
    const identity = await generateX25519Identity();
    writeFileSync(join(program.folder, 'identity'), `${identity}\n`);
    writeFileSync(join(program.folder, 'recipients'), `${await identityToRecipient(identity)}\n`);
    assert.is((await program.run(['user', 'add', 'alice', '--staff', '--data', 'data'])).code, 0);
    const db = new SQLite(join(program.folder, 'data/tenantry.db'));
    // Housekeeping skips recent ones.
    db.exec(`INSERT INTO address_failure (address, at)
      WITH n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
      SELECT hex(randomblob(200)), unixepoch() * 1000000 FROM n`);
    db.close();
    await backups.#bucket.create();
    return backups;
  }

  async end(): Promise<void> {
    await this.program.end();
    await this.proxy.close();
  }

  async run(steps: Steps): Promise<void> {
    const step = <T>(name: string, work: () => Promise<T>): Promise<T> =>
      steps.step(`${this.store.name}: ${name}`, work);
    const name = await step('a backup is uploaded in parts, listed and fetched', () => this.#first());
    await step('it is verified', () => this.#verify(name));
    await step('the public program age decrypts it', () => this.#decrypt(name));
    await step('two commands on an empty machine serve it', () => this.#recover());
    for (const kind of this.#uploading)
      for (const cut of ['request', 'response'] as const)
        await step(`the connection of ${kind} is cut before the ${cut}`, () => this.#survive(kind, { cut }));
    for (const [what, fault] of Object.entries(faults))
      await step(`${what} (${fault.status}): the backup fails with the reason, and leaves nothing`, () =>
        this.#fail(fault),
      );
    await step('the store is unreachable', () => this.#unreachable());
    if (this.store.verifiesSignatures) await step('a wrong secret', () => this.#wrongSecret());
    await step('a slow upload, in constant memory', () => this.#slow());
    for (const kind of this.#uploading) await step(`killed at ${kind}`, () => this.#kill(kind));
    await step('the retention removes old backups, and not the newest verified one', () => this.#retain());
    if (this.store.name === 'moto') await step('uploads older than a day are aborted', () => this.#abortOld());
  }

  #options(identity = false): string[] {
    return [
      ...['--backup-target', `s3://${this.#bucket.name}/${prefix}`, '--backup-s3-endpoint', this.proxy.url],
      ...['--backup-recipients-file', 'recipients', ...(identity ? ['--backup-identity-file', 'identity'] : [])],
    ];
  }

  #command(words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
    return this.program.run(words, { env: { ...this.store.environment, ...env } });
  }

  /** Creates a backup. Names of backups contain seconds. */
  async #now(...words: readonly string[]): Promise<Ended> {
    await pause(1000 - (Date.now() % 1000));
    return this.#command(['backups', 'now', ...this.#options(), ...words]);
  }

  async #listed(): Promise<{ readonly name: string; readonly size: number }[]> {
    const ended = await this.#command(['backups', 'list', '--json', ...this.#options()]);
    assert.equal([ended.code, ended.stderr], [0, '']);
    return JSON.parse(ended.stdout);
  }

  async #first(): Promise<string> {
    const seen: string[] = [];
    this.proxy.fault = (method, target) => void seen.push(kindOf(method, target));
    const made = await this.#now();
    this.proxy.fault = () => undefined;
    assert.equal([made.code, made.stderr], [0, ''], made.stderr);
    this.#uploading = seen.filter((kind) => /^(start|part|complete)/.test(kind));
    const [{ name, size } = { name: '', size: 0 }, ...others] = await this.#listed();
    assert.equal(others, []);
    const stored = await this.#bucket.get(`${prefix}/${name}`);
    assert.is(stored.length, size);
    assert.ok(this.#uploading.length >= 4, this.#uploading.join());
    assert.is((await this.#command(['backups', 'fetch', name, 'fetched', ...this.#options()])).code, 0);
    const digest = (content: Buffer): string => createHash('sha256').update(content).digest('hex');
    assert.is(digest(readFileSync(join(this.program.folder, 'fetched'))), digest(stored));
    print({ 'size in bytes': size, requests: this.#uploading.join(', ') });
    return name;
  }

  async #verify(name: string): Promise<void> {
    const { code, stderr, stdout } = await this.#command(['backups', 'verify', name, ...this.#options(true)]);
    assert.equal([code, stderr, stdout], [0, '', `Backup ${name} is verified: it was restored and has no problems.\n`]);
  }

  async #decrypt(name: string): Promise<void> {
    const { folder } = this.program;
    const age = await goInstalled('filippo.io/age/cmd/age', ageVersion);
    writeFileSync(join(folder, 'sealed.age'), await this.#bucket.get(`${prefix}/${name}`));
    await promisify(execFile)(age, ['-d', '-i', 'identity', '-o', 'plain.backup', 'sealed.age'], { cwd: folder });
    const { code, stderr } = await this.#command(['restore', 'plain.backup', '--data', 'decrypted']);
    assert.is(code, 0, stderr);
  }

  /** Restores and serves the newest backup, and prints how long both commands take. */
  async #recover(): Promise<void> {
    const begun = performance.now();
    const words = ['restore', `s3://${this.#bucket.name}/${prefix}`, '--identity', 'identity', '--data', 'machine'];
    const restored = await this.#command([...words, '--backup-s3-endpoint', this.proxy.url]);
    assert.is(restored.code, 0, restored.stderr);
    const isRestored = performance.now();
    const server = await this.program.serve(['--data', 'machine']);
    assert.is((await fetch(`${server.url}/api/version/`)).status, 200);
    const isServing = performance.now();
    await server.stop();
    print({
      'seconds of restore': ((isRestored - begun) / 1000).toFixed(1),
      'seconds of serve, to the first response': ((isServing - isRestored) / 1000).toFixed(1),
    });
  }

  /** Injects one fault into one kind of request. The backup still succeeds, once. */
  async #survive(kind: string, fault: ProxyFault): Promise<void> {
    const before = await this.#listed();
    let count = 0;
    this.proxy.fault = (method, target) => (kindOf(method, target) === kind && count++ === 0 ? fault : undefined);
    const made = await this.#now();
    this.proxy.fault = () => undefined;
    assert.is(made.code, 0, made.stderr);
    const after = await this.#listed();
    // The retention removes the others of the same day, except the newest verified one.
    assert.ok(count > 0 && after.length <= 2 && after[0]?.name !== before[0]?.name, JSON.stringify({ before, after }));
    await this.#verify(after[0]?.name ?? '');
    // The response to the start of an upload was lost. Only the store knows the upload, and aborts it a day later.
    assert.ok((await this.#bucket.uploads()) <= 1);
  }

  /** The store rejects the second part. */
  async #fail(fault: { readonly status: number; readonly body: string }): Promise<void> {
    const [code = ''] = /(?<=<Code>)\w+/.exec(fault.body) ?? [];
    await this.#failing(
      new RegExp(`cannot upload a part in s3://\\S+: .* responds with ${fault.status} ${code}`),
      (kind) => (kind === 'part 2' ? { answer: fault } : undefined),
    );
  }

  #unreachable(): Promise<void> {
    return this.#failing(/^tenantry: cannot (list the uploads|start an upload) at /, () => ({ cut: 'request' }));
  }

  async #failing(reason: RegExp, fault: (kind: string) => ProxyFault | undefined): Promise<void> {
    const [before, uploads, failures] = [await this.#bucket.keys(), await this.#bucket.uploads(), this.#failures()];
    this.proxy.fault = (method, target) => fault(kindOf(method, target));
    const { code, stderr } = await this.#now();
    this.proxy.fault = () => undefined;
    assert.is(code, 1);
    assert.match(stderr, reason);
    assert.equal([await this.#bucket.keys(), await this.#bucket.uploads()], [before, uploads]);
    assert.is(this.#failures(), failures + 1, 'staff are notified');
    const left = readdirSync(join(this.program.folder, 'data')).filter((name) => name.startsWith('backup-'));
    assert.equal(left, []);
  }

  /** Counts the notifications of failed backups. */
  #failures(): number {
    const db = new SQLite(join(this.program.folder, 'data/tenantry.db'), { readonly: true });
    try {
      return Number(db.prepare("SELECT count(*) FROM notification WHERE kind = 'backup_failed'").pluck().get());
    } finally {
      db.close();
    }
  }

  async #wrongSecret(): Promise<void> {
    const words = ['backups', 'now', ...this.#options()];
    const { code, stderr } = await this.#command(words, { AWS_SECRET_ACCESS_KEY: 'wrong' });
    assert.is(code, 1);
    assert.match(stderr, /responds with 403 SignatureDoesNotMatch/);
  }

  async #slow(): Promise<void> {
    this.proxy.fault = (method, target) =>
      kindOf(method, target).startsWith('part') ? { bytesPerSecond: slowRate } : undefined;
    await pause(1000 - (Date.now() % 1000));
    const begun = performance.now();
    const child = this.program.start(['backups', 'now', '--quiet', ...this.#options()], {
      env: this.store.environment,
    });
    let kilobytes = 0;
    const timer = setInterval(() => {
      kilobytes = Math.max(kilobytes, peakOf(child.pid));
    }, 100);
    const [code] = await once(child, 'close');
    clearInterval(timer);
    this.proxy.fault = () => undefined;
    assert.is(code, 0);
    print({
      seconds: ((performance.now() - begun) / 1000).toFixed(1),
      'peak memory in MB': Math.round(kilobytes / 1000),
    });
    assert.ok(kilobytes / 1000 < maxMegabytes);
  }

  /** Kills a backup when a request has begun. */
  async #kill(kind: string): Promise<void> {
    const before = await this.#listed();
    let begin: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    this.proxy.fault = (method, target) => {
      if (kindOf(method, target) !== kind) return undefined;
      begin();
      return { delayMs: 300 };
    };
    await pause(1000 - (Date.now() % 1000));
    const child = this.program.start(['backups', 'now', '--quiet', ...this.#options()], {
      env: this.store.environment,
    });
    const closed = once(child, 'close');
    await begun;
    child.kill('SIGKILL');
    await closed;
    await pause(600);
    this.proxy.fault = () => undefined;
    const after = await this.#listed();
    for (const { name } of after.filter((one) => !before.some((other) => other.name === one.name)))
      await this.#verify(name);
  }

  async #retain(): Promise<void> {
    const [newest] = await this.#listed();
    await this.#verify(newest?.name ?? '');
    const installation = newest?.name.split('-')[2]?.slice(0, 8) ?? '';
    const old = (id: string, day: string): string => `${prefix}/tenantry-202601${day}T030000Z-${id}.db.gz.age`;
    for (const day of ['01', '02', '03']) await this.#bucket.put(old(installation, day), 'old');
    await this.#bucket.put(old('00000000', '01'), 'of another installation');
    await this.#bucket.put(`${prefix}/other.txt`, 'other');
    assert.is((await this.#now('--backup-keep', '1d')).code, 0);
    const [made] = await this.#listed();
    assert.equal(
      await this.#bucket.keys(),
      [
        ...[old('00000000', '01'), `${prefix}/other.txt`, `${prefix}/${made?.name}`],
        ...[newest?.name, `${newest?.name}.verification`].map((name) => `${prefix}/${name}`),
      ].sort(),
    );
  }

  /** For moto, all uploads started in 2010. */
  async #abortOld(): Promise<void> {
    await this.#kill('part 2');
    assert.is(await this.#bucket.uploads(), 1);
    assert.equal([(await this.#now()).code, await this.#bucket.uploads()], [0, 0]);
  }
}

/** Returns the peak memory of a process in kilobytes; 0 if it has ended. */
function peakOf(pid: number | undefined): number {
  try {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    return 0;
  }
}
