/** core.md 1.7: response headers. */
import * as assert from 'uvu/assert';
import type { ApiResponse, Json } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';
import { sendOverWire } from '../../support/wire.ts';

const { test: headers, fixture } = suiteWithServer('response headers');
let customer: Json;

headers.before(async () => {
  customer = await fixture.customer('Ministry');
  await fixture.user('nobody');
});

/** One response of every status. */
async function responses(): Promise<Record<string, ApiResponse<Json>>> {
  const { staff, anonymous } = fixture;
  const creation = await staff.post('/api/customers/', { name: 'Made' });
  const { etag } = Object.fromEntries((await staff.get(customer.url)).headers);
  return {
    200: await staff.get('/api/customers/'),
    201: creation,
    204: await staff.delete(creation.body.url),
    304: await staff.get(customer.url, { 'If-None-Match': etag as string }),
    400: await staff.patch(customer.url, { name: '' }),
    401: await anonymous.get(customer.url),
    403: await fixture.as('nobody').post('/api/customers/', {}),
    404: await staff.get('/api/customers/?page=9'),
    405: await staff.put('/api/customers/', {}),
    413: await staff.patch(customer.url, { name: 'x'.repeat(1_100_000) }),
    415: await staff.send('PATCH', customer.url, 'x', { 'Content-Type': 'text/plain' }),
  };
}

headers('Allow is on every response of an existing path, errors included', async () => {
  const list = 'GET, POST, HEAD, OPTIONS';
  const detail = 'GET, PUT, PATCH, DELETE, HEAD, OPTIONS';
  const expected = {
    200: list,
    201: list,
    204: detail,
    304: detail,
    400: detail,
    401: detail,
    403: list,
    404: list,
    405: list,
    413: detail,
    415: detail,
  };
  const matches = Object.entries(await responses()).map(([status, response]) => {
    assert.is(String(response.status), status);
    return [status, response.headers.get('allow')];
  });
  assert.equal(Object.fromEntries(matches), expected);
  assert.is((await fixture.staff.get('/api/nothing/')).headers.get('allow'), null);
});

headers('Allow lists only the served methods, in a fixed order', async () => {
  const expected: Record<string, string> = {
    '/api/': 'GET, HEAD, OPTIONS',
    '/api/version/': 'GET, HEAD, OPTIONS',
    '/api/configuration/': 'GET, HEAD, OPTIONS',
    '/docs/': 'GET, HEAD, OPTIONS',
    '/api-auth/password/': 'POST, OPTIONS',
    '/api-auth/logout/': 'POST, OPTIONS',
    '/api/users/': 'GET, POST, HEAD, OPTIONS',
    '/api/customer-permissions-log/': 'GET, HEAD, OPTIONS',
    '/api/user-counters/': 'GET, HEAD, OPTIONS',
  };
  for (const path in expected)
    assert.is((await fixture.staff.options(path)).headers.get('allow'), expected[path], path);
});

headers('WWW-Authenticate: Token is on every 401 and on no other response', async () => {
  for (const [status, response] of Object.entries(await responses())) {
    assert.is(response.headers.get('www-authenticate'), status === '401' ? 'Token' : null, status);
  }
  const failed = [
    await fixture.anonymous.post('/api-auth/password/', {}),
    await fixture.anonymous.post('/api-auth/password/', { username: 'x', password: 'y' }),
  ];
  for (const response of failed)
    assert.equal([response.status, response.headers.get('www-authenticate')], [401, 'Token']);
});

headers('Location on 201 is the url of the created object', async () => {
  const user = await fixture.user('alice');
  const created = [
    await fixture.staff.post('/api/customers/', { name: 'One' }),
    await fixture.staff.post('/api/projects/', { name: 'One', customer: customer.url }),
    await fixture.staff.post('/api/customer-permissions/', { customer: customer.url, user: user.url, role: 'owner' }),
  ];
  for (const response of created)
    assert.equal([response.status, response.headers.get('location')], [201, response.body.url]);
});

headers('Cache-Control is private, no-cache with an ETag, otherwise no-store', async () => {
  for (const [status, response] of Object.entries(await responses())) {
    const tagged = status === '200' || status === '304';
    assert.is(response.headers.get('cache-control'), tagged ? 'private, no-cache' : 'no-store', status);
    assert.is(response.headers.has('etag'), tagged, status);
  }
  assert.is((await fixture.staff.send('HEAD', customer.url)).headers.get('cache-control'), 'private, no-cache');
});

headers('X-Content-Type-Options: nosniff and a separate request id are on every response', async () => {
  const all = Object.values(await responses());
  for (const response of all) assert.is(response.headers.get('x-content-type-options'), 'nosniff');
  const ids = all.map((response) => response.headers.get('x-request-id'));
  assert.is(new Set(ids).size, ids.length);
  assert.not.ok(ids.includes(null));
});

headers('also on responses to input that is not a request', async () => {
  const rejection = [
    await sendOverWire(fixture.url, 'HELLO', ''),
    await sendOverWire(fixture.url, 'GET /api/version/ HTTP/1.1', ''),
    await sendOverWire(fixture.url, 'GET nowhere HTTP/1.1', 'Host: localhost', ''),
    await sendOverWire(fixture.url, 'OPTIONS * HTTP/1.1', 'Host: localhost', ''),
    await sendOverWire(fixture.url, `GET / HTTP/1.1`, `X: ${'x'.repeat(20_000)}`, ''),
  ];
  const ids = rejection.map((response) => response.headers['x-request-id']);
  assert.equal(
    rejection.map((response) => response.status),
    [400, 400, 400, 400, 431],
  );
  assert.is(new Set(ids).size, ids.length);
  for (const response of rejection) {
    assert.match(response.headers['x-request-id'] as string, /^[\w-]+$/);
    assert.is(response.headers['x-content-type-options'], 'nosniff');
    assert.is(response.headers['cache-control'], 'no-store');
    assert.equal(Object.keys(JSON.parse(response.body)), ['detail']);
  }
});

headers.run();
