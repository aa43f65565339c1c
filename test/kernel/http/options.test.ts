/** core.md 1.10: OPTIONS. */
import * as assert from 'uvu/assert';
import { countries } from '../../../src/accounts/customers/countries.ts';
import type { Client, Json } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test: options, fixture } = suiteWithServer('OPTIONS');
let customer: Json;
let project: Json;
let alice: Json;
let key: Json;
let permission: Json;
let clients: Record<'staff' | 'owner' | 'support' | 'alice', Client>;

options.before(async () => {
  customer = await fixture.customer('Ministry');
  project = await fixture.project('Bridge', customer);
  alice = await fixture.user('alice');
  await fixture.user('gs', { is_support: true });
  permission = await fixture.grant(customer, await fixture.user('owner'), 'owner');
  await fixture.grant(project, alice, 'admin');
  clients = { staff: fixture.staff, owner: fixture.as('owner'), support: fixture.as('gs'), alice: fixture.as('alice') };
  const line = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl alice';
  key = (await clients.alice.post('/api/keys/', { public_key: line })).body;
});

options('the response has name, description, renders, parses and actions', async () => {
  const { status, body, headers } = await fixture.staff.options('/api/customers/');
  assert.is(status, 200);
  assert.equal(Object.keys(body), ['name', 'description', 'renders', 'parses', 'actions']);
  assert.equal(
    [body.name, body.renders, body.parses],
    [
      'Customer List',
      ['application/json'],
      ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'],
    ],
  );
  assert.type(body.description, 'string');
  assert.is(headers.get('allow'), 'GET, POST, HEAD, OPTIONS');
  assert.is((await fixture.staff.options(customer.url)).body.name, 'Customer Instance');
});

options('authentication and visibility are those of GET', async () => {
  await fixture.user('stranger');
  for (const path of ['/api/customers/', customer.url]) assert.is((await fixture.anonymous.options(path)).status, 401);
  for (const tail of ['', 'users/', 'counters/', 'image/']) {
    const response = await fixture.as('stranger').options(customer.url + tail);
    assert.equal([tail, response.status, response.body], [tail, 404, { detail: 'Not found.' }]);
    assert.is((await clients.alice.options(customer.url + tail)).status, 200);
  }
  for (const tail of ['', 'users/', 'counters/', 'update_certifications/'])
    assert.is((await fixture.as('stranger').options(project.url + tail)).status, 404);
  assert.is((await fixture.as('stranger').options(key.url)).status, 404);
  assert.is((await fixture.as('stranger').options(permission.url)).status, 404);
});

/** Returns the actions that OPTIONS of a path describes to a caller. */
const actions = async (client: Client, path: string): Promise<string[]> =>
  Object.keys((await client.options(path)).body.actions ?? {});

options('shows actions of users to staff, and of a user to staff and that user', async () => {
  const expected = { staff: [['POST'], ['PUT']], owner: [[], []], support: [[], []], alice: [[], ['PUT']] };
  for (const [name, [list, detail]] of Object.entries(expected)) {
    const client = clients[name as keyof typeof clients];
    assert.equal([name, await actions(client, '/api/users/'), await actions(client, alice.url)], [name, list, detail]);
  }
});

options('shows actions of customers, projects, keys and permissions to all users who may OPTIONS them', async () => {
  for (const [name, client] of Object.entries(clients)) {
    for (const path of ['customers', 'projects', 'keys', 'customer-permissions', 'project-permissions']) {
      assert.equal([name, path, await actions(client, `/api/${path}/`)], [name, path, ['POST']]);
    }
    for (const path of [customer.url, project.url, permission.url])
      assert.equal([name, path, await actions(client, path)], [name, path, ['PUT']]);
  }
  assert.equal(await actions(clients.alice, key.url), []);
});

options('shows no actions on read-only paths', async () => {
  for (const path of [
    '/api/',
    '/api/version/',
    '/api/configuration/',
    '/api/user-counters/',
    `${customer.url}users/`,
    `${project.url}counters/`,
    '/api/customer-permissions-log/',
    '/api/project-permissions-log/',
  ]) {
    const { body } = await fixture.staff.options(path);
    assert.equal([path, Object.keys(body)], [path, ['name', 'description', 'renders', 'parses']]);
  }
});

options('shows other actions to callers who may write', async () => {
  assert.equal(await actions(fixture.staff, `${project.url}update_certifications/`), ['POST']);
  assert.equal(await actions(clients.owner, `${project.url}update_certifications/`), ['POST']);
  assert.equal(await actions(clients.alice, `${project.url}update_certifications/`), []);
  assert.equal(await actions(clients.alice, `${alice.url}password/`), ['POST']);
  assert.equal(await actions(clients.owner, `${alice.url}password/`), []);
  assert.equal(await actions(clients.owner, `${customer.url}image/`), ['PUT']);
  assert.equal(await actions(clients.alice, `${customer.url}image/`), []);
});

options('describes a field by type, required, read_only and label, and other members that apply', async () => {
  const { POST } = (await fixture.staff.options('/api/customers/')).body.actions;
  assert.equal(Object.keys(POST), Object.keys(customer));
  assert.equal(POST.url, { type: 'field', required: false, read_only: true, label: 'URL' });
  assert.equal(POST.name, { type: 'string', required: true, read_only: false, label: 'Name', max_length: 150 });
  assert.equal(POST.contact_details, {
    type: 'string',
    required: false,
    read_only: false,
    label: 'Contact details',
    max_length: 500,
  });
  assert.equal(POST.agreement_number, {
    type: 'integer',
    required: false,
    read_only: false,
    label: 'Agreement number',
    min_value: 0,
    max_value: 2_147_483_647,
  });
  assert.equal(POST.email, { type: 'email', required: false, read_only: false, label: 'Email', max_length: 254 });
  assert.equal(POST.created, { type: 'datetime', required: false, read_only: true, label: 'Created' });
  assert.is(POST.is_company.type, 'boolean');
  assert.is(POST.image.type, 'image upload');
  assert.is(POST.projects.type, 'list');
});

options('PUT describes the fields that this caller may update', async () => {
  const { PUT } = (await fixture.staff.options(customer.url)).body.actions;
  assert.equal([PUT.name.required, PUT.agreement_number.read_only], [true, true]);
  const own = (await clients.alice.options(alice.url)).body.actions.PUT;
  assert.equal(
    [own.username.read_only, own.full_name.read_only, own.is_staff.read_only, own.description.read_only],
    [true, false, true, true],
  );
  assert.is((await fixture.staff.options(alice.url)).body.actions.PUT.is_staff.read_only, false);
  assert.equal((await fixture.staff.options('/api/users/')).body.actions.POST.username.type, 'regex');
});

options('the choices of country are the country list with English names', async () => {
  const { choices } = (await fixture.staff.options('/api/customers/')).body.actions.POST.country;
  assert.is(choices.length, 249);
  assert.equal(
    choices.map(({ value }: Json) => value),
    countries.map(([code]) => code),
  );
  assert.equal(
    choices.find(({ value }: Json) => value === 'EE'),
    { value: 'EE', display_name: 'Estonia' },
  );
  assert.equal(
    choices.find(({ value }: Json) => value === 'DE'),
    { value: 'DE', display_name: 'Germany' },
  );
});

options('names only known types', async () => {
  const known = [
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
  for (const path of [
    '/api/users/',
    '/api/customers/',
    '/api/projects/',
    '/api/keys/',
    '/api/customer-permissions/',
    '/api/project-permissions/',
    '/api-auth/password/',
  ]) {
    for (const [name, { type }] of Object.entries<Json>((await fixture.staff.options(path)).body.actions.POST))
      assert.ok(known.includes(type), `${path} ${name} ${type}`);
  }
});

options.run();
