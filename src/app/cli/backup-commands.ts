/** Commands for the backups at the target in the settings. */
import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { notify, staffUsers } from '../../activity/notifications/notify.ts';
import { systemContext } from '../../kernel/access/context.ts';
import type { App } from '../../kernel/app.ts';
import { isoTime } from '../../kernel/clock.ts';
import type { Config } from '../../kernel/config/config.ts';
import { sql } from '../../kernel/db/sql.ts';
import { openHandle } from '../../kernel/durability/handle.ts';
import { errorOf } from '../../kernel/present.ts';
import { checkBackupSettings } from '../backup/config.ts';
import {
  chosenBackup,
  compareCatalogue,
  type Examined,
  fetchBackup,
  knownInstallation,
  listBackups,
  makeBackup,
  UnknownBackup,
  verifyBackup,
} from '../backup/scheduled.ts';
import { recordBackup, targetOf } from '../backup/target.ts';
import {
  type BackupContent,
  recordFailure,
  recordSuccess,
  signVerification,
  storeFailure,
} from '../backup/verifications.ts';
import { withDeployment } from '../compose/composition.ts';
import { databaseFile, hasDatabase, prepareFolder, requireDatabase } from '../data/data-folder.ts';
import { examine } from '../doctor/doctor.ts';
import {
  type Arguments,
  type Commands,
  groups,
  lowerPriority,
  nothingFound,
  printSuccess,
  quiet,
  withProgress,
} from './command-line.ts';

const { data: group } = groups;

export const backupCommands: Commands = {
  'backups now': {
    flags: quiet,
    group,
    help: 'Write a backup to the configured target',
    details:
      'The settings backup_target, backup_recipients_file and backup_keep set the target, the encryption and the retention. A server may be running.',
    examples: ['backups now --backup-target /mnt/backups'],
    run: makeNow,
  },
  'backups list': {
    flags: { json: { type: 'boolean', help: 'Print JSON' } },
    group,
    help: 'List the complete backups at the target',
    examples: ['backups list'],
    run: printList,
  },
  'backups fetch': {
    words: ['NAME', 'FILE'],
    flags: quiet,
    group,
    help: 'Copy a backup from the target to a new file',
    details: 'The file is decrypted if backup_identity_file is set.',
    examples: ['backups fetch tenantry-20260105T031500Z-1a2b3c4d.db.gz.age b'],
    run: fetchNamed,
  },
  'backups verify': {
    words: ['[NAME]'],
    flags: quiet,
    group,
    help: 'Fetch a backup, restore it into a temporary folder and check it',
    details:
      'Without NAME, the newest backup is verified. An encrypted backup needs backup_identity_file; without it, the file is only fetched and compared.',
    examples: ['backups verify', 'backups verify --backup-identity-file identity'],
    run: verify,
  },
};

async function makeNow({ config, flags }: Arguments): Promise<void> {
  const folder = resolve(config.data);
  requireDatabase(folder);
  checkBackupSettings(config);
  // Leave the CPU to a running server.
  lowerPriority();
  await withDeployment({ config }, async ({ app }) => {
    try {
      const name = await withProgress(flags, () => makeBackup(app, folder, prepareFolder(config, folder)));
      printSuccess(flags, `Backup ${name} is complete in ${targetOf(config).place}.\n`);
    } catch (error) {
      reportFailure(app, errorOf(error).message);
      throw error;
    }
  });
}

/** Records a failure and notifies staff. The server that shares the data sends the mails. */
function reportFailure(app: App, message: string, name?: string): void {
  app.db.write(() => {
    recordBackup(app, 'failed', name, message);
    notify(systemContext(app), 'backup_failed', {
      context: { error_message: message },
      users: staffUsers,
      about: 'backups',
    });
  });
  app.db.store();
}

async function printList({ config, flags }: Arguments): Promise<void> {
  checkBackupSettings(config);
  const verified = verifiedIn(config);
  const backups = (await listBackups(targetOf(config))).map(({ isEncrypted, madeMs, name, size }) => ({
    name,
    created: isoTime(madeMs * 1000),
    size,
    is_encrypted: isEncrypted,
    verified: verified.get(name) ?? null,
  }));
  if (flags.json) return void process.stdout.write(`${JSON.stringify(backups, null, 2)}\n`);
  if (backups.length === 0) process.stderr.write(nothingFound);
  for (const { created, name, size, verified: at } of backups)
    process.stdout.write(`${created}  ${String(size).padStart(12)}  ${name}${at === null ? '' : `  verified ${at}`}\n`);
}

/** Returns when each backup was verified, by name. Lists must work without the database, and with a damaged one. */
function verifiedIn(config: Config): ReadonlyMap<string, string> {
  const folder = resolve(config.data);
  if (!hasDatabase(folder)) return new Map();
  try {
    const handle = openHandle(join(folder, databaseFile), prepareFolder(config, folder), { readonly: true });
    try {
      const rows = handle.prepare('SELECT name, verified FROM backup WHERE verified IS NOT NULL').all();
      return new Map((rows as { name: string; verified: number }[]).map((row) => [row.name, isoTime(row.verified)]));
    } finally {
      handle.close();
    }
  } catch {
    return new Map();
  }
}

async function fetchNamed({ config, flags, words }: Arguments): Promise<void> {
  const [name = '', file = ''] = words;
  checkBackupSettings(config);
  const path = resolve(file);
  await withProgress(flags, () => fetchBackup(config, name, path));
  // A machine without the data has no audit trail.
  if (hasDatabase(resolve(config.data))) await recordFetched(config, name, path);
  printSuccess(flags, `Backup ${name} is in ${resolve(file)}.\n`);
}

/** Records that a backup was downloaded. Removes the file if the record cannot be stored. */
async function recordFetched(config: Arguments['config'], name: string, file: string): Promise<void> {
  try {
    await withDeployment({ config }, ({ app }) => app.db.write(() => recordBackup(app, 'fetched', name)));
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  }
}

async function verify({ config, flags, words: [name] }: Arguments): Promise<void> {
  checkBackupSettings(config);
  lowerPriority();
  if (!hasDatabase(resolve(config.data))) return verifyElsewhere(config, flags, name);
  await withDeployment({ config }, async ({ app }) => {
    const sha256Of = (one: string) =>
      app.db.value<string>(sql`SELECT sha256 FROM backup WHERE name = ${one} AND sha256 <> ''`);
    // The comparison with the target removes missing backups from the catalogue.
    const isKnown = app.db.value(sql`SELECT 1 FROM backup WHERE name = ${name ?? ''}`) !== undefined;
    try {
      await compareCatalogue(app);
      const backup = await chosenBackup(targetOf(config), name, knownInstallation(app));
      const result = await withProgress(flags, () => verifyBackup(config, backup, sha256Of, examineRestored));
      recordSuccess(app, { ...result, at: app.clock.now() });
      printVerified(flags, result);
    } catch (error) {
      // A wrong name says nothing about the backups; a known backup that is missing does.
      if (error instanceof UnknownBackup && !isKnown) throw error;
      const { message } = errorOf(error);
      recordFailure(app, message, app.clock.now());
      reportFailure(app, `the verification failed: ${message}`, name);
      throw error;
    }
  });
}

/** Verifies on a machine without the data, such as the one with the identity. The server finds the result at the target. */
async function verifyElsewhere(config: Config, flags: Arguments['flags'], name: string | undefined): Promise<void> {
  const target = targetOf(config);
  const backup = await chosenBackup(target, name);
  const sha256Of = (): undefined => undefined;
  const result = await withProgress(flags, () => verifyBackup(config, backup, sha256Of, examineRestored)).catch(
    async (error: unknown) => {
      // The first error matters more than one of the record.
      await storeFailure(target, backup.name, errorOf(error).message).catch(() => undefined);
      throw error;
    },
  );
  printVerified(flags, result);
  if (result.unrecorded !== undefined)
    throw new Error(`failed to record the verification of ${backup.name}: ${result.unrecorded}`);
}

const printVerified = (
  flags: Arguments['flags'],
  { isRestored, name }: { readonly isRestored: boolean; readonly name: string },
): void =>
  printSuccess(
    flags,
    isRestored
      ? `Backup ${name} is verified: it was restored and has no problems.\n`
      : `Backup ${name} is unchanged. Without backup_identity_file, it cannot be restored and stays unverified.\n`,
  );

/** Examines a restored data folder as `tenantry doctor` does, and signs the result. */
async function examineRestored(config: Config, folder: string, content: BackupContent, at: number): Promise<Examined> {
  let result: Examined = { problems: [], signature: undefined };
  // A backup of an older version is upgraded first.
  const settings = { ...config, data: folder, backup_before_upgrade: false, lease_url: null };
  await withDeployment(
    { config: settings },
    ({ app }) => {
      result = { problems: examine(app, false).problems, signature: signVerification(app, content, at) };
    },
    'command',
    folder,
  );
  return result;
}
