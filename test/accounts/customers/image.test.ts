import { crc32 } from 'node:zlib';
import * as assert from 'uvu/assert';
import { byStaff, type Client, type Json } from '../../support/fixture.ts';
import { asEachPersona, createPersonas } from '../../support/personas.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('image of a customer (core.md 6.6)');
let customer: Json;

const bytes = (base64: string): Buffer => Buffer.from(base64, 'base64');
/** Images of one pixel. */
const images: Readonly<Record<string, Buffer>> = {
  'image/png': bytes(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  ),
  'image/jpeg': bytes(
    '/9j/2wBDAP//////////////////////////////////////////////////////////////////////////////////////wAALCAABAAEBAREA/8QAJgABAAAAAAAAAAAAAAAAAAAAAxABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQAAPwBH/9k=',
  ),
  'image/gif': bytes('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7'),
  'image/webp': bytes('UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA'),
};
const png = images['image/png'] as Buffer;
const notAnImage = {
  image: ['Upload a valid image. The file you uploaded was either not an image or a corrupted image.'],
};
const largest = 2_097_152;

test.before.each(async () => {
  customer = await fixture.customer('Pictured', { abbreviation: 'PIC' });
  fixture.events();
});

const imageUrl = () => `${customer.url}image/`;
const part = (content: Uint8Array, name = 'logo', type = ''): FormData => {
  const form = new FormData();
  form.set('image', new Blob([content as Uint8Array<ArrayBuffer>], { type }), name);
  return form;
};
const put = (content: Uint8Array, name?: string, type?: string) =>
  fixture.staff.send('PUT', imageUrl(), part(content, name, type));
const fetchImage = (headers: Record<string, string> = {}, method = 'GET') =>
  fetch(imageUrl(), { method, headers: { Authorization: `Token ${fixture.staff.token}`, ...headers } });
const updated = async () => [
  {
    type: 'customer_update_succeeded',
    level: 'info',
    message: 'Customer Pictured has been updated.',
    context: {
      ...(await byStaff(fixture)),
      customer_uuid: customer.uuid,
      customer_name: 'Pictured',
      customer_abbreviation: 'PIC',
      customer_contact_details: '',
    },
  },
];

/** The same image with a declared size of this many pixels on each side. */
const sized: Readonly<Record<string, (side: number) => Buffer>> = {
  'image/png': (side) => {
    const content = Buffer.from(png);
    content.writeUInt32BE(side, 16);
    content.writeUInt32BE(side, 20);
    content.writeUInt32BE(crc32(content.subarray(12, 29)), 29);
    return content;
  },
  'image/jpeg': (side) => {
    const content = Buffer.from(images['image/jpeg'] as Buffer);
    // After the length of the frame's segment and the depth of its samples.
    const frame = content.indexOf(Buffer.of(0x00, 0x0b, 0x08));
    content.writeUInt16BE(side, frame + 3);
    content.writeUInt16BE(side, frame + 5);
    return content;
  },
  'image/gif': (side) => {
    const content = Buffer.from(images['image/gif'] as Buffer);
    content.writeUInt16LE(side, 6);
    content.writeUInt16LE(side, 8);
    return content;
  },
  'image/webp': (side) => {
    const content = Buffer.from(images['image/webp'] as Buffer);
    content.writeUInt16LE(side, 26);
    content.writeUInt16LE(side, 28);
    return content;
  },
};

for (const [type, ofSide] of Object.entries(sized)) {
  test(`rejects a ${type} of more than 4,096 pixels on a side`, async () => {
    assert.is((await put(ofSide(4096))).status, 200);
    for (const side of [4097, 0x3fff]) {
      const { body, status } = await put(ofSide(side));
      assert.equal([status, body], [400, notAnImage], String(side));
    }
  });
}

for (const [type, content] of Object.entries(images)) {
  test(`PUT stores a ${type}, and GET returns it unchanged with its type`, async () => {
    const response = await put(content);
    assert.equal([response.status, response.body], [200, { image: imageUrl() }]);
    assert.is((await fixture.staff.get(customer.url)).body.image, imageUrl());
    const image = await fetchImage();
    assert.is(image.status, 200);
    assert.is(image.headers.get('content-type'), type);
    assert.is(image.headers.get('content-length'), String(content.length));
    assert.is(image.headers.get('cache-control'), 'private, no-cache');
    assert.is(image.headers.get('x-content-type-options'), 'nosniff');
    assert.ok(Buffer.from(await image.arrayBuffer()).equals(content));
  });

  test(`a ${type} is recognised by its content, not by its name or declared type`, async () => {
    assert.is((await put(content, 'notes.txt', 'text/plain')).status, 200);
    assert.is((await fetchImage()).headers.get('content-type'), type);
  });

  test(`rejects a ${type} that is truncated at any point`, async () => {
    for (let length = 1; length < content.length; length += length < 60 ? 1 : 7) {
      const response = await put(content.subarray(0, length), 'logo', type);
      assert.equal([response.status, response.body], [400, notAnImage], `${length} of ${content.length} bytes`);
    }
    assert.is((await put(content.subarray(0, -1))).status, 400);
    assert.is((await fixture.staff.get(customer.url)).body.image, null);
    assert.equal(fixture.events(), []);
  });
}

test('rejects other content whatever type it declares', async () => {
  const others = [
    'just text',
    '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>',
    '<!doctype html><script>alert(1)</script>',
    '\x89PNG',
    'GIF89a',
    '\xff\xd8\xff',
    'BM\x3a\0\0\0',
  ];
  for (const other of others) {
    const response = await put(Buffer.from(other, 'latin1'), 'logo.png', 'image/png');
    assert.equal([response.status, response.body], [400, notAnImage], other);
  }
  assert.equal((await put(Buffer.concat([Buffer.from('x'), png]))).body, notAnImage);
});

test('rejects a PNG with a damaged chunk', async () => {
  const damaged = Buffer.from(png);
  damaged[45] = (damaged[45] as number) ^ 0xff;
  assert.equal((await put(damaged)).body, notAnImage);
});

test('a file of zero bytes has its own message', async () => {
  const response = await put(Buffer.alloc(0));
  assert.equal([response.status, response.body], [400, { image: ['The submitted file is empty.'] }]);
});

test('stores an image of exactly 2,097,152 bytes and rejects one more byte', async () => {
  const padded = (length: number) => Buffer.concat([png, Buffer.alloc(length - png.length)]);
  assert.is((await put(padded(largest))).status, 200);
  assert.is((await fetchImage()).headers.get('content-length'), String(largest));
  const response = await put(padded(largest + 1));
  assert.equal([response.status, response.body], [413, { detail: 'Request body is too large.' }]);
  assert.is((await put(padded(3 * largest))).status, 413);
  assert.is((await fetchImage()).headers.get('content-length'), String(largest), 'the stored image stays');
});

test('PUT requires the image part', async () => {
  const missing = [400, { image: ['No file was submitted.'] }];
  const other = new FormData();
  other.set('picture', new Blob([png as Uint8Array<ArrayBuffer>]), 'logo.png');
  for (const body of [undefined, {}, other, new URLSearchParams({ name: 'x' })]) {
    const response = await fixture.staff.send('PUT', imageUrl(), body);
    assert.equal([response.status, response.body], missing);
  }
});

test('treats an empty file input as a missing part', async () => {
  const body =
    '--line\r\nContent-Disposition: form-data; name="image"; filename=""\r\nContent-Type: application/octet-stream\r\n\r\n\r\n--line--\r\n';
  const nothing = [body, { 'Content-Type': 'multipart/form-data; boundary=line' }] as const;
  assert.equal((await fixture.staff.send('PUT', imageUrl(), ...nothing)).body, { image: ['No file was submitted.'] });
  await put(png);
  assert.equal((await fixture.staff.send('PATCH', imageUrl(), ...nothing)).body, { image: imageUrl() });
});

test('PUT and PATCH reject a value that is not a file', async () => {
  const wrong = [400, { image: ['The submitted data was not a file. Check the encoding type on the form.'] }];
  const form = new FormData();
  form.set('image', png.toString('base64'));
  for (const method of ['PUT', 'PATCH']) {
    for (const body of [
      { image: 'text' },
      { image: 5 },
      { image: [] },
      { image: {} },
      { image: true },
      new URLSearchParams({ image: 'x' }),
      form,
    ]) {
      const response = await fixture.staff.send(method, imageUrl(), body);
      assert.equal([response.status, response.body], wrong);
    }
    assert.equal((await fixture.staff.send(method, imageUrl(), { image: null })).body, {
      image: ['This field may not be null.'],
    });
  }
});

test('PATCH stores the part like PUT; without it, it returns the current value or null', async () => {
  for (const body of [undefined, {}])
    assert.equal((await fixture.staff.send('PATCH', imageUrl(), body)).body, { image: null });
  assert.equal(fixture.events(), []);
  const response = await fixture.staff.send('PATCH', imageUrl(), part(png));
  assert.equal([response.status, response.body], [200, { image: imageUrl() }]);
  assert.equal(fixture.events(), await updated());
  assert.equal((await fixture.staff.send('PATCH', imageUrl(), {})).body, { image: imageUrl() });
  assert.equal(fixture.events(), []);
});

test('storing, replacing or removing an image records an update of the customer', async () => {
  await put(png);
  assert.equal(fixture.events(), await updated());
  await put(images['image/gif'] as Buffer);
  assert.equal(fixture.events(), await updated());
  assert.is((await fetchImage()).headers.get('content-type'), 'image/gif');
  const response = await fixture.staff.delete(imageUrl());
  assert.equal([response.status, response.body], [204, undefined]);
  assert.equal(fixture.events(), await updated());
  assert.is((await fixture.staff.get(customer.url)).body.image, null);
});

test('DELETE returns 204 even without an image, and then records no event', async () => {
  assert.is((await fixture.staff.delete(imageUrl())).status, 204);
  assert.equal(fixture.events(), []);
});

test('GET returns 404 without an image', async () => {
  const response = await fixture.staff.get(imageUrl());
  assert.equal([response.status, response.body], [404, { detail: 'Not found.' }]);
});

test('returns 304 without a body for a matching If-None-Match; another image has another ETag', async () => {
  await put(png);
  const etag = (await fetchImage()).headers.get('etag') as string;
  assert.match(etag, /^".+"$/);
  const again = await fetchImage({ 'If-None-Match': etag });
  assert.equal([again.status, await again.text(), again.headers.get('etag')], [304, '', etag]);
  await put(images['image/webp'] as Buffer);
  const other = await fetchImage({ 'If-None-Match': etag });
  assert.is(other.status, 200);
  assert.is.not(other.headers.get('etag'), etag);
});

test('HEAD returns the headers of GET and no body', async () => {
  await put(png);
  const [head, get] = [await fetchImage({}, 'HEAD'), await fetchImage()];
  for (const name of ['content-type', 'content-length', 'etag', 'cache-control', 'allow'])
    assert.is(head.headers.get(name), get.headers.get(name), name);
  assert.is(await head.text(), '');
});

test('POST is not allowed', async () => {
  const response = await fixture.staff.send('POST', imageUrl(), part(png));
  assert.equal(
    [response.status, response.body, response.headers.get('allow')],
    [405, { detail: 'Method "POST" not allowed.' }, 'GET, PUT, PATCH, DELETE, HEAD, OPTIONS'],
  );
});

test('deleting a customer deletes its image', async () => {
  await put(png);
  await fixture.staff.delete(customer.url);
  assert.is((await fixture.staff.get(imageUrl())).status, 404);
});

test('users who can see the customer can see the image; staff and owners change it', async () => {
  const company = await createPersonas(fixture);
  const url = `${company.customer.url}image/`;
  const statuses = (ask: (client: Client) => Promise<{ status: number }>) =>
    asEachPersona(company, async (client) => (await ask(client)).status);
  await fixture.staff.send('PUT', url, part(png));
  assert.equal(await statuses((client) => client.get(url)), {
    staff: 200,
    support: 200,
    owner: 200,
    helper: 200,
    manager: 200,
    admin: 200,
    observer: 200,
    stranger: 404,
  });
  const changing = { support: 403, owner: 200, helper: 403, manager: 403, admin: 403, observer: 403, stranger: 404 };
  assert.equal(await statuses((client) => client.send('PUT', url, part(png))), { staff: 200, ...changing });
  assert.equal(await statuses((client) => client.send('PATCH', url, part(png))), { staff: 200, ...changing });
  assert.equal(await statuses((client) => client.delete(url)), { staff: 204, ...changing, owner: 204 });
  assert.is(
    (await company.clients.helper.send('PUT', url, part(Buffer.alloc(largest + 1)))).status,
    403,
    'the right comes before the body',
  );
  assert.is((await fixture.anonymous.get(url)).status, 401);
});

test.run();
