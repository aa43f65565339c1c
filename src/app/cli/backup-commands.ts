/** Commands for the backups at the target in the settings. */
import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { notify, staffUsers } from '../../activity/notifications/notify.ts';
import { systemContext } from '../../kernel/access/context.ts';
import type { App } from '../../kernel/app.ts';
import { isoTime } from '../../kernel/clock.ts';
import { sql } from '../../kernel/db/sql.ts';
import { errorOf } from '../../kernel/present.ts';
import { lowerPriority } from '../../kernel/threads/priority.ts';
import { checkBackupSettings } from '../backup/config.ts';
import { recordBackup } from '../backup/records.ts';
import {
  compareCatalogue,
  fetchBackup,
  type KnownBackups,
  knownInstallation,
  listBackups,
  makeBackup,
  recordVerification,
  verifyBackup,
} from '../backup/scheduled.ts';
import { targetOf } from '../backup/target.ts';
import { withDeployment } from '../compose/composition.ts';
import { hasDatabase, prepareFolder, requireDatabase } from '../data/data-folder.ts';
import { examine } from '../doctor/doctor.ts';
import { type Arguments, type Commands, groups, printSuccess, quiet, withProgress } from './command-line.ts';

const { data: group } = groups;

export const backupCommands: Commands = {
  'backups now': {
    flags: quiet,
    group,
    help: 'Make a backup at the target of the settings',
    details:
      'The settings backup_target, backup_recipients_file and backup_keep say where it goes, for whom it is encrypted, and which backups stay. A server may be running.',
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
    help: 'Write a backup of the target to a new file',
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
  const backups = await listBackups(targetOf(config));
  if (flags.json) return void process.stdout.write(`${JSON.stringify(backups.map(publicForm), null, 2)}\n`);
  for (const { madeMs, name, size } of backups)
    process.stdout.write(`${isoTime(madeMs * 1000)}  ${String(size).padStart(12)}  ${name}\n`);
}

const publicForm = ({ isEncrypted, madeMs, name, size }: Awaited<ReturnType<typeof listBackups>>[number]) => ({
  name,
  created: isoTime(madeMs * 1000),
  size,
  is_encrypted: isEncrypted,
});

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
  const check = (known: KnownBackups) => withProgress(flags, () => verifyBackup(config, name, known, problemsIn));
  // Without the database, there is no stored size or digest to compare.
  if (!hasDatabase(resolve(config.data)))
    return printVerified(flags, await check({ installation: undefined, sha256Of: () => undefined }));
  await withDeployment({ config }, async ({ app }) => {
    const known: KnownBackups = {
      installation: knownInstallation(app),
      sha256Of: (one) => app.db.value<string>(sql`SELECT sha256 FROM backup WHERE name = ${one} AND sha256 <> ''`),
    };
    try {
      await compareCatalogue(app);
      const result = await check(known);
      recordVerification(app, result);
      printVerified(flags, result);
    } catch (error) {
      recordVerification(app, errorOf(error));
      reportFailure(app, `the verification failed: ${errorOf(error).message}`, name);
      throw error;
    }
  });
}

const printVerified = (
  flags: Arguments['flags'],
  { isRestored, name }: { readonly isRestored: boolean; readonly name: string },
): void =>
  printSuccess(
    flags,
    isRestored
      ? `Backup ${name} is verified: it was restored and has no problems.\n`
      : `Backup ${name} is as it was written. Without backup_identity_file it cannot be restored, and stays unverified.\n`,
  );

/** Examines a restored data folder as `tenantry doctor` does. */
async function problemsIn(config: Arguments['config'], folder: string): Promise<readonly string[]> {
  const problems: string[] = [];
  // A backup of an older version is upgraded first.
  const settings = { ...config, data: folder, backup_before_upgrade: false, lease_url: null };
  await withDeployment(
    { config: settings },
    ({ app }) => void problems.push(...examine(app, false).problems),
    'command',
    folder,
  );
  return problems;
}
