import { randomFillSync } from 'node:crypto';

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
      // A new piece of memory: what was given out of the old one stays as it is.
      pool = randomFillSync(Buffer.alloc(Math.max(bytes, drawn)));
      used = 0;
    }
    used += bytes;
    return pool.subarray(used - bytes, used);
  };
}
