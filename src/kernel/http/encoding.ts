import { brotliCompress, constants, gzip } from 'node:zlib';

export type Encoding = 'br' | 'gzip';

/** Minimum size for compression. A smaller body fits into one packet anyway. */
const compressedFrom = 1400;

/** Whether a body may be compressed, so that the response depends on Accept-Encoding. */
export const isCompressible = (type: string, length: number): boolean =>
  length >= compressedFrom && /json|text|javascript|svg/.test(type);

/** Returns the best encoding that the client accepts. Quality zero excludes an encoding. */
export function chosenEncoding(header: string | string[] | undefined): Encoding | undefined {
  if (!header) return undefined;
  const items = String(header).toLowerCase().split(',');
  const accepted = items
    .filter((item) => !/;\s*q=0(\.0*)?\s*$/.test(item))
    .map((item) => item.split(';', 1)[0]?.trim());
  if (accepted.includes('br')) return 'br';
  return accepted.includes('gzip') ? 'gzip' : undefined;
}

/** Compression effort. `once` is for bodies that are compressed once and sent often. */
type Effort = 'each' | 'once';

// Quality 4 costs about as much as gzip but compresses better. Quality 11 takes seconds for the documentation.
const brotliQuality: Readonly<Record<Effort, number>> = { each: 4, once: 9 };

/** Compresses a body off the main thread. */
export function compress(
  encoding: Encoding,
  body: string | Uint8Array,
  use: (compressed: Uint8Array) => void,
  effort: Effort = 'each',
): void {
  const done = (error: Error | null, compressed: Buffer): void => {
    if (error) throw error;
    use(compressed);
  };
  if (encoding === 'br')
    brotliCompress(body, { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality[effort] } }, done);
  else gzip(body, done);
}

/** Compressed forms of a body that is sent more than once. Each is created on first use and cached. */
export class CompressedForms {
  readonly #created = new Map<Encoding, Uint8Array>();
  /** Callbacks waiting for a form that is being created. */
  readonly #waiting = new Map<Encoding, ((compressed: Uint8Array) => void)[]>();

  /** `stored` receives the size in bytes of a new form. */
  constructor(
    private readonly effort: Effort,
    private readonly stored: (bytes: number) => void = () => undefined,
  ) {}

  /** Hands over the form of this body in an encoding. */
  get(encoding: Encoding, body: string | Uint8Array, use: (compressed: Uint8Array) => void): void {
    const created = this.#created.get(encoding);
    if (created) {
      use(created);
      return;
    }
    const waiting = this.#waiting.get(encoding);
    if (waiting) {
      waiting.push(use);
      return;
    }
    const users = [use];
    this.#waiting.set(encoding, users);
    const finish = (compressed: Uint8Array): void => {
      this.#created.set(encoding, compressed);
      this.#waiting.delete(encoding);
      this.stored(compressed.length);
      for (const user of users) user(compressed);
    };
    compress(encoding, body, finish, this.effort);
  }
}
