/** The admin listener, on a separate port (core.md 14.1, 14.2). */

import { connect } from 'node:net';
import { createServer, type Server } from 'tenantry';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Fixture, type Json } from '../../support/fixture.ts';
import { sendOverWire, Wire } from '../../support/wire.ts';

const test = suite('admin listener');
const fixture = new Fixture();
let admin: string;

test.before.each(async () => {
  await fixture.open({ admin_listen: '0' });
  admin = fixture.server.adminUrl as string;
});
test.after.each(() => fixture.close());

const read = async (
  path: string,
  init: RequestInit = {},
): Promise<{ status: number; body: Json; type: string | null }> => {
  const response = await fetch(admin + path, init);
  const text = await response.text();
  const type = response.headers.get('content-type');
  return { status: response.status, type, body: type === 'application/json' && text !== '' ? JSON.parse(text) : text };
};

test('responds on /healthz while the process runs', async () => {
  assert.equal(await read('/healthz'), { status: 200, type: 'application/json', body: { status: 'ok' } });
});

test('lists the checks on /readyz', async () => {
  const checks = { server: 'ok', database: 'ok', migrations: 'ok', timer: 'ok' };
  assert.equal(await read('/readyz'), { status: 200, type: 'application/json', body: { status: 'ready', checks } });
});

test('serves only these paths with GET and HEAD', async () => {
  assert.equal(await read('/api/users/'), { status: 404, type: 'application/json', body: { detail: 'Not found.' } });
  assert.equal([(await read('/')).status, (await read('/constructor')).status], [404, 404]);
  assert.equal(await read('/metrics', { method: 'POST', body: 'x' }), {
    status: 405,
    type: 'application/json',
    body: { detail: 'Method "POST" not allowed.' },
  });
  const head = await fetch(`${admin}/healthz?verbose`, { method: 'HEAD' });
  assert.equal([head.status, await head.text(), head.headers.get('content-length')], [200, '', '16']);
});

test('rejects requests of a page whose host name leads to the loopback', async () => {
  for (const host of ['evil.example', 'evil.example:9480', '127.0.0.1.evil.example'])
    assert.is(
      (await sendOverWire(admin, 'GET /metrics HTTP/1.1', `Host: ${host}`, 'Connection: close', '')).status,
      403,
      host,
    );
  for (const host of ['localhost', '127.0.0.1:1', '[::1]:9480'])
    assert.is(
      (await sendOverWire(admin, 'GET /healthz HTTP/1.1', `Host: ${host}`, 'Connection: close', '')).status,
      200,
      host,
    );
});

test('has none of these paths in the API', async () => {
  for (const path of ['/metrics', '/healthz', '/readyz'])
    assert.is((await fixture.anonymous.get(path)).status, 404, path);
});

test('is off in memory and in programs that embed the server, unless an address is set', async () => {
  const others: Server[] = [];
  for (const options of [{}, { isProgram: true }, { admin_listen: 'off' }])
    others.push(await createServer({ ephemeral: true, port: 0, log_level: 'silent', ...options }));
  assert.equal(
    others.map(({ adminUrl }) => adminUrl),
    [undefined, undefined, undefined],
  );
  for (const server of others) await server.close();
});

test('reports a port in use when it is set, and does not start the server', async () => {
  const { port } = new URL(admin);
  let output = '';
  await createServer({ ephemeral: true, port: 0, log_level: 'silent', admin_listen: port }).catch(
    (error: Error) => (output = error.message),
  );
  assert.is(output, `cannot listen on 127.0.0.1 port ${port}: the port is in use`);
});

test('serves one request per connection', async () => {
  const wire = await Wire.to(admin);
  const request = ['GET /healthz HTTP/1.1', 'Host: localhost', ''];
  const { headers, status } = await wire.lines(...request, ...request).response();
  assert.equal([status, headers.connection], [200, 'close']);
  assert.is(await wire.closed(), '');
});

test('closes the longest idle connection when there are too many, and serves requests', async () => {
  const wires = await Promise.all(Array.from({ length: 32 }, () => Wire.to(admin)));
  // One of them starts a request that it does not finish.
  wires[0]?.bytes('GET /healthz HTTP/1.1\r\n');
  for (const path of ['/healthz', '/readyz', '/metrics']) assert.is((await fetch(admin + path)).status, 200, path);
  // The first three.
  await Promise.all(wires.slice(0, 3).map((wire) => wire.closed()));
  for (const wire of wires) wire.close();
});

test('serves requests beside many connections that send nothing, or single bytes', async () => {
  const wires: Wire[] = [];
  for (let i = 0; i < 200; i++) {
    wires.push((await Wire.to(admin)).bytes('G'));
    if (i % 20 === 19) assert.is((await fetch(`${admin}/readyz`)).status, 200);
  }
  for (const wire of wires) wire.close();
});

test('closes with the server, and disconnects clients', async () => {
  const socket = connect(Number(new URL(admin).port), '127.0.0.1');
  const gone = new Promise((resolve) => socket.on('error', () => undefined).on('close', resolve));
  await new Promise((resolve) => socket.once('connect', resolve));
  await fixture.close();
  await gone;
  let code = '';
  await fetch(`${admin}/healthz`).catch(({ cause }: Error) => (code = (cause as NodeJS.ErrnoException).code ?? ''));
  assert.is(code, 'ECONNREFUSED');
});

test.run();
