import * as assert from 'uvu/assert';
import { by, expectedEvent } from '../../support/expected-event.ts';
import type { Client, Json } from '../../support/fixture.ts';
import { fingerprints, publicKeys } from '../../support/public-keys.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('SSH keys (core.md 5)');
let count = 0;

const notFound = { detail: 'Not found.' };
const forbidden = { detail: 'You do not have permission to perform this action.' };
const add = (client: Client, body: unknown) => client.post('/api/keys/', body);

/** Creates a new user for a test; returns their client. */
async function newcomer(fields: Readonly<Record<string, unknown>> = {}): Promise<{ user: Json; client: Client }> {
  const username = `key.owner.${count++}`;
  const user = await fixture.user(username, fields);
  fixture.events();
  return { user, client: fixture.as(username) };
}

test('any user creates keys for themselves; the response is complete, with its keys in order', async () => {
  const { user, client } = await newcomer({ full_name: 'Walter White' });
  const { status, body, headers } = await add(client, { name: 'laptop', public_key: publicKeys.rsa });
  assert.is(status, 201);
  assert.is(headers.get('location'), body.url);
  assert.match(body.uuid, /^[0-9a-f]{32}$/);
  assert.equal(
    Object.entries(body),
    Object.entries({
      url: `${fixture.url}/api/keys/${body.uuid}/`,
      uuid: body.uuid,
      name: 'laptop',
      public_key: publicKeys.rsa,
      fingerprint: fingerprints.rsa.md5,
      fingerprint_sha256: fingerprints.rsa.sha256,
    }),
  );
  assert.equal((await client.get(body.url)).body, body);
  assert.equal(fixture.events(), [
    expectedEvent(
      'ssh_key_creation_succeeded',
      `SSH key laptop has been created for user Walter White with username ${user.username}.`,
      by(user),
      { ssh_key_uuid: body.uuid, ssh_key_name: 'laptop' },
    ),
  ]);
});

test('shows user_uuid only to staff', async () => {
  const { user, client } = await newcomer();
  const { body: key } = await add(client, { public_key: publicKeys.rsa });
  assert.equal((await fixture.staff.get(key.url)).body, { ...key, user_uuid: user.uuid });
  const { client: support } = await newcomer({ is_support: true });
  assert.equal((await support.get(key.url)).body, key);
});

test('the owner is the caller, whatever the body contains', async () => {
  const { user } = await newcomer();
  const { user: me, client } = await newcomer({ is_staff: true });
  const { body } = await add(client, {
    public_key: publicKeys.rsa,
    user: user.url,
    user_uuid: user.uuid,
    fingerprint: 'x',
    fingerprint_sha256: [],
    uuid: 5,
  });
  assert.is(body.user_uuid, me.uuid);
  assert.is(body.fingerprint, fingerprints.rsa.md5);
});

test('a key without a name is named by its comment, truncated to 150 characters', async () => {
  for (const [name, comment, expected] of [
    [undefined, 'walter@host', 'walter@host'],
    ['', 'walter@host', 'walter@host'],
    ['  ', 'two words', 'two words'],
    [undefined, '', ''],
    [undefined, 'ж'.repeat(151), 'ж'.repeat(150)],
    [undefined, '🚀'.repeat(151), '🚀'.repeat(150)],
    ['given', 'comment', 'given'],
    [7, 'comment', '7'],
  ] as const) {
    const { client } = await newcomer();
    const { status, body } = await add(client, { name, public_key: `${publicKeys.ed25519} ${comment}` });
    assert.is(status, 201);
    assert.is(body.name, expected);
  }
});

test('a name is text of at most 150 characters', async () => {
  const { client } = await newcomer();
  const rejection = async (name: unknown) => (await add(client, { name, public_key: publicKeys.rsa })).body;
  assert.equal(await rejection('x'.repeat(151)), { name: ['Ensure this field has no more than 150 characters.'] });
  assert.equal(await rejection(null), { name: ['This field may not be null.'] });
  for (const name of [true, [], {}]) assert.equal(await rejection(name), { name: ['Not a valid string.'] });
  assert.equal((await add(client, { name: [], public_key: 'x' })).body, {
    name: ['Not a valid string.'],
    public_key: ['Invalid SSH public key.'],
  });
  assert.equal(fixture.events(), []);
  assert.is((await add(client, { name: 'x'.repeat(150), public_key: publicKeys.rsa })).status, 201);
});

test('an explicit name is unique for each user; a name from the comment gets a free number', async () => {
  const { client } = await newcomer();
  const unique = { name: ['This field must be unique.'] };
  await add(client, { name: 'laptop', public_key: publicKeys.rsa });
  assert.equal((await add(client, { name: ' laptop ', public_key: publicKeys.ed25519 })).body, unique);
  assert.is((await add(client, { public_key: `${publicKeys.nistp521} laptop` })).body.name, 'laptop 2');
  assert.is((await add(client, { name: 'Laptop', public_key: publicKeys.ed25519 })).status, 201);
  assert.is((await add(client, { public_key: publicKeys.nistp256 })).body.name, '');
  assert.is((await add(client, { public_key: publicKeys.nistp384 })).body.name, '');
  const { client: other } = await newcomer();
  assert.is((await add(other, { name: 'laptop', public_key: publicKeys.ed25519 })).status, 201);
});

test('a user can have a key once; other users can have the same key', async () => {
  const { client } = await newcomer();
  const duplicate = { public_key: ['Key with same fingerprint already exists.'] };
  await add(client, { name: 'first', public_key: publicKeys.rsa });
  assert.equal((await add(client, { name: 'second', public_key: publicKeys.rsa })).body, duplicate);
  assert.equal((await add(client, { name: 'third', public_key: `${publicKeys.rsa} other comment` })).body, duplicate);
  const { client: other } = await newcomer();
  assert.is((await add(other, { name: 'first', public_key: publicKeys.rsa })).status, 201);
});

test('exactly one of several simultaneous creations of the same key succeeds', async () => {
  const { client } = await newcomer();
  const responses = await Promise.all(
    [1, 2, 3, 4].map(() => add(client, { name: 'twin', public_key: publicKeys.rsa })),
  );
  assert.equal(responses.map(({ status }) => status).sort(), [201, 400, 400, 400]);
  assert.is((await client.get('/api/keys/')).body.length, 1);
});

test('users see their own keys, staff and global support all; other keys are not found', async () => {
  const { client } = await newcomer();
  const { body: key } = await add(client, { public_key: publicKeys.rsa });
  const { client: stranger } = await newcomer();
  const { client: support } = await newcomer({ is_support: true });
  assert.equal((await client.get('/api/keys/')).body, [key]);
  assert.equal((await stranger.get('/api/keys/')).body, []);
  assert.equal((await stranger.get(`/api/keys/?uuid=${key.uuid}`)).body, []);
  for (const method of ['GET', 'DELETE', 'OPTIONS']) {
    const { status, body } = await stranger.send(method, key.url);
    assert.is(status, 404);
    assert.equal(body, notFound);
  }
  for (const seer of [fixture.staff, support]) {
    assert.is((await seer.get(key.url)).status, 200);
    assert.equal((await seer.get(`/api/keys/?uuid=${key.uuid}`)).body.length, 1);
  }
});

test('the owner and staff delete a key, global support cannot; the event names the owner', async () => {
  const { user, client } = await newcomer();
  const { client: support } = await newcomer({ is_support: true });
  for (const deleting of [client, fixture.staff]) {
    const { body: key } = await add(client, { name: 'doomed', public_key: publicKeys.rsa });
    fixture.events();
    const rejection = await support.delete(key.url);
    assert.is(rejection.status, 403);
    assert.equal(rejection.body, forbidden);
    assert.equal(fixture.events(), []);
    const { status, body } = await deleting.delete(key.url);
    assert.is(status, 204);
    assert.is(body, undefined);
    assert.equal(fixture.events(), [
      expectedEvent(
        'ssh_key_deletion_succeeded',
        `SSH key doomed has been deleted for user with username ${user.username}.`,
        by(user),
        { ssh_key_uuid: key.uuid, ssh_key_name: 'doomed' },
      ),
    ]);
    assert.is((await client.get(key.url)).status, 404);
  }
});

test('global support creates and deletes their own keys', async () => {
  const { client } = await newcomer({ is_support: true });
  const { status, body } = await add(client, { public_key: publicKeys.rsa });
  assert.is(status, 201);
  assert.is((await client.delete(body.url)).status, 204);
});

test('an inactive user cannot create a key', async () => {
  const { user, client } = await newcomer();
  await fixture.staff.patch(user.url, { is_active: false });
  const { status, body } = await add(client, { public_key: publicKeys.rsa });
  assert.is(status, 401);
  assert.equal(body, { detail: 'User inactive or deleted.' });
});

test('a key cannot be changed', async () => {
  const { client } = await newcomer();
  const { body: key } = await add(client, { public_key: publicKeys.rsa });
  for (const method of ['PUT', 'PATCH']) {
    const { status, body, headers } = await client.send(method, key.url, { name: 'new' });
    assert.is(status, 405);
    assert.equal(body, { detail: `Method "${method}" not allowed.` });
    assert.is(headers.get('allow'), 'GET, DELETE, HEAD, OPTIONS');
  }
  assert.equal((await client.get(key.url)).body, key);
});

test('filters keys by part of the name, fingerprint, uuid and owner, and orders by creation or name', async () => {
  const { user, client } = await newcomer();
  const lines = [publicKeys.rsa, publicKeys.ed25519, publicKeys.nistp256];
  const keys: Json[] = [];
  for (const [i, name] of ['Laptop', 'desktop', 'Größe'].entries())
    keys.push((await add(client, { name, public_key: lines[i] })).body);
  const matches = async (query: string, by = client) =>
    (await by.get(`/api/keys/?${query}`)).body.map((key: Json) => key.name);
  assert.equal(await matches(''), ['Laptop', 'desktop', 'Größe']);
  assert.equal(await matches('name=TOP'), ['Laptop', 'desktop']);
  assert.equal(await matches('name=GR%C3%96'), ['Größe']);
  assert.equal(await matches(`fingerprint=${fingerprints.ed25519.md5}`), ['desktop']);
  assert.equal(await matches(`fingerprint=${fingerprints.ed25519.md5.slice(0, 20)}`), []);
  assert.equal(await matches(`uuid=${keys[0].uuid}`), ['Laptop']);
  assert.equal(await matches(`user_uuid=${user.uuid}`), ['Laptop', 'desktop', 'Größe']);
  assert.equal(await matches(`user_uuid=${user.uuid}`, fixture.staff), ['Laptop', 'desktop', 'Größe']);
  assert.equal(await matches(`user_uuid=${'0'.repeat(32)}`), []);
  assert.equal(await matches('o=name'), ['desktop', 'Größe', 'Laptop']);
  assert.equal(await matches('o=-name'), ['Laptop', 'Größe', 'desktop']);
  for (const name of ['uuid', 'user_uuid'])
    assert.equal((await client.get(`/api/keys/?${name}=x`)).body, { [name]: ['"x" is not a valid UUID.'] });
  assert.equal((await client.get('/api/keys/?o=fingerprint')).body, { o: ['"fingerprint" is not a valid choice.'] });
});

test('OPTIONS describes the fields of a new key to any user', async () => {
  const { client } = await newcomer();
  const { actions } = (await client.options('/api/keys/')).body;
  assert.equal(actions.POST.public_key, {
    type: 'string',
    required: true,
    read_only: false,
    label: 'Public key',
    help_text: 'SSH public key in one line.',
    max_length: 2000,
  });
  assert.is(actions.POST.fingerprint.read_only, true);
  const { body: key } = await add(client, { public_key: publicKeys.rsa });
  assert.not.ok('actions' in (await client.options(key.url)).body);
});

test('accepts a key in a form or as a text field of a multipart form, but not as a file', async () => {
  const { client } = await newcomer();
  assert.is((await add(client, new URLSearchParams({ name: 'form', public_key: publicKeys.rsa }))).status, 201);
  const parts = new FormData();
  parts.set('public_key', publicKeys.nistp521);
  assert.is((await add(client, parts)).status, 201);
  parts.set('public_key', new Blob([publicKeys.ed25519]), 'id_ed25519.pub');
  assert.equal((await add(client, parts)).body, { public_key: ['Not a valid string.'] });
});

test.run();
