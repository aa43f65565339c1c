/** Compression of responses. */
import { get } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import * as assert from 'uvu/assert';
import { suiteWithServer } from '../../support/suite.ts';
import { Wire } from '../../support/wire.ts';

const { test: encodings, fixture } = suiteWithServer('compressed returns');

encodings.before(async () => {
  await fixture.customer('Ministry', { contact_details: 'x'.repeat(500) });
});

interface Raw {
  readonly status: number | undefined;
  readonly encoding: string | undefined;
  readonly vary: string | undefined;
  readonly etag: string | undefined;
  readonly bytes: Buffer;
}

/** Returns a response as sent, before `fetch` decompresses it. */
function ask(path: string, accepted: string, further: Readonly<Record<string, string>> = {}): Promise<Raw> {
  const headers = { ...further, Authorization: `Token ${fixture.staff.token}`, 'Accept-Encoding': accepted };
  return new Promise((resolve, reject) => {
    const request = get(fixture.url + path, { headers }, (reply) => {
      const chunks: Buffer[] = [];
      reply.on('data', (chunk: Buffer) => chunks.push(chunk));
      reply.on('end', () => {
        const { 'content-encoding': encoding, vary, etag } = reply.headers;
        resolve({ status: reply.statusCode, encoding, vary, etag, bytes: Buffer.concat(chunks) });
      });
    });
    request.on('error', reject);
  });
}

encodings('larger bodies come with gzip or brotli, whichever the client accepts, brotli first', async () => {
  const plain = await ask('/api/customers/', 'identity');
  assert.is(plain.encoding, undefined);
  assert.ok(plain.bytes.length > 2000);
  const unpack = { br: brotliDecompressSync, gzip: gunzipSync };
  for (const [accepted, encoding] of [
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['gzip, deflate, br', 'br'],
    ['GZIP;q=0.5', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
  ] as const) {
    const packed = await ask('/api/customers/', accepted);
    assert.is(packed.encoding, encoding);
    assert.ok(packed.bytes.length < plain.bytes.length / 2);
    assert.equal(unpack[encoding](packed.bytes), plain.bytes);
    assert.is(packed.vary, 'Accept-Encoding');
    assert.is(packed.etag, plain.etag?.replace(/"$/, `-${encoding}"`));
  }
});

encodings('each encoding has its own ETag, and 304 repeats that of the encoding that the client accepts', async () => {
  const { etag: plain = '' } = await ask('/api/customers/', 'identity');
  for (const [accepted, etag] of [
    ['identity', plain],
    ['gzip', plain.replace(/"$/, '-gzip"')],
    ['br', plain.replace(/"$/, '-br"')],
  ] as const) {
    const unchanged = await ask('/api/customers/', accepted, { 'If-None-Match': etag });
    assert.equal([unchanged.status, unchanged.etag, unchanged.bytes.length], [304, etag, 0]);
  }
});

encodings('a client that accepts neither gets the plain body, with Vary for caches', async () => {
  for (const accepted of ['', 'deflate', 'gzip;q=0, br;q=0.000', 'identity', 'zstd']) {
    const plain = await ask('/api/customers/', accepted);
    assert.equal([accepted, plain.encoding, plain.vary], [accepted, undefined, 'Accept-Encoding']);
  }
});

encodings('small bodies are never compressed', async () => {
  const small = await ask('/api/version/', 'gzip, br');
  assert.equal([small.encoding, small.vary], [undefined, undefined]);
});

encodings('HEAD shows the length of the compressed body', async () => {
  const wire = await Wire.to(fixture.url);
  const head = ['Host: localhost', `Authorization: Token ${fixture.staff.token}`, 'Accept-Encoding: gzip', ''];
  const whole = await wire.lines('GET /api/customers/ HTTP/1.1', ...head).response();
  const bare = await wire.lines('HEAD /api/customers/ HTTP/1.1', ...head).response({ head: true });
  wire.close();
  assert.is(bare.headers['content-encoding'], 'gzip');
  assert.is(bare.headers['content-length'], whole.headers['content-length']);
});

encodings.run();
