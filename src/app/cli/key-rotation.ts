import { join } from 'node:path';
import { registerKey, rotateAuditKey } from '../../activity/audit/heads.ts';
import { AuditSinks } from '../../activity/audit/sinks/sinks.ts';
import type { Config } from '../../kernel/config/config.ts';
import type { Database } from '../../kernel/db/database.ts';
import { requireCurrent } from '../../kernel/db/migrate.ts';
import { SqliteDatabase } from '../../kernel/db/sqlite-database.ts';
import { systemRandom } from '../../kernel/random.ts';
import { addKey, dropOldKeys, newestKey, type Secrets } from '../../kernel/security/secrets.ts';
import { openDeployment } from '../compose/composition.ts';
import { databaseFile, lockFolder, prepareFolder } from '../data/data-folder.ts';
import { findUndecryptable, reencryptSecrets } from '../data/encryption.ts';
import type { WriteAccess } from '../replication/writing.ts';

/**
 * Adds an encryption key (unless the settings define the keys), re-encrypts every stored secret with the newest key, and replaces
 * the key that signs the audit trail. Sends the last head of the old signing key to the sinks; if a sink is down, the next start
 * of the server sends it. Resolves with the number of secrets. Rejects with a readable error, and changes nothing, if a secret
 * cannot be decrypted.
 */
export async function rotateKey(config: Config, folder: string, access: WriteAccess | undefined): Promise<number> {
  const { app, close } = openDeployment(config, { folder, purpose: 'serve', access, command: 'rotate-key' });
  try {
    requireOpening(app.db, app.secrets);
    // Rejects an audit.key that cannot be decrypted while nothing has changed.
    registerKey(app);
    // Only the operator can change keys in the settings, where the first one is already the new key.
    const secrets = config.encryption_keys.length > 0 ? app.secrets : addKey(folder, app.random);
    const count = reencryptSecrets(app, secrets);
    const sinks = new AuditSinks(app);
    rotateAuditKey(app, secrets);
    await sinks.close();
    return count;
  } finally {
    close();
  }
}

/**
 * Removes all keys but the newest from the key file of a folder whose database is closed. Returns the number of removed keys.
 * Throws a readable error if a secret still needs one of them, or a server uses the folder.
 */
export function pruneKeys(config: Config, folder: string): number {
  const addon = prepareFolder(config, folder);
  const unlock = lockFolder(folder, addon);
  try {
    const db = SqliteDatabase.open(join(folder, databaseFile), addon);
    try {
      requireCurrent(db);
      requireOpening(db, newestKey(folder, systemRandom()));
    } finally {
      db.close();
    }
    return dropOldKeys(folder);
  } finally {
    unlock();
  }
}

function requireOpening(db: Database, secrets: Secrets): void {
  const [first] = findUndecryptable(db, secrets, 1);
  if (first !== undefined) throw new Error(`${first}: nothing was changed`);
}
