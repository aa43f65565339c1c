/** Limits of a request: bytes, depth and time (core.md 1.1 "Limits"). */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import * as assert from 'uvu/assert';
import { Fixture } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';
import { sendOverWire, Wire } from '../../support/wire.ts';

const { test: limits, fixture } = suiteWithServer('limits');
let head: readonly string[];

limits.before(() => {
  head = ['Host: localhost', `Authorization: Token ${fixture.staff.token}`, 'Content-Type: application/json'];
});

const mebibyte = 1_048_576;
/** A JSON body of exactly this many bytes. */
const customerOf = (bytes: number) => `{"name":"x","unknown":"${'x'.repeat(bytes - 25)}"}`;
const tooLarge = { detail: 'Request body is too large.' };

limits('a body of 1 MiB is accepted, a larger one is 413', async () => {
  assert.is(Buffer.byteLength(customerOf(mebibyte)), mebibyte);
  const sized = (bytes: number) =>
    fixture.staff.send('POST', '/api/customers/', customerOf(bytes), { 'Content-Type': 'application/json' });
  assert.is((await sized(mebibyte)).status, 201);
  const reply = await sized(mebibyte + 1);
  assert.equal([reply.status, reply.body], [413, tooLarge]);
  assert.is(reply.headers.get('allow'), 'GET, POST, HEAD, OPTIONS');
});

limits('a larger body is 413 also without Content-Length, and the connection stays usable', async () => {
  const wire = await Wire.to(fixture.url);
  const chunk = 'x'.repeat(65_536);
  wire.lines('POST /api/customers/ HTTP/1.1', ...head, 'Transfer-Encoding: chunked', '');
  for (let i = 0; i < 17; i++) wire.lines('10000', chunk);
  wire.lines('0', '');
  const reply = await wire.response();
  assert.equal([reply.status, JSON.parse(reply.body)], [413, tooLarge]);
  wire.lines('GET /api/version/ HTTP/1.1', 'Host: localhost', '');
  assert.is((await wire.response()).status, 200);
  wire.close();
});

limits('a chunked body within the limit is accepted', async () => {
  const wire = await Wire.to(fixture.url);
  wire.lines(
    'POST /api/customers/ HTTP/1.1',
    ...head,
    'Transfer-Encoding: chunked',
    '',
    '8',
    '{"name":',
    '6',
    '"Bit"}',
    '0',
    '',
  );
  const reply = await wire.response();
  assert.equal([reply.status, JSON.parse(reply.body).name], [201, 'Bit']);
  wire.close();
});

limits('the setting max_body_bytes changes the limit for bodies, but not that for images', async () => {
  const strict = await Fixture.start({ max_body_bytes: 2000 });
  const { url } = await strict.customer('Ministry');
  const reply = await strict.staff.patch(url, { name: 'x'.repeat(2000) });
  assert.equal([reply.status, reply.body], [413, tooLarge]);
  const form = new FormData();
  form.set('image', new Blob([new Uint8Array(5000)]), 'a.png');
  for (const path of [`${url}image/`, `${url}image`])
    assert.is((await strict.staff.send('PUT', path, form)).status, 400, path);
  await strict.close();
});

limits('ignores the body of a request that only reads', async () => {
  for (const method of ['GET', 'OPTIONS']) {
    const wire = await Wire.to(fixture.url);
    wire.lines(`${method} /api/customers/ HTTP/1.1`, ...head, 'Content-Length: 3', '').bytes('{"x');
    assert.is((await wire.response()).status, 200);
    wire.lines('GET /api/version/ HTTP/1.1', 'Host: localhost', '');
    assert.is((await wire.response()).status, 200);
    wire.close();
  }
});

limits('headers above 16 KiB are 431', async () => {
  const sized = (bytes: number) =>
    sendOverWire(fixture.url, 'GET /api/version/ HTTP/1.1', 'Host: localhost', `X-Padding: ${'x'.repeat(bytes)}`, '');
  assert.is((await sized(15_000)).status, 200);
  const reply = await sized(17_000);
  assert.equal([reply.status, JSON.parse(reply.body)], [431, { detail: 'Request headers are too large.' }]);
  assert.ok(reply.headers['x-request-id']);
});

limits('so is a very long URL', async () => {
  const long = await sendOverWire(
    fixture.url,
    `GET /api/version/?${'x'.repeat(15_000)} HTTP/1.1`,
    'Host: localhost',
    '',
  );
  assert.is(long.status, 200);
  assert.is(
    (await sendOverWire(fixture.url, `GET /api/version/?${'x'.repeat(17_000)} HTTP/1.1`, 'Host: localhost', '')).status,
    431,
  );
});

limits('the rejection of a HEAD request has no body', async () => {
  const wire = await Wire.to(fixture.url);
  wire.lines(`HEAD /api/version/?${'x'.repeat(17_000)} HTTP/1.1`, 'Host: localhost', '');
  assert.is((await wire.response({ head: true })).status, 431);
  assert.is(await wire.closed(), '');
});

limits('a client has 10 s for its headers and 30 s for its request', async () => {
  const { server } = await connectionOf(() => fixture.anonymous.get('/api/version/'));
  assert.is(server.headersTimeout, 10_000);
  assert.is(server.requestTimeout, 30_000);
});

limits('a client that takes longer gets 408 and is disconnected', async () => {
  const wire = await Wire.to(fixture.url);
  const { server, socket } = await connectionOf(async () => {
    wire.lines('GET /api/version/ HTTP/1.1', 'Host: localhost', '');
    await wire.response();
  });
  wire.lines('POST /api/customers/ HTTP/1.1', ...head, 'Content-Length: 100', '').bytes('{"name":');
  server.emit('clientError', Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket);
  const reply = await wire.response();
  assert.equal([reply.status, JSON.parse(reply.body)], [408, { detail: 'Request took too long.' }]);
  assert.is(await wire.closed(), '');
});

/** The server and the socket that receive a request. */
async function connectionOf(request: () => Promise<unknown>): Promise<{ server: Server; socket: Socket }> {
  let matches: { server: Server; socket: Socket } | undefined;
  const listen = (message: unknown): void => {
    matches = message as { server: Server; socket: Socket };
  };
  subscribe('http.server.request.start', listen);
  await request();
  unsubscribe('http.server.request.start', listen);
  assert.ok(matches);
  return matches;
}

limits('an ordering that names a column a hundred times orders by that column', async () => {
  await fixture.customer('a');
  await fixture.customer('b');
  const names = async (o: string) =>
    (await sendOverWire(fixture.url, `GET /api/customers/?o=${o}&field=name HTTP/1.1`, ...head, '')).body;
  assert.equal(await names(Array(100).fill('-name').join()), await names('-name'));
  assert.equal(await names('name,-name'), await names('name'));
});

limits.run();
