/** core.md 1.2: the order of checks. */
import * as assert from 'uvu/assert';
import type { ApiResponse, Client, Json } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test: order, fixture } = suiteWithServer('order of checks', { max_body_bytes: 4096 });
let customer: Json;
let other: Json;
let owner: Client;
let stranger: Client;

order.before(async () => {
  customer = await fixture.customer('Ministry');
  other = await fixture.customer('Other');
  const user = await fixture.user('owner');
  await fixture.grant(customer, user, 'owner');
  await fixture.grant(other, user, 'support');
  await fixture.user('stranger');
  [owner, stranger] = [fixture.as('owner'), fixture.as('stranger')];
});

const reports = ({ status, body }: ApiResponse<Json>) => [status, body];
const notProvided = { detail: 'Authentication credentials were not provided.' };
const notFound = { detail: 'Not found.' };
const denied = { detail: 'You do not have permission to perform this action.' };

order('authentication comes before unknown paths under /api/', async () => {
  for (const path of ['/api/nothing/', '/api/customers/nothing/at/all/', '/api/customers/?page=99', customer.url]) {
    assert.equal(reports(await fixture.anonymous.get(path)), [401, notProvided], path);
  }
  assert.equal(reports(await fixture.staff.get('/api/nothing/')), [404, notFound]);
});

order('authentication comes before the method', async () => {
  const response = await fixture.anonymous.put('/api/customers/', {});
  assert.equal(reports(response), [401, notProvided]);
  assert.is(response.headers.get('allow'), 'GET, POST, HEAD, OPTIONS');
});

order('the method comes before the object', async () => {
  const missing = `/api/keys/${'0'.repeat(32)}/`;
  assert.equal(reports(await owner.put(missing, {})), [405, { detail: 'Method "PUT" not allowed.' }]);
  assert.equal(reports(await owner.delete(missing)), [404, notFound]);
});

order('a missing object and an invisible one have the same 404 everywhere', async () => {
  const missing = `/api/customers/${'0'.repeat(32)}/`;
  for (const tail of ['', 'users/', 'counters/', 'image/']) {
    for (const method of ['GET', 'OPTIONS', ...(tail === '' || tail === 'image/' ? ['PUT', 'PATCH', 'DELETE'] : [])]) {
      const [unknown, invisible] = [
        await stranger.send(method, missing + tail),
        await stranger.send(method, customer.url + tail),
      ];
      assert.equal([tail, method, ...reports(unknown)], [tail, method, 404, notFound]);
      assert.equal(reports(invisible), reports(unknown));
    }
  }
});

order('the object comes before the right, and the right before the body', async () => {
  const broken = { 'Content-Type': 'application/json' };
  assert.equal(reports(await stranger.send('PUT', customer.url, '{', broken)), [404, notFound]);
  assert.equal(reports(await owner.send('PUT', customer.url, '{', broken)), [403, denied]);
  assert.equal(reports(await owner.send('PUT', customer.url, 'x', { 'Content-Type': 'text/plain' })), [403, denied]);
  assert.equal(reports(await owner.send('PUT', customer.url, 'x'.repeat(5000), broken)), [403, denied]);
  assert.equal(reports(await owner.send('POST', '/api/customers/', 'x'.repeat(5000), broken)), [403, denied]);
});

order('all field errors are collected, and cross-field checks run only when every field passes', async () => {
  const wrong = { email: 'nobody', country: 'XX', vat_code: 'EE1', is_company: 'perhaps' };
  assert.equal(reports(await fixture.staff.post('/api/customers/', wrong)), [
    400,
    {
      name: ['This field is required.'],
      email: ['Enter a valid email address.'],
      country: ['"XX" is not a valid choice.'],
      is_company: ['"perhaps" is not a valid boolean.'],
    },
  ]);
  assert.equal(
    reports(await fixture.staff.post('/api/customers/', { name: 'Company', vat_code: 'EE1', is_company: true })),
    [400, { vat_code: ['VAT number has invalid format.'] }],
  );
});

order(
  'a link to an invisible object is 400, as one to a missing object; a link to a visible one they may not use is 403',
  async () => {
    const project = (url: string) => ({ name: 'Bridge', customer: url });
    const invalid = { customer: ['Invalid hyperlink - Object does not exist.'] };
    assert.equal(reports(await stranger.post('/api/projects/', project(customer.url))), [400, invalid]);
    assert.equal(reports(await stranger.post('/api/projects/', project(`/api/customers/${'0'.repeat(32)}/`))), [
      400,
      invalid,
    ]);
    assert.equal(reports(await owner.post('/api/projects/', project(other.url))), [403, denied]);
    assert.is((await owner.post('/api/projects/', project(customer.url))).status, 201);
  },
);

order('fields come before the right that depends on the body', async () => {
  assert.equal(reports(await owner.post('/api/projects/', { name: '', customer: other.url })), [
    400,
    { name: ['This field may not be blank.'] },
  ]);
});

order('the state of the object comes last', async () => {
  const user = await fixture.user('approved', { organization: 'Org' });
  await fixture.staff.post(`${user.url}approve_organization/`);
  assert.equal(reports(await stranger.post(`${user.url}claim_organization/`, { organization: 'Next' })), [403, denied]);
  assert.equal(reports(await fixture.staff.post(`${user.url}claim_organization/`, {})), [
    400,
    { organization: ['This field is required.'] },
  ]);
  assert.equal(reports(await fixture.staff.post(`${user.url}claim_organization/`, { organization: 'Next' })), [
    409,
    { detail: 'User has approved organization. Remove it before claiming a new one.' },
  ]);
});

order('a rejected request changes nothing and records no event', async () => {
  fixture.events();
  const before = (await fixture.staff.get(customer.url)).body;
  await fixture.staff.patch(customer.url, { name: 'Renamed', email: 'nobody' });
  await owner.patch(customer.url, { name: 'Renamed' });
  await stranger.delete(customer.url);
  assert.equal((await fixture.staff.get(customer.url)).body, before);
  assert.equal(fixture.events(), []);
});

order('open endpoints ignore the Authorization header, also a stale one', async () => {
  for (const path of ['/api/version/', '/api/configuration/', '/docs/']) {
    for (const method of ['GET', 'OPTIONS', 'HEAD']) {
      for (const Authorization of ['Token stale', 'Token', 'Basic eDp5', 'Token a b']) {
        assert.is(
          (await fixture.anonymous.send(method, path, undefined, { Authorization })).status,
          200,
          `${method} ${path} ${Authorization}`,
        );
      }
    }
  }
  const login = await fixture.anonymous.send('POST', '/api-auth/password/', '{}', {
    'Content-Type': 'application/json',
    Authorization: 'Token stale',
  });
  assert.equal(reports(login), [401, { username: ['This field is required.'], password: ['This field is required.'] }]);
  assert.is((await fixture.anonymous.options('/api-auth/password/')).status, 200);
});

order('paths outside /api/, /api-auth/ and /docs/ are 404 without authentication', async () => {
  for (const path of ['/nothing/', '/apis/', '/api-authentication/', '/favicon.ico', '/%2Fapi/']) {
    const response = await fixture.anonymous.get(path);
    assert.equal([path, ...reports(response)], [path, 404, notFound]);
    assert.is(response.headers.get('allow'), null);
  }
});

order.run();
