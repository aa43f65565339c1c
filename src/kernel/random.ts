import { createHash, randomFillSync } from 'node:crypto';

const drawn = 4096;

/**
 * A source of cryptographic random bytes, each given out once. They are drawn from the system in larger pieces: asking it
 * for every uuid costs more than all else about the uuid.
 */
export function systemRandom(): (bytes: number) => Buffer {
  let pool = Buffer.alloc(0);
  let used = 0;
  return (bytes) => {
    if (used + bytes > pool.length) {
      // A new buffer: bytes that were handed out of the old one stay unchanged.
      pool = randomFillSync(Buffer.alloc(Math.max(bytes, drawn)));
      used = 0;
    }
    used += bytes;
    return pool.subarray(used - bytes, used);
  };
}

/** A source of bytes that are the same for the same text; never for real secrets. */
export interface RepeatableRandom {
  (bytes: number): Buffer;
  /** How many bytes it has returned; when set, it continues from there. */
  position: number;
}

const blockBytes = 32;

/** Bytes that follow from a text: SHA-256 of it and a counter, one after the other. For ids that are to be the same each time. */
export function repeatableRandom(text: string): RepeatableRandom {
  const block = (number: number): Buffer => createHash('sha256').update(`${text} ${number}`).digest();
  let [stored, storedNumber] = [block(0), 0];
  const source = (bytes: number): Buffer => {
    const taken = Buffer.alloc(bytes);
    for (let filled = 0; filled < bytes; ) {
      const number = Math.floor(source.position / blockBytes);
      if (number !== storedNumber) [stored, storedNumber] = [block(number), number];
      const count = stored.copy(taken, filled, source.position % blockBytes);
      filled += count;
      source.position += count;
    }
    return taken;
  };
  source.position = 0;
  return source;
}
