import { randomBytes } from 'node:crypto';
import { createWriteStream, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { initialPasswordFile } from '../../accounts/session/initial-password.ts';
import type { Config } from '../../kernel/config/config.ts';
import { requireOwnSchemaOf } from '../../kernel/db/own-schema.ts';
import { SqliteDatabase } from '../../kernel/db/sqlite-database.ts';
import { openHandle } from '../../kernel/durability/handle.ts';
import { type Carried, databaseHeaderBytes, sizeOfBackup } from '../../kernel/durability/snapshot.ts';
import { unpackBackupInThread } from '../../kernel/durability/snapshots.ts';
import type { Addon } from '../../kernel/native/native.ts';
import { place, placeNew } from '../../kernel/place.ts';
import { plainReason } from '../../kernel/plain-reason.ts';
import { codeOf, errorOf } from '../../kernel/present.ts';
import { measuringProgress } from '../../kernel/progress.ts';
import { keyFile, secretsOf } from '../../kernel/security/secrets.ts';
import { databaseFile, lockFolder, prepareFolder, restoringFolder } from '../data/data-folder.ts';
import { fitsKeys } from '../data/encryption.ts';
import { withScratch } from './scratch.ts';

/**
 * Fills a data folder from a backup, a file or a stream; answers what the backup carried. Rejects with a sentence when a
 * server uses the folder, the folder has data, or the backup is none, damaged or of a newer version.
 *
 * The database gets its name last, when all of it is on disk. Until then there is no database in the folder, and the
 * command can be given again.
 */
export const restore = (source: string | Readable, folder: string, config: Config): Promise<Carried> =>
  fillFolder(source, 'backup', folder, config, unpack);

/** Makes a database, in the file of that name, of what is read. Rejects with a sentence. */
type MakeDatabase = (stream: Readable, copy: string, addon: Addon | undefined) => Promise<Carried>;

/** What is done with a source of that name. */
const verbs = { backup: 'restore', export: 'import' } as const;

/** What a restore does, whatever the source is made of; `what` names that. */
export async function fillFolder(
  source: string | Readable,
  what: keyof typeof verbs,
  folder: string,
  config: Config,
  make: MakeDatabase,
): Promise<Carried> {
  const stream = typeof source === 'string' ? await opened(source, what) : source;
  try {
    const name = typeof source === 'string' ? source : 'standard input';
    const size = typeof source === 'string' ? statSync(source).size : undefined;
    const bytesRead = (): number => ('bytesRead' in stream ? Number(stream.bytesRead) : 0);
    return await measuringProgress(
      `reading the ${what}`,
      () => [bytesRead(), size],
      () => fill(stream, `${verbs[what]} ${name}`, folder, config, make),
    );
  } finally {
    stream.destroy();
  }
}

async function fill(
  stream: Readable,
  deed: string,
  folder: string,
  config: Config,
  make: MakeDatabase,
): Promise<Carried> {
  const addon = prepareFolder(config, folder);
  const unlock = lockFolder(folder, addon);
  try {
    rejectData(folder);
    return await withScratch(
      () => makeScratch(folder),
      async (scratch) => {
        const copy = join(scratch, databaseFile);
        const carried = await made(make, stream, copy, addon).catch((error: unknown) => {
          throw new Error(`cannot ${deed}: ${sentence(error)}`, { cause: error });
        });
        if (carried.keys !== null) placeKeys(carried.keys, scratch, folder);
        placeNew(copy, join(folder, databaseFile));
        return carried;
      },
    );
  } finally {
    unlock();
  }
}

/** Makes the database, whose secrets the keys that came with it must open: a server would not start with others. */
async function made(make: MakeDatabase, stream: Readable, copy: string, addon: Addon | undefined): Promise<Carried> {
  const carried = await make(stream, copy, addon);
  if (carried.keys === null) return carried;
  const db = SqliteDatabase.open(copy, addon);
  try {
    if (!fitsKeys(db, secretsOf(carried.keys, randomBytes)))
      throw new Error('The encryption keys in it are not those of its database');
  } finally {
    db.close();
  }
  return carried;
}

/** In place of what a killed command has left behind: the lock says that it is nobody's. */
function makeScratch(folder: string): string {
  const scratch = restoringFolder(folder);
  rmSync(scratch, { recursive: true, force: true });
  mkdirSync(scratch, { mode: 0o700 });
  return scratch;
}

async function opened(file: string, what: string): Promise<Readable> {
  try {
    return (await open(file)).createReadStream();
  } catch (error) {
    throw new Error(`cannot read the ${what} ${file}: ${plainReason(error, file)}`, { cause: error });
  }
}

/** From the log of another database SQLite would take pages for this one; a password in a file would be nobody's. */
function rejectData(folder: string): void {
  const database = join(folder, databaseFile);
  const present = [
    ...['', '-wal', '-shm', '-journal'].map((ending) => database + ending),
    initialPasswordFile(folder),
  ].find((file) => existsSync(file));
  if (present !== undefined) throw new Error(`${present} exists already: move it away, or restore into another folder`);
}

async function unpack(stream: Readable, copy: string, addon: Addon | undefined): Promise<Carried> {
  const gunzip = createGunzip();
  let given = 0;
  let tail = Buffer.alloc(0);
  const count = async function* (source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const part of source) {
      given += part.length;
      tail = Buffer.concat([tail, part.subarray(-lengthBytes)]).subarray(-lengthBytes);
      yield part;
    }
  };
  await pipeline(stream, count, gunzip, withinItsSize, createWriteStream(copy, { mode: 0o600 }));
  // Gunzip goes on with a further stream, which ends with the length of its own content alone (RFC 1952).
  const isOneStream = tail.readUInt32LE(0) === statSync(copy).size % 2 ** 32;
  if (gunzip.bytesWritten < given || !isOneStream) throw new Error(followed);
  rejectForeignSchema(copy, addon);
  return unpackBackupInThread(copy, addon);
}

/** Before anything else is done with the database, which might run what is in a foreign schema. */
function rejectForeignSchema(copy: string, addon: Addon | undefined): void {
  const handle = openHandle(copy, addon, { readonly: true, fileMustExist: true });
  try {
    requireOwnSchemaOf(handle, addon);
  } catch (error) {
    if (codeOf(error) !== undefined)
      throw new Error(`The backup is damaged (${errorOf(error).message})`, { cause: error });
    throw error;
  } finally {
    handle.close();
  }
}

/** Bytes at the end of a gzip stream that tell the length of its content, modulo 2^32. */
const lengthBytes = 4;

const followed = 'The backup is damaged (something follows its end)';

/** Lets a database through that is as long as its header says. Nothing is written before that has been read. */
async function* withinItsSize(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let start: Buffer | undefined = Buffer.alloc(0);
  let [length, size] = [0, 0];
  for await (const part of source) {
    length += part.length;
    if (start === undefined) {
      if (length > size) throw new Error('The backup is damaged (it is longer than it says)');
      yield part;
      continue;
    }
    start = Buffer.concat([start, part]);
    if (start.length < databaseHeaderBytes) continue;
    size = sizeOfBackup(start);
    if (length > size) throw new Error('The backup is damaged (it is longer than it says)');
    yield start;
    start = undefined;
  }
  if (start !== undefined) throw new Error('The file is no backup');
}

/** What zlib says of a file that is not gzip, and of one that has been cut or changed. */
function sentence(error: unknown): string {
  const { message } = errorOf(error);
  if (message === 'incorrect header check') return 'The file is no backup';
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  // What follows the end of its input gunzip leaves alone, and lets nothing more come.
  if (code === 'ABORT_ERR') return followed;
  return code.startsWith('Z_') ? `The backup is damaged (${message})` : plainReason(error);
}

/** A command that was killed may have placed the same keys before. */
function placeKeys(keys: string, scratch: string, folder: string): void {
  const file = keyFile(folder);
  if (existsSync(file) && readFileSync(file, 'utf8') !== keys)
    throw new Error(`${file} has other keys than the backup: move it away, or restore into another folder`);
  const draft = keyFile(scratch);
  writeFileSync(draft, keys, { mode: 0o600 });
  place(draft, file);
}
