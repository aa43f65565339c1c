import * as assert from 'uvu/assert';
import { eventGroups, eventTypes } from '../../../src/activity/events/catalogue.ts';
import type { Client, Json } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('hooks');
let alice: Client;
let bob: Client;
let aliceUuid: string;

test.before(async () => {
  aliceUuid = (await fixture.user('alice', { email: 'alice@example.com' })).uuid;
  await fixture.user('bob');
  await fixture.user('support', { is_support: true });
  alice = fixture.as('alice');
  bob = fixture.as('bob');
});

const kinds = {
  web: { path: '/api/hooks-web/', body: { destination_url: 'https://example.com/events' } },
  push: { path: '/api/hooks-push/', body: { type: 'Android' } },
  email: { path: '/api/hooks-email/', body: { email: 'alice@example.com' } },
};

async function creation(client: Client, kind: keyof typeof kinds, fields: Record<string, unknown> = {}): Promise<Json> {
  const response = await client.post(kinds[kind].path, {
    event_types: ['user_activated'],
    ...kinds[kind].body,
    ...fields,
  });
  assert.is(response.status, 201, JSON.stringify(response.body));
  return response.body;
}

const common = (url: string, type: string) => ({
  url,
  uuid: url.split('/').at(-2),
  is_active: true,
  author_uuid: aliceUuid,
  event_types: ['user_activated'],
  event_groups: [],
  created: '2018-01-05T04:47:04Z',
  modified: '2018-01-05T04:47:04Z',
  hook_type: type,
});

test('creating a web hook returns its fields in order and, only this once, its secret; Location is its url', async () => {
  const response = await alice.post('/api/hooks-web/', {
    destination_url: 'https://example.com/events',
    event_types: ['user_activated'],
  });
  assert.is(response.status, 201);
  const { secret, ...displayed } = response.body;
  const expected = {
    ...common(response.headers.get('Location') as string, 'webhook'),
    destination_url: 'https://example.com/events',
    content_type: 'json',
  };
  assert.equal(displayed, expected);
  assert.equal(Object.keys(response.body), [...Object.keys(expected), 'secret']);
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.equal((await alice.get(displayed.url)).body, expected);
  assert.equal((await alice.patch(displayed.url, { is_active: true })).body, expected);
  await alice.delete(displayed.url);
});

test('a push hook shows its device, with null for unknown values', async () => {
  const unknown = await creation(alice, 'push');
  assert.equal(unknown, {
    ...common(unknown.url, 'pushhook'),
    type: 'Android',
    device_id: null,
    token: null,
    device_manufacturer: null,
    device_model: null,
  });
  const known = { type: 'iOS', device_id: 'd-1', token: 't-1', device_manufacturer: 'Apple', device_model: '' };
  const hook = await creation(alice, 'push', known);
  assert.equal(hook, { ...common(hook.url, 'pushhook'), ...known });
  await alice.delete(unknown.url);
  await alice.delete(hook.url);
});

test('an email hook shows its address', async () => {
  const hook = await creation(alice, 'email');
  assert.equal(hook, { ...common(hook.url, 'email'), email: 'alice@example.com', is_confirmed: true });
  await alice.delete(hook.url);
});

test('event_types is a sorted list of known types without duplicates', async () => {
  const hook = await creation(alice, 'email', {
    event_types: ['user_update_succeeded', 'role_granted', 'user_update_succeeded'],
  });
  assert.equal(hook.event_types, ['role_granted', 'user_update_succeeded']);
  const rejection = async (event_types: unknown) => (await alice.patch(hook.url, { event_types })).body;
  assert.equal(await rejection('role_granted'), { event_types: ['Expected a list of items but got type "str".'] });
  assert.equal(await rejection({}), { event_types: ['Expected a list of items but got type "dict".'] });
  assert.equal(await rejection(['x', 'role_granted', 5, 'x']), {
    event_types: ['"x" is not a valid choice.', '"5" is not a valid choice.'],
  });
  assert.equal(await rejection(null), { event_types: ['This field may not be null.'] });
  assert.equal((await alice.patch(hook.url, { event_groups: ['quotas'] })).body, {
    event_groups: ['"quotas" is not a valid choice.'],
  });
  assert.equal((await alice.patch(hook.url, { event_types: eventTypes })).body.event_types, eventTypes);
  assert.is(eventTypes.length, 45);
  await alice.delete(hook.url);
});

test('in a form, lists are JSON text or repeated fields', async () => {
  const form = async (text: string): Promise<Json> =>
    (await alice.send('POST', '/api/hooks-email/', text, { 'Content-Type': 'application/x-www-form-urlencoded' })).body;
  const repeated = await form('email=a@example.com&event_types=role_revoked&event_types=role_granted');
  assert.equal(repeated.event_types, ['role_granted', 'role_revoked']);
  const single = await form('email=a@example.com&event_groups=ssh');
  assert.equal(single.event_groups, ['ssh']);
  const text = await form(`email=a@example.com&event_types=${encodeURIComponent('["role_granted"]')}`);
  assert.equal(text.event_types, ['role_granted']);
  assert.equal(await form('email=a@example.com&event_types=nothing'), {
    event_types: ['"nothing" is not a valid choice.'],
  });
  for (const hook of [repeated, single, text]) await alice.delete(hook.url);
});

test('creation requires event types or groups', async () => {
  const message = { non_field_errors: ['Please specify list of event_types or event_groups.'] };
  for (const { path, body } of Object.values(kinds)) {
    assert.equal((await alice.post(path, body)).body, message);
    assert.equal((await alice.post(path, { ...body, event_types: [], event_groups: [] })).body, message);
  }
});

test('groups in a body are expanded to their types and added to the types of the body', async () => {
  const hook = await creation(alice, 'email', {
    event_types: ['token_created'],
    event_groups: ['ssh', 'projects', 'ssh'],
  });
  assert.equal(hook.event_groups, ['projects', 'ssh']);
  assert.equal(hook.event_types, [...eventGroups.projects, ...eventGroups.ssh, 'token_created'].sort());
  const alone = (await alice.patch(hook.url, { event_types: ['user_activated'] })).body;
  assert.equal([alone.event_groups, alone.event_types], [['projects', 'ssh'], ['user_activated']]);
  const groups = (await alice.patch(hook.url, { event_groups: ['ssh'] })).body;
  assert.equal([groups.event_groups, groups.event_types], [['ssh'], eventGroups.ssh]);
  const none = (await alice.put(hook.url, { email: 'alice@example.com', event_groups: [] })).body;
  assert.equal([none.event_groups, none.event_types], [[], []], 'on PUT and PATCH empty lists are stored');
  await alice.delete(hook.url);
});

test('PUT requires only the destination, the platform or the address of its kind', async () => {
  for (const [kind, name, value] of [
    ['web', 'destination_url', 'https://example.com/new'],
    ['push', 'type', 'iOS'],
    ['email', 'email', 'new@example.com'],
  ] as const) {
    const { secret: _, ...hook } = await creation(alice, kind);
    assert.equal((await alice.put(hook.url, {})).body, { [name]: ['This field is required.'] });
    fixture.clock.advance(1);
    const changed = await alice.put(hook.url, { [name]: value });
    assert.is(changed.status, 200);
    const checked = kind === 'email' ? { is_confirmed: false } : {};
    assert.equal(changed.body, { ...hook, [name]: value, ...checked, modified: '2018-01-05T04:47:05Z' });
    assert.equal(
      (await alice.put(hook.url, changed.body)).body,
      changed.body,
      'a whole representation may be put back',
    );
    assert.is((await alice.delete(hook.url)).status, 204);
    assert.is((await alice.get(hook.url)).status, 404);
    fixture.clock.advance(-1);
  }
});

test('a destination is an http or https URL of at most 2048 characters without user information', async () => {
  const rejection = async (destination_url: unknown): Promise<Json> =>
    (await alice.post('/api/hooks-web/', { event_groups: ['ssh'], destination_url })).body;
  const invalid = { destination_url: ['Enter a valid URL.'] };
  for (const url of [
    'ftp://example.com/',
    'example.com',
    'https://',
    'http://user@example.com/',
    'http://user:word@example.com/',
    'http://:@example.com/',
  ]) {
    assert.equal(await rejection(url), invalid, url);
  }
  assert.equal(await rejection(''), { destination_url: ['This field may not be blank.'] });
  assert.equal(await rejection(null), { destination_url: ['This field may not be null.'] });
  assert.equal(await rejection(`https://example.com/${'x'.repeat(2029)}`), {
    destination_url: ['Ensure this field has no more than 2048 characters.'],
  });
  const hook = await creation(alice, 'web', {
    destination_url: `https://example.com/${'x'.repeat(2028)}`,
    content_type: 'form',
  });
  assert.is(hook.content_type, 'form');
  await alice.delete(hook.url);
});

test('content_type and type are choices; null is rejected', async () => {
  const web = async (content_type: unknown) =>
    (await alice.post('/api/hooks-web/', { ...kinds.web.body, event_groups: ['ssh'], content_type })).body;
  assert.equal(await web('xml'), { content_type: ['"xml" is not a valid choice.'] });
  assert.equal(await web(null), { content_type: ['This field may not be null.'] });
  const push = async (type: unknown) => (await alice.post('/api/hooks-push/', { event_groups: ['ssh'], type })).body;
  assert.equal(await push('ios'), { type: ['"ios" is not a valid choice.'] });
  assert.equal(await push(null), { type: ['This field may not be null.'] });
  assert.equal((await alice.post('/api/hooks-push/', { event_groups: ['ssh'] })).body, {
    type: ['This field is required.'],
  });
});

test('device id and token are unique among the push hooks of a user, never blank, at most 255 characters', async () => {
  const first = await creation(alice, 'push', { device_id: 'd', token: 't' });
  const taken = await alice.post('/api/hooks-push/', {
    type: 'iOS',
    event_groups: ['ssh'],
    device_id: 'd',
    token: 't',
  });
  assert.is(taken.status, 400);
  assert.equal(taken.body, {
    device_id: ['push hook with this device id already exists.'],
    token: ['push hook with this token already exists.'],
  });
  const second = await creation(alice, 'push');
  assert.equal((await alice.patch(second.url, { token: 't' })).body, {
    token: ['push hook with this token already exists.'],
  });
  assert.is((await alice.put(first.url, first)).status, 200, 'a hook may keep its own');
  const blank = { device_id: ['This field may not be blank.'], token: ['This field may not be blank.'] };
  assert.equal((await alice.patch(second.url, { device_id: '', token: ' ' })).body, blank);
  const long = 'x'.repeat(256);
  assert.equal(
    Object.keys(
      (await alice.patch(second.url, { device_id: long, token: long, device_manufacturer: long, device_model: long }))
        .body,
    ),
    ['device_id', 'token', 'device_manufacturer', 'device_model'],
  );
  assert.is((await alice.patch(first.url, { device_id: null, token: null })).body.token, null);
  assert.is((await alice.patch(second.url, { token: 't' })).status, 200, 'and is free once it is given up');
  await alice.delete(first.url);
  await alice.delete(second.url);
});

test('an email address is valid and has at most 254 characters', async () => {
  assert.equal((await alice.post('/api/hooks-email/', { email: 'nobody', event_groups: ['ssh'] })).body, {
    email: ['Enter a valid email address.'],
  });
  assert.equal((await alice.post('/api/hooks-email/', { event_groups: ['ssh'] })).body, {
    email: ['This field is required.'],
  });
  const long = `${'x'.repeat(243)}@example.com`;
  assert.equal((await alice.post('/api/hooks-email/', { email: long, event_groups: ['ssh'] })).body, {
    email: ['Ensure this field has no more than 254 characters.'],
  });
});

test('the author is always the creator and never changes', async () => {
  const hook = await creation(alice, 'email', { author_uuid: 'b'.repeat(32) });
  assert.is(hook.author_uuid, aliceUuid);
  assert.is(
    (await fixture.staff.patch(hook.url, { author_uuid: 'b'.repeat(32), is_active: false })).body.author_uuid,
    aliceUuid,
  );
  await alice.delete(hook.url);
});

test('the author, staff and global support read hooks; the author and staff change them', async () => {
  const support = fixture.as('support');
  for (const kind of ['web', 'push', 'email'] as const) {
    const { url } = await creation(alice, kind);
    const list = kinds[kind].path;
    const requests = async (client: Client, hook = url) => [
      (await client.get(list)).body.length,
      (await client.get(hook)).status,
      (await client.patch(hook, {})).status,
      (await client.put(hook, kinds[kind].body)).status,
      (await client.delete(hook)).status,
    ];
    assert.equal(await requests(bob), [0, 404, 404, 404, 404]);
    assert.equal(await requests(support), [1, 200, 403, 403, 403]);
    assert.equal(await requests(fixture.anonymous), [undefined, 401, 401, 401, 401]);
    assert.equal(await requests(fixture.staff), [1, 200, 200, 200, 204]);
    const own = await creation(support, kind);
    assert.equal(await requests(support, own.url), [1, 200, 200, 200, 204], 'global support manages its own');
  }
});

test('/api/hooks/ lists web, then push, then email hooks, each in order of creation and with its own representation', async () => {
  const email = await creation(alice, 'email');
  const push = await creation(alice, 'push', { token: 'token' });
  const { secret: _, ...web } = await creation(alice, 'web');
  const { secret: __, ...other } = await creation(alice, 'web', { content_type: 'form' });
  const bobs = await creation(bob, 'email', { email: 'bob@example.com' });
  const all = await alice.get('/api/hooks/');
  assert.equal(all.body, [web, other, push, email]);
  assert.is(all.headers.get('X-Result-Count'), '4');
  assert.equal((await fixture.staff.get('/api/hooks/')).body, [web, other, push, email, bobs]);
  assert.equal((await alice.get('/api/hooks/?page_size=2&page=2')).body, [push, email]);
  assert.equal((await alice.get('/api/hooks/?page=3')).body, { detail: 'Invalid page.' });
  assert.equal((await alice.get('/api/hooks/?field=device_id')).body, [{}, {}, { device_id: push.device_id }, {}]);
  assert.equal(
    (await alice.get('/api/hooks/?field=device_id&is_active=true&page_size=2')).body,
    [{}, {}],
    'also on a page without a hook that has it',
  );
  assert.equal((await alice.get('/api/hooks/?fields=email&%66ield=hook_type')).body, [
    { hook_type: 'webhook' },
    { hook_type: 'webhook' },
    { hook_type: 'pushhook' },
    { email: 'alice@example.com', hook_type: 'email' },
  ]);
  assert.equal((await alice.get('/api/hooks/?field=nothing')).body, [web, other, push, email]);
  assert.equal((await alice.get('/api/hooks-web/')).body, [web, other]);
  assert.equal(
    (await alice.get('/api/hooks/?content_type=form')).body,
    [other, push, email],
    'a kind ignores the parameters of others',
  );
  assert.equal((await alice.get('/api/hooks/?token=nothing&email=alice@example.com')).body, [web, other, email]);
  assert.equal((await fixture.staff.get(`/api/hooks/?author_uuid=${bobs.author_uuid}`)).body, [bobs]);
  assert.equal((await alice.get('/api/hooks/?is_active=false')).body, []);
  for (const path of ['/api/hooks/', '/api/hooks-web/'])
    assert.equal(
      (await alice.get(`${path}?o=-created`)).body,
      (await alice.get(path)).body,
      'there are no orderings to ask for',
    );
  assert.is((await alice.post('/api/hooks/', {})).status, 405);
  assert.is((await alice.get(`/api/hooks/${web.uuid}/`)).status, 404);
  assert.is((await fixture.anonymous.get('/api/hooks/')).status, 401);
  for (const hook of [web, other, push, email]) await alice.delete(hook.url);
  await bob.delete(bobs.url);
});

test('filters lists by exact values', async () => {
  const matches = async (path: string, query: string) =>
    (await fixture.staff.get(`${path}?${query}`)).body.map((hook: Json) => hook.uuid);
  const web = await creation(alice, 'web', { is_active: false });
  const device = { device_id: 'D', token: 'T', device_manufacturer: 'M', device_model: 'X' };
  const push = await creation(alice, 'push', device);
  const email = await creation(alice, 'email');
  assert.equal(await matches('/api/hooks-web/', 'destination_url=https://example.com/events'), [web.uuid]);
  assert.equal(await matches('/api/hooks-web/', 'destination_url=https://example.com/'), []);
  assert.equal(await matches('/api/hooks-web/', 'content_type=json&is_active=False'), [web.uuid]);
  assert.equal(await matches('/api/hooks-web/', 'content_type=xml'), []);
  assert.equal(await matches('/api/hooks-web/', 'is_active=yes'), []);
  assert.equal(await matches('/api/hooks-push/', 'type=Android'), [push.uuid]);
  assert.equal(await matches('/api/hooks-push/', 'type=iOS'), []);
  for (const [name, value] of Object.entries(device)) {
    assert.equal(await matches('/api/hooks-push/', `${name}=${value}`), [push.uuid]);
    assert.equal(await matches('/api/hooks-push/', `${name}=other`), []);
  }
  assert.equal(await matches('/api/hooks-email/', `email=alice@example.com&author_uuid=${aliceUuid}`), [email.uuid]);
  assert.equal((await alice.get('/api/hooks-web/?author_uuid=x')).body, { author_uuid: ['"x" is not a valid UUID.'] });
  assert.equal((await alice.get('/api/hooks/?is_active=x')).body, { is_active: ['"x" is not a valid boolean.'] });
  assert.equal((await alice.get('/api/user-counters/')).body, { keys: 0, hooks: 3, api_keys: 0 });
  assert.equal((await fixture.staff.get('/api/user-counters/')).body, { keys: 0, hooks: 0, api_keys: 0 });
  for (const hook of [web, push, email]) await alice.delete(hook.url);
});

test('hooks record no events', async () => {
  fixture.events();
  const hook = await creation(alice, 'web');
  await alice.patch(hook.url, { is_active: false });
  await alice.post(`${hook.url}rotate_secret/`);
  await alice.delete(hook.url);
  assert.equal(fixture.events(), []);
});

test('OPTIONS documents that a hook is active by default', async () => {
  for (const { path } of Object.values(kinds)) {
    const { POST } = (await fixture.staff.options(path)).body.actions;
    assert.is(POST.is_active.default_value, true, path);
  }
});

test.run();
