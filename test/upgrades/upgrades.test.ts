/** Databases of every released version are migrated, and return the same responses. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { restore } from '../../src/app/backup/restore.ts';
import { withDeployment } from '../../src/app/compose/composition.ts';
import { examine } from '../../src/app/doctor/doctor.ts';
import { loadConfig } from '../../src/app/settings.ts';
import { type Replies, responsesOf, storedOf } from './responses.ts';

const upgrades = suite('upgrades');
const versions = readdirSync(fileURLToPath(new URL('.', import.meta.url)))
  .filter((name) => name.endsWith('.backup'))
  .map((name) => name.slice(0, -'.backup'.length));

upgrades('has data of earlier versions', () => assert.ok(versions.includes('0.1.0')));

for (const version of versions)
  upgrades(`opens a database of ${version}, finds no problem, and returns the same responses`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tenantry-upgrade-'));
    const files = storedOf(version);
    const config = loadConfig({ input: { data: folder, log_level: 'silent' } });
    try {
      const { made: backupTime } = await restore(files.backup, folder, config);
      const before: Replies = JSON.parse(gunzipSync(readFileSync(files.responses)).toString());
      const now = await responsesOf(folder, backupTime);
      assert.ok(Object.keys(before).length > 100);
      // The only response that must change.
      const paths = Object.keys(before).filter((path) => !path.endsWith(' /api/version/'));
      const differences = paths.flatMap((path) => differencesOf(before[path], now[path], path));
      assert.equal(differences.slice(0, 10), []);
      await withDeployment({ config }, ({ app }) => assert.equal(examine(app, false).problems, []), 'examine');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

/** Lists missing and changed parts of a response. A later version may add members. */
function differencesOf(before: unknown, now: unknown, place: string): string[] {
  if (Array.isArray(before) && Array.isArray(now) && before.length !== now.length)
    return [`${place}: ${now.length} items, not ${before.length}`];
  if (typeof before === 'object' && before !== null && typeof now === 'object' && now !== null) {
    const matches = new Map<string, unknown>(Object.entries(now));
    return Object.entries(before).flatMap(([key, value]) => differencesOf(value, matches.get(key), `${place}.${key}`));
  }
  return before === now ? [] : [`${place}: ${JSON.stringify(now)}, not ${JSON.stringify(before)}`];
}

upgrades.run();
