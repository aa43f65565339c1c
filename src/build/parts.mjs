/** The late modules and the threads that src/kernel/native/parts.ts lists. */
import { readFileSync } from 'node:fs';

/** Reads the lists, which are TypeScript, as `{ lateModules, threads }`. */
export async function listedParts() {
  const { transform } = await import('esbuild');
  const file = new URL('../kernel/native/parts.ts', import.meta.url);
  const { code } = await transform(readFileSync(file, 'utf8'), { loader: 'ts' });
  return import(`data:text/javascript,${encodeURIComponent(code)}`);
}
