/** Each optimisation has a page in src/decisions that states its benefit. Sources and pages cite each other correctly. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { citingFiles, readText } from './support/citations.ts';

const project = fileURLToPath(new URL('..', import.meta.url));
const folder = 'src/decisions';
const pages = readdirSync(join(project, folder)).filter((name) => name !== 'README.md');
const textOf = (page: string): string => readFileSync(join(project, folder, page), 'utf8');

const decisions = suite('decisions');

decisions('has the same sections in the same order on every page', () => {
  const headings = ['# ', '## Problem', '## Decision', '## Figures', '## Alternatives', '## When to delete'];
  for (const page of pages) {
    const matches = textOf(page).match(/^#+ .*$/gm) ?? [];
    assert.equal([matches[0]?.slice(0, 2), ...matches.slice(1)], headings, page);
  }
});

decisions('lists every page in the table and cites it in a source', () => {
  const table = textOf('README.md');
  const sources = citingFiles(project).filter((path) => !path.startsWith(folder) && /\.(ts|mjs)$/.test(path));
  const texts = sources.map((path) => readText(project, path)).join('\n');
  for (const page of pages) {
    assert.ok(table.includes(`| [${page}](${page}) |`), `${page} is not in the table`);
    assert.ok(texts.includes(`${folder}/${page}`), `No source names ${page}`);
  }
});

decisions('names only existing files and benchmarks in pages', () => {
  for (const page of [...pages, 'README.md']) {
    const text = textOf(page);
    const files = [...text.matchAll(/`((?:src|test|migrations)\/[^\s`]+|build\.mjs)`/g)].map(
      ([, path]) => path as string,
    );
    for (const path of files) assert.ok(existsSync(join(project, path)), `${page}: ${path}`);
    for (const [, name] of text.matchAll(/--only decisions:(\w+)/g))
      assert.ok(existsSync(join(project, `test/bench/decisions/${name}.ts`)), `${page}: decisions:${name}`);
  }
});

/** The comments of a source. */
const commentsOf = (text: string): string => (text.match(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*/g) ?? []).join('\n');

decisions('names only existing identifiers in pages and in src/README.md, in the file that the page names', () => {
  const sources = citingFiles(project).filter((path) => /\.(tsx?|mjs|sql)$/.test(path));
  const words = new Set(sources.flatMap((path) => readText(project, path).match(/[A-Za-z_]\w*/g) ?? []));
  for (const page of ['src/README.md', ...pages.map((name) => `${folder}/${name}`)]) {
    const text = readText(project, page);
    for (const [, name] of text.matchAll(/`([a-z]+[A-Z]\w*)(?:\([^`]*\))?`/g))
      assert.ok(words.has(name as string), `${page}: ${name}`);
    for (const [, name, path] of text.matchAll(/`(\w+)` in `((?:src|test)\/[^`]+\.\w+)`/g))
      assert.ok(readText(project, path as string).includes(name as string), `${page}: ${name} in ${path}`);
  }
});

decisions('names only existing sources in comments', () => {
  const files = citingFiles(project);
  for (const path of files.filter((path) => /^src\/.*\.(tsx?|mjs)$/.test(path)))
    for (const [named] of commentsOf(readText(project, path)).matchAll(/(?<![\w./-])[\w./-]*\w\.(?:tsx?|mjs)\b/g)) {
      const end = named.replace(/^(?:\.\.?\/)+/, '');
      const exists = end.startsWith('dist/') || files.some((file) => file === end || file.endsWith(`/${end}`));
      assert.ok(exists, `${path} names ${named}`);
    }
});

decisions.run();
