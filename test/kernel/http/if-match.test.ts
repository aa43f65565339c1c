/** If-Match: a write cannot overwrite a change that its client has not seen (core.md 1.7). */
import * as assert from 'uvu/assert';
import type { ApiResponse, Json } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test: matching, fixture } = suiteWithServer('If-Match');
const changed = [412, { detail: 'The object has been changed since you read it.' }];
const reports = ({ status, body }: ApiResponse<Json>) => [status, body];
const etagOf = async (url: string) => (await fixture.staff.get(url)).headers.get('etag') ?? '';
const send = (method: string, path: string, body: unknown, headers: Record<string, string>) =>
  fixture.staff.send(method, path, body, headers);

matching('a change of an object that has changed since is 412 and changes nothing', async () => {
  const { url } = await fixture.customer('Ministry');
  const etag = await etagOf(url);
  assert.is((await send('PATCH', url, { name: 'Second' }, { 'If-Match': etag })).status, 200);
  fixture.events();
  for (const [method, body] of [
    ['PATCH', { name: 'Third' }],
    ['PUT', { name: 'Third' }],
    ['DELETE', undefined],
  ] as const)
    assert.equal(reports(await send(method, url, body, { 'If-Match': etag })), changed, method);
  assert.is((await fixture.staff.get(url)).body.name, 'Second');
  assert.equal(fixture.events(), []);
  const now = await etagOf(url);
  assert.is((await send('PATCH', url, { name: 'Third' }, { 'If-Match': `"other", W/${now}` })).status, 200);
  assert.is((await send('PATCH', url, { name: 'Fourth' }, { 'If-Match': '*' })).status, 200);
  assert.equal(reports(await send('PATCH', url, { name: 'Fifth' }, { 'If-Match': 'malformed' })), changed);
  assert.equal(reports(await send('PUT', url, { name: 'Fifth' }, { 'If-None-Match': '*' })), changed);
  assert.is((await send('DELETE', url, undefined, { 'If-Match': await etagOf(url) })).status, 204);
});

matching('a tag with the suffix of a compressing proxy is the same tag', async () => {
  const { url } = await fixture.customer('Behind a proxy');
  for (const suffix of ['-gzip', '-br', ';gzip', '-gzip-gzip']) {
    const etag = (await etagOf(url)).replace(/(-(br|gzip))?"$/, `${suffix}"`);
    assert.is((await send('PATCH', url, { name: `Behind ${suffix}` }, { 'If-Match': etag })).status, 200, suffix);
    assert.equal(reports(await send('PATCH', url, { name: 'Late' }, { 'If-Match': etag })), changed, suffix);
  }
});

matching('reports missing rights and invalid input first, and a conflicting state last', async () => {
  const customer = await fixture.customer('Busy');
  await fixture.project('Bridge', customer);
  await fixture.grant(customer, await fixture.user('reader'), 'support');
  const stale = { 'If-Match': '"stale"' };
  assert.is((await fixture.as('reader').send('PATCH', customer.url, { name: 'x' }, stale)).status, 403);
  assert.is((await send('PATCH', customer.url, { name: '' }, stale)).status, 400);
  assert.is((await send('PATCH', customer.url.replace(/[0-9a-f]{32}/, '0'.repeat(32)), {}, stale)).status, 404);
  assert.equal(reports(await send('DELETE', customer.url, undefined, stale)), changed);
  assert.is((await send('DELETE', customer.url, undefined, { 'If-Match': await etagOf(customer.url) })).status, 409);
});

matching('an action checks the ETag of its object, and an object without one matches only a star', async () => {
  const customer = await fixture.customer('Acting');
  const project = await fixture.project('Bridge', customer);
  const action = `${project.url}update_certifications/`;
  assert.equal(reports(await send('POST', action, { certifications: [] }, { 'If-Match': '"stale"' })), changed);
  const etag = await etagOf(project.url);
  assert.is((await send('POST', action, { certifications: [] }, { 'If-Match': etag })).status, 200);
  const me = (await fixture.staff.get('/api/users/?current')).body[0];
  assert.equal(reports(await send('PATCH', me.url, { job_title: 'x' }, { 'If-Match': '"any"' })), changed);
  assert.is((await send('PATCH', me.url, { job_title: 'x' }, { 'If-Match': '*' })).status, 200);
  assert.is(
    (await send('POST', '/api-auth/password/', { username: 'x', password: 'y' }, { 'If-Match': '"x"' })).status,
    401,
  );
  const image = `${customer.url}image/`;
  assert.equal(reports(await send('DELETE', image, undefined, { 'If-Match': '"x"' })), changed);
});

matching.run();
