/** Signed heads of the audit trail (audit.md 5): the newest record at an instant, signed with the key of the data folder. */
import { createHash, createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { App } from '../../kernel/app.ts';
import { hour } from '../../kernel/clock.ts';
import { sql } from '../../kernel/db/sql.ts';
import { place } from '../../kernel/files.ts';
import type { Task } from '../../kernel/jobs/timer.ts';
import { errorOf } from '../../kernel/present.ts';
import type { Secrets } from '../../kernel/security/secrets.ts';
import { auditTime, canonicalJson } from './append.ts';
import { appendHead, type Head, type HeadStatement, readHeadsLog } from './heads-log.ts';

declare module '../../kernel/app.ts' {
  interface App {
    readonly auditHeads: AuditHeads;
  }
}

/** DER encodings of Ed25519 keys, up to their 32 bytes: PKCS #8 and SubjectPublicKeyInfo (RFC 8410). */
const privatePrefix = Buffer.from('302e020100300506032b657004220420', 'hex');
const publicPrefix = Buffer.from('302a300506032b6570032100', 'hex');

/** The purpose of the sealed key, and its file name in the data folder. */
const keyName = 'audit.key';

const auditKeyFile = (folder: string): string => join(folder, keyName);

/** Returns the id of a public key: the first 32 hexadecimal digits of its SHA-256. */
export const keyIdOf = (publicKey: string): string =>
  createHash('sha256').update(Buffer.from(publicKey, 'base64')).digest('hex').slice(0, 32);

/** A private key that signs heads. */
class AuditKey {
  readonly id: string;
  /** 32 bytes in base64. */
  readonly publicKey: string;
  readonly #key: ReturnType<typeof createPrivateKey>;

  constructor(readonly seed: Buffer) {
    this.#key = createPrivateKey({ key: Buffer.concat([privatePrefix, seed]), format: 'der', type: 'pkcs8' });
    const encoded = createPublicKey(this.#key).export({ format: 'der', type: 'spki' });
    this.publicKey = encoded.subarray(publicPrefix.length).toString('base64');
    this.id = keyIdOf(this.publicKey);
  }

  sign(text: string): string {
    return sign(null, Buffer.from(text), this.#key).toString('base64');
  }
}

/** The signing key of a deployment, and the last record that it signed. */
export class AuditHeads {
  /** Called with each logged head, once it is on disk. */
  readonly listeners = new Set<(head: Head) => void>();
  #key: AuditKey | undefined;
  #signed: string | undefined;

  /** `folder` is undefined for data in memory, which has a key but no log. */
  constructor(
    readonly folder: string | undefined,
    private readonly secrets: Secrets,
    private readonly random: (bytes: number) => Buffer,
  ) {}

  /** The signing key, created on first use. Throws a readable error if the encryption keys cannot decrypt it. */
  get key(): AuditKey {
    this.#key ??= this.#open();
    return this.#key;
  }

  /** Whether the newest head signs the record `<chain>:<sequence>`. */
  isSigned(record: string): boolean {
    if (this.#signed === undefined && this.folder !== undefined) {
      const last = readHeadsLog(this.folder).heads.at(-1);
      this.#signed = last ? `${last.chain}:${last.sequence}` : '';
    }
    return this.#signed === record;
  }

  /** Appends a head to the log. Returns when it is on disk. */
  append(head: Head): void {
    if (this.folder !== undefined) appendHead(this.folder, head);
    this.#signed = `${head.chain}:${head.sequence}`;
    for (const listener of this.listeners) listener(head);
  }

  /** Replaces the key by a new one, sealed with `secrets`. First, `handOver` signs the old key's last head with the new id. */
  replace(secrets: Secrets, handOver: (nextKey: string) => void): void {
    const key = new AuditKey(this.random(32));
    const file = this.folder === undefined ? undefined : auditKeyFile(this.folder);
    const draft = file === undefined ? undefined : `${file}.new`;
    if (draft !== undefined) writeKey(draft, key, secrets);
    handOver(key.id);
    if (draft !== undefined && file !== undefined) place(draft, file);
    this.#key = key;
  }

  #open(): AuditKey {
    if (this.folder === undefined) return new AuditKey(this.random(32));
    const file = auditKeyFile(this.folder);
    if (existsSync(file)) return readKey(file, this.secrets);
    const key = new AuditKey(this.random(32));
    const draft = `${file}.new`;
    writeKey(draft, key, this.secrets);
    place(draft, file);
    return key;
  }
}

function writeKey(file: string, { seed }: AuditKey, secrets: Secrets): void {
  const sealed = secrets.seal(seed.toString('base64'), keyName).toString('base64');
  rmSync(file, { force: true });
  writeFileSync(file, `${sealed}\n`, { mode: 0o600, flag: 'wx', flush: true });
}

function readKey(file: string, secrets: Secrets): AuditKey {
  try {
    return new AuditKey(
      Buffer.from(secrets.open(Buffer.from(readFileSync(file, 'utf8'), 'base64'), keyName), 'base64'),
    );
  } catch (error) {
    const advice = 'move it away to sign the audit trail with a new key';
    throw new Error(`${file} cannot be opened with the encryption keys: ${advice}`, { cause: error });
  }
}

/** Signs a statement about a record. The record must be on disk. */
export function signHead({ auditHeads: { key } }: Pick<App, 'auditHeads'>, statement: HeadStatement): Head {
  const unsigned = { ...statement, key: key.id };
  return { ...unsigned, signature: key.sign(canonicalJson(unsigned)) };
}

/** Verifies the signature of a head with a public key (32 bytes in base64). */
export function isSignedBy({ signature, ...unsigned }: Head, publicKey: string): boolean {
  const bytes = Buffer.from(publicKey, 'base64');
  if (bytes.length !== 32) return false;
  const key = createPublicKey({ key: Buffer.concat([publicPrefix, bytes]), format: 'der', type: 'spki' });
  return verify(null, Buffer.from(canonicalJson(unsigned)), key, Buffer.from(signature, 'base64'));
}

/** Returns the newest record on disk; undefined if there are none. Commits pending changes. */
export function newestStored({ db }: Pick<App, 'db'>): Pick<Head, 'chain' | 'sequence' | 'hash'> | undefined {
  db.store();
  return db.get(sql`
    SELECT c.uuid AS chain, r.sequence, r.hash FROM audit_record r JOIN audit_chain c ON c.id = r.chain_id
    ORDER BY r.id DESC LIMIT 1`);
}

/** Signs the newest record, unless the last head did, and appends the head to the log. Must not run inside a write. */
function signNewest(app: App): void {
  const { auditHeads, clock, log } = app;
  const newest = newestStored(app);
  if (!newest || auditHeads.isSigned(`${newest.chain}:${newest.sequence}`)) return;
  const head = signHead(app, { ...newest, at: auditTime(clock.now()) });
  auditHeads.append(head);
  log.info({ head }, 'signed the head of the audit trail');
}

/** Signs a head when the server stops. Only logs a failure. */
export function signAtShutdown(app: App): void {
  try {
    signNewest(app);
  } catch (error) {
    app.log.warn({ err: errorOf(error) }, 'failed to sign the head of the audit trail');
  }
}

/** Signs a head in every hour with new records. */
export const signingHeads: Task = {
  name: 'sign the head of the audit trail',
  every: hour,
  run: ({ app }) => signNewest(app),
};

/** Stores the current public key for the verification of heads. */
export function registerKey({ auditHeads: { key }, clock, db }: App): void {
  if (db.value(sql`SELECT 1 FROM audit_key WHERE key = ${key.id}`) !== undefined) return;
  db.write(() => db.insert('audit_key', { key: key.id, public_key: key.publicKey, created: clock.now() }));
}

/** Replaces the signing key. `secrets` seals the new key, and the last head of the old key names it. */
export function rotateAuditKey(app: App, secrets: Secrets): void {
  const { auditHeads, clock, db } = app;
  registerKey(app);
  auditHeads.replace(secrets, (nextKey) => {
    const newest = newestStored(app);
    if (newest) auditHeads.append(signHead(app, { ...newest, at: auditTime(clock.now()), next_key: nextKey }));
  });
  registerKey(app);
  db.store();
}
