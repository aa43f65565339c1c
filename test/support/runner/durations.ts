import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const file = fileURLToPath(new URL('../../../node_modules/.cache/tenantry/test-durations.json', import.meta.url));

/** Folders with the slowest files, for the first run of a clone. */
const slowFolders = /^(chaos|package|console|clients|examples|upgrades|attacks)\b|\bkill\b|\bcrash\b/;

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
  const expected = (path: string): number => durations[path] ?? (slowFolders.test(path) ? 20_000 : 1_000);
  return [...files].sort((a, b) => expected(b) - expected(a));
}
