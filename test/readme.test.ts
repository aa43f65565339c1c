/** The README and the tour are correct: their examples run against the built program, and their tables are complete. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { cases } from './bench/cases.ts';
import { blocksOf, runExamples } from './support/documented.ts';

const project = fileURLToPath(new URL('..', import.meta.url));
const text = readFileSync(join(project, 'README.md'), 'utf8');
const program = join(project, 'dist/tenantry.mjs');
let folder: string;

const readme = suite('README');
readme.before(() => {
  folder = mkdtempSync(join(tmpdir(), 'tenantry-readme-'));
});
readme.after(() => rmSync(folder, { recursive: true }));

/** Returns the text between a heading of the README and the next one of its level. */
const section = (title: string): string => text.split(`\n## ${title}\n`)[1]?.split('\n## ')[0] ?? '';

/** A page of the manual. */
const page = (name: string): string => readFileSync(join(project, 'src/manual', `${name}.md`), 'utf8');

async function ended(child: ChildProcess): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const texts = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream]?.on('data', (chunk: Buffer) => (texts[stream] += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...texts };
}

const run = (command: string, words: readonly string[]) => ended(spawn(command, words, { cwd: folder }));

/** The program in the folder, serving on a free port. */
async function serve(): Promise<{ url: string; stop: () => Promise<void> }> {
  const child = spawn(process.execPath, [program, 'serve', '--port', '0', '--log-level', 'silent'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return {
    url: (JSON.parse(line) as { url: string }).url,
    stop: async () => {
      child.kill('SIGTERM');
      await once(child, 'close');
    },
  };
}

readme('has a row for each case of the benchmark, with its title', () => {
  const measured = page('performance');
  for (const { isOnce, title } of cases) if (!isOnce) assert.match(measured, `| ${title} | `);
});

readme('starts with the commands', () => {
  const [title, gap, fence, start, test, pack, binary, end] = text.split('\n');
  assert.equal([title, gap, fence, end], ['# Tenantry', '', '```sh', '```']);
  assert.match(start ?? '', /^npm start +# /);
  assert.match(test ?? '', /^npm test +# /);
  const { version } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as { version: string };
  assert.match(pack ?? '', /^npm pack +# /);
  assert.ok(pack?.includes(`tenantry-${version}.tgz`));
  assert.match(binary ?? '', /^npm run build:binary +# /);
});

/** Runs the examples of a text on a server with a new data folder. */
async function follow(markdown: string, minExamples: number): Promise<void> {
  rmSync(join(folder, 'data'), { recursive: true, force: true });
  const server = await serve();
  assert.ok(existsSync(join(folder, 'data/initial-password')));
  const count = await runExamples(markdown, { folder, url: server.url });
  await server.stop();
  assert.ok(count >= minExamples);
}

readme('prints the output in the five-minute example', () => follow(section('Five minutes'), 2));

readme('prints the output in the tour', async () => {
  await follow(page('tour'), 6);
  assert.not(existsSync(join(folder, 'data/initial-password')), 'the tour changes the password');
});

readme('has at most 110 lines and links to every page of the manual', () => {
  assert.ok(text.trimEnd().split('\n').length <= 110);
  const pages = readdirSync(join(project, 'src/manual')).filter((name) => name.endsWith('.md'));
  for (const name of pages) assert.ok(section('Documentation').includes(`](src/manual/${name})`), name);
});

readme('links only to existing files and headings in the README and in the manual', () => {
  const files = ['README.md', ...readdirSync(join(project, 'src/manual')).map((name) => `src/manual/${name}`)];
  for (const file of files.filter((name) => name.endsWith('.md'))) {
    const links = [...readFileSync(join(project, file), 'utf8').matchAll(/\]\(([^)\s]+)\)/g)].map(
      ([, link = '']) => link,
    );
    for (const link of links.filter((to) => !/^(https?:|#)/.test(to))) {
      const [path = '', anchor] = link.split('#');
      const target = join(project, dirname(file), path);
      assert.ok(existsSync(target), `${file}: ${link}`);
      if (anchor === undefined) continue;
      const anchors = [...readFileSync(target, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
        heading
          .toLowerCase()
          .replace(/[^\p{L}\p{N} -]/gu, '')
          .replaceAll(' ', '-'),
      );
      assert.ok(anchors.includes(anchor), `${file}: ${link}`);
    }
  }
});

readme('has the table of settings that the program prints', async () => {
  const { stdout } = await run(process.execPath, [program, 'config', '--markdown']);
  assert.is(
    /<!-- settings -->\n(.*)<!-- end of settings -->/s.exec(page('settings'))?.[1],
    stdout,
    'replace the table by the output of `tenantry config --markdown`',
  );
});

readme('has every command with its options in its table', async () => {
  const { stdout } = await run(process.execPath, [program, 'help', 'all']);
  const helps = stdout.split('\n\n\n');
  assert.ok(helps.length > 25);
  const rows = page('command-line').split('\n');
  for (const help of helps) {
    const [, form = ''] = /^Usage: (tenantry .*) \[OPTIONS\]$/m.exec(help) ?? [];
    const options = [...help.matchAll(/^ {2}(--[a-z-]+(?: [A-Z]+)?) {2}/gm)].map(([, option]) => option);
    const own = options.filter((option) => option !== '--config FILE').map((option) => ` [${option}]`);
    const whole = `\`${form}${own.join('')}\``;
    assert.ok(
      rows.some((row) => row.startsWith('| `') && row.includes(whole)),
      whole,
    );
  }
});

readme('prints the output in the example of embedding', async () => {
  const [example, output] = blocksOf(page('testing'));
  assert.is(example?.language, 'js');
  copyFileSync(program, join(folder, 'tenantry.mjs'));
  writeFileSync(join(folder, 'example.mjs'), example?.code ?? '');
  assert.equal(await run(process.execPath, ['example.mjs']), { code: 0, stdout: output?.code, stderr: '' });
});

readme('gives a reason for every dependency, grouped by use, and for nothing else', () => {
  const tools = readFileSync(join(project, '.github/CONTRIBUTING.md'), 'utf8').split('\n## Tools\n')[1] ?? '';
  const [program = [], build = [], packing, tests] = [section('Dependencies'), tools]
    .flatMap((part) => part.split('\n|---|---|\n').slice(1))
    .map((table) =>
      (table.split('\n\n')[0] ?? '')
        .split('\n')
        .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name as string)),
    );
  const listed = (file: string): string[] =>
    Object.keys(JSON.parse(readFileSync(join(project, file), 'utf8')).devDependencies).sort();
  assert.equal([...program, ...build].sort(), listed('package.json'));
  assert.equal(packing?.sort(), listed('src/build/package.json'));
  assert.equal(tests?.sort(), listed('test/package.json'));
});

readme.run();
