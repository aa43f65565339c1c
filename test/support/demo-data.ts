/** A data folder with sample data, shared by the tests of a run that only read it. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nativeCache, Program } from './program.ts';

const cache = fileURLToPath(new URL('../../dist/demo-data', import.meta.url));
const source = join(cache, 'data');

/** Copies the data folder of `tenantry demo` to a path that does not exist yet. */
export async function copyDemoData(to: string): Promise<void> {
  if (!existsSync(source)) await make();
  cpSync(source, to, { recursive: true, preserveTimestamps: true });
}

async function make(): Promise<void> {
  const program = new Program(nativeCache);
  mkdirSync(cache, { recursive: true });
  const own = mkdtempSync(join(cache, 'new-'));
  try {
    const { code, stderr } = await program.run(['demo', '--quiet', '--data', join(own, 'data')]);
    if (code !== 0) throw new Error(`the sample data are missing: ${stderr}`);
    if (!existsSync(source)) renameSync(join(own, 'data'), source);
  } catch (error) {
    // Another process of the runner created it first.
    if (!existsSync(source)) throw error;
  } finally {
    await program.end();
    rmSync(own, { recursive: true });
  }
}
