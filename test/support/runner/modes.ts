/**
 * The modes in which the runner runs test files besides the usual one. A mode is a few environment variables, which
 * test/support reads, and the files that it is for.
 */
import { readFileSync } from 'node:fs';

export interface Mode {
  /** What the runner shows behind the path of a file. */
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
  /** Whether a file runs in this mode, too. Its path is relative to test/, with slashes. */
  readonly includes: (path: string, text: string) => boolean;
}

/** Everything that has to do with time: files that set a clock, move it on, or follow the events as they happen. */
const isTestOfTime = (text: string): boolean => /\bclock\.(set|advance)\(|\.later\(|\bEventReader\b/.test(text);

/** Where time decides what happens. The drivers of vendors and attacks use the same code, and take as long as all of these. */
const dependsOnTime = /^(accounts|activity|cloud\/(resources|services|worker)|kernel\/access)\//;

export const modes: readonly Mode[] = [
  {
    name: 'on a moving clock',
    env: { TENANTRY_TEST_CLOCK: 'moving' },
    includes: (path, text) => dependsOnTime.test(path) && isTestOfTime(text),
  },
];

/** The modes besides the usual one that a file below the root of the tests runs in. */
export function modesOf(file: string, path: string): readonly Mode[] {
  const text = readFileSync(file, 'utf8');
  return modes.filter(({ includes }) => includes(path.replaceAll('\\', '/'), text));
}
