/** Images that make a browser allocate gigabytes of memory (core.md 6.6). */
import { crc32 } from 'node:zlib';
import * as assert from 'uvu/assert';
import { suiteWithServer } from '../support/suite.ts';

const { test, fixture } = suiteWithServer('images');

/** Builds a PNG whose header claims this many pixels on each side. */
function png(side: number): Buffer {
  const content = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );
  content.writeUInt32BE(side, 16);
  content.writeUInt32BE(side, 20);
  content.writeUInt32BE(crc32(content.subarray(12, 29)), 29);
  return content;
}

test('rejects a small image whose header claims huge dimensions, and stores nothing', async () => {
  const { url } = await fixture.customer('Pictured');
  const put = async (side: number): Promise<number> => {
    const form = new FormData();
    form.set('image', new Blob([new Uint8Array(png(side))]), 'logo.png');
    return (await fixture.staff.send('PUT', `${url}image/`, form)).status;
  };
  assert.equal([await put(65_535), await put(4097)], [400, 400]);
  assert.is((await fixture.staff.get(url)).body.image, null);
  assert.is(await put(4096), 200);
});

test.run();
