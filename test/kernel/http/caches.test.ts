/** Which responses may be cached and where, and how often they are compressed (core.md 1.7). */
import * as assert from 'uvu/assert';
import { suiteWithServer } from '../../support/suite.ts';
import { sendOverWire } from '../../support/wire.ts';

const { test: caches, fixture } = suiteWithServer('caches');

caches('a document and its compressed forms have the same text, whether new or cached', async () => {
  for (let i = 0; i < 30; i++) await fixture.customer(`Ministry ${i}`);
  for (const path of ['/api/customers/?page_size=30', '/docs/'])
    for (const encoding of ['br', 'gzip', 'br', 'gzip']) {
      const plain = await fixture.staff.get(path, { 'Accept-Encoding': 'identity' });
      const packed = await Promise.all([0, 1, 2].map(() => fixture.staff.get(path, { 'Accept-Encoding': encoding })));
      for (const { body, headers } of packed) {
        assert.equal([headers.get('content-encoding'), body], [encoding, plain.body]);
        assert.is(headers.get('etag'), plain.headers.get('etag')?.replace(/"$/, `-${encoding}"`));
      }
    }
});

caches('omits a Link header that is too long for clients, and keeps the count', async () => {
  const ask = (length: number) =>
    sendOverWire(
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
