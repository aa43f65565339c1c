import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Preloaded script that records the digest of each unpacked part, in all threads and processes of the program. */
const recorder = `
const { createHash } = require('node:crypto');
const { appendFileSync } = require('node:fs');
const { syncBuiltinESMExports } = require('node:module');
const zlib = require('node:zlib');
for (const name of ['brotliDecompress', 'brotliDecompressSync']) {
  const unpack = zlib[name];
  zlib[name] = (bytes, ...options) => {
    const digest = createHash('sha256').update(Buffer.from(bytes).toString('base64')).digest('hex');
    appendFileSync(process.env.UNPACKED_PARTS, digest + '\\n');
    return unpack(bytes, ...options);
  };
}
syncBuiltinESMExports();
`;

/** The parts embedded in a program file, and the parts it has unpacked. */
export class EmbeddedParts {
  /** The environment that makes the program record unpacked parts. */
  readonly environment: Readonly<Record<string, string>>;
  readonly #record: string;
  readonly #names: ReadonlyMap<string, string>;

  /** `folder` is where the records go. */
  constructor(program: string, folder: string) {
    const preload = join(folder, 'recorder.cjs');
    writeFileSync(preload, recorder);
    this.#record = join(folder, 'unpacked');
    this.environment = { NODE_OPTIONS: `--require=${preload}`, UNPACKED_PARTS: this.#record };
    const parts = readFileSync(program, 'latin1').matchAll(/^\/\/([^:\s]+):([0-9a-f]{64}):/gm);
    this.#names = new Map([...parts].map(([, name = '', digest = '']) => [digest, name]));
  }

  get all(): string[] {
    return [...this.#names.values()].sort();
  }

  get unpacked(): string[] {
    const digests = existsSync(this.#record) ? readFileSync(this.#record, 'utf8').trim().split('\n') : [];
    return [...new Set(digests)].map((digest) => this.#names.get(digest) ?? digest).sort();
  }
}
