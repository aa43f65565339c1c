/** Cached and compressed responses: no token gets into a shared cache, and no compressed form is built twice (core.md 1.7). */
import * as assert from 'uvu/assert';
import { CompressedForms } from '../../src/kernel/http/encoding.ts';
import type { ApiResponse, Json } from '../support/fixture.ts';
import { suiteWithServer } from '../support/suite.ts';

const { test: responses, fixture } = suiteWithServer('responses');

const cacheHeaders = ({ headers }: ApiResponse<Json>) => [headers.get('cache-control'), headers.has('etag')];
const none = ['no-store', false];
const known = ['private, no-cache', true];

responses('forbids caching of a response that holds a token', async () => {
  const { staff } = fixture;
  const me = (await staff.get('/api/users/?current')).body[0];
  const other = await fixture.user('other');
  for (const path of [me.url, '/api/users/?current', '/api/users/?current=true&username=admin'])
    assert.equal([path, ...cacheHeaders(await staff.get(path))], [path, ...none]);
  for (const path of [other.url, '/api/users/', '/api/users/?current=false'])
    assert.equal([path, ...cacheHeaders(await staff.get(path))], [path, ...known]);
  assert.is((await staff.get('/api/users/?current')).headers.get('x-result-count'), '1');
  const head = await staff.send('HEAD', me.url);
  assert.equal(cacheHeaders(head), none);
});

responses('compresses a body once for concurrent requests, and reports its size', async () => {
  const bytes: number[] = [];
  const forms = new CompressedForms('once', (count) => bytes.push(count));
  const ask = () => new Promise<Uint8Array>((resolve) => forms.get('br', 'x'.repeat(5000), resolve));
  const [first, ...others] = [...(await Promise.all([ask(), ask()])), await ask()];
  assert.ok(first);
  for (const other of others) assert.is(other, first);
  assert.equal(bytes, [first.length]);
});

responses.run();
