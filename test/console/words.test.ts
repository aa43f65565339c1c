/** The languages of the console: all that it says itself, and all titles that it makes of the API, are in Estonian, too. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import * as assert from 'uvu/assert';
import { kindWords } from '../../src/console/format/kinds.ts';
import { statusWords } from '../../src/console/format/status.ts';
import { englishOf } from '../../src/console/i18n/english.ts';
import translations from '../../src/console/i18n/et.json' with { type: 'json' };
import { lookupIn, partsOf, type Words } from '../../src/console/i18n/lookup.ts';
import type { Json } from '../support/fixture.ts';
import { createPersonas } from '../support/personas.ts';
import { suiteWithServer } from '../support/suite.ts';

const { test: words, fixture } = suiteWithServer('the words of the console');
const estonian: Words = translations;
const inEstonian = lookupIn(estonian);
const folder = fileURLToPath(new URL('../../src/console/', import.meta.url));

const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file) && !/^(i18n|format\/(status|kinds))/.test(file))
  .map((file) => {
    const text = readFileSync(join(folder, file), 'utf8');
    return { file, root: ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true) };
  });

/** What says something, by its name: all arguments that are texts are said. */
const sayers = new Set(['t', 'phrase', 'plural']);

/** What says the same as the server does, whose words have a test of their own. */
const isServers = ({ parent }: ts.Node): boolean =>
  ts.isCallExpression(parent) && parent.expression.getText() === 'serverText';

/** Attributes that people read or hear. */
const spoken = new Set([
  'title',
  'aria-label',
  'aria-description',
  'placeholder',
  'alt',
  'label',
  'button',
  'question',
]);

interface Found {
  readonly said: string[];
  /** What is shown without being said. */
  readonly bare: string[];
}

/** The texts of the sources. */
function texts(): Found {
  const found: Found = { said: [], bare: [] };
  for (const { file, root } of sources) {
    const visit = (node: ts.Node): void => {
      if (ts.isJsxText(node) && /\p{L}/u.test(node.text.replace(/Ctrl K|Enter|Esc|\/api\//, '')))
        found.bare.push(`${file}: ${node.text.trim()}`);
      if (ts.isStringLiteralLike(node)) {
        const { parent, text } = node;
        const isSaid = ts.isCallExpression(parent) && sayers.has(parent.expression.getText());
        const isSpoken = ts.isJsxAttribute(parent) && spoken.has(parent.name.getText()) && text !== '';
        if (isSaid) found.said.push(text);
        else if (!isServers(node) && (isSpoken || /^[A-Z][a-z]+ [a-z]|^[A-Z].*[a-z]\.$/.test(text)))
          found.bare.push(`${file}: ${text}`);
      }
      ts.forEachChild(node, visit);
    };
    visit(root);
  }
  return found;
}

/** Names that are the same in every language. */
const proper = new Set([
  'AWS',
  'Amazon',
  'Android',
  'DigitalOcean',
  'Eesti',
  'English',
  'GitLab',
  'Gp2',
  'Io1',
  'JIRA',
  'OpenStack',
  'Oracle',
  'SSH',
]);

const missing = (all: Iterable<string>): string[] =>
  [...new Set(all)].filter((text) => !proper.has(text) && inEstonian(text) === undefined);

words('whatever the console says is said by its dictionary', () => {
  const { bare, said } = texts();
  assert.equal(bare, []);
  assert.ok(said.length > 100);
});

words('whatever the console says is in Estonian, with the same values in it', () => {
  const { said } = texts();
  assert.equal(missing(said), []);
  const valuesOf = (text: string): string[] => partsOf(text).filter((_, index) => index % 2 === 1);
  const differing = Object.entries(estonian).filter(
    ([text, translation]) => valuesOf(text).sort().join() !== valuesOf(translation).sort().join(),
  );
  assert.equal(differing, []);
});

/** Names that are no words of people: those of programs, and those of things that are called the same everywhere. */
const isTechnical = (name: string): boolean =>
  name === '' ||
  /^[A-Z_0-9]+$|^SAML|^RelayState|^Sig|^[a-z]+[A-Z]|__|^.$|^-|^jira:|\.|^[A-Z][a-zA-Z]+\.[A-Z]/.test(name);

/** Every name in a part of the OpenAPI document that the pages make a title of. */
function* namesIn(node: Json): Generator<string> {
  if (node === null || typeof node !== 'object') return;
  if (!Array.isArray(node)) {
    if (node.properties && node.type !== 'string') yield* Object.keys(node.properties);
    if (node.in === 'query') yield node.name;
    for (const value of [node.const, ...(Array.isArray(node.enum) ? node.enum : [])])
      if (typeof value === 'string') yield value;
  }
  for (const [key, value] of Object.entries<Json>(node))
    if (key !== 'examples' && key !== 'example') yield* namesIn(value);
}

words('the words for states and types are in Estonian', () => {
  assert.equal(missing([...statusWords, ...kindWords]), []);
});

words('every title that is made of the API is in Estonian', async () => {
  const { body: document } = await fixture.anonymous.get('/docs/');
  const segments = Object.keys(document.paths)
    .filter((path) => path.startsWith('/api/'))
    .flatMap((path) => path.split('/').filter((segment) => segment !== '' && !segment.startsWith('{')));
  const names = [...segments.slice(1), ...namesIn(document)].filter((name) => !isTechnical(name));
  assert.equal(missing(names.map(englishOf)), []);
});

words('labels, choices, quotas and counters are in Estonian', async () => {
  const cast = await createPersonas(fixture);
  const { body: document } = await fixture.anonymous.get('/docs/');
  const lists = Object.keys(document.paths).filter((path) => /^\/api\/[a-z0-9-]+\/$/.test(path));
  const objects = [cast.customer.url, cast.project.url, cast.users.owner.url];
  const shown: string[] = [];
  for (const path of [...lists, ...objects]) {
    const { body } = await fixture.staff.options(path);
    for (const action of Object.values<Json>(body.actions ?? {})) {
      if (action.title) shown.push(action.title);
      for (const [name, { choices, label }] of Object.entries<Json>(action.fields ?? action)) {
        if (label) shown.push(label);
        if (name !== 'country')
          for (const choice of choices ?? [])
            if (!isTechnical(choice.display_name)) shown.push(englishOf(choice.display_name));
      }
    }
  }
  for (const { name } of (await fixture.staff.get('/api/quotas/?page_size=300')).body) shown.push(englishOf(name));
  for (const { url } of [cast.customer, cast.project])
    shown.push(...Object.keys((await fixture.staff.get(`${url}counters/`)).body).map(englishOf));
  assert.equal(missing(shown), []);
});

words('a text follows the capitals of what it stands for', () => {
  const look = lookupIn({ Erred: 'Vigane', 'IP address': 'IP-aadress' });
  assert.equal(['Erred', 'ERRED', 'erred', 'ip address', 'unknown'].map(look), [
    'Vigane',
    'Vigane',
    'vigane',
    'IP-aadress',
    undefined,
  ]);
});

words.run();
