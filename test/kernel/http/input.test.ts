/** core.md 1.5: input rules. */
import * as assert from 'uvu/assert';
import type { Json } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test: input, fixture } = suiteWithServer('input rules');
let customer: Json;

input.before(async () => {
  customer = await fixture.customer('Ministry');
});

const creation = (fields: Json) => fixture.customer('x', fields);

input('unknown and read-only keys are silently ignored and not validated', async () => {
  const created = await creation({
    uuid: 5,
    url: [],
    created: 'never',
    projects: 'none',
    owners: 1,
    quotas: {},
    country_name: [],
    price: 'free',
    image: 7,
    '': 1,
  });
  assert.match(created.uuid, /^[0-9a-f]{32}$/);
  assert.equal(
    [created.created, created.projects, created.country_name, created.image],
    ['2018-01-05T04:47:04Z', [], '', null],
  );
});

input('a whole representation may be PUT back', async () => {
  const project = await fixture.project('Bridge', customer);
  const user = await fixture.user('alice');
  for (const object of [customer, project, user]) {
    const { body } = await fixture.staff.get(object.url);
    fixture.events();
    const response = await fixture.staff.put(object.url, body);
    assert.equal([response.status, response.body], [200, body]);
    assert.equal(fixture.events(), []);
  }
});

input('strings are trimmed before validation', async () => {
  const created = await creation({
    name: '  Ministry \n',
    abbreviation: `${' '.repeat(20)}MIN${' '.repeat(20)}`,
    email: ' a@example.com ',
    contact_details: '   ',
  });
  assert.equal(
    [created.name, created.abbreviation, created.email, created.contact_details],
    ['Ministry', 'MIN', 'a@example.com', ''],
  );
});

input('passwords are not', async () => {
  const user = await fixture.user('blank');
  assert.is((await fixture.staff.post(`${user.url}password/`, { password: ' blanks 1 ' })).status, 200);
  const login = (password: string) => fixture.anonymous.post('/api-auth/password/', { username: ' blank ', password });
  assert.is((await login('blanks 1')).status, 401);
  assert.is((await login(' blanks 1 ')).status, 200);
});

input('numbers are accepted for strings and become strings', async () => {
  const created = await creation({ name: 42, phone_number: 1.5, registration_code: 0 });
  assert.equal([created.name, created.phone_number, created.registration_code], ['42', '1.5', '0']);
});

input('optional strings accept "", never null', async () => {
  const { url } = await creation({ native_name: 'Nimi' });
  assert.is((await fixture.staff.patch(url, { native_name: '' })).body.native_name, '');
  assert.is((await fixture.staff.patch(url, { native_name: null })).status, 400);
});

input('an empty string counts as null for a number, a datetime, a nullable field and a link', async () => {
  assert.is((await creation({ agreement_number: '' })).agreement_number, null);
  assert.equal((await fixture.user('bob', { token_lifetime: '', civil_number: '' })).token_lifetime, null);
  const permission = await fixture.grant(customer, await fixture.user('cid'), 'owner', '' as Json);
  assert.is(permission.expiration_time, null);
  const project = await fixture.staff.post('/api/projects/', { name: 'x', customer: '' });
  assert.equal(project.body, { customer: ['This field may not be null.'] });
});

input('booleans are true, false, 1, 0 and words in lower, upper and capitalised spelling', async () => {
  const words = { true: ['true', 't', 'yes', 'y', 'on', '1'], false: ['false', 'f', 'no', 'n', 'off', '0'] };
  const spellings = (word: string) => [word, word.toUpperCase(), word.charAt(0).toUpperCase() + word.slice(1)];
  const { url } = await creation({});
  for (const [truth, names] of Object.entries(words)) {
    for (const value of [truth === 'true', truth === 'true' ? 1 : 0, ...names.flatMap(spellings)]) {
      await fixture.staff.patch(url, { is_company: truth !== 'true' });
      assert.equal(
        [value, (await fixture.staff.patch(url, { is_company: value })).body.is_company],
        [value, truth === 'true'],
      );
    }
  }
});

input('a link is a full URL of any host or a bare path; only the path counts', async () => {
  const path = `/api/customers/${customer.uuid}/`;
  for (const link of [
    customer.url,
    path,
    path.slice(0, -1),
    `https://elsewhere.example:99${path}`,
    `HTTP://x${path}?a=1#b`,
    `/api/customers/${customer.uuid.toUpperCase()}/`,
    ` ${path} `,
  ]) {
    const response = await fixture.staff.post('/api/projects/', { name: 'Bridge', customer: link });
    assert.equal([link, response.status, response.body.customer], [link, 201, customer.url]);
  }
});

input('a datetime has T or a blank between date and time, and without zone is UTC', async () => {
  const texts: Record<string, string> = {
    '2030-01-02T03:04': '2030-01-02T03:04:00Z',
    '2030-01-02 03:04': '2030-01-02T03:04:00Z',
    '2030-01-02T03:04:05': '2030-01-02T03:04:05Z',
    '2030-01-02T03:04:05Z': '2030-01-02T03:04:05Z',
    '2030-01-02T03:04:05.5': '2030-01-02T03:04:05.5Z',
    '2030-01-02T03:04:05.000001Z': '2030-01-02T03:04:05.000001Z',
    '2030-01-02T03:04:05+02:00': '2030-01-02T01:04:05Z',
    '2030-01-02T03:04-05:30': '2030-01-02T08:34:00Z',
    '2028-02-29T23:59:59Z': '2028-02-29T23:59:59Z',
    '9999-12-31T23:59:59Z': '9999-12-31T23:59:59Z',
  };
  const permission = await fixture.grant(customer, await fixture.user('dan'), 'owner');
  for (const text in texts)
    assert.equal(
      [text, (await fixture.staff.patch(permission.url, { expiration_time: text })).body.expiration_time],
      [text, texts[text]],
    );
});

input('PUT requires only the fields marked so; an absent optional field keeps its value', async () => {
  const { url } = await creation({ email: 'a@example.com', is_company: true });
  const response = await fixture.staff.put(url, { name: 'New' });
  assert.equal(
    [response.status, response.body.name, response.body.email, response.body.is_company],
    [200, 'New', 'a@example.com', true],
  );
  assert.equal((await fixture.staff.put(url, { email: '' })).body, { name: ['This field is required.'] });
});

input('PATCH requires nothing', async () => {
  const { url } = await creation({});
  assert.is((await fixture.staff.patch(url, {})).status, 200);
  assert.is((await fixture.staff.patch(url)).status, 200);
});

input.run();
