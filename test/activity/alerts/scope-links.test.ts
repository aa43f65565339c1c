import * as assert from 'uvu/assert';
import { Fixture, type Json } from '../../support/fixture.ts';
import { settings } from '../../support/links.ts';
import { publicKeys } from '../../support/public-keys.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('links of scopes, in bodies and queries (events.md 1.3)');
let customer: Json;
let path: string;

test.before(async () => {
  customer = await fixture.customer('Alice');
  path = `/api/customers/${customer.uuid}/`;
  await fixture.user('stranger');
});

const missing = '0123456789abcdef0123456789abcdef';
/** The response to POST of an alert about this link: its scope link, or the message under scope. */
async function posted(scope: unknown, client = fixture.staff): Promise<string> {
  const { body, status } = await client.post('/api/alerts/', {
    alert_type: 'x',
    message: 'x',
    severity: 'Info',
    scope,
  });
  assert.ok([200, 201, 400].includes(status), `${status}`);
  return status === 400 ? body.scope[0] : body.scope;
}

/** The response to the query parameter: the number of alerts, or the message under scope. */
async function requests(scope: string, client = fixture.staff): Promise<number | string> {
  const { body, status } = await client.get(`/api/alerts/?scope=${encodeURIComponent(scope)}`);
  return status === 400 ? body.scope[0] : body.length;
}

test('accepts an absolute URL of any host or a path, with or without trailing slash, and the uuid in either case', async () => {
  const spellings = [
    customer.url,
    path,
    path.slice(0, -1),
    `https://other.example:8443${path}`,
    `HTTP://OTHER${path.slice(0, -1)}`,
    `//host${path}`,
    `${customer.url}?field=name#top`,
    `/api/customers/${customer.uuid.toUpperCase()}/`,
    ` ${path} `,
    `/api/../api/customers/./${customer.uuid}`,
  ];
  for (const spelling of spellings) {
    assert.is(await posted(spelling), customer.url, spelling);
    assert.is(await requests(spelling.trim()), 1, spelling);
  }
});

test('rejects values that are not a URL or path, and malformed uuids', async () => {
  const dashed = customer.uuid.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  for (const link of [
    'alice',
    customer.uuid,
    `api/customers/${customer.uuid}/`,
    'ftp://host/api/customers/',
    'http://',
    'http:///',
    'mailto:a@b',
    '/api/customers/abc/',
    `/api/customers/${customer.uuid}0/`,
    `/api/customers/${dashed}/`,
    '/api/users/me/',
  ]) {
    for (const response of [await posted(link), await requests(link)]) assert.is(response, `URL is invalid: ${link}.`);
  }
});

test('an unknown route or object, an unreadable object and a price estimate cannot be restored', async () => {
  const links = [
    '/',
    '/api/',
    '/api/customers/',
    `/api/customers/${missing}/`,
    `/api/customers/${customer.uuid}/users/`,
    `/api/nothing/${missing}/`,
    '/api/nothing/abc/',
    `/api/price-estimates/${missing}/`,
    `/customers/${customer.uuid}/`,
    `/API/customers/${customer.uuid}/`,
    'https://example.com',
    `/api/hooks-web/${missing}/`,
    '/api/customer-permissions/999/',
    '/api/events/count/',
  ];
  for (const link of links) {
    for (const response of [await posted(link), await requests(link)])
      assert.is(response, `Can't restore object from url: ${link}`);
  }
  assert.is(await requests(path, fixture.as('stranger')), `Can't restore object from url: ${path}`);
  const key = (await fixture.staff.post('/api/keys/', { public_key: publicKeys.ed25519 })).body;
  assert.is(await requests(key.url, fixture.as('stranger')), `Can't restore object from url: ${key.url}`);
});

test('active users who are not staff are readable; others only by staff, global support and themselves', async () => {
  const inactive = await fixture.user('inactive', { is_active: false });
  const colleague = await fixture.user('colleague', { is_staff: true });
  const plain = await fixture.user('plain');
  await fixture.user('support', { is_support: true });
  const matches = async (username: string): Promise<(number | string)[]> =>
    Promise.all(
      [plain, inactive, colleague].map(async ({ url }) =>
        (await requests(url, fixture.as(username))) === 0 ? 0 : 'no such',
      ),
    );
  assert.equal(await matches('stranger'), [0, 'no such', 'no such']);
  assert.equal(await matches('colleague'), [0, 0, 0]);
  assert.equal(await matches('support'), [0, 0, 0]);
});

test('rejects an object of another kind with "does not support such relationship"', async () => {
  const certification = (await fixture.staff.post('/api/service-certifications/', { name: 'ISO' })).body;
  const permission = await fixture.grant(customer, await fixture.user('owner'), 'owner');
  const hook = (await fixture.staff.post('/api/hooks-email/', { email: 'a@example.com', event_groups: ['users'] }))
    .body;
  await posted(path);
  const alert = (await fixture.staff.get('/api/alerts/')).body[0];
  for (const { url } of [certification, permission, hook, alert]) {
    if (url === undefined) continue;
    for (const response of [await posted(url), await requests(url)])
      assert.is(response, `${url} object does not support such relationship.`);
  }
  assert.is(await requests(hook.url, fixture.as('stranger')), `Can't restore object from url: ${hook.url}`);
});

test('an alert requires a scope that is not null or empty; an empty parameter is ignored', async () => {
  for (const value of [null, '', '  ']) assert.is(await posted(value), 'This field may not be null.');
  for (const value of [5, true, ['/api/'], { url: path }]) assert.is(await posted(value), 'Not a valid string.');
  assert.is((await fixture.staff.get('/api/alerts/?scope=')).status, 200);
  assert.equal((await fixture.staff.post('/api/alerts/', { alert_type: 'x', message: 'x', severity: 'Info' })).body, {
    scope: ['This field is required.'],
  });
});

test('does not find an object by its uuid below the path of another kind', async () => {
  const link = `/api/projects/${customer.uuid}/`;
  assert.is(await posted(link), `Can't restore object from url: ${link}`);
});

test('shared settings have links; only users who can read their usage see their alerts', async () => {
  const { uuid } = settings(fixture, 'Shared');
  assert.is(await posted(`/api/service-settings/${uuid}/`), `${fixture.url}/api/service-settings/${uuid}/`);
  assert.is(await requests(`/api/service-settings/${uuid}/`, fixture.as('stranger')), 0);
  assert.is(await requests(`/api/service-settings/${uuid}/`), 1);
});

test('accepts links with the path of base_url', async () => {
  const behind = await Fixture.start({ base_url: 'https://example.com/cloud' });
  try {
    const { url } = await behind.customer('Alice');
    assert.match(url, /^https:\/\/example\.com\/cloud\/api\/customers\//);
    const alert = await behind.staff.post('/api/alerts/', {
      alert_type: 'x',
      message: 'x',
      severity: 'Info',
      scope: url,
    });
    assert.equal([alert.status, alert.body.scope], [201, url]);
    const again = await behind.staff.post(alert.body.url, alert.body);
    assert.equal([again.status, again.body], [200, alert.body], 'a whole representation may be sent back');
    assert.is((await behind.staff.get(`/api/alerts/?scope=${url}`)).body.length, 1);
  } finally {
    await behind.close();
  }
});

test.run();
