/**
 * The modes in which the runner runs test files besides the usual one. A mode is a few environment variables, which
 * test/support reads, and a rule for the files that run in it, too.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Mode {
  /** The text that the runner shows after the path of a file. */
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
  /** Whether a file runs in this mode, too. Its path is relative to test/, with slashes. */
  readonly includes: (path: string, text: string) => boolean;
}

/** Files about time: they set a clock, advance it, or follow events as they occur. */
const isTestOfTime = (text: string): boolean => /\bclock\.(set|advance)\(|\.later\(|\bEventReader\b/.test(text);

/** Where time decides the outcome. The drivers of vendors and attacks use the same code, and take as long as all of these. */
const dependsOnTime = /^(accounts|activity|cloud\/(resources|services|operations)|kernel\/(cache|security|threads))\//;

/** Where each kind of write is made, and where a write has effects outside of the database. */
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

/** The runs of a test file below a root: itself, and one for each other mode, in parentheses after the path. */
export function runsOf(root: string, path: string): readonly string[] {
  const text = readFileSync(join(root, path), 'utf8');
  const further = modes.filter(({ includes }) => includes(path.replaceAll('\\', '/'), text));
  return [path, ...further.map(({ name }) => `${path} (${name})`)];
}

/** The file of a run, relative to the root, and the environment variables of its mode. */
export function fileOf(run: string): { readonly path: string; readonly env: Readonly<Record<string, string>> } {
  const mode = modes.find(({ name }) => run.endsWith(` (${name})`));
  return mode ? { path: run.slice(0, -` (${mode.name})`.length), env: mode.env } : { path: run, env: {} };
}
