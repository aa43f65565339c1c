/** Encrypts backups in the format of the command-line tool `age`. */
import { createReadStream, createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as WebStream } from 'node:stream/web';
import { readText } from '../../kernel/files.ts';

/** Encrypts a file into another for public keys (`age1…`). */
export async function encryptFile(source: string, target: string, recipients: readonly string[]): Promise<void> {
  const { Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  for (const recipient of recipients) encrypter.addRecipient(recipient);
  const plain = Readable.toWeb(createReadStream(source)) as ReadableStream<Uint8Array>;
  const sealed = await encrypter.encrypt(plain);
  await pipeline(Readable.fromWeb(sealed as WebStream), createWriteStream(target, { mode: 0o600 }));
}

/** Returns the decrypted stream. Rejects with a readable error if no identity in the file decrypts it. */
export async function decrypted(stream: Readable, identityFile: string): Promise<Readable> {
  const identities = identitiesIn(identityFile);
  const { Decrypter } = await import('age-encryption');
  const decrypter = new Decrypter();
  for (const identity of identities) decrypter.addIdentity(identity);
  try {
    const plain = await decrypter.decrypt(Readable.toWeb(stream) as ReadableStream<Uint8Array>);
    return Readable.fromWeb(plain as WebStream);
  } catch (error) {
    stream.destroy();
    throw new Error('No identity can decrypt this backup.', { cause: error });
  }
}

/** Returns the identities in a file: one per line, comments skipped. Throws a readable error. */
function identitiesIn(file: string): string[] {
  const lines = readText(file, 'the identity ')
    .split('\n')
    .map((line) => line.trim());
  const identities = lines.filter((line) => line.startsWith('AGE-SECRET-KEY-1'));
  if (identities.length === 0) throw new Error(`${file} has no age identity (AGE-SECRET-KEY-1…)`);
  return identities;
}
