import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const file = fileURLToPath(new URL('../../../node_modules/.cache/tenantry/test-durations.json', import.meta.url));

/** Durations of the slowest files in seconds, for the first run in a clone. */
export const longFiles: Readonly<Record<string, number>> = {
  'package/package.test.ts': 45,
  'console/accessibility.test.ts': 91,
  'chaos/short.test.ts': 84,
  'app/backup/backup.test.ts': 80,
  'app/main.test.ts': 60,
  'app/replication/follow.test.ts': 52,
  'app/rights/property.test.ts': 49,
  'console/roles.test.ts': 48,
  'app/demo/snapshot.test.ts': 60,
  'console/matrix.test.ts': 45,
  'app/replication/lease.test.ts': 45,
  'console/dialogs-objects.test.ts': 42,
  'app/backup/scheduled.test.ts': 40,
  'package/runner.test.ts': 38,
  'package/fresh-clone.test.ts': 32,
  'clients/generators.test.ts': 32,
  'app/rights/rights.test.ts': 32,
  'console/screenshots.test.ts': 32,
  'console/dialogs-lists.test.ts': 31,
  'cloud/providers/slow.test.ts': 30,
  'console/hooks.test.ts': 30,
  'app/long-reads.test.ts': 30,
  'console/conditions.test.ts': 29,
  'manual.test.ts': 27,
  'app/demo/demo.test.ts': 27,
  'console/visible-text.test.ts': 26,
  'package/bundle.test.ts': 25,
  'cloud/providers/openstack/kill.test.ts': 25,
  'console/operation.test.ts': 25,
  'console/providers.test.ts': 24,
  'kernel/durability/power.test.ts': 23,
  'package/everything.test.ts': 23,
  'console/sign-in.test.ts': 23,
  'cloud/providers/oracle/kill.test.ts': 22,
  'app/unusable-folder.test.ts': 21,
  'kernel/durability/failed-syncs.test.ts': 21,
  'app/doctor/doctor.test.ts': 21,
  'console/first-day-clicks.test.ts': 21,
  'cloud/providers/openstack/kill-parts.test.ts': 21,
  'clients/typed.test.ts': 20,
  'accounts/api-keys/matrix.test.ts': 20,
  'attacks/fuzz.test.ts': 20,
  'examples/examples.test.ts': 19,
  'console/console.test.ts': 19,
  'app/export/export.test.ts': 19,
  'app/replication/promote.test.ts': 18,
  'kernel/http/options-everywhere.test.ts': 18,
  'console/addresses.test.ts': 18,
  'console/components.test.ts': 18,
  'app/clock.test.ts': 18,
  'cloud/providers/amazon/driver.test.ts': 17,
  'app/cli/key-rotation.test.ts': 17,
  'console/team.test.ts': 16,
  'app/people.test.ts': 16,
  'kernel/durability/durability.test.ts': 15,
  'cloud/providers/jira/kill.test.ts': 15,
  'attacks/foreign-schema.test.ts': 14,
  'app/damaged.test.ts': 14,
  'app/cli/readable-folder.test.ts': 14,
};

/** Folders whose other files are slow. */
const slowFolders = /^(chaos|package|console|clients|examples|upgrades|attacks)\b|\bkill\b|\bcrash\b/;
const [slow, usual] = [12, 1];

/** Returns the durations of test files in their last run, in milliseconds by path. */
export function readDurations(): Readonly<Record<string, number>> {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    // No recorded run.
    return {};
  }
}

/** Merges the durations of files into the recorded ones. */
export function writeDurations(durations: Readonly<Record<string, number>>): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ ...readDurations(), ...durations }));
}

/** Sorts the files, the slowest first, so that no slow file runs alone at the end. */
export function sortByDuration(files: readonly string[], durations: Readonly<Record<string, number>>): string[] {
  const unknown = (path: string): number => longFiles[path] ?? (slowFolders.test(path) ? slow : usual);
  const expected = (path: string): number => durations[path] ?? 1000 * unknown(path);
  return [...files].sort((a, b) => expected(b) - expected(a));
}
