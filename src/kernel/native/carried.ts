import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';

/** Unpacks a part of the one-file build at this URL, which takes some milliseconds. See src/decisions/bundle-parts.md. */
export function carried(url: string, name: string): Buffer {
  const file = readFileSync(new URL(url));
  const mark = `\n//${name}:`;
  const start = file.lastIndexOf(mark, undefined, 'latin1') + mark.length;
  const part = file.toString('latin1', start, file.indexOf('\n', start));
  return brotliDecompressSync(Buffer.from(part, 'base64'));
}
