import { createReadStream, existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import type { Config } from '../../kernel/config/config.ts';
import { decrypted } from './age.ts';
import { backupName } from './backup-target.ts';
import { isS3 } from './config.ts';
import { chosenBackup } from './scheduled.ts';
import { targetOf } from './target.ts';

/**
 * Opens the source of `restore`: a file, standard input, or a backup in S3 (the newest, or the one that the URL names). Returns
 * the path if it is a plain file. Rejects with a readable error, also if no identity decrypts an encrypted backup.
 */
export async function backupSource(file: string, identity: string | null, config: Config): Promise<string | Readable> {
  if (isS3(file)) {
    const [last = ''] = file.split('/').slice(-1);
    const name = backupName.test(last) ? last : undefined;
    const target = targetOf({ ...config, backup_target: name === undefined ? file : file.slice(0, -name.length - 1) });
    const backup = await chosenBackup(target, name);
    return plain(await target.get(backup.name), backup.isEncrypted, identity, backup.name);
  }
  if (file === '-') return identity === null ? process.stdin : decrypted(process.stdin, identity);
  const path = resolve(file);
  if (!file.endsWith('.age') && identity === null) return path;
  // `restore` reports a missing file.
  return existsSync(path) ? plain(createReadStream(path), true, identity, file) : path;
}

function plain(
  stream: Readable,
  isEncrypted: boolean,
  identity: string | null,
  name: string,
): Promise<Readable> | Readable {
  if (!isEncrypted) return stream;
  if (identity !== null) return decrypted(stream, identity);
  stream.destroy();
  throw new Error(`${name} is encrypted: name an age identity with --identity`);
}
