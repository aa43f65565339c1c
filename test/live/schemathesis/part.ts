import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as assert from 'uvu/assert';
import { demoPassword } from '../../../src/app/demo/demo.ts';
import type { Json } from '../../support/fixture.ts';
import { Program } from '../../support/program.ts';
import { pythonPrograms } from '../packages.ts';
import { print } from '../python.ts';
import type { Steps } from '../steps.ts';

const phaseNames = ['examples', 'coverage', 'fuzzing', 'stateful'];

/** A staff user of the demo data. */
const username = 'helena.kask';

/** Minimum number of requests if every operation is tested. */
export const defaultRequests = 20_000;

/** Approximate requests per operation in the phases without a configurable number. */
const fixedExamples = 90;
const minFuzzingExamples = 5;

/** The seed, so that findings are reproducible. */
const seed = '1';

/**
 * Schemathesis sends requests generated from the served OpenAPI document, in all four phases, at least `requests` together. No
 * response may be a 5xx or differ from the document, and differences in accepted and rejected requests must be explained. With
 * fewer requests than the default, it tests only some collections.
 */
export async function schemathesis(steps: Steps, { requests }: { readonly requests: number }): Promise<void> {
  const programs = await steps.step('Schemathesis is installed', () => pythonPrograms('schemathesis'));
  const program = new Program(undefined);
  try {
    const serving = await program.serve(['--ephemeral', '--demo', '--log-level', 'error']);
    const report = await steps.step(`it tests the server with at least ${requests} requests`, async () => {
      // Passkeys need a domain.
      const url = serving.url.replace('127.0.0.1', 'localhost');
      const matches = await examine(programs, url, program.folder, requests);
      print(matches.figures);
      // The causes of 5xx.
      process.stdout.write(serving.errors());
      return matches;
    });
    await steps.step('all of its phases ran, over every operation', async () => {
      const { operations, phases } = report.json;
      assert.equal(
        Object.entries<Json>(phases).map(([name, { status }]) => [name, status]),
        phaseNames.map((name) => [name, 'success']),
      );
      assert.is(operations.tested, operations.selected);
      assert.ok(report.json.test_cases.generated >= requests);
    });
    await steps.step('all findings are explained', async () => {
      assert.equal([report.json.failures, report.json.errors], [[], []]);
    });
    await steps.step('the log has no error', async () => assert.is(serving.errors(), ''));
    assert.is(await serving.stop(), 0);
  } finally {
    await program.end();
  }
}

interface Report {
  readonly json: Json;
  readonly figures: Readonly<Record<string, number>>;
}

/** Runs Schemathesis at the lowest priority and returns its report; prints its findings. */
async function examine(programs: string, url: string, folder: string, requests: number): Promise<Report> {
  const here = fileURLToPath(new URL('.', import.meta.url));
  const document = `${url}/docs/?format=openapi`;
  const { operations, tags } = await chosenTags(document, requests);
  const words = [
    ...[
      '--config-file',
      join(here, 'schemathesis.toml'),
      'run',
      document,
      '--report',
      'json',
      '--report-dir',
      'report',
    ],
    ...['--seed', seed],
    ...['--phases', phaseNames.join(','), ...tags.flatMap((tag) => ['--include-tag', tag])],
    ...['--max-examples', String(Math.max(minFuzzingExamples, Math.ceil(requests / operations) - fixedExamples))],
    // These responses end when the client disconnects.
    ...['--exclude-path', '/api/events/stream/'],
  ];
  const explained = join(folder, 'explained.json');
  const child = spawn('nice', [join(programs, 'schemathesis'), ...words], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      PYTHONPATH: here,
      PYTHONDONTWRITEBYTECODE: '1',
      TENANTRY_URL: url,
      TENANTRY_USERNAME: username,
      TENANTRY_PASSWORD: demoPassword,
      TENANTRY_EXPLAINED: explained,
    },
  });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  const [code] = await once(child, 'close');
  if (code !== 0) process.stdout.write(printed);
  const [file] = readdirSync(join(folder, 'report'));
  assert.ok(file, 'it wrote a report');
  const json = JSON.parse(readFileSync(join(folder, 'report', file), 'utf8'));
  return {
    json,
    figures: {
      operations: json.operations.tested,
      requests: json.test_cases.generated,
      findings: json.failures.length,
      ...(existsSync(explained) && JSON.parse(readFileSync(explained, 'utf8'))),
    },
  };
}

/** Returns the tested tags, which are names of collections, and the number of their operations. */
async function chosenTags(address: string, requests: number): Promise<{ tags: readonly string[]; operations: number }> {
  const { paths, tags } = (await (await fetch(address)).json()) as Json;
  const period = Math.max(1, Math.floor(defaultRequests / requests));
  const chosen: readonly string[] = tags
    .map(({ name }: Json) => name)
    .filter((_: string, i: number) => i % period === 0);
  const operations = Object.values<Json>(paths)
    .flatMap(({ parameters: _, ...methods }) => Object.values<Json>(methods))
    .filter((operation) => chosen.includes(operation.tags[0])).length;
  return { tags: chosen, operations };
}
