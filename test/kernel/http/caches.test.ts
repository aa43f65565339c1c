/** What may be kept of answers, where, and how often they are compressed (core.md 1.7). */
import * as assert from 'uvu/assert';
import { CompressedForms } from '../../../src/kernel/http/encoding.ts';
import type { Answer, Json } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';
import { overWire } from '../../support/wire.ts';

const { test: caches, fixture } = suiteWithServer('caches');

const kept = ({ headers }: Answer<Json>) => [headers.get('cache-control'), headers.has('etag')];
const none = ['no-store', false];
const known = ['private, no-cache', true];

caches('an answer that holds a token is kept nowhere', async () => {
  const { staff } = fixture;
  const me = (await staff.get('/api/users/?current')).body[0];
  const other = await fixture.user('other');
  for (const path of [me.url, '/api/users/?current', '/api/users/?current=true&username=admin'])
    assert.equal([path, ...kept(await staff.get(path))], [path, ...none]);
  for (const path of [other.url, '/api/users/', '/api/users/?current=false'])
    assert.equal([path, ...kept(await staff.get(path))], [path, ...known]);
  assert.is((await staff.get('/api/users/?current')).headers.get('x-result-count'), '1');
  const head = await staff.send('HEAD', me.url);
  assert.equal(kept(head), none);
});

caches('a document and its compressed forms are the same text, whether just made or remembered', async () => {
  for (let i = 0; i < 30; i++) await fixture.customer(`Ministry ${i}`);
  for (const path of ['/api/customers/?page_size=30', '/docs/'])
    for (const encoding of ['br', 'gzip', 'br', 'gzip']) {
      const plain = await fixture.staff.get(path, { 'Accept-Encoding': 'identity' });
      const packed = await Promise.all([0, 1, 2].map(() => fixture.staff.get(path, { 'Accept-Encoding': encoding })));
      for (const { body, headers } of packed) {
        assert.equal([headers.get('content-encoding'), body], [encoding, plain.body]);
        assert.is(headers.get('etag'), plain.headers.get('etag'));
      }
    }
});

caches('a form is made once, also for those who ask while it is made, and its bytes are told', async () => {
  const bytes: number[] = [];
  const forms = new CompressedForms('once', (count) => bytes.push(count));
  const ask = () => new Promise<Uint8Array>((resolve) => forms.get('br', 'x'.repeat(5000), resolve));
  const [first, ...others] = [...(await Promise.all([ask(), ask()])), await ask()];
  assert.ok(first);
  for (const other of others) assert.is(other, first);
  assert.equal(bytes, [first.length]);
});

caches('a Link header that clients could not read is left out, and the count stays', async () => {
  const ask = (length: number) =>
    overWire(
      fixture.url,
      `GET /api/customers/?name=${'x'.repeat(length)} HTTP/1.1`,
      'Host: localhost',
      `Authorization: Token ${fixture.staff.token}`,
      '',
    );
  const long = await ask(10_000);
  assert.equal([long.status, long.headers['x-result-count'], long.headers.link], [200, '0', undefined]);
  const short = await ask(1000);
  assert.ok(short.headers.link);
});

caches.run();
