/** Encrypts backups in the format of the command-line tool `age`. */
import { createReadStream, createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ReadableStream } from 'node:stream/web';
import { bech32 } from '@scure/base';
import { readText, startOf } from '../../kernel/files.ts';
import { errorOf, plainReason } from '../../kernel/present.ts';

/** The bytes of a stream, for the age library. `Readable.toWeb` would crash the process if the stream is canceled early. */
const webStream = (stream: Readable) =>
  ReadableStream.from<Uint8Array>(stream) as globalThis.ReadableStream<Uint8Array>;

/** Encrypts a file into another for public keys (`age1…`). */
export async function encryptFile(source: string, target: string, recipients: readonly string[]): Promise<void> {
  const { Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  for (const recipient of recipients) encrypter.addRecipient(recipient);
  const sealed = await encrypter.encrypt(webStream(createReadStream(source)));
  await pipeline(Readable.fromWeb(sealed as ReadableStream), createWriteStream(target, { mode: 0o600 }));
}

const fileStart = Buffer.from('age-encryption.org/v1\n');

/** Whether a file has the format of age; false if it is unreadable. */
export const isEncrypted = (file: string): boolean => startOf(file, fileStart.length).equals(fileStart);

/** Returns the decrypted stream. Rejects with a readable error if none of the identities decrypts it. */
export async function decrypted(stream: Readable, identities: readonly string[]): Promise<Readable> {
  const { Decrypter } = await import('age-encryption');
  const decrypter = new Decrypter();
  for (const identity of identities) decrypter.addIdentity(identity);
  try {
    return readableOf(await decrypter.decrypt(webStream(stream)), stream);
  } catch (error) {
    stream.destroy();
    throw stream.errored ?? headerError(error);
  }
}

/** Translates an error of the age library about the start of a file. */
function headerError(error: unknown): Error {
  const { message } = errorOf(error);
  return new Error(
    message.startsWith('no identity matched')
      ? 'No identity can decrypt this backup.'
      : `The backup is not encrypted with age, or is damaged (${message})`,
    { cause: error },
  );
}

/** Returns the decrypted bytes. An error of their source keeps its reason; any other means damage. */
function readableOf(plain: AsyncIterable<Uint8Array>, source: Readable): Readable {
  async function* content(): AsyncGenerator<Uint8Array> {
    try {
      yield* plain;
    } catch (error) {
      throw source.errored ?? new Error(`The backup is damaged (${plainReason(error)})`, { cause: error });
    }
  }
  return Readable.from(content(), { objectMode: false }).on('close', () => source.destroy());
}

/** Returns the X25519 identities in a file, which may have other lines, too. Throws a readable error. */
export function identitiesIn(file: string): string[] {
  const identities = readText(file, 'the identity ')
    .split('\n')
    .flatMap((line, i) => {
      const identity = line.trim();
      if (!identity.startsWith(`${identityPrefix}1`)) return [];
      if (isKey(identity, identityPrefix)) return [identity];
      throw new Error(`line ${i + 1} of ${file} is not a valid age identity`);
    });
  if (identities.length === 0) throw new Error(`${file} has no age identity (${identityPrefix}1…)`);
  return identities;
}

const identityPrefix = 'AGE-SECRET-KEY-';

/** Whether this is a public key for X25519, with the right checksum. */
export const isRecipient = (text: string): boolean => isKey(text, 'age');

/** Length of an X25519 key in bytes. */
const keyBytes = 32;

/** Whether this is an X25519 key in Bech32, in the case of its prefix, with the right checksum. */
function isKey(text: string, prefix: string): boolean {
  // Bech32 rejects mixed case, so the rest has the case of the prefix.
  if (!text.startsWith(`${prefix}1`)) return false;
  const decoded = bech32.decodeUnsafe(text);
  return decoded?.prefix === prefix.toLowerCase() && bech32.fromWordsUnsafe(decoded.words)?.length === keyBytes;
}
