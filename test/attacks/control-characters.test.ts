/** Characters that make a text look like a different one, or add line breaks (core.md 1.5 "Control characters"). */
import * as assert from 'uvu/assert';
import { publicKeys } from '../support/public-keys.ts';
import { suiteWithServer } from '../support/suite.ts';

const { test: controls, fixture } = suiteWithServer('control characters');
const rejection = 'Enter a valid text without control characters.';

controls('trims names, then rejects control characters in them', async () => {
  const { staff } = fixture;
  for (const odd of ['\r', '\n', '\x1b', '\x01', '\x7f', '\x80', '\x85', '\x9f', '\u202e', '\u2066', '\r\n']) {
    for (const [path, field, rest] of [
      ['/api/customers/', 'name', {}],
      ['/api/customers/', 'contact_details', { name: 'x' }],
      ['/api/users/', 'full_name', { username: 'x' }],
    ] as const) {
      const multiple = field === 'contact_details' && /^[\r\n]+$/.test(odd);
      const response = await staff.post(path, { ...rest, [field]: `a${odd}b` });
      if (multiple) assert.equal([response.status, response.body[field]], [201, 'a\nb']);
      else
        assert.equal(
          [JSON.stringify(odd), response.status, response.body],
          [JSON.stringify(odd), 400, { [field]: [rejection] }],
        );
    }
  }
  const fine = await staff.post('/api/customers/', { name: ' \r\nTab\there \n', contact_details: 'a\r\nb\rc\nd\te' });
  assert.equal([fine.body.name, fine.body.contact_details], ['Tab\there', 'a\nb\nc\nd\te']);
  assert.equal((await staff.post('/api/customers/', { name: 'a\0b' })).body, {
    name: ['Null characters are not allowed.'],
  });
});

controls('rejects control characters in texts within lists and objects, in every endpoint', async () => {
  const { staff } = fixture;
  const customer = await fixture.customer('Nested');
  const hook = { destination_url: 'https://hooks.example.com/', event_types: ['project_creation_succeeded'] };
  for (const [text, message] of [
    ['a\u001bb', rejection],
    ['a\nb', rejection],
    ['a\u202eb', rejection],
    ['a\0b', 'Null characters are not allowed.'],
    ['a\ud800b', 'Not a valid string.'],
  ] as const) {
    for (const [path, field, value, rest] of [
      ['/api/projects/', 'certifications', [{ url: text }], { name: 'x', customer: customer.url }],
      [
        '/api/projects/',
        'certifications',
        [{ url: 'x', more: { deep: [text] } }],
        { name: 'x', customer: customer.url },
      ],
      ['/api/hooks-web/', 'event_groups', ['users', text], hook],
    ] as const) {
      const { body, status } = await staff.post(path, { ...rest, [field]: value });
      assert.equal([JSON.stringify(value), status, body], [JSON.stringify(value), 400, { [field]: [message] }]);
    }
  }
  const form = new URLSearchParams({ ...hook, event_types: JSON.stringify(['a\u0007']) }).toString();
  const response = await staff.send('POST', '/api/hooks-web/', form, {
    'Content-Type': 'application/x-www-form-urlencoded',
  });
  assert.equal([response.status, response.body], [400, { event_types: [rejection] }]);
  // Leading and trailing blanks are trimmed first, as everywhere.
  const blank = await staff.post('/api/hooks-web/', { ...hook, event_groups: ['users'], event_types: [' \n'] });
  assert.equal(blank.body.event_types, ['" \n" is not a valid choice.']);
});

controls('rejects control characters in the comment of a key and in a file name', async () => {
  for (const odd of ['\x07', '\v', '\x1b', '\x9b', '\u202e', '\u2066']) {
    for (const name of [undefined, 'laptop']) {
      const response = await fixture.staff.post('/api/keys/', { name, public_key: `${publicKeys.rsa} a${odd}b` });
      assert.equal(
        [JSON.stringify(odd), response.status, response.body],
        [JSON.stringify(odd), 400, { public_key: [rejection] }],
      );
    }
    const form = new FormData();
    form.append('name', 'Private cloud');
    form.append('type', 'OpenStack');
    form.append('certificate', new File(['x'], `a${odd}b.pem`, { type: 'text/plain' }));
    const { body } = await fixture.staff.send('POST', '/api/service-settings/', form);
    assert.equal([JSON.stringify(odd), body.certificate], [JSON.stringify(odd), [rejection]]);
  }
  assert.equal((await fixture.staff.get('/api/keys/')).body, []);
});

controls('removes control characters from the username in the event of a failed login', async () => {
  fixture.events();
  await fixture.anonymous.post('/api-auth/password/', { username: 'a\x1bl\u202ei\nce\x9b', password: 'wrong' });
  assert.equal(
    fixture.events().map(({ context, message }) => [message, context.username]),
    [['User ali ce failed to authenticate with username and password.', 'ali ce']],
  );
});

controls('accepts control characters in passwords', async () => {
  const { url } = await fixture.user('secretive');
  assert.is((await fixture.staff.post(`${url}password/`, { password: 'a\u202e1\x01bcdefgh' })).status, 200);
  const login = await fixture.anonymous.post('/api-auth/password/', {
    username: 'secretive',
    password: 'a\u202e1\x01bcdefgh',
  });
  assert.is(login.status, 200);
});

controls('reports only the length of a text that is too long, not its format', async () => {
  const email = `${'x'.repeat(1_000_000)}@`;
  const response = await fixture.staff.post('/api/users/', { username: 'long', email });
  assert.equal(
    [response.status, response.body],
    [400, { email: ['Ensure this field has no more than 254 characters.'] }],
  );
});

controls.run();
