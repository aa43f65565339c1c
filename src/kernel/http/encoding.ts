import { brotliCompress, constants, gzip } from 'node:zlib';

export type Encoding = 'br' | 'gzip';

/** Bytes from which compressing is worth its time: less fits into one packet anyway. */
const compressedFrom = 1400;

/** Whether a body may be sent compressed, so that what is sent depends on Accept-Encoding. */
export const isCompressible = (type: string, length: number): boolean =>
  length >= compressedFrom && /json|text|javascript|svg/.test(type);

/** The better of the encodings the client accepts; an encoding with quality zero is refused. */
export function chosenEncoding(header: string | string[] | undefined): Encoding | undefined {
  if (!header) return undefined;
  const items = String(header).toLowerCase().split(',');
  const accepted = items
    .filter((item) => !/;\s*q=0(\.0*)?\s*$/.test(item))
    .map((item) => item.split(';', 1)[0]?.trim());
  if (accepted.includes('br')) return 'br';
  return accepted.includes('gzip') ? 'gzip' : undefined;
}

/** Compresses a body off the main thread. */
export function compress(encoding: Encoding, body: string | Uint8Array, use: (compressed: Buffer) => void): void {
  const done = (error: Error | null, compressed: Buffer): void => {
    if (error) throw error;
    use(compressed);
  };
  // Quality 4 costs about what gzip costs and is smaller; the default of 11 is for files compressed once.
  if (encoding === 'br') brotliCompress(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }, done);
  else gzip(body, done);
}
