import * as assert from 'uvu/assert';
import type { ApiResponse, Json } from '../../support/fixture.ts';
import { suiteWithServerPerTest } from '../../support/suite.ts';

const { test, fixture } = suiteWithServerPerTest('checking an invitation (services.md 10.3)', {
  trusted_proxies: ['127.0.0.1'],
});
let customer: Json;

test.before.each(async () => {
  customer = await fixture.customer('Alice');
});

const invite = async (fields: Json = {}): Promise<Json> =>
  (
    await fixture.staff.post('/api/user-invitations/', {
      link_template: 'https://app.example.com/{uuid}',
      email: 'new@example.com',
      customer: customer.url,
      customer_role: 'owner',
      ...fields,
    })
  ).body;

const check = (url: string, headers: Readonly<Record<string, string>> = {}): Promise<ApiResponse<Json>> =>
  fixture.anonymous.send('POST', `${url}check/`, undefined, headers);
const missing = [404, { detail: 'Not found.' }];

test('returns the email of a pending invitation without a token, and nothing else', async () => {
  const { url } = await invite();
  const { body, headers, status } = await check(url);
  assert.equal(
    [status, body, headers.get('Cache-Control'), headers.get('Allow')],
    [200, { email: 'new@example.com' }, 'no-store', 'POST, OPTIONS'],
  );
});

test('reports that a civil number is required, but not which', async () => {
  assert.equal((await check((await invite({ civil_number: '12345' })).url)).body, {
    email: 'new@example.com',
    civil_number_required: true,
  });
});

test('ignores a token, even an expired one', async () => {
  const { url } = await invite();
  for (const Authorization of ['Token nonsense', 'Basic x'])
    assert.is((await check(url, { Authorization })).status, 200);
  assert.is((await fixture.staff.post(`${url}check/`)).status, 200);
});

test('returns the same 404 for accepted, canceled, expired and unknown invitations, and for invalid uuids', async () => {
  await fixture.user('newcomer');
  const [accepted, canceled, expired] = [await invite(), await invite(), await invite()];
  await fixture.as('newcomer').post(`${accepted.url}accept/`);
  await fixture.staff.post(`${canceled.url}cancel/`);
  fixture.clock.set('2018-01-12T04:47:04Z');
  for (const url of [
    accepted.url,
    canceled.url,
    expired.url,
    `/api/user-invitations/${'0'.repeat(32)}/`,
    '/api/user-invitations/mangled/',
    '/api/user-invitations/%27/',
  ]) {
    const { body, status } = await check(url);
    assert.equal([status, body], missing, url);
  }
});

test('ignores a body, even an invalid one', async () => {
  const { url } = await invite();
  assert.is(
    (await fixture.anonymous.send('POST', `${url}check/`, '{"', { 'Content-Type': 'application/json' })).status,
    200,
  );
});

test('OPTIONS reveals nothing about an invitation', async () => {
  const { url } = await invite();
  const known = await fixture.anonymous.options(`${url}check/`);
  const unknown = await fixture.anonymous.options(`/api/user-invitations/${'0'.repeat(32)}/check/`);
  assert.equal([known.status, known.body], [unknown.status, unknown.body]);
  assert.is(known.body.actions, undefined);
});

test('allows 60 requests a minute for each address, then returns 429 with Retry-After', async () => {
  fixture.clock.hold();
  const { url } = await invite();
  const from = (address: string) => check(url, { 'X-Forwarded-For': address });
  for (let i = 0; i < 60; i++) assert.is((await from('192.0.2.7')).status, 200);
  fixture.clock.advance(20.5);
  const { body, headers, status } = await from('192.0.2.7');
  assert.equal(
    [status, body, headers.get('Retry-After')],
    [429, { detail: 'Too many requests. Try again later.' }, '40'],
  );
  assert.is((await from('192.0.2.8')).status, 200);
  fixture.clock.advance(39.4);
  assert.is((await from('192.0.2.7')).status, 429);
  fixture.clock.advance(0.1);
  assert.is((await from('192.0.2.7')).status, 200);
});

test('unknown invitations also count, so that uuids cannot be enumerated', async () => {
  for (let i = 0; i < 60; i++)
    assert.is((await check(`/api/user-invitations/${String(i).padStart(32, '0')}/`)).status, 404);
  assert.is((await check((await invite()).url)).status, 429);
});

test.run();
