import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const file = fileURLToPath(new URL('../../../node_modules/.cache/tenantry/test-durations.json', import.meta.url));

/** Seconds that the longest files take, for the first run of a clone. */
export const longFiles: Readonly<Record<string, number>> = {
  'app/main.test.ts': 44,
  'package/package.test.ts': 40,
  'app/rights/property.test.ts': 38,
  'app/backup/backup.test.ts': 34,
  'app/rights/rights.test.ts': 33,
  'console/everywhere.test.ts': 31,
  'chaos/short.test.ts': 30,
  'console/matrix.test.ts': 27,
  'app/backup/scheduled.test.ts': 25,
  'app/demo/snapshot.test.ts': 24,
  'kernel/http/options-everywhere.test.ts': 23,
  'console/opened-lists.test.ts': 22,
  'attacks/fuzz.test.ts': 22,
  'app/replication/follow.test.ts': 22,
  'cloud/providers/amazon/driver.test.ts': 21,
  'console/roles.test.ts': 20,
  'app/unusable-folder.test.ts': 19,
  'app/long-reads.test.ts': 18,
  'app/replication/promote.test.ts': 17,
  'app/demo/demo.test.ts': 17,
  'manual.test.ts': 16,
};

/** Folders with other slow files. */
const slowFolders = /^(chaos|package|console|clients|examples|upgrades|attacks)\b|\bkill\b|\bcrash\b/;
const [slow, usual] = [12, 1];

/** Milliseconds of test files in their last run, by path. */
export function readDurations(): Readonly<Record<string, number>> {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    // No recorded run.
    return {};
  }
}

/** Records the durations of files, besides earlier ones. */
export function writeDurations(durations: Readonly<Record<string, number>>): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ ...readDurations(), ...durations }));
}

/** Sorts the files, the slowest first, so that no process ends with a slow one alone. */
export function sortByDuration(files: readonly string[], durations: Readonly<Record<string, number>>): string[] {
  const unknown = (path: string): number => longFiles[path] ?? (slowFolders.test(path) ? slow : usual);
  const expected = (path: string): number => durations[path] ?? 1000 * unknown(path);
  return [...files].sort((a, b) => expected(b) - expected(a));
}
