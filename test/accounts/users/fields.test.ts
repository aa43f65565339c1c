import * as assert from 'uvu/assert';
import { type Client, type Json, start } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('the fields of users (core.md 4.1)', {
  user_competences: ['Engineer', 'Lawyer'],
});

const create = (body: unknown) => fixture.staff.post('/api/users/', body);
const noString = 'Not a valid string.';
const keysForStaff = [
  'url',
  'uuid',
  'username',
  'full_name',
  'native_name',
  'job_title',
  'email',
  'phone_number',
  'organization',
  'organization_approved',
  'civil_number',
  'description',
  'is_staff',
  'is_active',
  'is_support',
  'token_lifetime',
  'registration_method',
  'date_joined',
  'agreement_date',
  'preferred_language',
  'competence',
  'has_second_factor',
  'identities',
];

test('creation accepts every field and returns the complete user with its keys in order', async () => {
  const { status, body, headers } = await create({
    username: 'Walter.White',
    full_name: 'Walter White',
    native_name: 'Вальтер',
    job_title: 'Teacher',
    email: 'Walter@example.com',
    phone_number: '+1 505 1234',
    organization: 'School',
    civil_number: '38001085718',
    description: 'Knows chemistry',
    is_staff: true,
    is_active: false,
    is_support: true,
    token_lifetime: 60,
    agree_with_policy: true,
    preferred_language: 'et',
    competence: 'Engineer',
  });
  assert.is(status, 201);
  assert.is(headers.get('location'), body.url);
  assert.match(body.uuid, /^[0-9a-f]{32}$/);
  assert.equal(
    Object.entries(body),
    Object.entries({
      url: `${fixture.url}/api/users/${body.uuid}/`,
      uuid: body.uuid,
      username: 'Walter.White',
      full_name: 'Walter White',
      native_name: 'Вальтер',
      job_title: 'Teacher',
      email: 'Walter@example.com',
      phone_number: '+1 505 1234',
      organization: 'School',
      organization_approved: false,
      civil_number: '38001085718',
      description: 'Knows chemistry',
      is_staff: true,
      is_active: false,
      is_support: true,
      token_lifetime: 60,
      registration_method: 'default',
      date_joined: start,
      agreement_date: null,
      preferred_language: 'et',
      competence: 'Engineer',
      has_second_factor: false,
      identities: [],
    }),
  );
  assert.equal((await fixture.staff.get(body.url)).body, body);
});

test('requires only the username; defaults include a token lifetime of an hour and is_active', async () => {
  const { status, body } = await create({ username: 'plain' });
  assert.is(status, 201);
  assert.equal(body, {
    url: body.url,
    uuid: body.uuid,
    username: 'plain',
    full_name: '',
    native_name: '',
    job_title: '',
    email: '',
    phone_number: '',
    organization: '',
    organization_approved: false,
    civil_number: null,
    description: '',
    is_staff: false,
    is_active: true,
    is_support: false,
    token_lifetime: 3600,
    registration_method: 'default',
    date_joined: start,
    agreement_date: null,
    preferred_language: '',
    competence: '',
    has_second_factor: false,
    identities: [],
  });
});

test('the keys of a user depend on the caller', async () => {
  const seen = await fixture.user('seen', { civil_number: 'S-1', description: 'Secret' });
  await fixture.user('global', { is_support: true });
  await fixture.user('somebody');
  const without = (...left: string[]) => keysForStaff.filter((key) => !left.includes(key));
  const keysOf = async (client: Client) => Object.keys((await client.get(seen.url)).body);
  assert.equal(await keysOf(fixture.staff), keysForStaff);
  assert.equal(await keysOf(fixture.as('global')), without('token_lifetime', 'has_second_factor', 'identities'));
  assert.equal(
    await keysOf(fixture.as('somebody')),
    without(
      'civil_number',
      'description',
      'is_staff',
      'is_active',
      'token_lifetime',
      'has_second_factor',
      'identities',
    ),
  );
  const own = without('description', 'is_staff', 'is_active');
  own.splice(own.indexOf('token_lifetime'), 0, 'token');
  assert.equal(await keysOf(fixture.as('seen')), own);
  const listed = (await fixture.as('somebody').get('/api/users/?username=seen')).body;
  assert.equal(
    Object.keys(listed[0]),
    without(
      'civil_number',
      'description',
      'is_staff',
      'is_active',
      'token_lifetime',
      'has_second_factor',
      'identities',
    ),
  );
});

test("the token in the caller's own object is that of the request", async () => {
  const me = await fixture.user('self');
  for (const client of [fixture.as('self'), fixture.as('self')]) {
    const path = new URL(me.url).pathname;
    assert.is((await client.get(path)).body.token, client.token);
    assert.is((await client.put(path, { agree_with_policy: true })).body.token, client.token);
    assert.is((await client.patch(path, {})).body.token, client.token);
    assert.is((await client.get('/api/users/?current')).body[0].token, client.token);
    assert.not.ok('token' in (await client.get('/api/users/?username=self')).body[0]);
    assert.not.ok('token' in (await client.get('/api/users/?current=false&username=self')).body[0]);
  }
  assert.not.ok('token' in (await fixture.staff.get(me.url)).body);
});

test('ignores read-only and unknown keys without validating them', async () => {
  const user = await fixture.user('ignoring');
  const nonsense = {
    url: 5,
    uuid: [],
    organization_approved: 'maybe',
    registration_method: {},
    date_joined: 'never',
    agreement_date: 7,
    token: true,
    unknown: {},
  };
  assert.is((await create({ ...nonsense, username: 'nonsense' })).status, 201);
  assert.equal((await fixture.staff.put(user.url, nonsense)).body, user);
});

test('ignores fields that callers may not write of themselves, so that no user can raise their own rights', async () => {
  const user = await fixture.user('climber', { description: 'As it was', civil_number: 'CL-1' });
  const me = fixture.as('climber');
  const before = (await fixture.staff.get(user.url)).body;
  for (const value of [true, 'maybe', {}]) {
    const tried = {
      agree_with_policy: true,
      username: value,
      civil_number: value,
      description: value,
      is_staff: value,
      is_active: value,
      is_support: value,
    };
    assert.is((await me.patch(user.url, tried)).status, 200);
    assert.is((await me.put(user.url, tried)).status, 200);
    assert.equal((await fixture.staff.get(user.url)).body, { ...before, agreement_date: start });
  }
});

test('a user updates their own names, contacts, organization, token lifetime, language and competence', async () => {
  const user = await fixture.user('self.made');
  const own = {
    full_name: 'Self Made',
    native_name: 'Сам',
    job_title: 'Maker',
    email: 'self@example.com',
    phone_number: '1',
    organization: 'Own',
    token_lifetime: 120,
    preferred_language: 'en',
    competence: 'Lawyer',
  };
  const { status, body } = await fixture.as('self.made').patch(user.url, { ...own, agree_with_policy: true });
  assert.is(status, 200);
  const { token: _, ...seen } = body;
  const { description, is_staff, is_active, ...known } = user;
  assert.equal(seen, { ...known, ...own, agreement_date: start });
});

test('ignores a username in updates', async () => {
  const user = await fixture.user('written.once');
  assert.is((await fixture.staff.patch(user.url, { username: 'other' })).body.username, 'written.once');
  assert.is((await fixture.staff.put(user.url, { username: '' })).body.username, 'written.once');
});

test('PUT requires no field and leaves absent fields unchanged; the complete representation can be PUT back', async () => {
  const user = await fixture.user('unchanged', {
    full_name: 'Unchanged',
    email: 'unchanged@example.com',
    description: 'd',
    civil_number: 'K-1',
    token_lifetime: 99,
  });
  assert.equal((await fixture.staff.put(user.url, {})).body, user);
  assert.equal((await fixture.staff.put(user.url, undefined)).body, user);
  assert.equal((await fixture.staff.put(user.url, user)).body, user);
});

test('changing the organization removes its approval; an equal value keeps it', async () => {
  const user = await fixture.user('organized', { organization: 'Alpha' });
  const approved = async () => (await fixture.staff.get(user.url)).body.organization_approved;
  await fixture.staff.post(`${user.url}approve_organization/`);
  await fixture.staff.patch(user.url, { organization: ' Alpha ', job_title: 'x' });
  assert.is(await approved(), true);
  await fixture.staff.patch(user.url, { organization: 'alpha' });
  assert.is(await approved(), false);
});

test('ignores a password in the creation: the user cannot log in with it', async () => {
  const { body } = await create({ username: 'no.password', password: 'secret123' });
  assert.not.ok('password' in body);
  const login = await fixture.anonymous.post('/api-auth/password/', { username: 'no.password', password: 'secret123' });
  assert.is(login.status, 401);
  assert.equal(login.body, { detail: 'Invalid username/password.' });
});

test('accepts forms and multipart forms like JSON; the last of repeated values counts', async () => {
  const form = new URLSearchParams([
    ['username', 'form'],
    ['full_name', 'First'],
    ['full_name', 'Last'],
    ['is_staff', 'True'],
    ['token_lifetime', ''],
  ]);
  const first: Json = (await create(form)).body;
  assert.equal(
    [first.username, first.full_name, first.is_staff, first.is_active, first.token_lifetime],
    ['form', 'Last', true, true, null],
  );
  const parts = new FormData();
  parts.set('username', 'parts');
  parts.set('is_support', 'on');
  const second: Json = (await create(parts)).body;
  assert.equal(
    [second.username, second.is_support, second.is_staff, second.token_lifetime],
    ['parts', true, false, 3600],
  );
});

test('rejects a file as a value of any field without echoing its content', async () => {
  const parts = new FormData();
  for (const name of ['username', 'email', 'is_staff', 'token_lifetime', 'preferred_language'])
    parts.set(name, new Blob(['content']), 'file.bin');
  const { status, body } = await create(parts);
  assert.is(status, 400);
  assert.equal(body, {
    username: [noString],
    email: [noString],
    is_staff: ['"file.bin" is not a valid boolean.'],
    token_lifetime: ['A valid integer is required.'],
    preferred_language: ['"file.bin" is not a valid choice.'],
  });
});

test('a rejected creation creates no user', async () => {
  const count = async () => (await fixture.staff.get('/api/users/?page_size=1')).headers.get('x-result-count');
  const before = await count();
  await create({ username: 'half.done', email: 'nonsense' });
  await create({ username: 'x'.repeat(900_000) });
  await create(`{"username": "${'x'.repeat(1_100_000)}"}`);
  await create([]);
  assert.is(await count(), before);
});

test.run();
