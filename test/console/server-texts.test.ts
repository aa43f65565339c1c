/** Estonian translations of text from the server: field help, errors, events and alerts. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import * as assert from 'uvu/assert';
import { problems as oidc } from '../../src/accounts/session/oidc/problems.ts';
import { problems as saml } from '../../src/accounts/session/saml/rejected-message.ts';
import { automaticAlerts as alerts } from '../../src/activity/alerts/catalogue.ts';
import { catalogue as events } from '../../src/activity/events/catalogue.ts';
import { notificationKinds } from '../../src/activity/notifications/catalogue.ts';
import words from '../../src/console/i18n/et.json' with { type: 'json' };
import serverTexts from '../../src/console/i18n/et-server.json' with { type: 'json' };
import { loginFailures } from '../../src/console/i18n/login-failures.ts';
import { lookupIn, partsOf, type Words } from '../../src/console/i18n/lookup.ts';
import { serverTextTranslator } from '../../src/console/i18n/server-texts.ts';
import type { Json } from '../support/fixture.ts';
import { suiteWithServer } from '../support/suite.ts';

const { test: tests, fixture } = suiteWithServer('server texts in the console', { seed: 'demo' });
const estonian: Words = words;
const serverWords: Words = Object.assign({}, ...Object.values(serverTexts));
const inEstonian = lookupIn(estonian);
const translate = serverTextTranslator(serverWords, (text) => inEstonian(text) ?? text);
const folder = fileURLToPath(new URL('../../src/', import.meta.url));

const unknown = (texts: Iterable<string>): string[] =>
  [...new Set(texts)].filter((text) => translate(text) === undefined);

/** Every `help_text` in a response to OPTIONS. */
function* helpsIn(node: Json): Generator<string> {
  if (node === null || typeof node !== 'object') return;
  if (typeof node.help_text === 'string') yield node.help_text;
  for (const value of Object.values(node)) yield* helpsIn(value);
}

tests('translates the help of every field', async () => {
  const { paths } = (await fixture.anonymous.get('/docs/')).body;
  const helps: string[] = [];
  const ask = async (path: string): Promise<void> => {
    helps.push(...helpsIn((await fixture.staff.options(path)).body));
  };
  for (const path of Object.keys(paths)) {
    if (path.includes('{')) continue;
    await ask(path);
    const detail = `${path}{key}/`;
    if (!paths[detail]) continue;
    for (const { url } of (await fixture.staff.get(`${path}?page_size=2`)).body) {
      await ask(url);
      for (const below of Object.keys(paths))
        if (below.startsWith(detail) && /^[a-z_]+\/$/.test(below.slice(detail.length)))
          await ask(url + below.slice(detail.length));
    }
  }
  assert.ok(new Set(helps).size > 50);
  assert.equal(unknown(helps), []);
});

tests('translates the roles of the logins to try', async () => {
  const { logins } = (await fixture.anonymous.get('/api/configuration/')).body.DEMO;
  assert.equal(unknown(logins.map(({ role }: Json) => role)), []);
});

tests('translates the help of every filter', async () => {
  const { paths } = (await fixture.anonymous.get('/docs/')).body;
  const helps = Object.keys(paths)
    .filter((path) => paths[path].get?.parameters?.some(({ $ref }: Json) => $ref?.endsWith('/page')))
    .flatMap((path) => paths[path].get.parameters)
    .filter(({ description, in: place, name }: Json) => place === 'query' && name !== 'o' && description)
    .map(({ description }: Json) => description);
  assert.ok(new Set(helps).size > 80);
  assert.equal(unknown(helps), []);
});

tests('translates the messages of all event and alert types and of notifications', () => {
  const templates = [
    ...[...Object.values(events), ...Object.values<{ readonly message: string }>(alerts)].map(({ message }) => message),
    ...Object.values(notificationKinds).map(({ message }) => message.en),
  ];
  const filled = templates
    .flatMap((message) => [message.replace(/\[.*?\]/g, ''), message.replace(/[[\]]/g, '')])
    .map((message) => message.replace(/\{\w+\}/g, 'X'))
    // One event type is obsolete, and users write the message of the other.
    .filter((message) => message !== '' && message !== 'X');
  assert.ok(filled.length > 80);
  assert.equal(unknown(filled), []);
});

/** Files whose text the console never shows: mails, requests of programs, documentation, vendor messages. */
const isElsewhere =
  /^(console\/|cloud\/providers\/openstack\/simulated\/|app\/(?!operation\/)|build\/|kernel\/(cache|config|mail|db|durability|native|outbox|jobs|metrics|net)\/|accounts\/session\/saml\/|activity\/(notifications\/catalogue|audit\/verify))|(wording|notices|password-reset-outbox|simulation|pages|send-\w+|outcome|outbox|config|webhook|http-server|rejection|endpoints?|vendor-http|filters?|directory|api)\.ts$/;
const isNoError =
  /^(about|unaudited|summary|description|help|output|allowedFor|policy|title|filters|parameters|headers|parameter\(\)|uuid\(\)|uuidOf\(\)|oneOf\(\)|byText\(\)|timestamp\(\)|presence\(\)|exactly\(\)|exact\(\)|exactUuid\(\)|pattern\(\)|only\(\)|cancelDeliveries\(\)|writing\(\)|readOnly\(\)|PUT|PATCH|'[=<>]+'|new ProviderError|error|Last-Event-ID|info|message<threshold|e[nt]$|integer\(\)|duration\(\))/;

/** Sentences in the documentation. */
const documentation =
  /^(Makes the next such|Advances the clock|Objects of the provider that|Maintenance starts|Fixed by the last)/;

/** Returns the error messages and results in the source of the server, with `{}` for values. */
function sentences(): string[] {
  const messages: string[] = [];
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  for (const file of files.filter((name) => name.endsWith('.ts') && !isElsewhere.test(name))) {
    const root = ts.createSourceFile(file, readFileSync(join(folder, file), 'utf8'), ts.ScriptTarget.Latest, true);
    const visit = (node: ts.Node): void => {
      const text = ts.isStringLiteralLike(node)
        ? node.text
        : ts.isTemplateExpression(node)
          ? [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('X')
          : '';
      if (/^[A-Z"'].* .*\.$/.test(text) && !isNoError.test(contextOf(node)) && !documentation.test(text))
        messages.push(text);
      ts.forEachChild(node, visit);
    };
    visit(root);
  }
  return messages;
}

/** Returns the function that gets a string, or the member that contains it. */
function contextOf(node: ts.Node): string {
  for (let { parent } = node; parent; { parent } = parent) {
    if (ts.isPropertyAssignment(parent)) return parent.name.getText();
    if (ts.isCallExpression(parent)) return `${parent.expression.getText()}()`;
    if (ts.isNewExpression(parent)) return `new ${parent.expression.getText()}`;
    if (ts.isVariableDeclaration(parent) || ts.isBlock(parent)) return '';
  }
  return '';
}

tests('translates all error messages and results', () => {
  const all = sentences();
  assert.ok(all.length > 200);
  assert.equal(unknown(all), []);
});

tests('knows and translates every message of a failed login at an identity provider', () => {
  assert.equal([...loginFailures].sort(), [...Object.values(oidc), ...Object.values(saml)].sort());
  assert.equal(unknown(loginFailures), []);
});

tests('translations have the placeholders of their templates', () => {
  const valuesOf = (text: string): string => [...new Set(partsOf(text).filter((_, at) => at % 2 === 1))].sort().join();
  const differing = Object.entries(serverWords).filter(
    ([text, translation]) =>
      !valuesOf(text)
        .split(',')
        .every((name) => ['type', 'resource', 'types', 'formats', ''].includes(name) || translation.includes(name)) &&
      valuesOf(text) !== valuesOf(translation),
  );
  assert.equal(differing, []);
});

tests('never reads a value as a template, and translates API names in values', () => {
  assert.equal(
    [
      'User a. has lost role of manager in project has gained role of {x}.',
      "Project Rocket has been updated. Name has been changed from 'Rocket' to 'Saturn'.",
      'Valid states for operation: OK, Erred.',
      'Ensure this field has no more than 150 characters.',
      'No server sends that.',
    ].map(translate),
    [
      'Kasutaja a. kaotas rolli: juht (projekt has gained role of {x}).',
      'Projekti Rocket on muudetud. Nimi: „Rocket” → „Saturn”.',
      'Tegevus on lubatud, kui olek on: Korras, Vigane.',
      'Siin võib olla kuni 150 märki.',
      undefined,
    ],
  );
});

/** Counts the characters that a function scans and the regular expressions that it uses. */
function workOf(act: () => unknown): { readonly scanned: number; readonly expressions: number } {
  const { indexOf, lastIndexOf } = String.prototype;
  const { exec } = RegExp.prototype;
  const work = { scanned: 0, expressions: 0 };
  String.prototype.indexOf = function (this: string, wanted: string, from = 0): number {
    const index = indexOf.call(this, wanted, from);
    work.scanned += index < 0 ? Math.max(0, this.length - from) : index - from + wanted.length;
    return index;
  };
  String.prototype.lastIndexOf = function (this: string, wanted: string): number {
    const index = lastIndexOf.call(this, wanted);
    work.scanned += this.length - Math.max(0, index);
    return index;
  };
  RegExp.prototype.exec = function (text: string): RegExpExecArray | null {
    if (text.length > 1000) work.expressions += 1;
    return exec.call(this, text);
  };
  try {
    act();
  } finally {
    Object.assign(String.prototype, { indexOf, lastIndexOf });
    RegExp.prototype.exec = exec;
  }
  return work;
}

tests('translates a long text by a user or provider in linear time', () => {
  const fixed = [...new Set(Object.keys(serverWords).flatMap((text) => partsOf(text).filter((_, at) => at % 2 === 0)))];
  const repeated = [
    ...fixed.filter((part) => part.length > 1),
    " has been changed from '",
    ". has been changed from '",
    " a has been changed from '",
    " has been changed from 'a' to '",
    "' to '",
  ];
  assert.ok(repeated.length > 100);
  const heads = ['', "Project Rocket has been updated. Name has been changed from '"];
  for (const piece of repeated)
    for (const head of heads)
      for (const tail of ['', 'X']) {
        const [short, long] = [1_000, 8_000].map((length) =>
          workOf(() => translate(head + piece.repeat(length / piece.length) + tail)),
        );
        assert.is(long?.expressions, 0, piece);
        // Linear time: for eight times the length, each template scans the text a bounded number of times.
        assert.ok((long?.scanned ?? 0) <= 10 * (short?.scanned ?? 0) + 20_000, `${head}…${piece}: ${long?.scanned}`);
        assert.ok((long?.scanned ?? 0) <= 8_000 * Object.keys(serverWords).length * 3);
      }
});

tests('translates changes sentence by sentence, with any values', () => {
  const start = 'Project Rocket has been updated.';
  assert.equal(
    [
      `${start} Name has been changed from 'A' to 'B'. Description has been changed from '' to 'x. y'.`,
      `${start} Name has been changed from 'A' to '${' Name has been changed from '.repeat(3)}'.`,
      `${start} Name has been changed from 'A`,
    ].map(translate),
    [
      'Projekti Rocket on muudetud. Nimi: „A” → „B”. Kirjeldus: „” → „x. y”.',
      `Projekti Rocket on muudetud. Nimi: „A” → „${' Name has been changed from '.repeat(3)}”.`,
      "Projekti Rocket on muudetud. Name has been changed from 'A",
    ],
  );
});

tests.run();
