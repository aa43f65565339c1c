import { createReadStream, createWriteStream, existsSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import { systemClock } from '../../kernel/clock.ts';
import { requireOwnSchemaOf } from '../../kernel/db/own-schema.ts';
import { openHandle } from '../../kernel/durability/handle.ts';
import { packBackupInThread, takeSnapshotInThread } from '../../kernel/durability/snapshots.ts';
import { placeNew } from '../../kernel/files.ts';
import type { Addon } from '../../kernel/native/native.ts';
import { plainReason } from '../../kernel/present.ts';
import { measuringProgress } from '../../kernel/progress.ts';
import { keyFile, requireKeyFile, withOlderKeys } from '../../kernel/security/secrets.ts';
import { databaseFile } from '../data/data-folder.ts';
import { makeTemporaryFolder, withTemporaryFolder } from './temporary-folder.ts';

/**
 * Writes a backup of a data folder to a new file or a stream. A server may be running. The file gets its final name when it is
 * complete. Returns whether the backup contains the encryption keys; if not, the settings define them. Rejects with a readable
 * error.
 *
 * The format is a gzipped SQLite database. Tools for both are everywhere, and gzip checksums every byte, whereas SQLite only
 * detects structural damage to its pages.
 */
export async function backUp(
  folder: string,
  target: string | Writable,
  addon: Addon | undefined,
): Promise<{ hasKeys: boolean }> {
  if (typeof target === 'string') rejectExisting(target);
  try {
    // Next to the target, which is often on a different disk: a backup must not fill the server's disk.
    const make = (): string =>
      makeTemporaryFolder(typeof target === 'string' ? `${target}.partial-` : join(tmpdir(), 'tenantry-backup-'));
    return await withTemporaryFolder(make, async (temporary) => {
      const copy = join(temporary, databaseFile);
      const hasKeys = await copyData(folder, copy, addon);
      if (typeof target !== 'string') await compress(copy, target);
      else {
        const draft = join(temporary, 'backup');
        await compress(copy, createWriteStream(draft, { mode: 0o600 }));
        rejectExisting(target);
        placeNew(draft, target);
      }
      return { hasKeys };
    });
  } catch (error) {
    throw new Error(`cannot write the backup: ${plainReason(error)}`, { cause: error });
  }
}

function rejectExisting(file: string): void {
  if (existsSync(file)) throw new Error(`${file} exists already`);
}

/** Copies the database and the keys. Returns whether the folder has keys. */
async function copyData(folder: string, copy: string, addon: Addon | undefined): Promise<boolean> {
  // Read the keys before and after the rows: a rotation adds a key to the file, re-encrypts, then removes the old keys.
  const keysBefore = readKeys(folder);
  const database = join(folder, databaseFile);
  await measuringProgress(
    'copying the data',
    () => [sizeOf(copy), sizeOf(database)],
    () => takeSnapshotInThread(database, copy, addon),
  );
  requireRestorable(copy, addon);
  const keysAfter = readKeys(folder);
  const keys = keysAfter !== null && keysBefore !== null ? withOlderKeys(keysAfter, keysBefore) : keysAfter;
  await packBackupInThread(copy, { made: systemClock.now(), keys }, addon);
  return keys !== null;
}

/** Throws a readable error if `restore` would reject the schema: such a backup would be useless. */
function requireRestorable(copy: string, addon: Addon | undefined): void {
  const handle = openHandle(copy, addon, { readonly: true, fileMustExist: true });
  try {
    requireOwnSchemaOf(handle, addon);
  } finally {
    handle.close();
  }
}

/** Returns the text of the key file, or null without one. Throws a readable error if it contains no keys. */
export function readKeys(folder: string): string | null {
  const file = keyFile(folder);
  if (!existsSync(file)) return null;
  requireKeyFile(file);
  return readFileSync(file, 'utf8');
}

async function compress(file: string, target: Writable): Promise<void> {
  const read = createReadStream(file);
  await measuringProgress(
    'packing the copy',
    () => [read.bytesRead, sizeOf(file)],
    () => pipeline(read, createGzip({ level: constants.Z_BEST_SPEED }), target),
  );
}

/** Returns the size in bytes; 0 for a missing file. */
const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
