/**
 * Records of verifications: in the catalogue, and beside each backup at the target, where servers find those of other machines
 * (core.md 14.10).
 */
import { timingSafeEqual } from 'node:crypto';
import type { Readable } from 'node:stream';
import { systemContext } from '../../kernel/access/context.ts';
import type { App } from '../../kernel/app.ts';
import { isoTime } from '../../kernel/clock.ts';
import { sql } from '../../kernel/db/sql.ts';
import { knownDigestOf } from '../../kernel/security/digests.ts';
import type { BackupTarget } from './backup-target.ts';
import { recordBackup } from './target.ts';

/** Returns the name of the file beside a backup that records its last verification. */
export const verificationFile = (name: string): string => `${name}.verification`;

/** Purpose of the digests that authenticate records. */
export const digestPurpose = 'verification of a backup';
const maxRecordBytes = 4096;
/** Marks failures that this server cannot repeat, because only another machine has the identity. */
const elsewhere = 'on another machine: ';

/** Identifies the content of a backup at the target. */
export interface BackupContent {
  readonly name: string;
  readonly size: number;
  readonly sha256: string;
}

/** The file beside a backup. */
interface VerificationRecord {
  readonly size: number;
  readonly sha256: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Empty after a success. */
  readonly error: string;
  /** Hexadecimal HMAC under the digest key in the backup: proves that the writer could decrypt it. Empty after a failure. */
  readonly hmac: string;
}

/** Returns the text that a record authenticates. */
const statementOf = ({ name, sha256, size }: BackupContent, at: number): string => `${name}\n${size}\n${sha256}\n${at}`;

/** Signs a success with the key in a restored backup; undefined if the backup is older than this key. */
export const signVerification = (restored: App, content: BackupContent, at: number): string | undefined =>
  knownDigestOf(restored, digestPurpose, statementOf(content, at))?.toString('hex');

/** Writes the record of a success beside the backup. Rejects with a readable error. */
export const storeSuccess = (target: BackupTarget, { name, sha256, size }: BackupContent, at: number, hmac: string) =>
  store(target, name, { size, sha256, at, error: '', hmac });

/** Writes the record of a failure beside the backup. Rejects with a readable error. */
export const storeFailure = (target: BackupTarget, name: string, error: string) =>
  store(target, name, { size: 0, sha256: '', at: Date.now(), error: error.slice(0, maxRecordBytes / 4), hmac: '' });

const store = (target: BackupTarget, name: string, record: VerificationRecord): Promise<void> =>
  target.write(verificationFile(name), `${JSON.stringify(record)}\n`);

/** A verification, for the catalogue. */
interface Verification {
  readonly name: string;
  /** Microseconds since the epoch. */
  readonly at: number;
  /** Whether the backup was restored and examined, or only compared with what was written. */
  readonly isRestored: boolean;
}

/**
 * Stores a success. It ends an earlier failure if it concerns the backup that was then the newest. A comparison does not end a failure on another
 * machine, which restored the backup.
 */
export function recordSuccess(app: App, { at, isRestored, name }: Verification): void {
  const { db } = app;
  db.write(() => {
    const error = db.scalar<string>(sql`SELECT verification_error FROM deployment`);
    const isNewest = db.value<number>(sql`
      SELECT NOT EXISTS (SELECT 1 FROM backup AS other WHERE other.created > backup.created AND other.created <= ${at})
      FROM backup WHERE name = ${name}`);
    const endsFailure = isNewest === 1 && (isRestored || !error.startsWith(elsewhere));
    db.update('deployment', 1, { verification_at: at, ...(endsFailure && { verification_error: '' }) });
    if (isRestored) db.run(sql`UPDATE backup SET verified = ${at} WHERE name = ${name}`);
    recordBackup(app, isRestored ? 'verified' : 'fetched', name);
  });
}

/** Stores a failure. */
export const recordFailure = ({ db }: App, error: string, at: number): void =>
  db.write(() => db.update('deployment', 1, { verification_at: at, verification_error: error }));

/** Imports the records of other machines for the backups in the catalogue. Rejects if one cannot be read. */
export async function importVerifications(app: App, target: BackupTarget, files: ReadonlySet<string>): Promise<void> {
  const { db } = app;
  const { now } = systemContext(app);
  const rows = db.all<BackupContent & { verified: number | null }>(
    sql`SELECT name, size, sha256, verified FROM backup`,
  );
  const found: { readonly record: VerificationRecord; readonly row: (typeof rows)[number] }[] = [];
  for (const row of rows) {
    const file = verificationFile(row.name);
    const record = files.has(file) ? parseRecord(await readText(await target.get(file))) : undefined;
    if (record) found.push({ record, row });
  }
  for (const { record, row } of found.sort((a, b) => a.record.at - b.record.at)) {
    // The clock of the other machine may be ahead.
    const at = Math.min(record.at * 1000, now);
    const last = db.value<number | null>(sql`SELECT verification_at FROM deployment`) ?? 0;
    if (record.error !== '') {
      if (at > last) recordFailure(app, `${elsewhere}${row.name}, ${isoTime(at)}: ${record.error}`, at);
    } else if (at > (row.verified ?? 0) && isAuthentic(app, row, record))
      recordSuccess(app, { name: row.name, at, isRestored: true });
  }
}

/** Whether the writer of a record could decrypt this backup, and verified this content. */
function isAuthentic(app: App, { name, sha256, size }: BackupContent, record: VerificationRecord): boolean {
  if (record.size !== size || (sha256 !== '' && record.sha256 !== sha256)) return false;
  const digest = knownDigestOf(app, digestPurpose, statementOf({ name, size, sha256: record.sha256 }, record.at));
  const hmac = Buffer.from(record.hmac, 'hex');
  return digest !== undefined && hmac.length === digest.length && timingSafeEqual(hmac, digest);
}

/** Parses a record; undefined if it is none. */
function parseRecord(text: string): VerificationRecord | undefined {
  try {
    const { at, error, hmac, sha256, size } = JSON.parse(text) as Record<string, unknown>;
    const isValid =
      Number.isSafeInteger(at) &&
      [error, hmac, sha256].every((one) => typeof one === 'string') &&
      Number.isSafeInteger(size);
    return isValid
      ? { at: Number(at), error: String(error), hmac: String(hmac), sha256: String(sha256), size: Number(size) }
      : undefined;
  } catch {
    return undefined;
  }
}

/** Reads a small file. Stops at the maximum size of a record. */
async function readText(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > maxRecordBytes) break;
  }
  return Buffer.concat(chunks).toString('utf8');
}
