/** The readiness of a server, and its problems (core.md 14.1). */

import { existsSync, rmSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { createServer, type Server } from 'tenantry';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { checkHealth } from '../../../src/app/operation/health.ts';
import { embeddedMigrations } from '../../../src/kernel/native/embedded.ts';
import { OtherWriter } from '../../support/other-process.ts';
import { nativeCache, Program } from '../../support/program.ts';
import { Wire } from '../../support/wire.ts';

const test = suite('health');
let program: Program;
let data: string;
let server: Server;

test.before.each(async () => {
  program = new Program(nativeCache);
  data = join(program.folder, 'data');
  server = await createServer({ data, port: 0, admin_listen: '0', log_level: 'silent' });
  // Waits until the writes of the start are committed.
  await fetch(`${server.adminUrl}/healthz`);
});
test.after.each(async () => {
  await server.close();
  await program.end();
});

async function readiness(): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${server.adminUrl}/readyz`);
  return { status: response.status, body: withoutInstance(await response.json()) };
}

/** Returns the body of a response without the id of the data folder. */
function withoutInstance(body: unknown): unknown {
  const { instance, ...others } = body as Record<string, unknown>;
  assert.match(String(instance), /^[0-9a-f]{32}$/);
  return others;
}

const healthcheck = (address: string, ...words: string[]) =>
  program.run(['healthcheck', '--data', 'data', '--admin-listen', address, ...words]);

const checks = { server: 'ok', database: 'ok', migrations: 'ok', timer: 'ok', disk: 'ok' };

test('is not ready while another process writes, and does not block the event loop', async () => {
  const other = await OtherWriter.begin(join(data, 'tenantry.db'));
  let ticks = 0;
  const watch = setInterval(() => ticks++, 5);
  const { body, status } = await readiness();
  clearInterval(watch);
  const checked = await healthcheck(new URL(server.adminUrl as string).host);
  const line = 'tenantry: not ready: database: another process is writing (SQLITE_BUSY)\n';
  assert.equal(checked, { code: 1, stdout: '', stderr: line });
  const database = 'another process is writing (SQLITE_BUSY)';
  assert.equal([status, body], [503, { status: 'not ready', checks: { ...checks, database } }]);
  assert.ok(ticks > 10, `${ticks} timer ticks while readiness waited`);
  await other.end('ROLLBACK');
});

test('is ready while another process writes for a moment', async () => {
  const other = await OtherWriter.begin(join(data, 'tenantry.db'));
  const requests = readiness();
  const ended = new Promise((resolve) => setTimeout(() => resolve(other.end('ROLLBACK')), 100));
  assert.equal(await requests, { status: 200, body: { status: 'ready', checks } });
  await ended;
});

test('reports a database migrated by a newer version, and a timer that has stopped', async () => {
  const newest = embeddedMigrations().length;
  const other = new SQLite(join(data, 'tenantry.db'));
  other.pragma(`user_version = ${newest + 1}`);
  const migrations = `the database has schema ${newest + 1}, and this version has ${newest}`;
  assert.equal(await readiness(), { status: 503, body: { status: 'not ready', checks: { ...checks, migrations } } });
  other.pragma(`user_version = ${newest}`);
  other.close();
  const vitals = {
    app: server.app,
    folder: data,
    instance: undefined,
    timerAgeMs: () => 61_000,
    isClosing: () => true,
  };
  const { checks: matches, isReady } = await checkHealth(vitals);
  const server_ = 'is shutting down';
  assert.equal([isReady, matches], [false, { ...checks, server: server_, timer: 'has not run for 61 seconds' }]);
});

test('is not ready while it completes requests during shutdown', async () => {
  const wire = await Wire.to(server.url);
  const head = ['POST /api-auth/password/ HTTP/1.1', 'Host: localhost', 'Content-Type: application/json'];
  wire.lines(...head, 'Content-Length: 20', 'Expect: 100-continue', '');
  // The server has admitted the request.
  assert.is((await wire.response()).status, 100);
  const ended = server.close();
  const expected = { ...checks, server: 'is shutting down' };
  assert.equal(await readiness(), { status: 503, body: { status: 'not ready', checks: expected } });
  wire.bytes('{"username":"admin"}');
  assert.is((await wire.response()).status, 401);
  await ended;
});

test('is not ready with a full disk, and counts failures', async () => {
  const { db } = server.app;
  const pages = Number(db.pragma('page_count'));
  db.pragma(`max_page_count = ${pages + 4}`);
  const headers = { Authorization: `Token ${server.issueToken()}`, 'Content-Type': 'application/json' };
  const body = JSON.stringify({ name: 'x'.repeat(150) });
  let status = 201;
  while (status === 201)
    status = (await fetch(`${server.url}/api/customers/`, { method: 'POST', headers, body })).status;
  const database = 'the disk is full (SQLITE_FULL)';
  assert.equal(await readiness(), { status: 503, body: { status: 'not ready', checks: { ...checks, database } } });
  assert.match(
    await (await fetch(`${server.adminUrl}/metrics`)).text(),
    /^tenantry_commit_failures_total\{reason="full"\} [1-9]/m,
  );
  db.pragma(`max_page_count = ${pages + 10_000}`);
});

test('is not ready after its database file was removed, closes, and rejects closed', async () => {
  const folder = join(program.folder, 'removed');
  const other = await createServer({ data: folder, port: 0, log_level: 'silent' });
  const file = join(folder, 'tenantry.db');
  rmSync(file);
  other.tick();
  const vitals = { app: other.app, folder, instance: undefined, timerAgeMs: () => 0, isClosing: () => false };
  const { checks: matches, isReady } = await checkHealth(vitals);
  const database = `${file} was removed while it was served: restore a backup`;
  assert.equal([isReady, matches], [false, { ...checks, database }]);
  const failure = await other.closed.catch((error: Error) => error.message);
  assert.is(failure, database);
  await fetch(other.url).then(
    () => assert.unreachable('it is still listening'),
    () => undefined,
  );
});

test('prints the readiness of the server in one line in healthcheck, and exits with 0 or 1', async () => {
  const host = new URL(server.adminUrl as string).host;
  assert.equal(await healthcheck(host), { code: 0, stdout: 'ready\n', stderr: '' });
  await server.close();
  const gone = await healthcheck(host);
  const line = `tenantry: no response from http://${host}/readyz: connection refused\n`;
  assert.equal(gone, { code: 1, stdout: '', stderr: line });
  const off = await healthcheck('off');
  assert.equal(off, {
    code: 1,
    stdout: '',
    stderr: 'tenantry: admin_listen is off, so the server has no health check\n',
  });
  const other = createHttpServer((_, outgoing) => outgoing.writeHead(404).end('<html>')).listen(0, '127.0.0.1');
  await new Promise((resolve) => other.once('listening', resolve));
  const address = `127.0.0.1:${(other.address() as AddressInfo).port}`;
  const wrong = await healthcheck(address);
  const message = `tenantry: not ready: http://${address}/readyz responds with 404 and is not Tenantry\n`;
  assert.equal(wrong, { code: 1, stdout: '', stderr: message });
  other.close();
  assert.not(existsSync(join(program.folder, 'native')), 'it does not open the data');
});

test('listens on the loopback by default, and continues without it where the port is in use', async () => {
  const holder = createHttpServer().listen(9480, '127.0.0.1');
  await new Promise((resolve) => holder.once('listening', resolve).once('error', resolve));
  const port = createHttpServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => port.once('listening', resolve));
  const free = (port.address() as AddressInfo).port;
  await new Promise((resolve) => port.close(resolve));
  const serving = await program.serve(['--data', 'other', '--port', String(free)]);
  assert.is(serving.startup.admin, undefined);
  assert.is(await serving.stop(), 0);
  assert.match(
    serving.errors(),
    '"msg":"cannot listen on 127.0.0.1 port 9480: the port is in use: /healthz, /readyz and /metrics are unavailable; set admin_listen to another address, or off"',
  );
  holder.close();
});

test.run();
