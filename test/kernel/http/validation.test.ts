/** core.md 1.4: validation messages. */
import * as assert from 'uvu/assert';
import type { Json } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test: validation, fixture } = suiteWithServer('validation messages');
let customer: Json;
let user: Json;

validation.before(async () => {
  customer = await fixture.customer('Ministry', { agreement_number: 7 });
  user = await fixture.user('Alice', { email: 'alice@example.com', civil_number: '38001085718' });
});

/** Returns the errors of a body; undefined if it is accepted. */
async function errors(path: string, body: Json): Promise<Json> {
  const response = await fixture.staff.post(path, body);
  if (response.status === 400) return response.body;
  assert.is(response.status, 201, JSON.stringify(response.body));
  return undefined;
}
const ofCustomer = (fields: Json) => errors('/api/customers/', { name: 'x', ...fields });
const ofUser = (fields: Json) => errors('/api/users/', { username: `user${Math.random()}`.slice(0, 30), ...fields });
const ofProject = (fields: Json) => errors('/api/projects/', { name: 'x', customer: customer.url, ...fields });
const ofPermission = (fields: Json) =>
  errors('/api/customer-permissions/', { customer: customer.url, user: user.url, role: 'owner', ...fields });

validation('a required field that is missing, null or empty', async () => {
  assert.equal(await errors('/api/customers/', {}), { name: ['This field is required.'] });
  assert.equal(await ofCustomer({ name: null }), { name: ['This field may not be null.'] });
  for (const blank of ['', '   ', '\t\n', '\u00a0'])
    assert.equal(await ofCustomer({ name: blank }), { name: ['This field may not be blank.'] });
});

validation('null is rejected where the field is not nullable', async () => {
  for (const name of ['native_name', 'email', 'country', 'is_company'])
    assert.equal(await ofCustomer({ [name]: null }), { [name]: ['This field may not be null.'] });
});

validation('a string that is too long, counted in characters', async () => {
  assert.equal(await ofCustomer({ abbreviation: 'x'.repeat(13) }), {
    abbreviation: ['Ensure this field has no more than 12 characters.'],
  });
  assert.is(await ofCustomer({ abbreviation: '😀'.repeat(12) }), undefined);
  assert.equal(await ofCustomer({ abbreviation: '😀'.repeat(13) }), {
    abbreviation: ['Ensure this field has no more than 12 characters.'],
  });
  assert.equal(await ofCustomer({ email: `${'x'.repeat(250)}@example.com` }), {
    email: ['Ensure this field has no more than 254 characters.'],
  });
});

validation('a boolean, list or object instead of a string', async () => {
  for (const value of [true, false, [], ['x'], {}, { a: 1 }])
    assert.equal(await ofCustomer({ name: value }), { name: ['Not a valid string.'] });
});

validation('a NUL character in a string', async () => {
  assert.equal(await ofCustomer({ name: 'a\0b' }), { name: ['Null characters are not allowed.'] });
});

validation('an integer', async () => {
  for (const value of ['abc', '', '1.5', '1e3', '٣', 1.5, true, [], {}, '0x10', '1 2']) {
    const matches = await ofCustomer({ agreement_number: value });
    if (value === '') assert.is(matches, undefined);
    else assert.equal([value, matches], [value, { agreement_number: ['A valid integer is required.'] }]);
  }
  for (const [value, stored] of [
    ['12', 12],
    [' 13 ', 13],
    ['14.0', 14],
    ['+15', 15],
  ] as const) {
    const response = await fixture.staff.post('/api/customers/', { name: 'x', agreement_number: value });
    assert.equal([response.status, response.body.agreement_number], [201, stored]);
  }
});

validation('bounds of an integer', async () => {
  assert.equal(await ofCustomer({ agreement_number: -1 }), {
    agreement_number: ['Ensure this value is greater than or equal to 0.'],
  });
  assert.equal(await ofCustomer({ agreement_number: 2 ** 31 }), {
    agreement_number: ['Ensure this value is less than or equal to 2147483647.'],
  });
  assert.equal(await ofCustomer({ agreement_number: '99999999999999999999' }), {
    agreement_number: ['Ensure this value is less than or equal to 2147483647.'],
  });
  assert.equal(await ofUser({ token_lifetime: 59 }), {
    token_lifetime: ['Ensure this value is greater than or equal to 60.'],
  });
  assert.is(await ofCustomer({ agreement_number: 2 ** 31 - 1 }), undefined);
});

validation('a boolean', async () => {
  for (const value of ['perhaps', 'tRUE', '', 2, -1, 1.5])
    assert.equal(await ofCustomer({ is_company: value }), { is_company: [`"${value}" is not a valid boolean.`] });
});

validation('a choice', async () => {
  assert.equal(await ofCustomer({ country: 'XX' }), { country: ['"XX" is not a valid choice.'] });
  assert.equal(await ofCustomer({ country: 'ee' }), { country: ['"ee" is not a valid choice.'] });
  assert.equal(await ofPermission({ role: 'admin' }), { role: ['"admin" is not a valid choice.'] });
  assert.equal(await ofPermission({ role: 5 }), { role: ['"5" is not a valid choice.'] });
});

validation('an email address', async () => {
  for (const value of [
    'nobody',
    'a@',
    '@example.com',
    'a@example',
    'a b@example.com',
    'a@exam ple.com',
    'a@@example.com',
    'a@.com',
    '<a@example.com>',
  ]) {
    assert.equal(await ofCustomer({ email: value }), { email: ['Enter a valid email address.'] });
  }
  for (const value of ['a@example.com', "o'hara+tag@sub.example.co.uk", 'õie@näide.ee', ''])
    assert.is(await ofCustomer({ email: value }), undefined);
});

validation('a list', async () => {
  for (const [value, kind] of [
    [{}, 'dict'],
    ['x', 'str'],
    [1, 'int'],
    [1.5, 'float'],
    [true, 'bool'],
  ] as const) {
    assert.equal(await ofProject({ certifications: value }), {
      certifications: [`Expected a list of items but got type "${kind}".`],
    });
  }
});

validation('a datetime', async () => {
  const message =
    'Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].';
  const wrong = [
    'tomorrow',
    '2030-01-01',
    '2030-13-01T00:00',
    '2030-02-30T00:00',
    '2030-01-01T24:00',
    '2030-01-01T00:60',
    '2030-01-01T00:00:61',
    '2030-01-01T00',
    '2030-01-01T00:00+25:00',
    '01.01.2030 00:00',
    '٢٠٣٠-01-01T00:00',
    1893456000,
    true,
    [],
  ];
  for (const value of wrong)
    assert.equal([value, await ofPermission({ expiration_time: value })], [value, { expiration_time: [message] }]);
});

validation('a UUID and a boolean in a query', async () => {
  const response = await fixture.staff.get('/api/customers/?user_uuid=abc');
  assert.equal([response.status, response.body], [400, { user_uuid: ['"abc" is not a valid UUID.'] }]);
  const flag = await fixture.staff.get('/api/users/?is_active=perhaps');
  assert.equal([flag.status, flag.body], [400, { is_active: ['"perhaps" is not a valid boolean.'] }]);
});

validation('a unique value that is taken', async () => {
  assert.equal(await errors('/api/users/', { username: 'ALICE' }), {
    username: ['user with this username already exists.'],
  });
  assert.equal(await ofUser({ civil_number: '38001085718' }), {
    civil_number: ['user with this civil number already exists.'],
  });
  assert.equal(await ofUser({ email: 'Alice@Example.com' }), {
    email: ['User with email "Alice@Example.com" already exists.'],
  });
  assert.equal(await ofCustomer({ agreement_number: 7 }), {
    agreement_number: ['organization with this agreement number already exists.'],
  });
});

validation('also for the second of two simultaneous writes', async () => {
  const responses = await Promise.all(
    Array.from({ length: 8 }, () => fixture.staff.post('/api/users/', { username: 'racer' })),
  );
  const losers = responses.filter(({ status }) => status !== 201);
  assert.is(losers.length, 7);
  for (const { status, body } of losers)
    assert.equal([status, body], [400, { username: ['user with this username already exists.'] }]);
});

validation('a link', async () => {
  const missing = '0'.repeat(32);
  const wrong: [Json, string][] = [
    [`/api/customers/${missing}/`, 'Invalid hyperlink - Object does not exist.'],
    [`/api/customers/${missing}`, 'Invalid hyperlink - Object does not exist.'],
    ['/api/nothing/', 'Invalid hyperlink - No URL match.'],
    ['nonsense', 'Invalid hyperlink - No URL match.'],
    ['http://', 'Invalid hyperlink - No URL match.'],
    ['javascript:alert(1)', 'Invalid hyperlink - No URL match.'],
    ['/api/customers/nokey/', 'Invalid hyperlink - No URL match.'],
    [`/API/customers/${missing}/`, 'Invalid hyperlink - No URL match.'],
    [user.url, 'Invalid hyperlink - Incorrect URL match.'],
    ['/api/customers/', 'Invalid hyperlink - Incorrect URL match.'],
    [`${customer.url}users/`, 'Invalid hyperlink - Incorrect URL match.'],
    [5, 'Incorrect type. Expected URL string, received int.'],
    [1.5, 'Incorrect type. Expected URL string, received float.'],
    [true, 'Incorrect type. Expected URL string, received bool.'],
    [[], 'Incorrect type. Expected URL string, received list.'],
    [{}, 'Incorrect type. Expected URL string, received dict.'],
    [null, 'This field may not be null.'],
    ['', 'This field may not be null.'],
  ];
  for (const [value, message] of wrong)
    assert.equal([value, await ofProject({ customer: value })], [value, { customer: [message] }]);
});

validation.run();
