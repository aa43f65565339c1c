import { createCipheriv, createDecipheriv, randomUUID } from 'node:crypto';
import { existsSync, linkSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { place, syncFolder } from '../files.ts';
import { errorOf, present } from '../present.ts';

declare module '../app.ts' {
  interface App {
    readonly secrets: Secrets;
  }
}

/** The file in the data folder with the keys that the first start and `rotate-key` create. */
export const keyFile = (folder: string): string => join(folder, 'secret.key');

/** A key for encrypting secrets. */
interface EncryptionKey {
  readonly id: string;
  /** 32 bytes. */
  readonly bytes: Buffer;
}

const cipher = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;
const keyBytes = 32;

/**
 * Encrypts the secrets in the database: signing secrets of hooks, credentials of providers. A sealed secret is the
 * length and the text of the key's id, a random nonce, the tag and the ciphertext. It opens only for the object it was
 * sealed for: a user who can write to the database still cannot move a secret to another object.
 */
export class Secrets {
  readonly #keys: ReadonlyMap<string, EncryptionKey>;

  /** The first key encrypts; all keys decrypt. */
  constructor(
    private readonly keys: readonly EncryptionKey[],
    private readonly random: (bytes: number) => Buffer,
  ) {
    this.#keys = new Map(keys.map((key) => [key.id, key]));
  }

  /** Encrypts a text for the object with this uuid. */
  seal(secret: string, uuid: string): Buffer {
    const key = present(this.keys[0]);
    const nonce = this.random(nonceBytes);
    const sealing = createCipheriv(cipher, key.bytes, nonce).setAAD(Buffer.from(uuid));
    const sealed = Buffer.concat([sealing.update(secret, 'utf8'), sealing.final()]);
    const id = Buffer.from(key.id);
    return Buffer.concat([Buffer.from([id.length]), id, nonce, sealing.getAuthTag(), sealed]);
  }

  /** Decrypts the text sealed for the object with this uuid. Throws if its key is unknown or it belongs to another object. */
  open(sealed: Uint8Array, uuid: string): string {
    const bytes = Buffer.from(sealed);
    const start = 1 + bytes.readUInt8(0);
    const id = bytes.toString('utf8', 1, start);
    const key = this.#keys.get(id);
    if (!key) throw new Error(`A secret is encrypted with the key "${id}", which encryption_keys does not list`);
    const nonce = bytes.subarray(start, start + nonceBytes);
    const tag = bytes.subarray(start + nonceBytes, start + nonceBytes + tagBytes);
    const opening = createDecipheriv(cipher, key.bytes, nonce, { authTagLength: tagBytes })
      .setAAD(Buffer.from(uuid))
      .setAuthTag(tag);
    return opening.update(bytes.subarray(start + nonceBytes + tagBytes), undefined, 'utf8') + opening.final('utf8');
  }
}

/** Parses the keys in the setting or the key file. Throws a readable error if a line is not a key. */
function parseKeys(lines: readonly string[]): EncryptionKey[] {
  return lines.map((line) => {
    const colon = line.indexOf(':');
    const bytes = Buffer.from(line.slice(colon + 1), 'base64');
    if (colon < 1 || bytes.length !== keyBytes)
      throw new Error('An encryption key must be an id, a colon and the base64 of 32 bytes');
    return { id: line.slice(0, colon), bytes };
  });
}

/** Returns a new key as a line of the key file, with a random id. */
const newKeyLine = (random: (bytes: number) => Buffer): string =>
  `${random(4).toString('hex')}:${random(keyBytes).toString('base64')}`;

/**
 * Returns the keys of a deployment: from the setting, or from `secret.key` in the data folder, which is created if `canCreate` is
 * true. Without a folder, the key is random and temporary. Throws a readable error.
 */
export function openSecrets(
  setting: readonly string[],
  folder: string | undefined,
  random: (bytes: number) => Buffer,
  canCreate: () => boolean = () => true,
): Secrets {
  if (setting.length > 0) return new Secrets(parseKeys(setting), random);
  if (folder === undefined) return new Secrets([{ id: '1', bytes: random(keyBytes) }], random);
  const file = keyFile(folder);
  if (!existsSync(file)) {
    if (canCreate()) createKeyFile(file, newKeyLine(random));
    // Read it again, because another command may have created and used it meanwhile.
    else if (!existsSync(file))
      throw new Error(
        `${file} is missing, but the database has secrets that only it can decrypt: put it back, or restore a backup`,
      );
  }
  return new Secrets(readKeyFile(file), random);
}

/** Parses the content of a key file. Throws a readable error if a line is not a key. */
export const secretsOf = (content: string, random: (bytes: number) => Buffer): Secrets =>
  new Secrets(parseKeys(linesIn(content)), random);

/** Throws a readable error if a file is not a key file. */
export const requireKeyFile = (file: string): void => void readKeyFile(file);

/** Returns the keys in a file, at least one. Throws a readable error that names the file. */
function readKeyFile(file: string): EncryptionKey[] {
  let keys: EncryptionKey[];
  try {
    keys = parseKeys(linesOf(file));
  } catch (error) {
    throw new Error(`${file}: ${errorOf(error).message}`, { cause: error });
  }
  if (keys.length === 0) throw new Error(`${file} has no key`);
  return keys;
}

const linesOf = (file: string): string[] => linesIn(readFileSync(file, 'utf8'));

const linesIn = (content: string): string[] => content.split('\n').filter((line) => line.trim() !== '');

/** Concurrent commands in a new folder agree on one key: the complete file gets its name atomically, and only once. */
function createKeyFile(file: string, line: string): void {
  const draft = `${file}.${randomUUID()}`;
  writeFileSync(draft, `${line}\n`, { mode: 0o600, flag: 'wx', flush: true });
  try {
    linkSync(draft, file);
  } catch (error) {
    // A server that found the file of another command may have removed this draft.
    if (!existsSync(file)) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  // Syncs the name as well, even if another command has just created it, before the key is used.
  syncFolder(dirname(file));
}

/** Removes drafts that killed commands left beside an existing key file, because they contain keys. */
export function removeDrafts(folder: string): void {
  if (!existsSync(keyFile(folder))) return;
  for (const name of readdirSync(folder)) if (draftPattern.test(name)) rmSync(join(folder, name), { force: true });
}

const draftPattern = /^secret\.key\.(new|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** Prepends a new key to the key file. Returns the keys for encryption and decryption. */
export function addKey(folder: string, random: (bytes: number) => Buffer): Secrets {
  const file = keyFile(folder);
  const lines = [newKeyLine(random), ...(existsSync(file) ? linesOf(file) : [])];
  replaceKeys(file, lines);
  return new Secrets(parseKeys(lines), random);
}

/** Returns secrets with only the first key of the key file. */
export const newestKey = (folder: string, random: (bytes: number) => Buffer): Secrets =>
  new Secrets(readKeyFile(keyFile(folder)).slice(0, 1), random);

/** Removes all keys but the first from the key file. Returns the number of removed keys. */
export function dropOldKeys(folder: string): number {
  const file = keyFile(folder);
  const lines = linesOf(file);
  replaceKeys(file, lines.slice(0, 1));
  return lines.length - 1;
}

/** Replaces the file atomically: a crash leaves either the old keys or the new ones. */
function replaceKeys(file: string, lines: readonly string[]): void {
  const draft = `${file}.new`;
  writeFileSync(draft, `${lines.join('\n')}\n`, { mode: 0o600, flush: true });
  place(draft, file);
}

/** Merges two key files: returns the text of the first, extended by additional keys of an older one. */
export function withOlderKeys(newer: string, older: string): string {
  return [...new Set([...linesIn(newer), ...linesIn(older)])].map((line) => `${line}\n`).join('');
}
