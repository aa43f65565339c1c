/** Reads the lists of src/kernel/native/parts.ts. */
import { readFileSync } from 'node:fs';

/** Returns `{ lateModules, threads }`. */
export async function listedParts() {
  const { transform } = await import('esbuild');
  const file = new URL('../kernel/native/parts.ts', import.meta.url);
  const { code } = await transform(readFileSync(file, 'utf8'), { loader: 'ts' });
  return import(`data:text/javascript,${encodeURIComponent(code)}`);
}
