/** Generates the types of the API that the console uses, from the OpenAPI document of the built program. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Writes dist/console/tenantry.d.ts unless it is up to date, because it takes seconds. */
export async function writeTypes({ bundle, packageFile, reportBuilt, root, writeAtomically }) {
  const started = performance.now();
  const file = join(root, 'dist/console/tenantry.d.ts');
  const document = execFileSync(process.execPath, [bundle, 'openapi'], { encoding: 'utf8', maxBuffer: 1e8 });
  const { version } = JSON.parse(readFileSync(packageFile('openapi-typescript', 'package.json'), 'utf8'));
  const digest = createHash('sha256').update(version).update(document).digest('hex');
  const firstLine = `// Made from ${digest}\n`;
  if (existsSync(file) && readFileSync(file, 'utf8').startsWith(firstLine)) return;
  const { default: typesOf, astToString } = await import('openapi-typescript');
  const text = firstLine + astToString(await typesOf(document));
  writeAtomically(file, text);
  reportBuilt(file, text.length, started);
}
