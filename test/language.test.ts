/**
 * The project's style list: words that make a reader guess, and what to write instead.
 *
 * Counts the lines that use one of them, in the code (names, comments and strings), the pages and the tests. No kind of text
 * may have more of them than its target. `npm test -- test/language` prints the current figures;
 * `node dist/test/language.test.js src/accounts` prints every line of a folder that is counted, with what to write.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

type Kind = 'code' | 'prose' | 'tests';

/** Lines per 1,000 that each kind of text may have. */
const targets: Readonly<Record<Kind, number>> = { code: 2, prose: 4, tests: 4 };

/** Phrases as regular expressions, matched as whole words; the words of camel-case and snake-case names count, too. */
const phrases: Readonly<Record<string, string>> = {
  'tells?|told|telling': 'report, return, show, send, notify, log, name, pass',
  'whoever|whomever|whom|who has|some(?:body|one) who': 'a user who, callers with, clients that',
  'everybody|anybody|somebody': 'any authenticated user, any caller',
  nobody: 'no user, no one; never',
  'puts? off|putting off': 'defer, deferred reads',
  'kept at most': 'maxEntries',
  kept: 'cached, stored',
  'remember(?:s|ed|ing)?|recall(?:s|ed|ing)?': 'cache, fromCache, response cache',
  'texts of objects|object texts': 'cached representations',
  'lately|allowances?': 'GenerationalCache, CacheBudget',
  steady: 'plan-stable',
  'in turns?|(?:takes?|have|has) (?:a )?turns?|turns(?! (?:on|off|into|out))':
    'scheduling round, time slice, fair queue',
  'anew|once more': 'again, retry',
  'so (?:far|long as)': 'until now (usually delete)',
  'at hand': 'available',
  'of (?:its|their|his|her|our|your|my|the|one) own': 'its own, separate',
  'in (?:the )?place of': 'instead of, replaces',
  '(?:is|are|was|were) (?:(?:not|still|already|no longer) )?there(?! (?:is|are|was|were))': 'exists, is missing',
  'what (?:is|are|was|were)': 'name the thing: pending jobs, due jobs',
  'due at once': 'ready, pending',
  'judg(?:e[sd]?|ing|ments?)': 'check, evaluate',
  '(?<!on )demand(?:s|ed|ing)?': 'require, authorize',
  'refus(?:e[sd]?|ing|als?)': 'reject, rejection, denial reason',
  'answer(?:s|ed|ing)?': 'respond, response, reply, return',
  '(?<!(?:token|code|key) )exchanges?(?! rates?)': 'request/response pair',
  'sow(?:s|er|ers|n|ing)?': 'seed, seeder',
  particulars: 'details',
  '(?<!math[.])floors?(?![(])|(?<!(?:make|makes|no|for) )rooms?|house': 'layer, module, architecture',
  '(?<!(?:real|whole|outside) )worlds?': 'sample data, demo data',
  'witness(?:es)?': 'extraRecipients, audience',
  'heavy|heavier|heaviest|weigh(?:s|ed|ing)?': 'large, size, sizeOf',
  'patience|silences?': 'timeout, unresponsive',
  'fates?': 'outcome, result',
  '(?:goes|go) on|comes? back|just now': 'continues, reconnects, now',
  'left the page by tab': 'moved focus out of the page',
};

/** Names in code, matched with upper and lower case. */
const names: Readonly<Record<string, string>> = {
  '(?:longest|most|least)(?:[A-Z]\\w*)': 'maxXLength, maxX, minX',
  '(?:const|let) (?:asked|given|made|found|shown)': 'a noun that says what the value is',
  Elsewhere: 'proxy',
  Stage: 'hot-swap listener',
  Course: 'timeline, request run',
  namesThisMachine: 'isLoopback',
};

const project = fileURLToPath(new URL('..', import.meta.url));
const readText = (path: string): string => readFileSync(join(project, path), 'utf8');

/** The style list itself has all of the words. */
const styleList = 'test/language.test.ts';

function filesBelow(folder: string): string[] {
  return readdirSync(join(project, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => `${folder}/${path.replaceAll('\\', '/')}`)
    .filter((path) => /\.(?:[cm]?tsx?|[cm]js|css|html|sql|py|sh|md)$/.test(path))
    .filter((path) => !/\/(?:node_modules|dist)\//.test(path) && path !== styleList);
}

const files: readonly string[] = [
  ...['src', 'test', '.github'].flatMap(filesBelow),
  ...['build.mjs', 'README.md', 'CHANGELOG.md'].filter((path) => existsSync(join(project, path))),
].sort();

const kindOf = (path: string): Kind => (path.endsWith('.md') ? 'prose' : path.startsWith('test/') ? 'tests' : 'code');

// A space in a phrase is also the break between two lines of a comment.
const gap = String.raw`\s+(?:(?:\*|//|--|#)\s+)?`;
const pattern = (list: Readonly<Record<string, string>>, flags: string): RegExp =>
  new RegExp(
    Object.keys(list)
      .map((phrase, at) => `(?<p${at}>\\b(?:${phrase.replaceAll(' ', gap)})\\b)`)
      .join('|'),
    flags,
  );
const phrasePattern = pattern(phrases, 'gi');
const namePattern = pattern(names, 'g');

/** The words of names as words, without moving any to another line. */
const withWordsApart = (text: string): string =>
  text.replace(/(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, ' ').replaceAll('_', ' ');

const blank = (text: string): string => text.replace(/[^\n]/g, ' ');

/** Interface terms of the API that the specification quotes: names, messages, and fixed parts of messages. */
const quotations: readonly string[] = files
  .filter((path) => path.startsWith('src/spec/'))
  .flatMap((path) => [...readText(path).matchAll(/`([^`\n]+)`/g), ...readText(path).matchAll(/"([^"`\n]+)"/g)])
  .flatMap(([, quoted = '']) => quoted.split(/<[^>]*>|\{[^}"]*\}/))
  .filter((text) => /[a-z][ _-][a-z]/i.test(text) && withWordsApart(text).match(phrasePattern))
  .sort((a, b) => b.length - a.length);

/** The text without code and file names in prose, and without quotations of the API, line by line as it was. */
function ownTextOf(path: string): string {
  let text = readText(path);
  if (kindOf(path) === 'prose') text = text.replace(/^```[\s\S]*?^```|`[^`\n]+`|\[[\w./-]+\.md\]\([^)]*\)/gm, blank);
  for (const quoted of quotations) text = text.replaceAll(quoted, blank(quoted));
  return text;
}

interface Hit {
  /** Line of the file, counted from 1. */
  readonly line: number;
  readonly phrase: string;
  readonly replacement: string;
}

/** The lines of a text that use a discouraged word, with the first that each uses. */
function hitsIn(text: string): Hit[] {
  const apart = withWordsApart(text);
  const hits = [
    ...hitsOf(apart, phrasePattern, Object.values(phrases)),
    ...hitsOf(text, namePattern, Object.values(names)),
  ];
  return [...new Map(hits.reverse().map((hit) => [hit.line, hit])).values()].sort((a, b) => a.line - b.line);
}

function hitsOf(text: string, searched: RegExp, replacements: readonly string[]): Hit[] {
  const starts = [...text.matchAll(/\n/g)].map(({ index }) => index);
  let before = 0;
  return [...text.matchAll(searched)].map((match) => {
    while (before < starts.length && (starts[before] as number) < match.index) before += 1;
    const at = replacements.findIndex((_, index) => match.groups?.[`p${index}`] !== undefined);
    return { line: before + 1, phrase: match[0].replace(/\s+/g, ' '), replacement: replacements[at] as string };
  });
}

interface Figures {
  lines: number;
  hits: number;
}

const figures = new Map<Kind, Figures>();
const hitsByFile = new Map<string, readonly Hit[]>();

for (const path of files) {
  const text = ownTextOf(path);
  const hits = hitsIn(text);
  hitsByFile.set(path, hits);
  const kind = kindOf(path);
  const total = figures.get(kind) ?? { lines: 0, hits: 0 };
  figures.set(kind, { lines: total.lines + text.split('\n').length - 1, hits: total.hits + hits.length });
}

const rateOf = ({ hits, lines }: Figures): number => (1000 * hits) / lines;

for (const [kind, total] of figures)
  console.log(
    `${kind}: ${total.hits} of ${total.lines} lines, ${rateOf(total).toFixed(1)} per 1,000 (target ${targets[kind]})`,
  );
for (const folder of process.argv.slice(2))
  for (const [path, hits] of hitsByFile)
    if (path === folder || path.startsWith(`${folder.replace(/\/$/, '')}/`))
      for (const { line, phrase, replacement } of hits) console.log(`${path}:${line}: ${phrase} → ${replacement}`);

const language = suite('language');

language('uses no more discouraged words than the target of each kind of text', () => {
  const above = [...figures].filter(([kind, total]) => rateOf(total) > targets[kind]).map(([kind]) => kind);
  assert.equal(above, [], 'node dist/test/language.test.js FOLDER shows the lines');
});

const found = (text: string): string[] => hitsIn(text).map(({ line, phrase }) => `${line} ${phrase}`);

language('finds words in sentences, in names, and across the lines of a comment', () => {
  assert.equal(found('/** Tells the client. */\nconst toldLately = 1;\nconst kept_rows = 2;'), [
    '1 Tells',
    '2 told',
    '3 kept',
  ]);
  assert.equal(found('/**\n * It runs in a thread of its\n * own.\n */'), ['2 of its * own']);
  assert.equal(found('const maxRows = 1;\nconst mostRows = 2;'), ['2 mostRows']);
});

language('leaves words of the field alone', () => {
  const text = 'Math.floor(x); there is a token exchange; on demand; turns into; the intellect; the storytelling';
  assert.equal(found(text), []);
});

language.run();
