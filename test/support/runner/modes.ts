/**
 * Further modes of the runner. A mode sets environment variables that test/support reads, and selects the files that run in it in
 * addition to the default mode.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Mode {
  /** Printed after the path of a file. */
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
  /** Whether a file also runs in this mode. The path is relative to test/, with slashes. */
  readonly includes: (path: string, text: string) => boolean;
}

/** Whether a test sets or advances a clock, or follows events as they occur. */
const isTestOfTime = (text: string): boolean => /\bclock\.(set|advance)\(|\.later\(|\bEventReader\b/.test(text);

/**
 * Folders whose outcomes depend on time. The tests of drivers and attacks run the same code, but take as long as all of these
 * together.
 */
const dependsOnTime = /^(accounts|activity|cloud\/(resources|services|operations)|kernel\/(cache|security|threads))\//;

/** Files that make each kind of write, and writes with effects outside the database. */
const writes =
  /^(app\/(written-fields|operation\/operation)|accounts\/(invitations|session|users)\/[^/]*$|activity\/(alerts|hooks\/hooks)|cloud\/providers\/jira\/(webhook|issues))/;

const modes: readonly Mode[] = [
  {
    name: 'on a moving clock',
    env: { TENANTRY_TEST_CLOCK: 'moving' },
    includes: (path, text) => dependsOnTime.test(path) && isTestOfTime(text),
  },
  { name: 'writing twice', env: { TENANTRY_TEST_WRITES: 'twice' }, includes: (path) => writes.test(path) },
];

/** Returns the runs of a test file: its path, and for each further mode the path with the mode in parentheses. */
export function runsOf(root: string, path: string): readonly string[] {
  const text = readFileSync(join(root, path), 'utf8');
  const further = modes.filter(({ includes }) => includes(path.replaceAll('\\', '/'), text));
  return [path, ...further.map(({ name }) => `${path} (${name})`)];
}

/** Returns the file of a run, relative to the root, and the environment variables of its mode. */
export function fileOf(run: string): { readonly path: string; readonly env: Readonly<Record<string, string>> } {
  const mode = modes.find(({ name }) => run.endsWith(` (${name})`));
  return mode ? { path: run.slice(0, -` (${mode.name})`.length), env: mode.env } : { path: run, env: {} };
}
