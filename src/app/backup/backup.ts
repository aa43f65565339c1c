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
import type { Addon } from '../../kernel/native/native.ts';
import { placeNew } from '../../kernel/place.ts';
import { makeTemporaryFolder, plainReason } from '../../kernel/plain-reason.ts';
import { measuringProgress } from '../../kernel/progress.ts';
import { keyFile, requireKeyFile, withOlderKeys } from '../../kernel/security/secrets.ts';
import { databaseFile } from '../data/data-folder.ts';
import { withScratch } from './scratch.ts';

/**
 * Writes a backup of a data folder into a new file, or to a stream; a server may be running. The file gets its name when it
 * is whole. Answers whether it holds the encryption keys; else they stand in the settings. Rejects with a sentence.
 *
 * The format is a SQLite database in gzip: both are opened by tools that every machine has, and gzip checks every byte,
 * where SQLite would only notice damage to the structure of its pages.
 */
export async function backUp(
  folder: string,
  target: string | Writable,
  addon: Addon | undefined,
): Promise<{ holdsKeys: boolean }> {
  if (typeof target === 'string') rejectExisting(target);
  try {
    // Beside the file it becomes: a disk that is full of backups shall not be the one that the server writes to.
    const make = (): string =>
      makeTemporaryFolder(typeof target === 'string' ? `${target}.partial-` : join(tmpdir(), 'tenantry-backup-'));
    return await withScratch(make, async (scratch) => {
      const copy = join(scratch, databaseFile);
      const holdsKeys = await copyData(folder, copy, addon);
      if (typeof target !== 'string') await compress(copy, target);
      else {
        const draft = join(scratch, 'backup');
        await compress(copy, createWriteStream(draft, { mode: 0o600 }));
        rejectExisting(target);
        placeNew(draft, target);
      }
      return { holdsKeys };
    });
  } catch (error) {
    throw new Error(`cannot write the backup: ${plainReason(error)}`, { cause: error });
  }
}

function rejectExisting(file: string): void {
  if (existsSync(file)) throw new Error(`${file} exists already`);
}

/** Copies the database and the keys; answers whether there are any. */
async function copyData(folder: string, copy: string, addon: Addon | undefined): Promise<boolean> {
  // The keys before the rows and after them: a rotation adds its key to the file before it encrypts with it, and takes away
  // the others when it has.
  const older = readKeys(folder);
  const database = join(folder, databaseFile);
  await measuringProgress(
    'copying the data',
    () => [sizeOf(copy), sizeOf(database)],
    () => takeSnapshotInThread(database, copy, addon),
  );
  requireRestorable(copy, addon);
  const newer = readKeys(folder);
  const keys = newer !== null && older !== null ? withOlderKeys(newer, older) : newer;
  await packBackupInThread(copy, { made: systemClock.now(), keys }, addon);
  return keys !== null;
}

/** Throws with a sentence where `restore` would refuse the schema: with such a backup nothing could be restored. */
function requireRestorable(copy: string, addon: Addon | undefined): void {
  const handle = openHandle(copy, addon, { readonly: true, fileMustExist: true });
  try {
    requireOwnSchemaOf(handle, addon);
  } finally {
    handle.close();
  }
}

/** The text of the key file. Throws with a sentence when it holds no keys: with it the backup would be of no use. */
function readKeys(folder: string): string | null {
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

/** Bytes; none of a file that is not there yet. */
const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
