import { randomBytes } from 'node:crypto';
import { createWriteStream, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { initialPasswordFile } from '../../accounts/session/initial-password.ts';
import { prepareChain } from '../../activity/audit/append.ts';
import { appendReplacement } from '../../activity/audit/heads-log.ts';
import type { Config } from '../../kernel/config/config.ts';
import { requireOwnSchemaOf } from '../../kernel/db/own-schema.ts';
import { SqliteDatabase } from '../../kernel/db/sqlite-database.ts';
import { openHandle } from '../../kernel/durability/handle.ts';
import { type Carried, databaseHeaderBytes, sizeOfBackup } from '../../kernel/durability/snapshot.ts';
import { unpackBackupInThread } from '../../kernel/durability/snapshots.ts';
import { place, placeNew } from '../../kernel/files.ts';
import type { Addon } from '../../kernel/native/native.ts';
import { codeOf, errorOf, plainReason } from '../../kernel/present.ts';
import { measuringProgress } from '../../kernel/progress.ts';
import { keyFile, secretsOf } from '../../kernel/security/secrets.ts';
import { databaseFile, lockFolder, prepareFolder, restoringFolder } from '../data/data-folder.ts';
import { fitsKeys } from '../data/encryption.ts';
import { withCleanup, withTemporaryFolder } from './temporary-folder.ts';

/**
 * Fills a data folder from a backup in a file or a stream. Returns the backup's time and keys. Rejects with a readable error if a
 * server uses the folder, the folder has data, or the backup is invalid, damaged or from a newer version.
 *
 * The database gets its name last, once it is completely on disk. Until then, the folder has no database and the command can be
 * repeated. `name` is that of a stream in messages.
 */
export const restore = (source: string | Readable, folder: string, config: Config, name?: string): Promise<Carried> =>
  fillFolder(source, 'backup', folder, config, unpack, name);

/** Creates a database file from a stream. Rejects with a readable error. */
type CreateDatabase = (stream: Readable, copy: string, addon: Addon | undefined) => Promise<Carried>;

/** The verb for each kind of source. */
const verbs = { backup: 'restore', export: 'import' } as const;

/** Fills a data folder from any kind of source. */
export async function fillFolder(
  source: string | Readable,
  kind: keyof typeof verbs,
  folder: string,
  config: Config,
  create: CreateDatabase,
  name = typeof source === 'string' ? source : 'standard input',
): Promise<Carried> {
  const stream = typeof source === 'string' ? await openSource(source, kind) : source;
  try {
    const size = typeof source === 'string' ? statSync(source).size : undefined;
    const bytesRead = (): number => ('bytesRead' in stream ? Number(stream.bytesRead) : 0);
    return await measuringProgress(
      `reading the ${kind}`,
      () => [bytesRead(), size],
      () => fill(stream, verbs[kind], name, folder, config, create),
    );
  } finally {
    stream.destroy();
  }
}

async function fill(
  stream: Readable,
  command: (typeof verbs)[keyof typeof verbs],
  name: string,
  folder: string,
  config: Config,
  create: CreateDatabase,
): Promise<Carried> {
  const addon = prepareFolder(config, folder);
  return withCleanup(lockFolder(folder, addon), () => {
    rejectData(folder);
    return withTemporaryFolder(
      () => makeRestoringFolder(folder),
      async (temporary) => {
        const copy = join(temporary, databaseFile);
        const carried = await createWithKeys(create, stream, copy, addon).catch((error: unknown) => {
          throw new Error(`cannot ${command} ${name}: ${sentenceFor(error)}`, { cause: error });
        });
        if (carried.keys !== null) placeKeys(carried.keys, temporary, folder);
        // The heads in the folder were signed for the previous data.
        appendReplacement(folder, command);
        placeNew(copy, join(folder, databaseFile));
        return carried;
      },
    );
  });
}

/**
 * Creates the database and starts a new chain of its audit trail. Throws unless the keys from the source decrypt its secrets:
 * otherwise a server would not start.
 */
async function createWithKeys(
  create: CreateDatabase,
  stream: Readable,
  copy: string,
  addon: Addon | undefined,
): Promise<Carried> {
  const carried = await create(stream, copy, addon);
  const db = SqliteDatabase.open(copy, addon);
  try {
    if (carried.keys !== null && !fitsKeys(db, secretsOf(carried.keys, randomBytes)))
      throw new Error('The encryption keys in it are not those of its database');
    db.write(() => prepareChain(db, randomBytes));
    db.store();
    if (!db.truncateLog()) throw new Error(`another program uses ${copy}: close it and run the command again`);
  } finally {
    db.close();
  }
  return carried;
}

/** Replaces the folder that a killed command left behind. The lock guarantees that no other command is using it. */
function makeRestoringFolder(folder: string): string {
  const temporary = restoringFolder(folder);
  rmSync(temporary, { recursive: true, force: true });
  mkdirSync(temporary, { mode: 0o700 });
  return temporary;
}

async function openSource(file: string, kind: string): Promise<Readable> {
  try {
    return (await open(file)).createReadStream();
  } catch (error) {
    throw new Error(`cannot read the ${kind} ${file}: ${plainReason(error, file)}`, { cause: error });
  }
}

/**
 * Throws if the folder has database files: SQLite would apply another database's log to this one, and an initial password would
 * belong to no user.
 */
function rejectData(folder: string): void {
  const database = join(folder, databaseFile);
  const existing = [
    ...['', '-wal', '-shm', '-journal'].map((ending) => database + ending),
    initialPasswordFile(folder),
  ].find((file) => existsSync(file));
  if (existing !== undefined)
    throw new Error(`${existing} exists already: move it away, or restore into another folder`);
}

async function unpack(stream: Readable, copy: string, addon: Addon | undefined): Promise<Carried> {
  const gunzip = createGunzip();
  let inputBytes = 0;
  let tail = Buffer.alloc(0);
  const count = async function* (source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const part of source) {
      inputBytes += part.length;
      tail = Buffer.concat([tail, part.subarray(-lengthBytes)]).subarray(-lengthBytes);
      yield part;
    }
  };
  await pipeline(stream, count, gunzip, limitToSize, createWriteStream(copy, { mode: 0o600 }));
  // Gunzip also reads a second stream, but the length in its last bytes covers only that stream (RFC 1952).
  const isOneStream = tail.readUInt32LE(0) === statSync(copy).size % 2 ** 32;
  if (gunzip.bytesWritten < inputBytes || !isOneStream) throw new Error(trailingData);
  rejectForeignSchema(copy, addon);
  return unpackBackupInThread(copy, addon);
}

/** Must run before any other use of the database: a foreign schema could run its code. */
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

/** Size of the field at the end of a gzip stream that has the length of its content, modulo 2^32. */
const lengthBytes = 4;

const trailingData = 'The backup is damaged (something follows its end)';

/** Passes a database through, up to the length in its header. Yields nothing until it has read the header. */
async function* limitToSize(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
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
  if (start !== undefined) throw new Error('The file is not a backup');
}

/** Translates zlib's errors about a file that is not gzip, truncated or modified. */
function sentenceFor(error: unknown): string {
  const { message } = errorOf(error);
  if (message === 'incorrect header check') return 'The file is not a backup';
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  // Gunzip aborts when data follows the end of its stream.
  if (code === 'ABORT_ERR') return trailingData;
  return code.startsWith('Z_') ? `The backup is damaged (${message})` : plainReason(error);
}

/** Accepts an existing file with the same keys, left by a killed command. */
function placeKeys(keys: string, temporary: string, folder: string): void {
  const file = keyFile(folder);
  if (existsSync(file) && readFileSync(file, 'utf8') !== keys)
    throw new Error(`${file} has other keys than the backup: move it away, or restore into another folder`);
  const draft = keyFile(temporary);
  writeFileSync(draft, keys, { mode: 0o600 });
  place(draft, file);
}
