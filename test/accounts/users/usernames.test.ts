import * as assert from 'uvu/assert';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('usernames (core.md 4.1)');

const create = (username: unknown) => fixture.staff.post('/api/users/', { username });
const wrong = { username: ['Enter a valid username.'] };
const tooLong = { username: ['Ensure this field has no more than 30 characters.'] };
const taken = { username: ['user with this username already exists.'] };

test('accepts letters and digits of any script and @ . + - _ in a username, and stores it as sent', async () => {
  for (const name of [
    'a',
    'Alice',
    '007',
    'a@b.c+d-e_f',
    '....',
    'Žluťoučký',
    'Ελένη',
    'Борис',
    '王小明',
    'नमस्ते',
    'สวัสดี',
    'אבג',
    '٣٤٥',
    '𝒳',
  ]) {
    const { status, body } = await create(name);
    assert.is(status, 201, name);
    assert.is(body.username, name.normalize('NFKC'));
  }
});

test('rejects other characters in a username', async () => {
  for (const name of [
    'a b',
    'a/b',
    'a\\b',
    'a:b',
    'a,b',
    'a#b',
    "o'hara",
    'a"b',
    '<b>',
    'a%b',
    'a\tb',
    'a\u200bb',
    '🚀',
    'a€',
    'a\u00a0b',
    '½€',
  ]) {
    const { status, body } = await create(name);
    assert.is(status, 400, JSON.stringify(name));
    assert.equal(body, wrong, JSON.stringify(name));
  }
});

test('a username has at most 30 characters, counted in its stored form', async () => {
  assert.is((await create('x'.repeat(30))).status, 201);
  assert.is((await create('𐐨'.repeat(30))).status, 201);
  assert.equal((await create('x'.repeat(31))).body, tooLong);
  assert.equal((await create('ﬃ'.repeat(11))).body, tooLong);
  assert.is((await create('ﬃ'.repeat(10))).body.username, 'ffi'.repeat(10));
  assert.is((await create('e\u0301'.repeat(30))).body.username, 'é'.repeat(30));
  assert.is((await create(`  ${'y'.repeat(30)}  `)).body.username, 'y'.repeat(30));
});

test('stores a username in NFKC: other forms of the same name are duplicates', async () => {
  assert.is((await create('Zoe\u0308')).body.username, 'Zoë');
  for (const same of ['Zoë', 'zoë', 'ZOË', 'zoe\u0308', 'Ｚｏë', 'ZOE\u0308'])
    assert.equal((await create(same)).body, taken, same);
  assert.is((await create('Zoe')).status, 201);
  assert.is((await create('x².y①')).body.username, 'x2.y1');
});

test('two names that differ only in case are the same user, in every script', async () => {
  for (const [name, ...others] of [
    ['Bob', 'bob', 'BOB'],
    ['ΟΔΟΣ', 'οδος', 'οδοσ', 'Οδος'],
    ['Șerban', 'șerban', 'ȘERBAN'],
    ['ДМИТРИЙ', 'Дмитрий', 'дмитрий'],
    ['Straẞe', 'straße', 'STRAẞE'],
    ['İpek', 'i̇pek'],
    ['Ǆ', 'ǆ', 'ǅ'],
    ['𐐀𐐀', '𐐨𐐨'],
    ['5K', '5k', '5\u212a'],
  ] as const) {
    assert.is((await create(name)).status, 201, name);
    for (const other of others) assert.equal((await create(other)).body, taken, other);
  }
});

test('names with different letters are different users, even if they look alike', async () => {
  for (const name of ['cola', 'соla', 'çola', 'co1a']) assert.is((await create(name)).status, 201, name);
});

test('a user logs in with any case and form of their username', async () => {
  const user = await fixture.user('Ζοë.Σ');
  await fixture.staff.post(`${user.url}password/`, { password: 'secret123' });
  for (const name of ['Ζοë.Σ', 'ζοë.σ', 'ζοe\u0308.ς', ' Ζοë.Σ ']) {
    assert.is(
      (await fixture.anonymous.post('/api-auth/password/', { username: name, password: 'secret123' })).status,
      200,
      name,
    );
  }
});

test('exactly one of several simultaneous creations of the same name succeeds', async () => {
  const responses = await Promise.all(['Twin', 'twin', 'TWIN', 'Ｔwin', 'twin'].map(create));
  assert.equal(responses.map(({ status }) => status).sort(), [201, 400, 400, 400, 400]);
  for (const { status, body } of responses) if (status === 400) assert.equal(body, taken);
});

test('the name of a deleted user is available again', async () => {
  const user = await fixture.user('phoenix');
  await fixture.staff.delete(user.url);
  const again = await create('PHOENIX');
  assert.is(again.status, 201);
  assert.is.not(again.body.uuid, user.uuid);
});

test.run();
