import * as assert from 'uvu/assert';
import type { Sql } from '../../../src/kernel/db/sql.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('the values that fields of users accept (core.md 4.1)', {
  user_competences: ['Engineer', 'Lawyer'],
});

const create = (body: unknown) => fixture.staff.post('/api/users/', body);
const required = 'This field is required.';
const nullRejection = 'This field may not be null.';
const blank = 'This field may not be blank.';
const noString = 'Not a valid string.';
const texts = {
  full_name: 100,
  native_name: 100,
  job_title: 40,
  phone_number: 255,
  organization: 80,
  description: 500,
};

test('limits the length of texts, counted in characters', async () => {
  const user = await fixture.user('lengths');
  for (const [name, length] of Object.entries(texts)) {
    const longest = '🚀'.repeat(length);
    const saved = await fixture.staff.patch(user.url, { [name]: longest });
    assert.is(saved.status, 200, name);
    assert.is(saved.body[name], longest);
    const rejection = await fixture.staff.patch(user.url, { [name]: `${longest}x` });
    assert.is(rejection.status, 400);
    assert.equal(rejection.body, { [name]: [`Ensure this field has no more than ${length} characters.`] });
  }
  assert.equal((await create({ username: 'civil', civil_number: 'x'.repeat(51) })).body, {
    civil_number: ['Ensure this field has no more than 50 characters.'],
  });
});

test('trims texts; they can be empty but not null, and numbers become text', async () => {
  const user = await fixture.user('trimmed');
  for (const name of Object.keys(texts)) {
    assert.is((await fixture.staff.patch(user.url, { [name]: ' \t two words \u00a0\n' })).body[name], 'two words');
    assert.is((await fixture.staff.patch(user.url, { [name]: '   ' })).body[name], '');
    assert.is((await fixture.staff.patch(user.url, { [name]: 12.5 })).body[name], '12.5');
    assert.equal((await fixture.staff.patch(user.url, { [name]: null })).body, { [name]: [nullRejection] });
  }
});

test('rejects booleans, lists, objects, NUL and half surrogate pairs as texts, and reports all invalid fields together', async () => {
  const faulty = (value: unknown) =>
    Object.fromEntries(['username', ...Object.keys(texts), 'email', 'civil_number'].map((name) => [name, value]));
  for (const value of [true, false, [], ['text'], {}, { a: 1 }]) {
    assert.equal((await create(faulty(value))).body, faulty([noString]));
  }
  const texted = Object.keys(texts);
  const nul = await create({ username: 'nul', ...Object.fromEntries(texted.map((name) => [name, 'a\0b'])) });
  assert.equal(nul.body, Object.fromEntries(texted.map((name) => [name, ['Null characters are not allowed.']])));
  const half = await create({ username: 'half', ...Object.fromEntries(texted.map((name) => [name, 'a\ud83d'])) });
  assert.equal(half.body, Object.fromEntries(texted.map((name) => [name, [noString]])));
});

test('requires a username that is neither null nor blank', async () => {
  assert.equal((await create({})).body, { username: [required] });
  assert.equal((await create(undefined)).body, { username: [required] });
  assert.equal((await create({ username: null })).body, { username: [nullRejection] });
  assert.equal((await create({ username: ' ' })).body, { username: [blank] });
});

test('an email is an address of at most 254 characters, or empty', async () => {
  const user = await fixture.user('mail');
  const local = 'a'.repeat(254 - '@example.com'.length);
  for (const email of ['a@example.com', 'A.b+c_d@sub.example.co', 'josé@müller.example', `${local}@example.com`, '']) {
    assert.is((await fixture.staff.patch(user.url, { email })).body.email, email);
  }
  for (const email of [
    'a',
    'a@',
    '@example.com',
    'a@example',
    'a b@example.com',
    'a@@example.com',
    'a@example..com',
    'a@-example.com',
  ]) {
    assert.equal(
      (await fixture.staff.patch(user.url, { email })).body,
      { email: ['Enter a valid email address.'] },
      email,
    );
  }
  assert.equal((await fixture.staff.patch(user.url, { email: `${local}a@example.com` })).body, {
    email: ['Ensure this field has no more than 254 characters.'],
  });
  assert.equal((await fixture.staff.patch(user.url, { email: null })).body, { email: [nullRejection] });
});

test('a non-empty email is unique, ignoring case, on creation and on update', async () => {
  const owner = await fixture.user('first.mail', { email: 'Ärzte@example.com' });
  const other = await fixture.user('second.mail');
  const taken = { email: ['User with email "äRZTE@EXAMPLE.COM" already exists.'] };
  assert.equal((await create({ username: 'third.mail', email: 'äRZTE@EXAMPLE.COM' })).body, taken);
  assert.equal((await fixture.staff.patch(other.url, { email: 'äRZTE@EXAMPLE.COM' })).body, taken);
  assert.is((await fixture.staff.patch(owner.url, { email: 'ärzte@example.com' })).body.email, 'ärzte@example.com');
  assert.is((await create({ username: 'no.mail', email: '' })).status, 201);
  await fixture.staff.patch(owner.url, { email: '' });
  assert.is((await fixture.staff.patch(other.url, { email: 'äRZTE@EXAMPLE.COM' })).status, 200);
});

test('a civil number is unique unless it is null, and cannot be updated', async () => {
  const first = await fixture.user('civil.one', { civil_number: 'C-1' });
  assert.equal((await create({ username: 'civil.two', civil_number: ' C-1 ' })).body, {
    civil_number: ['user with this civil number already exists.'],
  });
  assert.is((await create({ username: 'civil.three', civil_number: '' })).body.civil_number, null);
  assert.is((await create({ username: 'civil.four', civil_number: null })).body.civil_number, null);
  assert.is((await create({ username: 'civil.five', civil_number: 51 })).body.civil_number, '51');
  assert.is((await fixture.staff.patch(first.url, { civil_number: 'C-2' })).body.civil_number, 'C-1');
  assert.is((await fixture.staff.put(first.url, { civil_number: { no: 'text' } })).body.civil_number, 'C-1');
});

test('a token lifetime is an integer of seconds from 60 to 2147483647, or null for unlimited', async () => {
  const user = await fixture.user('lifetime');
  const patched = async (token_lifetime: unknown) => (await fixture.staff.patch(user.url, { token_lifetime })).body;
  for (const [value, stored] of [
    [60, 60],
    [2_147_483_647, 2_147_483_647],
    ['3600', 3600],
    [' 61 ', 61],
    [62.0, 62],
    [null, null],
    [63, 63],
    ['', null],
  ]) {
    assert.is((await patched(value)).token_lifetime, stored);
  }
  for (const value of [59, 0, -1, '59'])
    assert.equal(await patched(value), { token_lifetime: ['Ensure this value is greater than or equal to 60.'] });
  for (const value of [2_147_483_648, 1e300, '99999999999999999999']) {
    assert.equal(await patched(value), { token_lifetime: ['Ensure this value is less than or equal to 2147483647.'] });
  }
  for (const value of [true, false, 59.5, 60.5, 'long', '60s', '0x60', [], [60], {}]) {
    assert.equal(await patched(value), { token_lifetime: ['A valid integer is required.'] });
  }
  assert.is((await create({ username: 'for.ever', token_lifetime: null })).body.token_lifetime, null);
});

test('is_staff, is_active and is_support accept every spelling of true and false', async () => {
  const user = await fixture.user('spelling');
  for (const name of ['is_staff', 'is_active', 'is_support']) {
    for (const word of [true, 1, '1', 'true', 'True', 'TRUE', 't', 'Yes', 'y', 'ON', ' on ']) {
      assert.is((await fixture.staff.patch(user.url, { [name]: word })).body[name], true);
    }
    for (const word of [false, 0, '0', 'false', 'False', 'FALSE', 'f', 'No', 'n', 'OFF']) {
      assert.is((await fixture.staff.patch(user.url, { [name]: word })).body[name], false);
    }
    for (const [value, printed] of [
      ['maybe', 'maybe'],
      ['tRUE', 'tRUE'],
      ['', ''],
      [2, '2'],
      [[true], '[true]'],
      [{}, '{}'],
    ]) {
      assert.equal((await fixture.staff.patch(user.url, { [name]: value })).body, {
        [name]: [`"${printed}" is not a valid boolean.`],
      });
    }
    assert.equal((await fixture.staff.patch(user.url, { [name]: null })).body, { [name]: [nullRejection] });
  }
});

test('the preferred language is en, et or empty', async () => {
  const user = await fixture.user('language');
  for (const word of ['en', 'et', ''])
    assert.is((await fixture.staff.patch(user.url, { preferred_language: word })).body.preferred_language, word);
  for (const [value, printed] of [
    ['de', 'de'],
    ['EN', 'EN'],
    [5, '5'],
    [true, 'true'],
    [['en'], '["en"]'],
  ]) {
    assert.equal((await fixture.staff.patch(user.url, { preferred_language: value })).body, {
      preferred_language: [`"${printed}" is not a valid choice.`],
    });
  }
  assert.equal((await fixture.staff.patch(user.url, { preferred_language: null })).body, {
    preferred_language: [nullRejection],
  });
});

test('a competence is one of the setting user_competences, or empty', async () => {
  const user = await fixture.user('competent');
  for (const word of ['Engineer', 'Lawyer', ''])
    assert.is((await fixture.staff.patch(user.url, { competence: word })).body.competence, word);
  for (const word of ['engineer', 'Cook']) {
    assert.equal((await fixture.staff.patch(user.url, { competence: word })).body, {
      competence: [`"${word}" is not a valid choice.`],
    });
  }
  const { actions } = (await fixture.staff.options('/api/users/')).body;
  assert.equal(actions.POST.competence.choices, [
    { value: 'Engineer', display_name: 'Engineer' },
    { value: 'Lawyer', display_name: 'Lawyer' },
  ]);
});

test('finds another user with the same email by an index, not by reading all users', async () => {
  const { db } = fixture.server.app;
  const queries: Sql[] = [];
  const { value } = db;
  db.value = (query) => {
    queries.push(query);
    return value.call(db, query) as never;
  };
  try {
    await create({ username: 'indexed', email: 'indexed@example.com' });
  } finally {
    db.value = value;
  }
  const plans = queries
    .filter(({ text }) => text.includes('email_folded'))
    .map(({ text, values }) => db.all<{ detail: string }>({ text: `EXPLAIN QUERY PLAN ${text}`, values }));
  assert.ok(plans.length > 0);
  for (const plan of plans)
    assert.match(plan.map(({ detail }) => detail).join(), /^SEARCH user USING (COVERING )?INDEX user_email /);
});

test.run();
