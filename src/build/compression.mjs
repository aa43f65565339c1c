/** Compresses the parts of the bundle. See src/decisions/bundle.md. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, brotliCompressSync, constants } from 'node:zlib';

const cache = fileURLToPath(new URL('../../node_modules/.cache/tenantry/compressed', import.meta.url));
const quality = (level) => ({
  params: { [constants.BROTLI_PARAM_QUALITY]: level, [constants.BROTLI_PARAM_LGWIN]: 24 },
});

/** Compresses bytes; returns base64. */
export const compressed = (bytes) => brotliCompressSync(bytes, quality(9)).toString('base64');

/**
 * Compresses bytes with the best quality, which saves a tenth and takes ten times as long; resolves with base64. Use it for
 * installed packages, whose result is cached until they are installed again.
 */
export async function bestCompressed(bytes) {
  const file = join(cache, createHash('sha256').update(bytes).digest('hex'));
  if (existsSync(file)) return readFileSync(file, 'latin1');
  const text = (await promisify(brotliCompress)(bytes, quality(11))).toString('base64');
  mkdirSync(cache, { recursive: true });
  // Another build may be writing the same file.
  const temporary = `${file}.${process.pid}`;
  writeFileSync(temporary, text);
  renameSync(temporary, file);
  return text;
}
