import { cpSync, mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nativeCache, Program } from './program.ts';

/** The runner empties it before each run. */
const cache = fileURLToPath(new URL('../../dist/prepared', import.meta.url));

/**
 * Returns a function that creates a program in a folder with the prepared files, and returns it with the result of the
 * preparation. The preparation runs once per run of the tests and its files are copied, which is faster than running its commands
 * again.
 */
export function preparing<Result>(
  prepare: (program: Program) => Promise<Result>,
): () => Promise<{ program: Program; result: Result }> {
  let first: { readonly folder: string; readonly result: Result } | undefined;
  return async () => {
    const program = new Program(nativeCache);
    if (first) {
      cpSync(first.folder, program.folder, { recursive: true, preserveTimestamps: true });
      return { program, result: first.result };
    }
    const result = await prepare(program);
    mkdirSync(cache, { recursive: true });
    const folder = mkdtempSync(join(cache, 'files-'));
    cpSync(program.folder, folder, { recursive: true, preserveTimestamps: true });
    first = { folder, result };
    return { program, result };
  };
}
