/** Connections of clients that do more than send one request after the other. */
import * as assert from 'uvu/assert';
import { loadConfig } from '../../../src/app/settings.ts';
import { Fixture } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';
import { sendOverWire, Wire } from '../../support/wire.ts';

const { test: connections, fixture } = suiteWithServer('connections');
let head: readonly string[];

connections.before(() => {
  head = ['Host: localhost', `Authorization: Token ${fixture.staff.token}`, 'Content-Type: application/json'];
});

const withBody = (line: string, body: string) => [line, ...head, `Content-Length: ${body.length}`, '', body];
const malformed = { detail: 'Malformed HTTP request.' };
const login = () => withBody('POST /api-auth/password/ HTTP/1.1', '{"username":"x","password":"y"}');
const count = async () => (await fixture.staff.get('/api/customers/')).headers.get('x-result-count');

connections('pipelined requests get responses in their order, also when an earlier one takes longer', async () => {
  const wire = await Wire.to(fixture.url);
  wire.lines(
    ...login(),
    ...withBody('POST /api/customers/ HTTP/1.1', '{"name":"Piped"}'),
    'GET /api/version/ HTTP/1.1',
    'Host: localhost',
    '',
  );
  const responses = [await wire.response(), await wire.response(), await wire.response()];
  assert.equal(
    responses.map(({ status }) => status),
    [401, 201, 200],
  );
  assert.equal(Object.keys(JSON.parse(responses[2]?.body ?? '')), ['version']);
  wire.close();
});

connections('garbage after requests gets 400 after their responses, then the connection ends', async () => {
  for (const requests of [login(), withBody('POST /api/customers/ HTTP/1.1', '{"name":"Before"}')]) {
    const wire = await Wire.to(fixture.url);
    wire.lines(...requests).bytes('\0\0\0\r\n\r\n');
    const first = await wire.response();
    assert.ok(first.headers.allow, first.body);
    const last = await wire.response();
    assert.equal([last.status, last.headers.connection, JSON.parse(last.body)], [400, 'close', malformed]);
    assert.is(await wire.closed(), '');
  }
});

connections('a client that announces a body above the limit gets the final response without 100 Continue', async () => {
  const { url } = await fixture.customer('Expected');
  const announce = (line: string, length: number) => [
    line,
    ...head,
    `Content-Length: ${length}`,
    'Expect: 100-continue',
    '',
  ];
  for (const [line, length, status] of [
    ['POST /api/customers/ HTTP/1.1', 1_048_577, 413],
    [`PATCH ${new URL(url).pathname} HTTP/1.1`, 1_048_577, 413],
    ['PATCH /api/customers/00000000000000000000000000000000/ HTTP/1.1', 1_048_577, 404],
    ['POST /api-auth/password/ HTTP/1.1', 65_537, 413],
  ] as const) {
    const reply = await sendOverWire(fixture.url, ...announce(line, length));
    assert.equal([line, reply.status, reply.headers.connection], [line, status, 'close']);
  }
  const wire = await Wire.to(fixture.url);
  const body = '{"name":"Small enough"}';
  wire.lines(...announce('POST /api/customers/ HTTP/1.1', body.length));
  assert.is((await wire.response()).status, 100);
  wire.bytes(body);
  assert.is((await wire.response()).status, 201);
  wire.close();
});

connections('responses show how long an idle connection stays open, by the setting keep_alive_timeout', async () => {
  const stored = await Fixture.start({ keep_alive_timeout: '620s' });
  for (const [server, timeout] of [
    [fixture, 60],
    [stored, 620],
  ] as const) {
    const reply = await sendOverWire(server.url, 'GET /api/version/ HTTP/1.1', 'Host: localhost', '');
    assert.is(reply.headers['keep-alive'], `timeout=${timeout}`);
  }
  await stored.close();
  for (const keep_alive_timeout of ['0s', '2d'])
    assert.throws(() => loadConfig({ options: { keep_alive_timeout } }), /must be from 1s to 86400s/);
});

connections('a body with malformed chunks gets 400 and changes nothing', async () => {
  const before = await count();
  const wire = await Wire.to(fixture.url);
  wire.lines(
    'POST /api/customers/ HTTP/1.1',
    ...head,
    'Transfer-Encoding: chunked',
    '',
    '8',
    '{"name":',
    'zz',
    '"x"}',
    '0',
    '',
  );
  const reply = await wire.response();
  assert.equal([reply.status, JSON.parse(reply.body)], [400, malformed]);
  assert.is(await wire.closed(), '');
  assert.is(await count(), before);
});

connections('responds 400 to input that is ambiguous or not HTTP', async () => {
  const requests = [
    ['HELLO'],
    ['FROB /api/version/ HTTP/1.1', 'Host: x'],
    ['GET /api/version/ HTTP/9.9', 'Host: x'],
    ['PRI * HTTP/2.0', '', 'SM'],
    ['GET /api/version/ HTTP/1.1', 'Host: x', 'Bad Header: 1'],
    ['GET /api/version/ HTTP/1.1', 'Host: x', 'X: a\0b'],
    ['POST /api/customers/ HTTP/1.1', 'Host: x', 'Content-Length: 3', 'Content-Length: 4'],
    ['POST /api/customers/ HTTP/1.1', 'Host: x', 'Content-Length: 3', 'Transfer-Encoding: chunked'],
    ['POST /api/customers/ HTTP/1.1', 'Host: x', 'Content-Length: -1'],
  ];
  for (const lines of requests) {
    const reply = await sendOverWire(fixture.url, ...lines, '');
    assert.equal([lines, reply.status, JSON.parse(reply.body)], [lines, 400, malformed]);
  }
});

connections('a client that waits for 100 Continue gets it and then its response', async () => {
  const wire = await Wire.to(fixture.url);
  wire.lines('POST /api/customers/ HTTP/1.1', ...head, 'Expect: 100-continue', 'Content-Length: 17', '');
  assert.is((await wire.response()).status, 100);
  wire.bytes('{"name":"Waited"}');
  assert.is((await wire.response()).status, 201);
  wire.close();
});

connections('ignores other expectations, and an offer to upgrade', async () => {
  for (const line of ['Expect: miracles', 'Connection: upgrade\r\nUpgrade: websocket']) {
    const reply = await sendOverWire(fixture.url, 'GET /api/version/ HTTP/1.1', 'Host: localhost', line, '');
    assert.equal([reply.status, Object.keys(JSON.parse(reply.body))], [200, ['version']]);
  }
});

connections('uses the first of repeated Authorization and Content-Type headers', async () => {
  const reply = await sendOverWire(
    fixture.url,
    'GET /api/ HTTP/1.1',
    ...head,
    'Authorization: Token other',
    'Content-Type: text/plain',
    '',
  );
  assert.is(reply.status, 200);
});

connections('a client that disconnects while sending, or before its response, does not affect others', async () => {
  const before = await count();
  for (const lines of [
    ['POST /api/customers/ HTTP/1.1', ...head, 'Content-Length: 100', '', '{"name":'],
    login(),
    ['GET /api/customers/ HTTP/1.1', ...head, 'Accept-Encoding: br', ''],
  ]) {
    const wire = await Wire.to(fixture.url);
    wire.lines(...lines).close();
    await wire.closed();
  }
  assert.is(await count(), before);
});

connections.run();
