/** The API over https (core.md 14.3). */

import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { connect } from 'node:net';
import { join } from 'node:path';
import { type ConnectionOptions, connect as connectSecurely, type TLSSocket } from 'node:tls';
import { createServer, type Server } from 'tenantry';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { certificate } from '../../support/certificate.ts';
import { eventually } from '../../support/eventually.ts';
import { failed, nativeCache, Program } from '../../support/program.ts';
import { serviceKeys } from '../../support/saml-keys.ts';
import { Wire } from '../../support/wire.ts';

const test = suite('https');
let program: Program;
let tls: { readonly tls_cert_file: string; readonly tls_key_file: string };
let server: Server;

const place = ({ cert, key }: { cert: string; key: string }): void => {
  writeFileSync(tls.tls_cert_file, cert);
  writeFileSync(tls.tls_key_file, key);
};

test.before.each(async () => {
  program = new Program(nativeCache);
  tls = { tls_cert_file: join(program.folder, 'cert.pem'), tls_key_file: join(program.folder, 'key.pem') };
  place(certificate);
  server = await createServer({
    ephemeral: true,
    port: 0,
    admin_listen: '0',
    log_level: 'silent',
    max_connections: 20,
    trusted_proxies: ['127.0.0.1'],
    ...tls,
  });
});
test.after.each(async () => {
  await server.close();
  await program.end();
});

/** Returns the bodies and statuses of requests over HTTPS. `https` trusts this certificate. */
async function get(url: string, headers: Record<string, string> = {}): Promise<{ status: number; body: string }> {
  const requests = request(url, { headers, ca: certificate.cert, agent: false });
  requests.end();
  const [reply] = (await once(requests, 'response')) as [import('node:http').IncomingMessage];
  let body = '';
  for await (const chunk of reply) body += chunk;
  return { status: reply.statusCode ?? 0, body };
}

/** Resolves after the handshake. Rejects if it fails. */
async function secured(url: string, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connectSecurely({
    port: Number(new URL(url).port),
    host: '127.0.0.1',
    rejectUnauthorized: false,
    ...options,
  });
  await once(socket, 'secureConnect');
  return socket;
}

test('builds https links unless a trusted proxy reports the protocol of its client', async () => {
  assert.match(server.url, /^https:\/\/127\.0\.0\.1:\d+$/);
  const headers = { Authorization: `Token ${server.issueToken()}` };
  const linkOf = async (further = {}): Promise<string> =>
    JSON.parse((await get(`${server.url}/api/users/?current`, { ...headers, ...further })).body)[0].url;
  assert.ok((await linkOf()).startsWith(`${server.url}/api/users/`));
  assert.ok((await linkOf({ 'X-Forwarded-Proto': 'http' })).startsWith('http://127.0.0.1:'));
});

test('reports plain HTTP on a TLS port and closes connections of other protocols', async () => {
  const plain = await Wire.to(server.url);
  const reply = await plain.lines('GET /api/version/ HTTP/1.1', 'Host: localhost', '').response();
  assert.equal([reply.status, reply.body], [400, '{"detail":"This port speaks https."}']);
  await plain.closed();
  const nonsense = await Wire.to(server.url);
  await nonsense.bytes('\x16\x03\x01\x00\x05hello').closed();
  assert.is((await get(`${server.url}/api/version/`)).status, 200);
});

test('rejects versions below TLS 1.2', async () => {
  (await secured(server.url, { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' })).destroy();
  let rejection = '';
  const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
  await secured(server.url, old).catch((error: NodeJS.ErrnoException) => (rejection = error.code ?? ''));
  assert.is(rejection, 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION');
});

test('rejects too large headers with 431 and closes connections above the limit over TLS', async () => {
  const socket = await secured(server.url);
  socket.write(`GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`);
  const [start] = (await once(socket, 'data')) as [Buffer];
  assert.match(start.toString(), /^HTTP\/1\.1 431 /);
  socket.destroy();
  const silent = Array.from({ length: 25 }, () => connect(Number(new URL(server.url).port), '127.0.0.1'));
  let closed = 0;
  for (const one of silent) one.on('error', () => undefined).on('close', () => closed++);
  await eventually('five are closed', () => closed >= 5);
  // The other connections, which never started a handshake, do not delay the shutdown.
  await server.close();
  await eventually('all are closed', () => closed === 25);
});

test('connections without a request, and idle ones, do not delay the shutdown', async () => {
  const [requests, silent] = [await secured(server.url), await secured(server.url)];
  requests.write('GET /api/version/ HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await once(requests, 'data');
  const gone = [requests, silent].map((socket) =>
    once(
      socket.on('error', () => undefined),
      'close',
    ),
  );
  const begun = performance.now();
  await server.close();
  await Promise.all(gone);
  assert.ok(performance.now() - begun < 8000, 'closed before the shutdown cuts running requests');
});

test('responds to running requests before it closes', async () => {
  const socket = await secured(server.url);
  const head = ['POST /api-auth/password/ HTTP/1.1', 'Host: localhost', 'Content-Type: application/json'];
  socket.write([...head, 'Content-Length: 20', 'Expect: 100-continue', '', ''].join('\r\n'));
  assert.match(String((await once(socket, 'data'))[0]), /^HTTP\/1\.1 100 /);
  const ended = server.close();
  socket.write('{"username":"admin"}');
  assert.match(String((await once(socket, 'data'))[0]), /^HTTP\/1\.1 401 /);
  await ended;
});

test('presents a renewed certificate to new connections, and never an invalid one', async () => {
  const fingerprint = async (): Promise<string> => {
    const socket = await secured(server.url);
    const displayed = socket.getPeerX509Certificate()?.toString() ?? '';
    socket.destroy();
    return displayed;
  };
  const before = await secured(server.url);
  assert.is(await fingerprint(), certificate.cert);
  place(serviceKeys);
  assert.is(await fingerprint(), certificate.cert);
  server.reload();
  assert.is(await fingerprint(), serviceKeys.cert);
  for (const bad of [
    { ...certificate, key: serviceKeys.key },
    { cert: 'none', key: '' },
  ]) {
    place(bad);
    server.reload();
    assert.is(await fingerprint(), serviceKeys.cert);
  }
  before.write('GET /api/version/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  assert.match(String((await once(before, 'data'))[0]), /^HTTP\/1\.1 200 /);
  const expires = Date.parse('Jan  1 00:00:00 2120 GMT');
  assert.not.match(await (await fetch(`${server.adminUrl}/metrics`)).text(), `timestamp_seconds ${expires / 1000}\n`);
});

test('reports unusable files in one line', async () => {
  const words = ['serve', '--port', '0', '--ephemeral', '--tls-cert-file', tls.tls_cert_file];
  assert.equal(await program.run(words), failed('TENANTRY_TLS_KEY_FILE must be set with TENANTRY_TLS_CERT_FILE', 2));
  const both = [...words, '--tls-key-file', tls.tls_key_file];
  place({ ...certificate, key: serviceKeys.key });
  const mismatched = await program.run(both);
  assert.equal([mismatched.code, mismatched.stdout], [1, '']);
  const files = `${tls.tls_cert_file} and ${tls.tls_key_file}`;
  assert.ok(mismatched.stderr.startsWith(`tenantry: ${files} are not a certificate and its key: `), mismatched.stderr);
  assert.is(mismatched.stderr.split('\n').length, 2);
  rmSync(tls.tls_key_file);
  assert.equal(await program.run(both), failed(`cannot read ${tls.tls_key_file}: no such file or directory`));
});

test.run();
