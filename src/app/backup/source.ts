import { createReadStream, existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import type { Config } from '../../kernel/config/config.ts';
import { decrypted, identitiesIn, isEncrypted } from './age.ts';
import { backupName } from './backup-target.ts';
import { isS3 } from './config.ts';
import { chosenBackup } from './scheduled.ts';
import { targetOf } from './target.ts';

/** A plain file, or a stream and its name for messages. */
interface BackupSource {
  readonly source: string | Readable;
  readonly name: string;
}

/**
 * Opens the source of `restore`: a file, standard input, or a backup in S3 (the newest, or the one that the URL names). Rejects
 * with a readable error, also if no identity decrypts an encrypted backup.
 */
export async function backupSource(file: string, identity: string | null, config: Config): Promise<BackupSource> {
  const identities = identity === null ? undefined : identitiesIn(identity);
  if (isS3(file)) {
    const [last = ''] = file.split('/').slice(-1);
    const name = backupName.test(last) ? last : undefined;
    const target = targetOf({ ...config, backup_target: name === undefined ? file : file.slice(0, -name.length - 1) });
    const backup = await chosenBackup(target, name);
    if (!backup.isEncrypted) return { source: await target.get(backup.name), name: backup.name };
    requireIdentities(identities, backup.name);
    return { source: await decrypted(await target.get(backup.name), identities), name: backup.name };
  }
  if (file === '-')
    return { source: identities ? await decrypted(process.stdin, identities) : process.stdin, name: 'standard input' };
  const name = resolve(file);
  // The name does not say it, and a setting can name an identity although this file is plain. `restore` reports a missing file.
  if (!existsSync(name) || !isEncrypted(name)) return { source: name, name };
  requireIdentities(identities, file);
  return { source: await decrypted(createReadStream(name), identities), name };
}

function requireIdentities(
  identities: readonly string[] | undefined,
  name: string,
): asserts identities is readonly string[] {
  if (!identities) throw new Error(`${name} is encrypted: name an age identity with --identity`);
}
