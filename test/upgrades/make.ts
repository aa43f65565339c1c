/**
 * Saves the data for the upgrade tests of later versions. Run it once per version, before the release: node build.mjs
 * upgrade-data
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { backUp } from '../../src/app/backup/backup.ts';
import { restore } from '../../src/app/backup/restore.ts';
import { withDeployment } from '../../src/app/compose/composition.ts';
import { demo } from '../../src/app/demo/demo.ts';
import { loadConfig } from '../../src/app/settings.ts';
import { version } from '../../src/kernel/app.ts';
import { responsesOf, storedOf } from './responses.ts';

async function saveData(): Promise<void> {
  const { responses, backup } = storedOf(version);
  if (existsSync(backup)) throw new Error(`${backup} exists already: the data of a released version does not change`);
  const root = mkdtempSync(join(tmpdir(), 'tenantry-upgrade-'));
  const [created, restored] = [join(root, 'made'), join(root, 'restored')];
  const config = loadConfig({ input: { data: created, log_level: 'silent' } });
  await withDeployment({ config }, async ({ app }) => void (await demo(app)), 'serve');
  await backUp(created, join(root, 'backup'), undefined);
  writeFileSync(backup, gzipSync(gunzipSync(readFileSync(join(root, 'backup'))), { level: 9 }));
  const { made: instant } = await restore(backup, restored, config);
  writeFileSync(responses, gzipSync(JSON.stringify(await responsesOf(restored, instant)), { level: 9 }));
  rmSync(root, { recursive: true });
}

await saveData();
