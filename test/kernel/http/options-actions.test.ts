/** services.md 9: for any caller, OPTIONS describes the actions on an object as their requests behave. */

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { raw, sql } from '../../../src/kernel/db/sql.ts';
import { isProvided, newKeyOf } from '../../app/rights/provided.ts';
import { type Column, restore, type Situation, situation } from '../../app/rights/situation.ts';
import { catalogue, endpoints } from '../../support/catalogue.ts';
import type { ApiResponse, Client, Json } from '../../support/fixture.ts';

const test = suite('actions that OPTIONS shows of');
const forbidden = 'You do not have permission to perform this action.';
const types = [
  'string',
  'text',
  'integer',
  'float',
  'boolean',
  'choice',
  'select',
  'url',
  'email',
  'datetime',
  'file upload',
  'list',
  'nested object',
];
const infos = [
  'type',
  'required',
  'label',
  'help_text',
  'default_value',
  'placeholder',
  'min_length',
  'max_length',
  'min_value',
  'max_value',
  'many',
  'choices',
  'url',
  'value_field',
  'display_name_field',
];
const callers: readonly Column[] = ['GS', 'CO', 'CS', 'PM', 'PA', 'PS', 'ST'];

let place: Situation;

test.before(async () => {
  place = await situation();
});
test.after(() => place.fixture.close());

const described = endpoints.filter(({ metadata }) => metadata);
const lists = described.filter(({ path }) => !path.includes(':key'));
const details = described.filter(({ path }) => path.includes(':key'));
const kindOf = (path: string) => catalogue.kinds.find(({ kind }) => path === `/api/${kind.path}/:key/`)?.kind;

/** Creates an object in the callers' project. The certification, which all users see, is shared. */
function newObject(path: string): string {
  return isProvided(path) ? newKeyOf(place, path, 'own') : (place.keys['service-certifications']?.any as string);
}

/** Returns a valid value for a described field: the first of its choices. */
async function valueFor(client: Client, { choices, min_value, type, url }: Json): Promise<unknown> {
  if (type === 'select') return (await client.get(url)).body[0]?.url ?? null;
  if (type === 'choice') return choices[0].value;
  if (type === 'integer' || type === 'float') return min_value ?? 1;
  if (type === 'boolean') return true;
  if (type === 'list') return [];
  if (type === 'nested object') return {};
  return type === 'url' ? 'https://example.com/' : 'one';
}

async function filled(client: Client, fields: Json = {}): Promise<Json> {
  const required = Object.entries<Json>(fields).filter(([, field]) => field.required);
  return Object.fromEntries(
    await Promise.all(required.map(async ([name, field]) => [name, await valueFor(client, field)])),
  );
}

function checkForm(action: Json, who: string): void {
  assert.is(action.type, 'fields' in action ? 'form' : 'button', who);
  for (const [name, field] of Object.entries<Json>(action.fields ?? {})) checkField(name, field, who);
}

function checkField(name: string, field: Json, who: string): void {
  assert.ok(types.includes(field.type), `${who}: ${name} is ${field.type}`);
  assert.equal([typeof field.required, typeof field.label], ['boolean', 'string'], `${who}: ${name}`);
  for (const info of Object.keys(field)) assert.ok(infos.includes(info), `${who}: ${name} has ${info}`);
  assert.is('choices' in field, field.type === 'choice', `${who}: ${name}`);
  if (field.type === 'select')
    assert.equal(
      [typeof field.url, field.value_field, typeof field.display_name_field],
      ['string', 'url', 'string'],
      `${who}: ${name}`,
    );
  assert.is.not(name, 'tags', who);
}

/** Whether an action behaved as OPTIONS described it. */
function compare({ enabled, reason, method }: Json, response: ApiResponse<Json>, isForm: boolean, who: string): void {
  const said = `${who} (${method}): told ${reason}, answered ${response.status} ${JSON.stringify(response.body)}`;
  assert.is(enabled, reason === null, said);
  if (enabled) assert.not([401, 403, 404, 405, 409, 500].includes(response.status), said);
  else if (reason === forbidden || response.status === 403)
    assert.equal([response.status, response.body], [403, { detail: reason }], said);
  // Errors of the form come before those of the state.
  else if (!isForm || response.status !== 400)
    assert.equal([response.status, response.body], [409, { detail: reason }], said);
}

/** Runs every described action, each on a new object. */
async function check(
  path: string,
  column: Column,
  state: Readonly<Partial<Record<'state' | 'runtime_state', string>>> = {},
  isShared = false,
): Promise<void> {
  const list = path.replace(':key/', '');
  const forms: Json = (await place.clients[column].options(list)).body.actions;
  const prepare = (): string => {
    const key = newObject(path);
    const { db } = place.fixture.server.app;
    db.write(() => {
      if (isShared) db.run(sql`UPDATE service_settings SET shared = 1`);
      for (const [name, value] of Object.entries(state))
        db.run(sql`UPDATE resource SET ${raw(name)} = ${value} WHERE uuid = ${key}`);
    });
    db.commit();
    return `${place.fixture.url}${list}${key}/`;
  };
  const names = Object.keys((await place.clients[column].options(prepare())).body.actions);
  assert.equal(names, [...names].sort(), path);
  if (kindOf(path))
    assert.equal(
      names,
      Object.keys(forms).filter((name) => name !== 'POST'),
      path,
    );
  for (const name of names) {
    const url = prepare();
    const client = place.clients[column];
    const { body, headers, status } = await client.options(url);
    assert.equal([status, Object.keys(body), headers.get('cache-control')], [200, ['actions'], 'no-store']);
    const { fields, title, type, ...action } = body.actions[name];
    const who = `${column} ${name} of ${path} ${JSON.stringify(state)}`;
    const tail = name === 'update' || name === 'destroy' ? '' : `${name}/`;
    assert.equal(
      { ...action, reason: null, enabled: true },
      {
        method: name === 'update' ? 'PUT' : name === 'destroy' ? 'DELETE' : 'POST',
        destructive: name === 'destroy' || name === 'unlink',
        url: url + tail,
        reason: null,
        enabled: true,
      },
      who,
    );
    assert.is(
      title,
      name
        .split('_')
        .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
        .join(' '),
      who,
    );
    if (action.enabled) checkForm(body.actions[name], who);
    else assert.equal([fields, type], [undefined, undefined], who);
    const form = fields ?? forms[name]?.fields;
    const query =
      name === 'destroy' && form
        ? `?${Object.keys(form)
            .map((flag) => `${flag}=false`)
            .join('&')}`
        : '';
    const response = await client.send(
      action.method,
      action.url + query,
      action.method === 'DELETE' ? undefined : await filled(client, form),
    );
    compare(action, response, form !== undefined, who);
    if (name === 'destroy' && response.status === 204 && !isProvided(path)) await restore(place);
  }
}

for (const { path } of details) {
  test(`${path}: every action responds as OPTIONS describes`, async () => {
    for (const column of callers) await check(path, column);
    const url = path.replace(':key', newObject(path));
    if (isProvided(path))
      assert.equal(
        [(await place.clients.UN.options(url)).status, (await place.clients.AN.options(url)).status],
        [404, 401],
      );
  });
}

for (const { path } of details.filter(({ path }) => kindOf(path))) {
  test(`${path}: also in every state`, async () => {
    const runtimeStates = new Set(kindOf(path)?.actions.flatMap((action) => action.runtimeStates ?? []));
    for (const state of ['Erred', 'Creation Scheduled', 'Updating', 'Deleting']) await check(path, 'CO', { state });
    for (const runtime_state of runtimeStates) await check(path, 'CO', { runtime_state });
  });
}

for (const path of ['/api/openstack/:key/', '/api/openstack-tenants/:key/']) {
  test(`${path}: also on shared settings`, async () => {
    for (const column of callers) await check(path, column, {}, true);
    await restore(place);
  });
}

for (const { operations, path } of lists) {
  test(`${path}: OPTIONS describes a creation to users who may create`, async () => {
    for (const column of [...callers, 'UN'] as const) {
      const { body, headers, status } = await place.clients[column].options(path);
      assert.equal([status, Object.keys(body), headers.get('cache-control')], [200, ['actions'], 'no-store'], column);
      const { POST, ...actions } = body.actions;
      const response = await place.clients[column].post(path, {});
      assert.is(
        POST !== undefined,
        operations.POST !== undefined && response.status !== 403,
        `${column}: ${response.status}`,
      );
      for (const [name, field] of Object.entries<Json>(POST ?? {})) checkField(name, field, `${column} POST`);
      for (const [name, action] of Object.entries<Json>(actions)) checkForm(action, `${column} ${name}`);
      if (POST && response.status === 400) requireAsked(POST, response.body, `${column} POST ${path}`);
    }
    assert.is((await place.clients.AN.options(path)).status, 401);
  });
}

/** The errors for an empty body name exactly the required fields. */
function requireAsked(fields: Json, messages: Json, who: string): void {
  const missing = Object.keys(messages).filter((name) =>
    /^(This field is required\.|Name cannot be empty)$/.test(messages[name][0]),
  );
  assert.equal(
    missing.sort(),
    Object.keys(fields)
      .filter((name) => fields[name].required)
      .sort(),
    who,
  );
}

test.run();
