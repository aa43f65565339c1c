/**
 * core.md 1.10: sends OPTIONS to every path as every user, and compares the descriptions with the responses to the described
 * requests.
 */

import type { ServerOptions } from 'tenantry';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { allowed, type Endpoint } from '../../../src/kernel/collection/endpoint.ts';
import { bodies, queries } from '../../app/rights/bodies.ts';
import { entityBody, isEntity, isProvided, newKeyOf, providedBody, wordsOf } from '../../app/rights/provided.ts';
import { type Column, columns, restore, type Situation, situation } from '../../app/rights/situation.ts';
import { endpoints } from '../../support/catalogue.ts';
import type { ApiResponse, Json } from '../../support/fixture.ts';

const test = suite('OPTIONS everywhere');

/** Paths that describe their fields to all callers, even without the right to write. */
const describedToAll = /^\/api\/(customers|projects|keys|customer-permissions|project-permissions)\/(:key\/)?$/;
/** A POST that changes nothing counts as read-only. */
const readOnly = [
  '/api/events/count/history/',
  '/api/user-invitations/:key/check/',
  ...['aws', 'digitalocean', 'gitlab', 'jira', 'openstack', 'oracle'].map((prefix) => `/api/${prefix}/test/`),
];
const types = [
  'field',
  'boolean',
  'string',
  'url',
  'email',
  'regex',
  'integer',
  'float',
  'datetime',
  'choice',
  'list',
  'file upload',
  'image upload',
  'nested object',
];
const facts = [
  'help_text',
  'min_length',
  'max_length',
  'min_value',
  'max_value',
  'default_value',
  'child',
  'children',
  'choices',
];

let place: Situation;
/** Whether a request has ended a session or granted a role. */
let isSpoiled = false;

async function open(options: ServerOptions = {}): Promise<void> {
  await place?.fixture.close();
  place = await situation(options);
  isSpoiled = false;
}

async function renew(): Promise<void> {
  await restore(place);
  isSpoiled = false;
}

test.before(() => open());
test.after(() => place.fixture.close());

const collectionOf = (path: string): string => path.split('/')[2] ?? '';

/** Returns the table's words for the objects of a path. Bodies for paths without a key name the callers' customer. */
function objectsOf({ path }: Endpoint): readonly string[] {
  if (!path.includes(':key')) return ['own'];
  return isProvided(path) ? wordsOf(path) : Object.keys(place.keys[collectionOf(path)] ?? {});
}

function urlOf(path: string, object: string, column: Column, provided: string | undefined): string {
  const keyOf = (collection: string): string => {
    const keys = place.keys[collection]?.[object];
    return (
      (typeof keys === 'object' ? keys[column] : keys) ??
      (collection.includes('-permissions') ? '999999' : '0'.repeat(32))
    );
  };
  return path
    .replace(':key', () => provided ?? keyOf(collectionOf(path)))
    .replace(':delivery', () => keyOf('deliveries'));
}

async function bodyOf(method: string, path: string, object: string, url: string, column: Column): Promise<unknown> {
  if (isEntity(path) && method === 'POST') return entityBody(place, path, place.keys.users?.self?.[column as never]);
  return isProvided(path)
    ? providedBody(place, method, path, object)
    : bodies[`${method} ${path}`]?.(place, object, url);
}

/** Returns the callers, staff last. For objects of providers, one role stands for all roles that do not see a foreign object. */
function callersOf(path: string, object: string): readonly Column[] {
  if (!isProvided(path)) return [...columns].reverse();
  return object === 'foreign' ? ['AN', 'CO', 'GS', 'ST'] : ['AN', 'UN', 'PS', 'PA', 'PM', 'CS', 'CO', 'GS', 'ST'];
}

/** Returns the method that `actions` may name on a path. */
const describable = ({ operations, path }: Endpoint): 'POST' | 'PUT' | undefined =>
  readOnly.includes(path) ? undefined : operations.POST ? 'POST' : operations.PUT && 'PUT';

/**
 * Whether the response to a valid request means that the caller has the right. A caller who cannot see the objects in the body
 * gets 400.
 */
const isConsent = (status: number, path: string): boolean =>
  ![401, 403, 404, 405].includes(status) &&
  (status !== 400 || !/^\/api\/[a-z-]+\/$/.test(path) || path in measurements);
/** Paths without a valid body here: they need a resource. */
const measurements: Readonly<Record<string, true>> = { '/api/resource-sla/': true, '/api/monitoring-items/': true };

/** Returns the expected status of OPTIONS: that of GET, except that visible objects are described even if reading is denied. */
function statusOf(
  reading: number | undefined,
  writing: number | undefined,
  { open, operations, path }: Endpoint,
): number {
  // Settings can switch off an open path.
  const status = operations.GET ? reading : writing;
  if (open) return status === 401 || (status === 404 && !path.includes(':key')) ? status : 200;
  const seen = reading ?? writing;
  // Sessions have no API key.
  const mayBeMissing = path.includes(':key') || path === '/api/api-keys/current/';
  return seen === 401 || (seen === 404 && mayBeMissing) ? seen : 200;
}

/** Returns the URL of the object to which a URL belongs. */
const objectOf = (url: string): string => url.split('/').slice(0, 4).concat('').join('/');

function checkPlain(
  endpoint: Endpoint,
  { body, headers }: ApiResponse<Json>,
  expected: readonly string[],
  who: string,
): void {
  const { actions = {}, ...rest } = body;
  assert.equal(
    rest,
    {
      name: endpoint.name,
      description: endpoint.description,
      renders: ['application/json'],
      parses: ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'],
    },
    who,
  );
  assert.equal(Object.keys(actions), expected, who);
  assert.is('actions' in body, expected.length > 0, who);
  assert.equal([headers.get('cache-control'), headers.get('etag')], ['no-store', null], who);
  for (const fields of Object.values<Json>(actions)) {
    for (const [name, field] of Object.entries<Json>(fields)) {
      const { type, required, read_only, label, ...more } = field;
      assert.ok(types.includes(type), `${who}: ${name} is ${type}`);
      assert.equal(
        [typeof required, typeof read_only, required && read_only],
        ['boolean', 'boolean', false],
        `${who}: ${name}`,
      );
      assert.match(label, /\S/, `${who}: ${name}`);
      for (const fact of Object.keys(more)) assert.ok(facts.includes(fact), `${who}: ${name} has ${fact}`);
    }
  }
}

/** The errors for an empty body name exactly the required fields. */
async function checkRequired(method: string, url: string, fields: Json, who: string): Promise<void> {
  if (!fields || Object.keys(fields).length === 0) return;
  const { body } = await place.clients.ST.send(method, url, {});
  const isMissing = (name: string): boolean =>
    /^(This field is required\.|No file was submitted\.|Name cannot be empty)$/.test(String(body?.[name]));
  assert.equal(
    Object.keys(body ?? {})
      .filter(isMissing)
      .sort(),
    Object.keys(fields)
      .filter((name) => fields[name].required)
      .sort(),
    `${who}: ${JSON.stringify(body)}`,
  );
}

/** Sends OPTIONS as every user, then the described requests. */
async function check(endpoint: Endpoint, object: string): Promise<void> {
  const { operations, path } = endpoint;
  const method = describable(endpoint);
  if (isSpoiled) await renew();
  let provided: string | undefined;
  for (const column of callersOf(path, object)) {
    if (isProvided(path) && path.includes(':key')) provided ??= newKeyOf(place, path, object);
    const client = place.clients[column];
    const url = urlOf(path, object, column, provided);
    const body = method && (await bodyOf(method, path, object, url, column));
    const reading =
      operations.GET || !method
        ? (await client.get(operations.GET ? url + (queries[path] ?? '') : objectOf(url))).status
        : undefined;
    place.fixture.events();
    const reports = await client.options(url);
    assert.equal(place.fixture.events(), []);
    const writing = method && (await client.send(method, url, body)).status;
    const who = `${column} OPTIONS ${path} ${object}`;
    assert.is(reports.status, statusOf(reading, writing, endpoint), who);
    assert.is(reports.headers.get('allow'), allowed(endpoint), who);
    const may = writing !== undefined && isConsent(writing, path);
    if (reports.status === 200 && !endpoint.metadata)
      checkPlain(
        endpoint,
        reports,
        method && (may || describedToAll.test(path)) ? [method] : [],
        `${who} (${method}: ${writing})`,
      );
    if (column === 'ST' && may)
      await checkRequired(method as string, url, reports.body.actions?.[method as string], who);
    isSpoiled ||= may && writing < 300 && (path === '/api-auth/logout/' || path.endsWith('/accept/'));
    if (may) provided = undefined;
  }
}

for (const endpoint of endpoints) {
  test(`${endpoint.path} describes itself, and the actions of the caller`, async () => {
    for (const object of objectsOf(endpoint)) await check(endpoint, object);
  });
}

test('names lists and objects by their kind', () => {
  for (const { metadata, name, operations, path } of endpoints) {
    if (/^\/api\/[a-z-]+\/:key\/$/.test(path)) assert.match(name, / Instance$/, path);
    if (/^\/api\/[a-z-]+\/$/.test(path) && (metadata || operations.GET?.paginated)) assert.match(name, / List$/, path);
  }
});

test('rejects OPTIONS of an unknown path, and reveals that to authenticated callers only', async () => {
  for (const path of ['/api/nothing/', '/api/customers/nothing/at/all/']) {
    const response = await place.clients.UN.options(path);
    assert.equal(
      [response.status, response.body, response.headers.get('allow')],
      [404, { detail: 'Not found.' }, null],
    );
    assert.is((await place.clients.AN.options(path)).status, 401);
  }
  assert.is((await place.clients.AN.options('/nothing/')).status, 404);
});

test('describes the additional rights of owners with both settings', async () => {
  await open({ owners_can_manage_customers: true, owners_can_manage_owners: true });
  for (const endpoint of endpoints.filter(({ path }) =>
    /^\/api\/(customers|customer-permissions|user-invitations)\//.test(path),
  )) {
    for (const object of objectsOf(endpoint)) await check(endpoint, object);
  }
});

test.run();
