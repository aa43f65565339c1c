/** Estonian translations of the console: its own text, and titles derived from API names. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import * as assert from 'uvu/assert';
import { kindWords } from '../../src/console/format/kinds.ts';
import { statusWords } from '../../src/console/format/status.ts';
import { englishOf, englishOfAction } from '../../src/console/i18n/english.ts';
import translations from '../../src/console/i18n/et.json' with { type: 'json' };
import labels from '../../src/console/i18n/labels.json' with { type: 'json' };
import { lookupIn, partsOf, type Words } from '../../src/console/i18n/lookup.ts';
import sentences from '../../src/console/i18n/sentences.json' with { type: 'json' };
import type { Json } from '../support/fixture.ts';
import { createPersonas, type Personas } from '../support/personas.ts';
import { suiteWithServer } from '../support/suite.ts';

const { test: words, fixture } = suiteWithServer('the words of the console');
let cast: Personas;
const estonian: Words = translations;
const inEstonian = lookupIn(estonian);
const folder = fileURLToPath(new URL('../../src/console/', import.meta.url));

const allSources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file))
  .map((file) => {
    const text = readFileSync(join(folder, file), 'utf8');
    return { file, root: ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true) };
  });
/** The sources that pass text to `t`. */
const sources = allSources.filter(({ file }) => !/^(i18n|format\/(status|kinds))/.test(file));

words.before(async () => {
  cast = await createPersonas(fixture);
});

/** Functions that translate their arguments. */
const sayers = new Set(['t', 'phrase', 'plural']);

/** Whether text comes from the server: server-texts.test.ts checks it. */
const isServers = ({ parent }: ts.Node): boolean =>
  ts.isCallExpression(parent) && parent.expression.getText() === 'serverText';

/** Attributes that users see or screen readers speak. */
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
  /** Visible text that is not translated. */
  readonly bare: string[];
}

/** Collects the text in the sources. */
function texts(): Found {
  const result: Found = { said: [], bare: [] };
  for (const { file, root } of sources) {
    const visit = (node: ts.Node): void => {
      if (ts.isJsxText(node) && /\p{L}/u.test(node.text.replace(/Ctrl K|Enter|Esc|\/api\//, '')))
        result.bare.push(`${file}: ${node.text.trim()}`);
      if (ts.isStringLiteralLike(node)) {
        const { parent, text } = node;
        const isSaid = ts.isCallExpression(parent) && sayers.has(parent.expression.getText());
        const isSpoken = ts.isJsxAttribute(parent) && spoken.has(parent.name.getText()) && text !== '';
        if (isSaid) result.said.push(text);
        else if (!isServers(node) && (isSpoken || /^[A-Z][a-z]+ [a-z]|^[A-Z].*[a-z]\.$/.test(text)))
          result.bare.push(`${file}: ${text}`);
      }
      ts.forEachChild(node, visit);
    };
    visit(root);
  }
  return result;
}

/** Names that stay the same in every language. */
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

words('every text of the console is translated by a function', () => {
  const { bare, said } = texts();
  assert.equal(bare, []);
  assert.ok(said.length > 100);
});

words('translates every text of the console with the same placeholders', () => {
  const { said } = texts();
  assert.equal(missing(said), []);
  const valuesOf = (text: string): string[] => partsOf(text).filter((_, index) => index % 2 === 1);
  const differing = Object.entries(estonian).filter(
    ([text, translation]) => valuesOf(text).sort().join() !== valuesOf(translation).sort().join(),
  );
  assert.equal(differing, []);
});

/** Whether a name needs no translation: technical names and international terms. */
const isTechnical = (name: string): boolean =>
  name === '' ||
  /^[A-Z_0-9]+$|^SAML|^RelayState|^Sig|^[a-z]+[A-Z]|__|^.$|^-|^jira:|\.|^[A-Z][a-zA-Z]+\.[A-Z]/.test(name);

/** Yields the names in a part of the OpenAPI document that become titles on pages. */
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

words('translates states and types', () => {
  assert.equal(missing([...statusWords(), ...kindWords()]), []);
});

/** Returns the API names that become titles on pages. */
async function apiNames(): Promise<readonly string[]> {
  const { body: document } = await fixture.anonymous.get('/docs/');
  const segments = Object.keys(document.paths)
    .filter((path) => path.startsWith('/api/'))
    .flatMap((path) => path.split('/').filter((segment) => segment !== '' && !segment.startsWith('{')));
  return [...segments.slice(1), ...namesIn({ ...document, webhooks: {} })].filter((name) => !isTechnical(name));
}

words('translates every title that is derived from an API name', async () => {
  assert.equal(missing((await apiNames()).map(englishOf)), []);
});

/** Returns the titles of the API's labels, choices, quotas and counters. */
async function apiTitles(): Promise<readonly string[]> {
  const { body: document } = await fixture.anonymous.get('/docs/');
  const lists = Object.keys(document.paths).filter((path) => /^\/api\/[a-z0-9-]+\/$/.test(path));
  const objects = [cast.customer.url, cast.project.url, cast.users.owner.url];
  const titles: string[] = [];
  for (const path of [...lists, ...objects]) {
    const { body } = await fixture.staff.options(path);
    for (const action of Object.values<Json>(body.actions ?? {})) {
      if (action.title) titles.push(action.title);
      for (const [name, { choices, label }] of Object.entries<Json>(action.fields ?? action)) {
        if (label) titles.push(label);
        if (name !== 'country')
          for (const choice of choices ?? [])
            if (!isTechnical(choice.display_name)) titles.push(englishOf(choice.display_name));
      }
    }
  }
  for (const { name } of (await fixture.staff.get('/api/quotas/?page_size=300')).body) titles.push(englishOf(name));
  for (const { url } of [cast.customer, cast.project])
    titles.push(...Object.keys((await fixture.staff.get(`${url}counters/`)).body).map(englishOf));
  return titles;
}

words('translates labels, choices, quotas and counters', async () => {
  assert.equal(missing(await apiTitles()), []);
});

/** Yields every string and name in the console's source, labels and sentences. */
function* literals(node: ts.Node): Generator<string> {
  if (ts.isStringLiteralLike(node) || ts.isIdentifier(node)) yield node.text;
  const children: ts.Node[] = [];
  ts.forEachChild(node, (child) => void children.push(child));
  for (const child of children) yield* literals(child);
}

function* textsIn(value: Json): Generator<string> {
  if (typeof value === 'string') yield value;
  else for (const [name, member] of Object.entries<Json>(value)) yield* [name, ...textsIn(member)];
}

words('has no translation that nothing uses', async () => {
  const all = [
    ...allSources.flatMap(({ root }) => [...literals(root)]),
    ...textsIn(labels),
    ...textsIn(sentences),
    ...(await apiNames()),
    ...(await apiTitles()),
  ];
  const used = new Set(
    [...all, ...all.map(englishOf), ...all.map((name) => englishOfAction(name))].map((text) => text.toLowerCase()),
  );
  assert.equal(
    Object.keys(estonian).filter((text) => !used.has(text.toLowerCase())),
    [],
  );
});

words('a translation gets the capitals of the text', () => {
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
