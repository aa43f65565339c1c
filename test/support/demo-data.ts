/** A data folder with the sample data, made once in a run of the tests for all that only need it to exist. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nativeCache, Program } from './program.ts';

const cache = fileURLToPath(new URL('../../dist/demo-data', import.meta.url));
const made = join(cache, 'data');

/** Copies a data folder that `tenantry demo` of the built program has filled to a path where nothing exists. */
export async function copyDemoData(to: string): Promise<void> {
  if (!existsSync(made)) await make();
  cpSync(made, to, { recursive: true, preserveTimestamps: true });
}

async function make(): Promise<void> {
  const program = new Program(nativeCache);
  mkdirSync(cache, { recursive: true });
  const own = mkdtempSync(join(cache, 'new-'));
  try {
    const { code, stderr } = await program.run(['demo', '--quiet', '--data', join(own, 'data')]);
    if (code !== 0) throw new Error(`the sample data were not made: ${stderr}`);
    if (!existsSync(made)) renameSync(join(own, 'data'), made);
  } catch (error) {
    // Another process of the runner was faster.
    if (!existsSync(made)) throw error;
  } finally {
    await program.end();
    rmSync(own, { recursive: true });
  }
}
