/** Commands that copy, restore or re-encrypt all data. */
import { basename, resolve } from 'node:path';
import { appendRecord } from '../../activity/audit/append.ts';
import { ofCommand } from '../../activity/audit/commands.ts';
import { isoTime } from '../../kernel/clock.ts';
import { backUp } from '../backup/backup.ts';
import { backUpBeforeUpgrade } from '../backup/before-upgrade.ts';
import { restore } from '../backup/restore.ts';
import { backupSource } from '../backup/source.ts';
import { recordBackup } from '../backup/target.ts';
import { prepareFolder, requireDatabase } from '../data/data-folder.ts';
import { exportData, exportFormats } from '../export/export.ts';
import { importData } from '../export/import.ts';
import { sourceOf } from '../replication/copies.ts';
import { promote } from '../replication/promote.ts';
import { withWriteAccess } from '../replication/writing.ts';
import {
  type Arguments,
  type Commands,
  groups,
  lowerPriority,
  printSuccess,
  quiet,
  UsageError,
  withProgress,
} from './command-line.ts';
import { fillingFolder } from './filled-folder.ts';
import { pruneKeys, rotateKey } from './key-rotation.ts';
import { withReadable } from './readable-folder.ts';
import { recordCopy } from './recorded-copies.ts';

const { data: group } = groups;

export const dataCommands: Commands = {
  backup: {
    words: ['FILE'],
    flags: quiet,
    group,
    help: 'Write a backup of all data and the encryption keys',
    details:
      'FILE is a new file, or - for standard output. Anyone who reads the backup can read every secret. A server may be running.',
    examples: ['backup tenantry.backup', 'backup - | ssh backups.example.com "cat > tenantry.backup"'],
    run: writeBackup,
  },
  restore: {
    words: ['FILE'],
    flags: { identity: { type: 'string', value: 'FILE', help: 'Decrypt the backup with this age identity' }, ...quiet },
    group,
    help: 'Restore a backup into an empty data folder',
    details:
      'FILE is a backup, - for standard input, or s3://BUCKET/PREFIX for the newest backup there, or with its name at the end. An encrypted one needs --identity. Existing data is never overwritten. Stop the server first.',
    examples: ['restore tenantry.backup --data data/restored', 'restore s3://backups/prod --identity identity'],
    run: restoreBackup,
  },
  export: {
    flags: { to: { type: 'string', value: 'FORMAT', help: `Write ${exportFormats.join(' (default) or ')}` } },
    group,
    help: 'Write all data to standard output',
    details:
      'The format ndjson is for tenantry import and contains the encryption keys; postgres is a script for psql. A server may be running.',
    examples: ['export > tenantry.ndjson', 'export --to postgres | psql'],
    run: writeExport,
  },
  import: {
    words: ['FILE'],
    flags: quiet,
    group,
    help: 'Import an export into an empty data folder',
    details: 'FILE is an export in the format ndjson, or - for standard input. Stop the server first.',
    examples: ['import tenantry.ndjson --data data/imported'],
    run: importExport,
  },
  promote: {
    flags: { follow: { type: 'string', value: 'SOURCE', help: 'Copy this source one last time first' }, ...quiet },
    group,
    help: 'Promote a follower to a primary',
    details:
      'Turn the newest copy in the data folder into its database, in a new epoch, so that this server can replace its primary. Stop the follower first.',
    examples: ['promote --follow /mnt/primary/data'],
    run: promoteCopy,
  },
  'rotate-key': {
    flags: { prune: { type: 'boolean', help: 'Remove the old keys afterwards' }, ...quiet },
    group,
    help: 'Encrypt all stored secrets with a new key',
    details: 'Stop the server first.',
    examples: ['rotate-key --prune'],
    run: rotateKeys,
  },
};

async function promoteCopy({ config, flags }: Arguments): Promise<void> {
  const source = flags.follow === undefined ? undefined : sourceOf(String(flags.follow));
  const version = await fillingFolder(config, () =>
    withWriteAccess(config, (access) => promote(config, source, access), true),
  );
  const folder = resolve(config.data);
  printSuccess(
    flags,
    `${folder} is promoted: it has its own database now, version ${version}.${config.lease_url === null ? ' Name the other server in the setting peers when you serve it.' : ''}\n`,
  );
}

async function rotateKeys({ config, flags }: Arguments): Promise<void> {
  const folder = resolve(config.data);
  requireDatabase(folder);
  if (flags.prune === true && config.encryption_keys.length > 0)
    throw new Error(
      'the setting encryption_keys defines the keys: run rotate-key without --prune, then remove old keys from the setting',
    );
  const sealed = await withProgress(flags, async () => {
    await backUpBeforeUpgrade(config, folder);
    return withWriteAccess(config, (access) => rotateKey(config, folder, access));
  });
  const pruned = flags.prune === true ? ` ${pruneKeys(config, folder)} old keys removed.` : '';
  printSuccess(flags, `${sealed} secrets encrypted with the new key.${pruned}\n`);
}

async function writeBackup({ config, flags, words }: Arguments): Promise<void> {
  const [file = ''] = words;
  const folder = resolve(config.data);
  requireDatabase(folder);
  if (file === '-' && process.stdout.isTTY)
    throw new UsageError('will not write a backup to a terminal; name a file or redirect standard output');
  // Leave the CPU to a running server.
  lowerPriority();
  const { hasKeys } = await withProgress(flags, () =>
    withReadable(config, folder, (readable) =>
      backUp(readable, file === '-' ? process.stdout : resolve(file), prepareFolder(config, readable)),
    ),
  );
  await recordCopy(config, folder, (app) => recordBackup(app, 'made', file === '-' ? undefined : basename(file)));
  // A key file from before encryption_keys was set cannot decrypt newer secrets.
  const hasAllKeys = hasKeys && config.encryption_keys.length === 0;
  const keys = hasAllKeys
    ? 'It contains the encryption keys: anyone who reads it can read every secret.'
    : 'It does not contain the encryption keys, which come from the settings: store them, too.';
  printSuccess(
    flags,
    `Backup of ${folder} written${file === '-' ? '' : ` to ${resolve(file)}`}. ${keys}\n`,
    file === '-' ? process.stderr : process.stdout,
  );
}

async function restoreBackup({ config, flags, words }: Arguments): Promise<void> {
  const [file = ''] = words;
  const folder = resolve(config.data);
  const identity = typeof flags.identity === 'string' ? flags.identity : config.backup_identity_file;
  const { name, source } = await backupSource(file, identity, config);
  const { keys, made } = await withProgress(flags, () =>
    fillingFolder(config, () => withWriteAccess(config, () => restore(source, folder, config, name), true)),
  );
  printSuccess(
    flags,
    `The backup of ${isoTime(made)} is restored in ${folder}.${keys === null ? ' Its encryption keys were in the settings at that time.' : ''}\n`,
  );
}

async function writeExport({ config, flags }: Arguments): Promise<void> {
  const folder = resolve(config.data);
  const { to = 'ndjson' } = flags;
  requireDatabase(folder);
  if (typeof to !== 'string' || !exportFormats.includes(to))
    throw new UsageError(`--to must be ${exportFormats.join(' or ')}`);
  if (process.stdout.isTTY) throw new UsageError('will not write an export to a terminal; redirect standard output');
  await withReadable(config, folder, (readable) => exportData(config, readable, to, process.stdout));
  await recordCopy(config, folder, (app) =>
    appendRecord(app, {
      ...ofCommand(),
      at: app.clock.now(),
      operation: 'export',
      object: null,
      customers: [],
      projects: [],
      objectName: null,
      changes: [{ field: 'to', from: null, to }],
    }),
  );
}

async function importExport({ config, flags, words }: Arguments): Promise<void> {
  const [file = ''] = words;
  const folder = resolve(config.data);
  const source = file === '-' ? process.stdin : resolve(file);
  const { keys, made } = await withProgress(flags, () =>
    fillingFolder(config, () => withWriteAccess(config, () => importData(source, folder, config), true)),
  );
  printSuccess(
    flags,
    `The export of ${isoTime(made)} is imported into ${folder}.${keys === null ? ' Its encryption keys were in the settings at that time.' : ''}\n`,
  );
}
