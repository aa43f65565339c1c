/** Makes, lists, fetches, verifies and removes backups at the target in the settings (core.md 14.10). */
import { randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync, rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { App } from '../../kernel/app.ts';
import { day } from '../../kernel/clock.ts';
import type { Config } from '../../kernel/config/config.ts';
import { sql } from '../../kernel/db/sql.ts';
import { makeFolder } from '../../kernel/files.ts';
import type { Addon } from '../../kernel/native/native.ts';
import { errorOf, plainReason } from '../../kernel/present.ts';
import { digestOf as keyedDigestOf } from '../../kernel/security/digests.ts';
import { databaseFile, requiredBytes } from '../data/data-folder.ts';
import { decrypted, encryptFile, identitiesIn } from './age.ts';
import { backUp } from './backup.ts';
import { type BackupTarget, backupName, type StoredFile } from './backup-target.ts';
import { recipientsIn } from './config.ts';
import { restore } from './restore.ts';
import { keptInstants, parseRetention } from './retention.ts';
import { digestOf, draftFolderPrefix, recordBackup, targetOf } from './target.ts';
import {
  makeTemporaryFolder,
  removeOldFolders,
  requireSpace,
  withCleanup,
  withTemporaryFolder,
} from './temporary-folder.ts';
import {
  type BackupContent,
  digestPurpose,
  importVerifications,
  storeSuccess,
  verificationFile,
} from './verifications.ts';

/** Tolerated clock difference to another machine. */
const maxClockErrorMs = day / 1000;

/** There is no backup with the given name at the target. */
export class UnknownBackup extends Error {}

/** A complete backup at the target. */
interface CompleteBackup {
  readonly name: string;
  readonly size: number;
  /** Milliseconds since the epoch. */
  readonly madeMs: number;
  readonly installation: string;
  readonly isEncrypted: boolean;
}

/** Parses the name of a backup; undefined for other files. */
function backupOf({ name, size }: { readonly name: string; readonly size: number }): CompleteBackup | undefined {
  const [, year, month, date, hours, minutes, seconds, installation, age] = backupName.exec(name) ?? [];
  if (installation === undefined) return undefined;
  const madeMs = Date.parse(`${year}-${month}-${date}T${hours}:${minutes}:${seconds}Z`);
  return Number.isNaN(madeMs) ? undefined : { name, size, madeMs, installation, isEncrypted: age !== undefined };
}

/** Lists the complete backups at the target, newest first. Rejects with a readable error. */
export const listBackups = async (target: BackupTarget): Promise<CompleteBackup[]> => backupsIn(await target.list());

function backupsIn(files: readonly StoredFile[]): CompleteBackup[] {
  return files.flatMap((file) => backupOf(file) ?? []).sort((a, b) => b.madeMs - a.madeMs);
}

/** Returns the id of this installation in backup names; undefined before its first backup. */
export const knownInstallation = ({ db }: App): string | undefined =>
  db.value<string | null>(sql`SELECT installation FROM deployment`) ?? undefined;

/** Whether the target of the settings can have backups of this deployment. */
export const hasBackups = (app: App): boolean =>
  app.config.backup_schedule !== null || knownInstallation(app) !== undefined;

/** Returns the id of this installation, and creates it for the first backup. */
function installationOf(app: App): string {
  const { db } = app;
  const known = knownInstallation(app);
  if (known !== undefined) return known;
  const created = randomBytes(4).toString('hex');
  db.write(() => db.update('deployment', 1, { installation: created }));
  db.store();
  return created;
}

/** Makes a backup at the target and removes expired ones. Returns its name. Rejects with a readable error. */
export async function makeBackup(app: App, folder: string, addon: Addon | undefined): Promise<string> {
  const { clock, config, db } = app;
  const target = targetOf(config);
  const installation = installationOf(app);
  const made = clock.now();
  const stamp = new Date(made / 1000).toISOString().replace(/[-:]|\.\d+/g, '');
  const isEncrypted = config.backup_recipients_file !== null;
  const name = `tenantry-${stamp}-${installation}.db.gz${isEncrypted ? '.age' : ''}`;
  requireTarget(app, target);
  // The backup must contain the key that authenticates the records of its verification.
  keyedDigestOf(app, digestPurpose, '');
  db.store();
  const rejection = await target.removeRemains(installation);
  // The backup matters more.
  if (rejection !== undefined) app.log.warn({ reason: rejection }, 'failed to abort uploads of killed backups');
  const prefix =
    target.kind === 'folder' ? join(target.place, draftFolderPrefix(installation)) : join(folder, 'backup-');
  makeFolder(dirname(prefix));
  removeOldFolders(prefix);
  requireSpace(dirname(prefix), spaceFor(folder));
  const { sha256, size } = await withTemporaryFolder(
    () => makeTemporaryFolder(prefix),
    async (temporary) => {
      const plain = join(temporary, 'backup');
      await backUp(folder, plain, addon);
      const file = isEncrypted ? join(temporary, 'backup.age') : plain;
      if (config.backup_recipients_file !== null) {
        await encryptFile(plain, file, recipientsIn(config.backup_recipients_file));
        rmSync(plain);
      }
      const digest = await digestOf(file);
      await target.put(name, file);
      return digest;
    },
  );
  db.write(() => {
    db.insert('backup', { name, target: target.place, size, sha256, is_encrypted: Number(isEncrypted), created: made });
    recordBackup(app, 'made', name);
  });
  db.store();
  await removeOld(app, target, name);
  return name;
}

/**
 * Returns the bytes that a backup needs in addition to the copy of the database: a compressed copy, an encrypted one, and the
 * space that the server needs on the same disk.
 */
function spaceFor(folder: string): number {
  const sizes = ['', '-wal'].map(
    (ending) => statSync(join(folder, databaseFile + ending), { throwIfNoEntry: false })?.size ?? 0,
  );
  return 1.5 * sizes.reduce((sum, size) => sum + size) + requiredBytes;
}

/** Throws if the folder of known backups is missing: its disk is not mounted, and a new folder would be on the wrong disk. */
function requireTarget({ config, db }: App, { kind, place }: BackupTarget): void {
  if (kind !== 'folder' || config.backup_target === null || existsSync(place)) return;
  if (db.count(sql`SELECT count(*) FROM backup WHERE target = ${place}`) > 0)
    throw new Error(`${place} is missing: mount its disk, or create the folder again`);
}

/**
 * Removes expired backups of this installation. Keeps the backup just made and the newest verified one, and removes none after
 * a failed verification. Backups dated in the future stay until that date. Logs failed removals, such as those that an object
 * lock prevents.
 */
async function removeOld(app: App, target: BackupTarget, made: string): Promise<void> {
  const { config, db, log } = app;
  const all = await compareCatalogue(app).catch((error: unknown) => {
    // The new backup is complete.
    log.warn({ reason: plainReason(error) }, 'failed to list the backups that backup_keep removes');
    return [];
  });
  if (db.scalar<string>(sql`SELECT verification_error FROM deployment`) !== '') return;
  const madeMs = all.find(({ name }) => name === made)?.madeMs ?? 0;
  const own = all.filter((backup) => backup.madeMs <= madeMs);
  const verified = new Set(db.values<string>(sql`SELECT name FROM backup WHERE verified IS NOT NULL`));
  const kept = keptInstants(
    own.map(({ madeMs }) => madeMs),
    parseRetention(config.backup_keep),
  );
  const protectedNames = [made, own.find(({ name }) => verified.has(name))?.name];
  for (const { madeMs: at, name } of own) {
    if (kept.has(at) || protectedNames.includes(name)) continue;
    try {
      await removeBackup(target, name);
      db.write(() => {
        db.run(sql`DELETE FROM backup WHERE name = ${name}`);
        recordBackup(app, 'removed', name);
      });
      log.info({ backup: name }, 'backup removed by backup_keep');
    } catch (error) {
      log.warn({ backup: name, reason: plainReason(error) }, 'failed to remove a backup');
    }
  }
  db.store();
}

/** Removes a backup and the record of its verification. Rejects with a readable error if the backup stays. */
export async function removeBackup(target: BackupTarget, name: string): Promise<void> {
  await target.remove(name);
  await target.remove(verificationFile(name)).catch(() => undefined);
}

/**
 * Updates the catalogue from the backups of this installation at the target and the records of their verifications. Returns the
 * backups, newest first. Rejects if they cannot be listed.
 */
export async function compareCatalogue(app: App): Promise<CompleteBackup[]> {
  const { config, db } = app;
  const target = targetOf(config);
  requireTarget(app, target);
  const own = knownInstallation(app);
  const files = await target.list();
  const backups = backupsIn(files).filter(({ installation }) => installation === own);
  const names = JSON.stringify(backups.map(({ name }) => name));
  db.write(() => {
    db.run(sql`
      DELETE FROM backup
      WHERE target <> ${target.place} OR name NOT IN (SELECT value FROM json_each(${names}))`);
    for (const { isEncrypted, madeMs, name, size } of backups)
      db.run(sql`
        INSERT INTO backup (name, target, size, sha256, is_encrypted, created)
        VALUES (${name}, ${target.place}, ${size}, '', ${Number(isEncrypted)}, ${madeMs * 1000})
        ON CONFLICT (name) DO UPDATE SET size = excluded.size`);
  });
  await importVerifications(app, target, new Set(files.map(({ name }) => name)));
  return backups;
}

/**
 * Returns the backup with this name, or the newest one of an installation. Without either, all backups must belong to one
 * installation. Backups dated in the future count only if there are no others. Rejects with a readable error.
 */
export async function chosenBackup(
  target: BackupTarget,
  name: string | undefined,
  installation?: string,
): Promise<CompleteBackup> {
  const backups = await listBackups(target);
  if (name !== undefined) {
    const chosen = backups.find((backup) => backup.name === name);
    if (!chosen) throw new UnknownBackup(`there is no backup ${name} in ${target.place}`);
    return chosen;
  }
  const present = backups.filter(({ madeMs }) => madeMs <= Date.now() + maxClockErrorMs);
  const newest = new Map<string, CompleteBackup>();
  for (const backup of present.length > 0 ? present : backups)
    if ((installation ?? backup.installation) === backup.installation && !newest.has(backup.installation))
      newest.set(backup.installation, backup);
  const [chosen, ...others] = newest.values();
  if (!chosen) throw new Error(`there is no backup in ${target.place}`);
  if (others.length > 0)
    throw new Error(
      `${target.place} has backups of several installations: name one of ${[chosen, ...others].map((one) => one.name).join(', ')}`,
    );
  return chosen;
}

/** Downloads a backup to a new file, and decrypts it if an identity is set. Rejects with a readable error. */
export async function fetchBackup(config: Config, name: string, file: string): Promise<void> {
  const target = targetOf(config);
  const backup = await chosenBackup(target, name);
  const identities = identitiesFor(backup, config);
  try {
    // An existing file belongs to the operator: reject it before the download, and never remove it.
    const output = (await open(file, 'wx', 0o600)).createWriteStream();
    let isComplete = false;
    const discard = (): void => {
      output.destroy();
      if (!isComplete) rmSync(file, { force: true });
    };
    await withCleanup(discard, async () => {
      await pipeline(await contentOf(await target.get(backup.name), identities), output);
      isComplete = true;
    });
  } catch (error) {
    throw new Error(`cannot fetch the backup: ${plainReason(error, file)}`, { cause: error });
  }
}

/** Returns the identities for an encrypted backup; undefined if it is not encrypted or the settings have none. Throws a readable error. */
const identitiesFor = (
  { isEncrypted }: CompleteBackup,
  { backup_identity_file: file }: Config,
): readonly string[] | undefined => (isEncrypted && file !== null ? identitiesIn(file) : undefined);

/** Returns the content of a backup, decrypted with identities. */
const contentOf = async (stream: Readable, identities: readonly string[] | undefined): Promise<Readable> =>
  identities ? decrypted(stream, identities) : stream;

/** The result of the verification of a backup. */
interface Verified {
  readonly name: string;
  /** True if the backup was restored and examined; false if it was only compared, for lack of an identity. */
  readonly isRestored: boolean;
  /** Why no record of it was written beside the backup; undefined if one was, or if none is needed. */
  readonly unrecorded?: string;
}

/** The result of an examination of a restored data folder. */
export interface Examined {
  /** One line for each problem. */
  readonly problems: readonly string[];
  /** The signature of the verification, by the key in the backup. */
  readonly signature: string | undefined;
}

/** Examines a restored data folder and signs the success of a verification at this time. */
type Examine = (config: Config, folder: string, content: BackupContent, at: number) => Promise<Examined>;

/**
 * Downloads a backup, compares its size and, if the catalogue has it, its digest, decrypts it, restores it into a temporary folder
 * and examines that folder. Then writes a record beside the backup, which servers import. Without an identity for an encrypted
 * backup, it only compares. Rejects with a readable error.
 */
export async function verifyBackup(
  config: Config,
  backup: CompleteBackup,
  sha256Of: (name: string) => string | undefined,
  examine: Examine,
): Promise<Verified> {
  const { name } = backup;
  const identities = identitiesFor(backup, config);
  const target = targetOf(config);
  const prefix = join(tmpdir(), 'tenantry-verify-');
  removeOldFolders(prefix);
  return withTemporaryFolder(
    () => makeTemporaryFolder(prefix),
    async (temporary) => {
      const file = join(temporary, 'backup');
      await pipeline(await target.get(name), createWriteStream(file, { mode: 0o600 }));
      const { sha256, size } = await digestOf(file);
      const expected = sha256Of(name);
      if (size !== backup.size || (expected !== undefined && sha256 !== expected))
        throw new Error(`${name} differs from what was written`);
      if (backup.isEncrypted && !identities) return { name, isRestored: false };
      const plain = await contentOf(createReadStream(file), identities);
      const folder = join(temporary, 'data');
      await restore(plain, folder, config, name);
      const [content, at] = [{ name, size, sha256 }, Date.now()];
      const { problems, signature } = await examine(config, folder, content, at);
      if (problems.length > 0) throw new Error(`${name} is damaged: ${problems[0]}`);
      const unrecorded = await storeRecord(target, content, at, signature);
      return { name, isRestored: true, ...(unrecorded !== undefined && { unrecorded }) };
    },
  );
}

/** Writes the record of a success. Returns the reason if that fails. */
async function storeRecord(
  target: BackupTarget,
  content: BackupContent,
  at: number,
  signature: string | undefined,
): Promise<string | undefined> {
  if (signature === undefined) return 'the backup was made by an older version';
  return storeSuccess(target, content, at, signature).then(
    () => undefined,
    (error: unknown) => errorOf(error).message,
  );
}
