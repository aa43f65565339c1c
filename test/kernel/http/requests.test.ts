/** core.md 1.1: requests. */
import * as assert from 'uvu/assert';
import type { Json } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';
import { sendOverWire } from '../../support/wire.ts';

const { test: requests, fixture } = suiteWithServer('requests');
let customer: Json;

requests.before(async () => {
  customer = await fixture.customer('Ministry');
});

const form = 'application/x-www-form-urlencoded';
const send = (type: string, body: string | Uint8Array, method = 'POST', path = '/api/customers/') =>
  fixture.staff.send(method, path, body, { 'Content-Type': type });
const part = (name: string, value: string) =>
  `--edge\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const notFound = { detail: 'Not found.' };

requests('serves a path without a trailing slash exactly like the path with it, without a redirect', async () => {
  const bare = customer.url.slice(0, -1);
  assert.equal((await fixture.staff.get(bare)).body, (await fixture.staff.get(customer.url)).body);
  const list = await fixture.staff.get('/api/customers?page_size=1');
  assert.is(list.status, 200);
  assert.is(
    list.headers.get('link'),
    `<${fixture.url}/api/customers/?page_size=1>; rel="first", <${fixture.url}/api/customers/?page_size=1>; rel="last"`,
  );
  assert.is((await fixture.staff.patch(bare, { name: 'Ministry' })).status, 200);
});

requests('every link of the service ends with a slash', async () => {
  const links = JSON.stringify((await fixture.staff.get(customer.url)).body).match(/http:[^"]+/g);
  assert.ok(links && links.length > 1);
  for (const link of links) assert.match(link, /\/$/);
});

requests('a path with a doubled slash does not exist', async () => {
  for (const path of [
    '/api/customers//',
    '/api//customers/',
    '//api/customers/',
    `/api/customers/${customer.uuid}//`,
  ]) {
    const response = await sendOverWire(
      fixture.url,
      `GET ${path} HTTP/1.1`,
      'Host: localhost',
      `Authorization: Token ${fixture.staff.token}`,
      '',
    );
    assert.equal([path, response.status, response.body], [path, 404, JSON.stringify(notFound)]);
  }
});

requests(
  'percent-encoded letters, digits and marks of a path are those characters, for routes and rights alike',
  async () => {
    const target = async (path: string, method = 'GET'): Promise<readonly unknown[]> => {
      const { body, headers, status } = await sendOverWire(
        fixture.url,
        `${method} ${path} HTTP/1.1`,
        'Host: localhost',
        `Authorization: Token ${fixture.staff.token}`,
        '',
      );
      return [status, headers.link, body];
    };
    const encoded = (text: string): string =>
      [...text].map((sign) => (/[\w.~-]/.test(sign) ? `%${sign.charCodeAt(0).toString(16)}` : sign)).join('');
    const list = '/api/customers/?page_size=1';
    assert.equal(await target(encoded('/api/customers/') + list.slice(15)), await target(list));
    const { pathname } = new URL(customer.url);
    assert.equal(await target(encoded(pathname)), await target(pathname));
    assert.equal(await target('http://localhost/%61pi/customers'), await target('/api/customers'));
    const missing = [404, undefined, JSON.stringify(notFound)];
    for (const path of [
      '/api%2Fcustomers/',
      '/api/%2e%2e/api/customers/',
      '/api/../api/customers/',
      '/api/%2563ustomers/',
    ])
      assert.equal(await target(path), missing, path);
    const anonymous = await sendOverWire(fixture.url, 'GET /%61pi/nothing/ HTTP/1.1', 'Host: localhost', '');
    assert.is(anonymous.status, 401);
  },
);

requests('a uuid in a path is 32 hex digits in either case', async () => {
  assert.equal(
    (await fixture.staff.get(`/api/customers/${customer.uuid.toUpperCase()}/`)).body,
    (await fixture.staff.get(customer.url)).body,
  );
});

requests('anything else instead of a uuid is 404, whatever the method', async () => {
  const dashed = customer.uuid.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  for (const key of [
    dashed,
    '12',
    'name',
    `${customer.uuid}0`,
    customer.uuid.slice(1),
    `${customer.uuid.slice(1)}g`,
    '%zz',
    `${customer.uuid}%00`,
  ]) {
    for (const method of ['GET', 'PUT', 'DELETE', 'POST', 'OPTIONS']) {
      const response = await fixture.staff.send(method, `/api/customers/${key}/`);
      assert.equal([key, method, response.status, response.body], [key, method, 404, notFound]);
    }
  }
});

requests('the pk of a permission is a decimal integer; anything else in its place is 404', async () => {
  const permission = await fixture.grant(customer, await fixture.user('alice'), 'owner');
  assert.is((await fixture.staff.get(`/api/customer-permissions/${permission.pk}/`)).status, 200);
  for (const key of [
    customer.uuid,
    `0x${permission.pk}`,
    `${permission.pk}.0`,
    `-${permission.pk}`,
    '1e0',
    '%D9%A1',
    '9'.repeat(30),
  ]) {
    const response = await fixture.staff.get(`/api/customer-permissions/${key}/`);
    assert.equal([key, response.status, response.body], [key, 404, notFound]);
  }
});

requests('serves HEAD wherever GET is, with the same headers and no body', async () => {
  for (const path of [
    '/api/',
    '/api/version/',
    '/api/configuration/',
    '/docs/',
    '/api/customers/',
    customer.url,
    `${customer.url}users/`,
    `${customer.url}counters/`,
  ]) {
    const [get, head] = [await fixture.staff.get(path), await fixture.staff.send('HEAD', path)];
    assert.is(head.status, 200);
    assert.is(head.body, undefined);
    assert.equal(comparable(head.headers), comparable(get.headers), path);
  }
});

requests('HEAD of an error has the headers of the error and no body', async () => {
  const head = await sendOverWire(
    fixture.url,
    'HEAD /api/customers/?page=7 HTTP/1.1',
    'Host: localhost',
    `Authorization: Token ${fixture.staff.token}`,
    '',
  );
  assert.is(head.status, 404);
  assert.is(head.headers['content-length'], String('{"detail":"Invalid page."}'.length));
});

/** Returns the headers without those that vary by time or connection. */
function comparable(headers: Headers): Record<string, string> {
  const { 'x-request-id': _, date: __, connection: ___, 'keep-alive': ____, ...rest } = Object.fromEntries(headers);
  return rest;
}

requests('serves OPTIONS on every existing path', async () => {
  const { paths } = (await fixture.anonymous.get('/docs/')).body;
  const keys: Record<string, string> = {
    customers: customer.uuid,
    users: (await fixture.staff.get('/api/users/?current')).body[0].uuid,
  };
  for (const path of Object.keys(paths)) {
    const key = keys[path.split('/')[2] as string];
    if (path.includes('{') && key === undefined) continue;
    const response = await fixture.staff.options(path.replace(/\{\w+\}/, key ?? ''));
    // Single sign-on is switched off.
    if (/^\/api-auth\/(saml2|oidc)\//.test(path) && response.status === 401) continue;
    // So is password recovery.
    if (/^\/api-auth\/password\/(forgot|reset)\/$/.test(path) && response.status === 404) continue;
    // The current key exists only for requests with an API key.
    if (path === '/api/api-keys/current/' && response.status === 404) continue;
    assert.equal([path, response.status], [path, 200]);
    // Services, links, resources and certifications use the actions format (services.md 9).
    const isPlain = !Object.hasOwn(response.body, 'actions') || Object.hasOwn(response.body, 'name');
    assert.equal(
      [path, Object.keys(response.body).slice(0, 4)],
      [path, isPlain ? ['name', 'description', 'renders', 'parses'] : ['actions']],
    );
  }
});

requests('any other method is 405 and names the allowed ones', async () => {
  const put = await fixture.staff.put('/api/customers/', {});
  assert.equal(
    [put.status, put.body, put.headers.get('allow')],
    [405, { detail: 'Method "PUT" not allowed.' }, 'GET, POST, HEAD, OPTIONS'],
  );
  const head = await fixture.anonymous.send('HEAD', '/api-auth/password/');
  assert.equal([head.status, head.body, head.headers.get('allow')], [405, undefined, 'POST, OPTIONS']);
  for (const method of ['TRACE', 'PROPFIND', 'SEARCH']) {
    const response = await sendOverWire(
      fixture.url,
      `${method} ${new URL(customer.url).pathname} HTTP/1.1`,
      'Host: localhost',
      `Authorization: Token ${fixture.staff.token}`,
      '',
    );
    assert.equal([response.status, JSON.parse(response.body)], [405, { detail: `Method "${method}" not allowed.` }]);
    assert.is(response.headers.allow, 'GET, PUT, PATCH, DELETE, HEAD, OPTIONS');
  }
});

requests('accepts JSON, form and multipart bodies on every write', async () => {
  const bodies: [string, string][] = [
    ['application/json', '{"name":"Café","is_company":true}'],
    ['Application/JSON; charset=utf-8', '{"name":"Café","is_company":true}'],
    [form, 'name=Caf%C3%A9&is_company=on'],
    ['multipart/form-data; boundary=edge', `${part('name', 'Café')}${part('is_company', 'Yes')}--edge--\r\n`],
  ];
  for (const [type, body] of bodies) {
    const created = await send(type, body);
    assert.equal([type, created.status, created.body.name, created.body.is_company], [type, 201, 'Café', true]);
    const changed = await send(type, body.replace('Caf', 'caf'), 'PUT', created.body.url);
    assert.equal([type, changed.status, changed.body.name], [type, 200, 'café']);
    assert.is((await send(type, body, 'PATCH', created.body.url)).status, 200);
  }
});

requests('in form bodies list and object fields are JSON text', async () => {
  const body = new URLSearchParams({
    name: 'Bridge',
    customer: customer.url,
    certifications: '[{"url":"/api/nothing/"}]',
  });
  const response = await send(form, body.toString(), 'POST', '/api/projects/');
  assert.equal([response.status, response.body], [400, { certifications: [['Invalid hyperlink - No URL match.']] }]);
  const empty = await send(
    form,
    new URLSearchParams({ name: 'Bridge', customer: customer.url, certifications: '[]' }).toString(),
    'POST',
    '/api/projects/',
  );
  assert.equal([empty.status, empty.body.certifications], [201, []]);
  const broken = await send(
    form,
    new URLSearchParams({ name: 'Bridge', customer: customer.url, certifications: '[{' }).toString(),
    'POST',
    '/api/projects/',
  );
  assert.is(broken.status, 400);
  assert.equal(Object.keys(broken.body), ['certifications']);
});

requests('an absent boolean of a form is absent, not false', async () => {
  const { body } = await fixture.staff.post('/api/customers/', { name: 'Company', is_company: true });
  assert.is((await send(form, 'name=Company+Ltd', 'PUT', body.url)).body.is_company, true);
  assert.is(
    (await send('multipart/form-data; boundary=edge', `${part('name', 'Company')}--edge--`, 'PUT', body.url)).body
      .is_company,
    true,
  );
});

requests('a repeated form field that is not a list has its last value', async () => {
  assert.is((await send(form, 'name=first&name=second')).body.name, 'second');
});

requests('an empty body is {}, whatever its type', async () => {
  assert.equal(
    (await fixture.staff.send('PATCH', customer.url, undefined, { 'Content-Type': 'text/plain' })).status,
    200,
  );
  const created = await fixture.staff.post('/api/customers/');
  assert.equal([created.status, created.body], [400, { name: ['This field is required.'] }]);
});

requests('operations without a body ignore one, even an invalid one', async () => {
  const doomed = await fixture.customer('Doomed');
  for (const type of ['application/json', 'text/plain', 'multipart/form-data']) {
    const user = await fixture.user(`user-${type.length}`, { organization: 'Org' });
    assert.is((await send(type, '{"broken', 'POST', `${user.url}approve_organization/`)).status, 200);
  }
  assert.is((await send('application/json', '{"broken', 'DELETE', doomed.url)).status, 204);
  assert.is(
    (await fixture.as('alice').send('POST', '/api-auth/logout/', '{"broken', { 'Content-Type': 'multipart/form-data' }))
      .status,
    204,
  );
});

requests('responses are JSON whatever Accept, Accept-Language and ?format= request', async () => {
  const plain = await fixture.staff.get('/api/customers/');
  const received = await fixture.staff.get('/api/customers/?format=xml', {
    Accept: 'application/xml, text/html',
    'Accept-Language': 'et',
  });
  assert.is(received.status, 200);
  assert.is(received.headers.get('content-type'), 'application/json');
  assert.equal(received.body, plain.body);
  const rejection = await fixture.anonymous.get('/api/customers/', { Accept: 'text/html' });
  assert.equal([rejection.status, rejection.body], [401, { detail: 'Authentication credentials were not provided.' }]);
});

requests.run();
