/** The examples of the manual run as printed, against one server with sample data. */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { blocksOf, isExpected, runExamples } from './support/documented.ts';
import { Program, type Serving } from './support/program.ts';

const manual = fileURLToPath(new URL('../src/manual', import.meta.url));
const pages = readdirSync(manual)
  .filter((file) => file.endsWith('.md'))
  .map((file) => file.slice(0, -'.md'.length));
const textOf = (page: string): string => readFileSync(join(manual, `${page}.md`), 'utf8');

/** The tour runs on an empty server (readme.test.ts); the figures of the benchmark take an hour. */
const isRun = (page: string): boolean => page !== 'tour' && page !== 'performance';

const test = suite('manual');
const program = new Program(join(tmpdir(), `tenantry-native-${process.pid}`));
let server: Serving;

test.before(async () => {
  server = await program.serve(['--demo', '--admin-listen', '127.0.0.1:0']);
});
test.after(async () => {
  await server.stop();
  await program.end();
  rmSync(join(tmpdir(), `tenantry-native-${process.pid}`), { recursive: true, force: true });
});

for (const page of pages.filter(isRun))
  test(`prints the output in the examples of the page ${page}`, async () => {
    const count = await runExamples(textOf(page), {
      folder: program.folder,
      url: server.url,
      adminUrl: server.startup.admin,
    });
    assert.ok(count > 0, 'the page has no example');
  });

test('runs all shell commands, unless they are marked as text', () => {
  for (const page of pages)
    for (const { language } of blocksOf(textOf(page)))
      assert.not(['bash', 'shell', 'console'].includes(language), page);
});

test('allows … for varying parts of an expected text', () => {
  assert.equal([isExpected('a1\nb', 'a…b'), isExpected('a.b', 'a.b'), isExpected('axb', 'a.b')], [true, true, false]);
});

test.run();
