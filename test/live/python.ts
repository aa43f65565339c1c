import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Json } from '../support/fixture.ts';

/** The interpreter that has Debian's packages. */
const python = '/usr/bin/python3';

/** Returns the JSON output of a script in this folder. Rejects with its stderr if it fails. */
export async function runPythonOf(interpreter: string, script: string, ...words: readonly string[]): Promise<Json> {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const { stdout } = await promisify(execFile)(interpreter, [path, ...words]);
  return JSON.parse(stdout);
}

/** The same with Debian's interpreter and packages. */
export const runPython = (script: string, ...words: readonly string[]): Promise<Json> =>
  runPythonOf(python, script, ...words);

/** Prints the observations, one per line. */
export const print = (seen: object): void => {
  for (const [what, value] of Object.entries(seen)) process.stdout.write(`            ${what}: ${value}\n`);
};
