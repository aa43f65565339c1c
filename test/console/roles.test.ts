/**
 * Every console page with every role in both languages: no page fails or offers an action that the server would reject, and all
 * text is translated.
 */
import type { Browser } from 'playwright-core';
import * as assert from 'uvu/assert';
import { englishOfAction } from '../../src/console/i18n/english.ts';
import words from '../../src/console/i18n/et.json' with { type: 'json' };
import { lookupIn, type Words } from '../../src/console/i18n/lookup.ts';
import { newPublicKey } from '../app/rights/situation.ts';
import { startBrowser } from '../support/browser.ts';
import { Console, password } from '../support/console.ts';
import { createDroplet } from '../support/droplets.ts';
import type { Client, Json } from '../support/fixture.ts';
import type { Personas } from '../support/personas.ts';
import { suiteWithServer } from '../support/suite.ts';

const chromium = await startBrowser();
const { test: tests, fixture } = suiteWithServer('the console with every role');
const browser = chromium ? tests : tests.skip;
const estonian: Words = words;
const inEstonian = lookupIn(estonian);
let people: Personas;
const clients = new Map<string, Client>();

/** A role with a language. */
const visitors = [
  ['staff', 'et'],
  ['owner', 'en'],
  ['manager', 'et'],
  ['admin', 'en'],
  ['support', 'et'],
  ['stranger', 'en'],
] as const;

type Visitor = readonly [name: (typeof visitors)[number][0], language: 'en' | 'et'];

const usernameOf = (name: Visitor[0]): string => (name === 'staff' ? 'admin' : people.users[name].username);

tests.before(async () => {
  if (!chromium) return;
  ({ people } = await createDroplet(fixture));
  const { customer, project, users } = people;
  const [me] = (await fixture.staff.get('/api/users/?current')).body;
  for (const { url } of [me, ...Object.values(users)]) await fixture.staff.post(`${url}password/`, { password });
  for (const [name] of visitors) {
    const client = fixture.as(usernameOf(name));
    clients.set(name, client);
    await client.post('/api/keys/', { name: 'laptop', public_key: newPublicKey() });
    await client.post('/api/hooks-web/', { destination_url: 'https://example.com/hook', event_groups: ['projects'] });
  }
  const alert = { scope: project.url, alert_type: 'disk_full', severity: 'Warning', message: 'The disk is full.' };
  await fixture.staff.post('/api/alerts/', alert);
  await fixture.staff.post('/api/user-invitations/', {
    email: 'guest@example.com',
    customer: customer.url,
    customer_role: 'owner',
    link_template: `${fixture.url}/#/invitation/{uuid}/`,
  });
});
tests.after(() => chromium?.close());

/** Opens the console with a role, in its language. */
async function enter([name, language]: Visitor): Promise<Console> {
  const visitor = await Console.open(chromium as Browser, `${fixture.url}/`);
  await visitor.signIn(usernameOf(name));
  if (language === 'et') await visitor.switchLanguage();
  await visitor.settled();
  return visitor;
}

/** Opens a page and returns its heading. */
async function visit(visitor: Console, place: string): Promise<string> {
  await visitor.page.evaluate(`location.hash = ${JSON.stringify(place)}`);
  await visitor.settled();
  return visitor.page.locator('main h1').innerText();
}

const hashesIn = (visitor: Console, within: string): Promise<readonly string[]> =>
  visitor.page.evaluate(`[...document.querySelectorAll('${within} a[href^="#"]')].map(({ hash }) => hash.slice(1))`);

const textsOf = (visitor: Console, selector: string): Promise<readonly string[]> =>
  visitor.page.evaluate(
    `[...document.querySelectorAll(${JSON.stringify(selector)})].map(({ textContent }) => textContent.trim())`,
  );

/** Elements whose text comes from the console, not from objects or the server. */
const said = 'h1, h2, th, dt, label, button, nav a, legend, option, .none';

/** Object names that are also words of the console. */
const objectNames = new Set(['Cloud']);

/** Returns the English text on a page that has an Estonian translation. */
async function leftInEnglish(visitor: Console): Promise<readonly string[]> {
  const texts = await textsOf(visitor, said);
  return texts.filter((text) => !objectNames.has(text) && Object.hasOwn(estonian, text) && estonian[text] !== text);
}

/** Returns the method and address of each button on an object's page, by English title. */
async function targetsOf(
  client: Client,
  url: string,
  actions: readonly string[],
): Promise<Map<string, [string, string]>> {
  const { body } = await client.options(url);
  const targets = new Map<string, [string, string]>([
    ['Edit', ['PATCH', url]],
    ['Delete', ['DELETE', url]],
    ...actions.map((name): [string, [string, string]] => [
      (url.includes('/user-invitations/') && renamed[name]) || englishOfAction(name),
      ['POST', `${url}${name}/`],
    ]),
  ]);
  // The page of a hook uses its own title for this action.
  if (/\/hooks-(web|email|push)\//.test(url)) targets.set('Send test', ['POST', `${url}test/`]);
  for (const [name, { method, title, url: address }] of Object.entries<Json>(body.actions ?? {}))
    if (method) targets.set(englishOfAction(name, title), [method, address]);
  return targets;
}

/** Actions of invitations that the console names differently. */
const renamed: Readonly<Record<string, string>> = { send: 'Resend', cancel: 'Revoke' };

/** Header buttons that create other objects. */
const creations = new Set(['Invite', 'New project', 'Kutsu', 'Uus projekt']);

/** Sends every offered action with an ETag that never matches, which reports missing rights but changes nothing. */
async function rejectedActions(visitor: Console, [name, language]: Visitor, url: string, actions: readonly string[]) {
  const client = clients.get(name) as Client;
  const offered = (await visitor.offered()).filter(({ reason }) => reason === '').map(({ title }) => title);
  const targets = await targetsOf(client, url, actions);
  const byTitle = new Map(
    [...targets].map(([title, target]) => [language === 'et' ? (inEstonian(title) ?? title) : title, target]),
  );
  const rejected: string[] = [];
  for (const title of offered) {
    const [method, address] = byTitle.get(title) ?? [];
    // These buttons are checked with the lists of the created objects.
    if (creations.has(title)) continue;
    if (method === undefined || address === undefined) {
      rejected.push(`${title}: its request is unknown`);
      continue;
    }
    const body = method === 'DELETE' ? undefined : '{}';
    const headers = { 'If-Match': '"another"', 'Content-Type': 'application/json' };
    const { status } = await client.send(method, address, body, headers);
    if (![400, 412].includes(status)) rejected.push(`${title}: ${method} ${address}: ${status}`);
  }
  return rejected;
}

for (const visitor of visitors) {
  const [name, language] = visitor;
  browser(`every page works for ${name}, and offers only permitted actions, in ${language}`, async () => {
    const client = clients.get(name) as Client;
    const { paths } = (await fixture.anonymous.get('/docs/')).body;
    const visited = await enter(visitor);
    const missing = language === 'et' ? ['Lehte ei leitud', 'Ei leitud'] : ['Page not found', 'Not found'];
    const wrong: string[] = [];
    const look = async (place: string): Promise<void> => {
      const heading = await visit(visited, place);
      if (missing.includes(heading)) wrong.push(`${place}: ${heading}`);
      wrong.push(...(await textsOf(visited, 'main :is(.callout.bad, .bad-ink)')).map((text) => `${place}: ${text}`));
      wrong.push(...visited.complaints.splice(0).map((text) => `${place}: ${text}`));
      if (language === 'et')
        wrong.push(...(await leftInEnglish(visited)).map((text) => `${place}: in English: ${text}`));
    };
    const destinations = await hashesIn(visited, 'nav#places');
    assert.ok(destinations.length > 8);
    for (const place of destinations) await look(place);
    await look('/all/');
    const lists = new Set([...destinations, ...(await hashesIn(visited, 'main'))]);
    for (const list of lists) {
      if (!/^\/[a-z-]+\/$/.test(list) || list === '/all/') continue;
      const { body } = await client.get(`/api${list}?page_size=1`);
      const first = Array.isArray(body) ? body[0] : undefined;
      // An empty list looks the same for all roles.
      if (!destinations.includes(list) && (first !== undefined || name === 'staff')) await look(list);
      const [, path] = /\/api(\/[a-z-]+\/[0-9a-f]+\/)$/.exec(first?.url ?? '') ?? [];
      if (path === undefined || paths[`/api${list}{key}/`] === undefined) continue;
      await look(path);
      const actions = Object.keys(paths).flatMap(
        (other) =>
          (other.startsWith(`/api${list}{key}/`) && paths[other].post && /([a-z_]+)\/$/.exec(other)?.[1]) || [],
      );
      wrong.push(...(await rejectedActions(visited, visitor, first.url, actions)).map((text) => `${path}: ${text}`));
    }
    assert.equal(wrong, []);
    await visited.close();
  });
}

browser('every kind of page is accessible in Estonian', async () => {
  const visitor = await enter(['staff', 'et']);
  const { customer, project } = people;
  const first = async (list: string): Promise<string> =>
    new URL((await fixture.as('admin').get(`/api/${list}/`)).body[0].url).pathname.slice('/api'.length);
  const places = [
    ...['/', '/all/', '/customers/', `/customers/${customer.uuid}/`, `/projects/${project.uuid}/`, '/resources/'],
    ...[`/projects/${project.uuid}/team/`, '/events/', '/alerts/', '/hooks/', '/service-settings/', '/operation/'],
    ...[await first('digitalocean-droplets'), await first('alerts'), await first('hooks-web'), '/no-such-page/'],
  ];
  const findings: string[] = [];
  for (const place of places) {
    await visit(visitor, place);
    findings.push(...(await visitor.findings()).map((text) => `${place}: ${text}`));
  }
  assert.equal(findings, []);
  assert.equal(visitor.complaints, []);
  await visitor.close();
});

tests.run();
