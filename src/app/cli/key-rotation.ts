import { join } from 'node:path';
import type { Config } from '../../kernel/config/config.ts';
import type { Database } from '../../kernel/db/database.ts';
import { requireCurrent } from '../../kernel/db/migrate.ts';
import { SqliteDatabase } from '../../kernel/db/sqlite-database.ts';
import { systemRandom } from '../../kernel/random.ts';
import { addKey, dropOldKeys, newestKey, type Secrets } from '../../kernel/security/secrets.ts';
import { openDeployment } from '../compose/composition.ts';
import { databaseFile, lockFolder, prepareFolder } from '../data/data-folder.ts';
import { findUndecryptable, reencryptSecrets } from '../data/encryption.ts';

/**
 * Adds an encryption key, unless the settings give them, and encrypts every stored secret with the newest one. Answers how
 * many there are. Throws with a sentence, before anything is changed, when one of them does not open.
 */
export function rotateKey(config: Config, folder: string): number {
  const { app, close } = openDeployment(config, { folder, purpose: 'serve' });
  try {
    requireOpening(app.db, app.secrets);
    // Keys from the settings are the operator's to change: the first of them is the new one already.
    return reencryptSecrets(app, config.encryption_keys.length > 0 ? app.secrets : addKey(folder, app.random));
  } finally {
    close();
  }
}

/**
 * Takes every key but the newest out of the key file of a folder whose database is closed, as nothing needs them any more.
 * Answers how many they were. Throws with a sentence when something does, or the folder is served.
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
