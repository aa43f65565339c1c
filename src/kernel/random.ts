import { createHash, randomFillSync } from 'node:crypto';

const bufferBytes = 4096;

/**
 * A source of cryptographic random bytes. Draws them from the system in larger pieces, because a system call for every uuid would
 * cost more than the rest of the uuid.
 */
export function systemRandom(): (bytes: number) => Buffer {
  let pool = Buffer.alloc(0);
  let used = 0;
  return (bytes) => {
    if (used + bytes > pool.length) {
      // Use a new buffer, so that bytes handed out from the old one stay unchanged.
      pool = randomFillSync(Buffer.alloc(Math.max(bytes, bufferBytes)));
      used = 0;
    }
    used += bytes;
    return pool.subarray(used - bytes, used);
  };
}

/** A source of bytes that is reproducible from a text. Not for real secrets. */
export interface RepeatableRandom {
  (bytes: number): Buffer;
  /** The number of bytes returned. Setting it continues from there. */
  position: number;
}

const blockBytes = 32;

/** Derives bytes from a text by SHA-256 with a counter, for reproducible ids. */
export function repeatableRandom(text: string): RepeatableRandom {
  const block = (number: number): Buffer => createHash('sha256').update(`${text} ${number}`).digest();
  let [stored, storedNumber] = [block(0), 0];
  const source = (bytes: number): Buffer => {
    const result = Buffer.alloc(bytes);
    for (let filled = 0; filled < bytes; ) {
      const number = Math.floor(source.position / blockBytes);
      if (number !== storedNumber) [stored, storedNumber] = [block(number), number];
      const count = stored.copy(result, filled, source.position % blockBytes);
      filled += count;
      source.position += count;
    }
    return result;
  };
  source.position = 0;
  return source;
}
