import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually } from '../support/eventually.ts';
import { failed, nativeCache, Program, type Serving } from '../support/program.ts';
import { Wire, type WireResponse } from '../support/wire.ts';

const test = suite('follower');
let program: Program;
/** The host of the primary, whose API is below a path, and the requests that it received. */
let host: Server;
let received: IncomingMessage[];
let authority: string;
let follower: Serving;

test.before(async () => {
  program = new Program(nativeCache);
  await program.run(['user', 'add', 'admin', '--staff', '--data', 'data']);
  host = createServer((message, outgoing) => {
    received.push(message);
    message.resume();
    const own = message.headers['x-tenantry-epoch'] ?? 'none';
    outgoing.writeHead(200, { 'X-Tenantry-Epoch': own, 'Content-Length': 16 }).end('from the primary');
  });
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
  authority = `127.0.0.1:${(host.address() as AddressInfo).port}`;
  follower = await program.serve(['--follow', 'data', '--data', 'copy', '--primary', `http://${authority}/tenantry/`]);
});
test.before.each(() => {
  received = [];
});
test.after(async () => {
  host.close();
  host.closeAllConnections();
  await program.end();
});

/** Sends a request line to the follower unchanged. */
async function send(target: string, ...headers: string[]): Promise<WireResponse> {
  const wire = await Wire.to(follower.url);
  try {
    const lines = [`POST ${target} HTTP/1.1`, 'Host: follower.example.com', 'Content-Length: 0', ...headers, ''];
    return await wire.lines(...lines).response();
  } finally {
    wire.close();
  }
}

const outside = [
  '/../admin/',
  '/..',
  '/.',
  '/api/../../admin/',
  '/%2e%2e/admin/',
  '/%2E./admin/',
  '/.%2e/admin/',
  '/..%2fadmin/',
  '/api/..%2F..%2Fadmin/',
  '/..\\admin/',
  '/..%5cadmin/',
  '/api\\..\\..\\admin/',
  '/%252e%252e/admin/',
  '/%25252e%25252e/admin/',
  '/..;/admin/',
  '/..;x=1/admin/',
  '/%2e%2e%3b/admin/',
  '/%c0%ae%c0%ae/admin/',
  '/%u002e%u002e/admin/',
  '/%ef%bc%8e%ef%bc%8e/admin/',
  '/%00/../admin/',
  '/.%00./admin/',
  '/.%20/admin/',
  '/.%09./admin/',
  '/a%0d%0aHost:%20evil/',
  '/#/../../admin/',
  '/%23/',
  '/%',
];

test('forwards no path outside the path of the primary, in any notation', async () => {
  for (const path of outside)
    for (const target of [path, `http://follower.example.com${path}`]) {
      const { body, status } = await send(target);
      assert.equal([status, body], [400, '{"detail":"Invalid request target."}'], target);
    }
  assert.equal(received, []);
});

test('treats a target that looks like another host as a path below the primary, or rejects it', async () => {
  for (const [target, path] of [
    ['/api/customers/', '/tenantry/api/customers/'],
    ['/api/customers/?next=/../admin/%2e%2e\\', '/tenantry/api/customers/?next=/../admin/%2e%2e\\'],
    ['//evil.example.com/admin/', '/tenantry//evil.example.com/admin/'],
    ['/@evil.example.com/', '/tenantry/@evil.example.com/'],
    ['/:80/', '/tenantry/:80/'],
    ['/http://evil.example.com/admin/', '/tenantry/http://evil.example.com/admin/'],
    ['http://evil.example.com/admin/', '/tenantry/admin/'],
    ['HTTPS://evil.example.com', '/tenantry/'],
    ['/api/%61dmin/', '/tenantry/api/admin/'],
  ] as const) {
    received = [];
    await send(target);
    await eventually('it was sent', () => received.length === 1);
    assert.equal([received[0]?.url, received[0]?.headers.host], [path, authority], target);
  }
  received = [];
  for (const target of [
    'http://user@evil.example.com/admin/',
    'http://follower.example.com@evil.example.com/',
    'http:\\\\evil.example.com/admin/',
    'ftp://evil.example.com/admin/',
    'evil.example.com/admin/',
    '?/../admin/',
    '*',
  ])
    assert.is((await send(target)).status, 400, target);
  assert.equal(received, []);
});

test('forwards the host of the primary and only the relevant headers of the client', async () => {
  const response = await send(
    '/api/customers/',
    'Forwarded: for=192.0.2.1;host=evil.example.com',
    'X-Forwarded-For: 192.0.2.1',
    'X-Forwarded-Host: evil.example.com',
    'X-Forwarded-Prefix: /admin',
    'X-Forwarded-Proto: https',
    'X-Forwarded-Server: evil.example.com',
    'X-Real-IP: 192.0.2.1',
    'X-Original-URL: /admin/',
    'X-Rewrite-URL: /admin/',
    'X-Tenantry-Epoch: forged',
    'X-Tenantry-Version: 1-1',
  );
  assert.is(response.body, 'from the primary');
  const { headers } = received[0] as IncomingMessage;
  const forwarded = Object.entries(headers).filter(([name]) => /^(forwarded|host|x-.*)$/.test(name));
  const { 'x-tenantry-epoch': epoch, ...others } = Object.fromEntries(forwarded);
  assert.equal(others, {
    host: authority,
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-host': 'follower.example.com',
    'x-forwarded-proto': 'http',
    'x-tenantry-version': '1-1',
  });
  assert.is.not(epoch, 'forged');
  assert.is(response.headers['x-tenantry-epoch'], undefined, 'headers between servers are not sent to clients');
});

test('rejects credentials and a query in the address of a primary', async () => {
  for (const url of ['http://a:b@127.0.0.1/', 'http://127.0.0.1/?x', 'http://127.0.0.1/#x'])
    assert.equal(
      await program.run(['serve', '--port', '0', '--follow', 'data', '--data', 'other', '--primary', url]),
      failed('--primary must be a URL without user name, query and fragment', 2),
    );
});

test.run();
