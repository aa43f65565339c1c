/** Each section of the specification in src/spec is unique, and citations name existing sections. */
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  bareSectionsOf,
  type Citation,
  citationsOf,
  citingFiles,
  ownReferencesOf,
  readText,
  type Section,
  sectionsOf,
} from './support/citations.ts';

const project = fileURLToPath(new URL('..', import.meta.url));
const documents = ['core', 'events', 'services', 'providers', 'audit'] as const;
const sections: ReadonlyMap<string, readonly Section[]> = new Map(
  documents.map((name) => [`${name}.md`, sectionsOf(readText(project, `src/spec/${name}.md`))]),
);
const others: ReadonlySet<string> = new Set(['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md']);

/** The faults of a citation. A comment names the section; a page of text may link to a whole document. */
function faultsOf({ document, sections: cited }: Citation, mayCiteWhole: boolean): string[] {
  const name = basename(document);
  const known = sections.get(name);
  if (!known) return isOther(document) ? [] : [`${document} is no document of the project`];
  if (cited.length === 0 && !mayCiteWhole) return [`${document} is cited without a section`];
  return cited.flatMap(({ number, quoted }) => {
    const parts = known.filter((section) => section.number === number || section.number.startsWith(`${number}.`));
    if (parts.length === 0) return [`${document} has no section ${number}`];
    const text = parts.map((part) => part.text.toLowerCase()).join('\n');
    return quoted
      .filter((words) => !text.includes(words.toLowerCase()))
      .map((words) => `${document} ${number} has no "${words}"`);
  });
}

function isOther(document: string): boolean {
  if (existsSync(join(project, 'src/manual', basename(document)))) return true;
  if (dirname(document).endsWith('decisions') || existsSync(join(project, 'src/decisions', document)))
    return existsSync(join(project, 'src/decisions', basename(document)));
  return others.has(basename(document));
}

const specification = suite('specification');

specification('has sections in every document, each number once and in order', () => {
  for (const [name, matches] of sections) {
    const numbers = matches.map(({ number }) => number);
    assert.equal(numbers.length > 5, true, name);
    const ordered = [...new Set(numbers)].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
    assert.equal(numbers, ordered, name);
  }
});

specification('cites only existing sections in the project', () => {
  const faults = citingFiles(project).flatMap((path) => {
    const text = readText(project, path);
    return citationsOf(text).flatMap((citation) =>
      faultsOf(citation, path.endsWith('.md')).map((fault) => `${path}:${citation.line}: ${fault}`),
    );
  });
  assert.equal(faults, []);
});

specification('names sections outside of the specification with their document', () => {
  const bare = citingFiles(project)
    .filter((path) => !path.startsWith('src/spec/'))
    .flatMap((path) => bareSectionsOf(readText(project, path)).map((line) => `${path}:${line}`));
  assert.equal(bare, []);
});

specification('refers only to existing sections within a document', () => {
  const faults = [...sections].flatMap(([name, known]) =>
    ownReferencesOf(readText(project, `src/spec/${name}`))
      .filter(({ number }) => !known.some((section) => section.number === number))
      .map(({ line, number }) => `src/spec/${name}:${line}: there is no section ${number}`),
  );
  assert.equal(faults, []);
});

/** Creates texts about sections, so that this file names no missing ones. */
const cite = (name: string, rest: string): string => `/** Why it is so (${name}.md${rest}). */`;
const named = (number: string): string => `section ${number}`;
const faultsIn = (text: string): string[] => citationsOf(text).flatMap((citation) => faultsOf(citation, false));

specification('parses citations in every form of comments', () => {
  const numbers = (text: string): string[] =>
    citationsOf(text).flatMap((citation) => citation.sections.map(({ number }) => number));
  assert.equal(numbers(cite('core', ' 2.1')), ['2.1']);
  assert.equal(numbers(cite('core', ' 2.1. 3 tries')), ['2.1']);
  assert.equal(numbers(cite('core', ' 1.2, 1.5 and 9')), ['1.2', '1.5', '9']);
  assert.equal(numbers(cite('events', ' 3.1 to 3.4')), ['3.1', '3.4']);
  assert.equal(numbers(cite('services', ' 2.6,\n * 8.5')), ['2.6', '8.5']);
  assert.equal(numbers(cite('services', '\n-- 10')), ['10']);
  assert.equal(numbers(`${cite('services', ' 8.7')} ${cite('providers', ' 4.3')}`), ['8.7', '4.3']);
  assert.equal(citationsOf(cite('core', ' 2.1 "Lock", "Address"'))[0]?.sections, [
    { number: '2.1', quoted: ['Lock', 'Address'] },
  ]);
  assert.equal(citationsOf(`\n\n${cite('core', ' 2.1')}`)[0]?.line, 3);
  assert.equal(citationsOf(cite('https://example.com/core', '')), []);
});

specification('finds a broken citation', () => {
  const faults = (name: string, rest: string): string[] =>
    faultsIn(cite(name, rest)).map((fault) => fault.replace(`${name}.md `, ''));
  assert.equal(faults('core', ' 2.1 "Lock", "Address"'), []);
  assert.equal(faults('core', ' 2.1, 2.99'), [`has no ${named('2.99')}`]);
  assert.equal(faults('events', ' 3.1 to 3.99'), [`has no ${named('3.99')}`]);
  assert.equal(faults('core', ' 2.1 "Curfew"'), ['2.1 has no "Curfew"']);
  assert.equal(faults('core', ''), ['is cited without a section']);
  assert.equal(faults('handbook', ' 1'), ['is no document of the project']);
  assert.equal(faults('decisions/nothing', ''), ['is no document of the project']);
  assert.equal(faults('CHANGELOG', ''), []);
});

specification('finds a section without its document', () => {
  assert.equal(bareSectionsOf(`/** Rights.\n * See ${named('4')}. RFC 9110 ${named('5.6.7')} */`), [2]);
});

specification('finds a broken reference within a document', () => {
  assert.equal(ownReferencesOf(`As said (1.2), or (see 3.4, 3.5); ${named('4')}.\nSections of 2.5 MiB`), [
    { number: '1.2', line: 1 },
    { number: '3.4', line: 1 },
    { number: '3.5', line: 1 },
    { number: '4', line: 1 },
  ]);
});

specification.run();
