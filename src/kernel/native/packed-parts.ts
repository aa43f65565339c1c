import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { getAsset, isSea } from 'node:sea';
import { promisify } from 'node:util';
import { type BrotliOptions, brotliDecompress, brotliDecompressSync } from 'node:zlib';

/** The asset of an executable with the parts, which other builds append as comments. */
const asset = 'parts';
const digestLength = 64;

/** More than any part has. The default would return to the main thread after every 16 kB. */
const maxPartBytes = 2 ** 24;

/**
 * Unpacks a part of the one-file build at this URL, which takes a few milliseconds. Throws a readable error if its digest is
 * wrong. See src/decisions/bundle.md.
 */
export const unpackPart = (url: string, name: string): Buffer => brotliDecompressSync(compressedPart(url, name));

/** Unpacks a large part in another thread. Rejects like `unpackPart`. */
export const unpackInThread = async (url: string, name: string): Promise<Buffer> =>
  promisify<Buffer, BrotliOptions, Buffer>(brotliDecompress)(compressedPart(url, name), { chunkSize: maxPartBytes });

function compressedPart(url: string, name: string): Buffer {
  const file = isSea() ? Buffer.from(getAsset(asset)) : readFileSync(new URL(url));
  const mark = `\n//${name}:`;
  const start = file.lastIndexOf(mark, undefined, 'latin1') + mark.length;
  const text = start + digestLength + 1;
  const part = file.subarray(text, file.indexOf('\n', text));
  const digest = file.toString('latin1', start, start + digestLength);
  if (createHash('sha256').update(part).digest('hex') !== digest)
    throw new Error(`the program file is damaged (${name}): copy or build it again`);
  return Buffer.from(part.toString('latin1'), 'base64');
}
