/** The OpenAPI document follows the recommended rules of Redocly. */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openApi } from '../../../src/app/docs/openapi.ts';
import { catalogue, endpoints } from '../../support/catalogue.ts';

const lint = suite('lint of the documentation');
const configuration = fileURLToPath(new URL('redocly.yaml', import.meta.url));
const redocly = join(dirname(createRequire(import.meta.url).resolve('@redocly/cli/package.json')), 'bin/cli.js');
let folder: string;

lint.before(() => {
  folder = mkdtempSync(join(tmpdir(), 'tenantry-lint-'));
});
lint.after(() => rmSync(folder, { recursive: true }));

interface Found {
  readonly totals: { readonly errors: number; readonly warnings: number };
  readonly problems: readonly {
    readonly ruleId: string;
    readonly message: string;
    readonly location: readonly { readonly pointer?: string }[];
  }[];
}

function problemsOf(document: unknown): string[] {
  const file = join(folder, 'openapi.json');
  writeFileSync(file, JSON.stringify(document));
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [redocly, 'lint', '--config', configuration, '--format=json', file],
    {
      encoding: 'utf8',
      timeout: 120_000,
      maxBuffer: 1e8,
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    },
  );
  assert.ok(stdout.includes('"totals"'), stderr);
  const { problems } = JSON.parse(stdout.slice(stdout.indexOf('{'))) as Found;
  return problems.map(({ location, message, ruleId }) => `${ruleId}: ${message} (${location[0]?.pointer})`);
}

lint('finds neither errors nor warnings in the document', () => {
  assert.equal(problemsOf(openApi(endpoints, catalogue)), []);
});

lint('finds an injected mistake', () => {
  const document = structuredClone(openApi(endpoints, catalogue)) as {
    paths: Record<string, { get: { operationId: string } }>;
  };
  (document.paths['/api/users/'] as { get: { operationId: string } }).get.operationId = 'listCustomers';
  assert.equal(problemsOf(document).length > 0, true);
});

lint.run();
