/** core.md 1.7: ETag and If-None-Match. */
import * as assert from 'uvu/assert';
import type { Client, Json } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test: etags, fixture } = suiteWithServer('ETag');
let customer: Json;

etags.before(async () => {
  customer = await fixture.customer('Ministry');
});

const tagOf = async (path: string, client: Client = fixture.staff): Promise<string> => {
  const tag = (await client.get(path)).headers.get('etag');
  assert.ok(tag, path);
  return tag;
};
const requests = (path: string, tag: string, method = 'GET') =>
  fixture.staff.send(method, path, undefined, { 'If-None-Match': tag });

etags('lists, details and the customer image have an ETag on GET and HEAD', async () => {
  const form = new FormData();
  const pixel = 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';
  form.set('image', new Blob([Buffer.from(pixel, 'base64')]), 'pixel');
  assert.is((await fixture.staff.send('PUT', `${customer.url}image/`, form)).status, 200);
  for (const path of ['/api/customers/', customer.url, `${customer.url}users/`, `${customer.url}image/`]) {
    const tag = await tagOf(path);
    assert.match(tag, /^"[^"]+"$/);
    assert.is((await fixture.staff.send('HEAD', path)).headers.get('etag'), tag);
  }
});

etags('a matching If-None-Match gets 304 without a body, with the headers of the response', async () => {
  for (const path of ['/api/customers/', customer.url, `${customer.url}image/`]) {
    const tag = await tagOf(path);
    for (const method of ['GET', 'HEAD']) {
      const response = await requests(path, tag, method);
      assert.equal([response.status, response.body], [304, undefined]);
      assert.is(response.headers.get('etag'), tag);
      assert.is(response.headers.get('cache-control'), 'private, no-cache');
      assert.is(response.headers.get('content-type'), null);
      assert.is(response.headers.get('content-length'), null);
    }
  }
  const list = await requests('/api/customers/', await tagOf('/api/customers/'));
  assert.is(list.headers.get('x-result-count'), '1');
  assert.ok(list.headers.get('link'));
  assert.is((await requests(customer.url, await tagOf(customer.url))).headers.get('vary'), 'Accept-Encoding');
});

etags('If-None-Match may be a list, weak tags, or any', async () => {
  const tag = await tagOf(customer.url);
  for (const header of [`"other", ${tag}`, `${tag},"other"`, `W/${tag}`, `"a,b" , W/${tag}`, '*', ' * '])
    assert.is((await requests(customer.url, header)).status, 304, header);
  for (const header of ['"other"', tag.slice(1, -1), `"x${tag.slice(1)}`, '"a, *, b"', ''])
    assert.is((await requests(customer.url, header)).status, 200, header);
});

etags('ignores suffixes that compressing proxies append to a tag', async () => {
  const { url } = await fixture.customer('Behind a proxy');
  const tag = await tagOf(`${url}?field=name`);
  const suffixed = (suffix: string): string => tag.replace(/"$/, `${suffix}"`);
  for (const suffix of ['-gzip', '-br', ';gzip', '--gzip', '-zstd', '-deflate', '-gzip-gzip', '-br;gzip'])
    for (const header of [suffixed(suffix), `W/${suffixed(suffix)}`, `"other-gzip", ${suffixed(suffix)}`])
      assert.is((await requests(`${url}?field=name`, header)).status, 304, header);
  for (const header of [suffixed('-other'), suffixed('-gzipped'), suffixed('gzip'), `${tag}-gzip`, '"-gzip"', '-gzip'])
    assert.is((await requests(`${url}?field=name`, header)).status, 200, header);
});

etags('the ETag changes with the object, and with values of other objects in the response', async () => {
  const before = await tagOf(customer.url);
  await fixture.project('Bridge', customer);
  const between = await tagOf(customer.url);
  assert.is.not(between, before);
  await fixture.staff.patch(customer.url, { name: 'Bureau' });
  assert.is.not(await tagOf(customer.url), between);
  assert.is((await requests(customer.url, between)).status, 200);
});

etags('the ETag of a page changes with the number of objects behind it', async () => {
  const tag = await tagOf('/api/customers/?page_size=1&o=name');
  const next = await fixture.customer('Zoo');
  assert.is.not(await tagOf('/api/customers/?page_size=1&o=name'), tag);
  await fixture.staff.delete(next.url);
  assert.is(await tagOf('/api/customers/?page_size=1&o=name'), tag);
});

etags('two callers share an ETag only when their responses are equal', async () => {
  const [manager, admin] = [await fixture.user('manager'), await fixture.user('admin2')];
  const [road, rail] = [await fixture.project('Road', customer), await fixture.project('Rail', customer)];
  await fixture.grant(road, manager, 'manager');
  await fixture.grant(rail, admin, 'admin');
  const tags = await Promise.all(
    [fixture.staff, fixture.as('manager'), fixture.as('admin2')].map((client) => tagOf(customer.url, client)),
  );
  assert.is(new Set(tags).size, 3);
  assert.is(await tagOf(customer.url, fixture.as('manager')), tags[1]);
});

etags('errors and responses to writes have none, and ignore If-None-Match', async () => {
  const changed = await fixture.staff.send('PATCH', customer.url, '{}', {
    'Content-Type': 'application/json',
    'If-None-Match': '*',
  });
  assert.equal([changed.status, changed.headers.get('etag')], [200, null]);
  const missing = await requests('/api/customers/?page=9', '*');
  assert.equal([missing.status, missing.headers.get('etag')], [404, null]);
});

etags.run();
