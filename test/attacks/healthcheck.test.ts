/** Other programs that respond to `tenantry healthcheck`. `npm test` builds the program first. */

import { mkdirSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { checkHealth } from '../../src/app/cli/healthcheck.ts';
import { instanceOf } from '../../src/app/data/data-folder.ts';
import { loadConfig } from '../../src/app/settings.ts';
import { nativeCache, Program } from '../support/program.ts';

const test = suite('healthcheck');
let program: Program;
let data: string;
let listener: Server | undefined;
let sockets: Set<Socket>;

test.before.each(() => {
  program = new Program(nativeCache);
  data = join(program.folder, 'data');
  mkdirSync(data);
  sockets = new Set();
});
test.after.each(async () => {
  listener?.close();
  for (const socket of sockets) socket.destroy();
  await program.end();
});

async function listen(server: Server): Promise<string> {
  listener?.close();
  listener = server;
  server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => undefined)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Returns why `healthcheck` reports the server at this address as unhealthy. */
async function failureAt(address: string): Promise<string> {
  const config = loadConfig({ input: { data, admin_listen: address } });
  return checkHealth({ config, flags: {}, words: [], sources: { environment: {} } } as never).then(
    () => 'ready',
    (error: Error) => error.message.replaceAll(address, 'ADDRESS'),
  );
}

const response = (status: number, body: string): Promise<string> =>
  listen(createHttpServer((_, outgoing) => outgoing.writeHead(status).end(body)));

test('exits with 1 and one line when the connection closes without a response', async () => {
  const address = await listen(createTcpServer((socket) => socket.end()));
  const result = await program.run(['healthcheck', '--data', 'data', '--admin-listen', address]);
  const line = `tenantry: no response from http://${address}/readyz: socket hang up\n`;
  assert.equal(result, { code: 1, stdout: '', stderr: line });
});

test('rejects a response that is not from the server of this data folder', async () => {
  mkdirSync(join(program.folder, 'other'));
  const [own, other] = [data, join(program.folder, 'other')].map(instanceOf);
  assert.is.not(own, other);
  const checks = { server: 'ok' };
  const foreign = (status: number): string =>
    `not ready: http://ADDRESS/readyz responds with ${status} and is not Tenantry`;
  const cases: readonly (readonly [status: number, body: unknown, reason: string])[] = [
    [200, '', foreign(200)],
    [200, 'ok', foreign(200)],
    [200, 'null', foreign(200)],
    [200, '"ready"', foreign(200)],
    [200, '{"status":"ready"', foreign(200)],
    [200, { status: 'ok' }, foreign(200)],
    [403, { detail: 'Host is not this machine.' }, foreign(403)],
    [
      200,
      { status: 'ready', checks },
      `not ready: http://ADDRESS/readyz belongs to a server without the data folder ${data}`,
    ],
    [
      200,
      { status: 'ready', instance: other, checks },
      `not ready: http://ADDRESS/readyz belongs to a server with a data folder other than ${data}`,
    ],
    [
      503,
      { status: 'not ready', instance: other, checks: { database: 'broken' } },
      `not ready: http://ADDRESS/readyz belongs to a server with a data folder other than ${data}`,
    ],
    [503, { status: 'ready', instance: own, checks }, 'not ready: http://ADDRESS/readyz responds with 503'],
    [200, { status: 'not ready', instance: own, checks }, 'not ready: http://ADDRESS/readyz responds with 200'],
    [503, { status: 'not ready', instance: own, checks: { ...checks, disk: 'full' } }, 'not ready: disk: full'],
    [302, { status: 'ready', instance: own, checks }, 'not ready: http://ADDRESS/readyz responds with 302'],
    [200, { status: 'ready', instance: own, checks }, 'ready'],
  ];
  for (const [status, body, reason] of cases)
    assert.is(
      await failureAt(await response(status, typeof body === 'string' ? body : JSON.stringify(body))),
      reason,
      JSON.stringify(body),
    );
});

test('rejects a response that breaks off, does not end or does not begin', async () => {
  const head = 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n';
  const cutOff = await listen(createTcpServer((socket) => socket.end(`${head}{"status":"ready"`)));
  assert.match(await failureAt(cutOff), /^no response from http:\/\/ADDRESS\/readyz: /);
  const garbage = await listen(createTcpServer((socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n')));
  assert.match(await failureAt(garbage), /^no response from http:\/\/ADDRESS\/readyz: Parse Error/);
  const endless = await listen(
    createHttpServer((_, outgoing) => {
      outgoing.on('drain', () => outgoing.write(' '.repeat(65_536)));
      while (outgoing.write(' '.repeat(65_536)));
    }),
  );
  assert.is(await failureAt(endless), 'no response from http://ADDRESS/readyz: the response is too large');
  const silent = await listen(createTcpServer());
  assert.is(await failureAt(silent), 'no response from http://ADDRESS/readyz: no response within 5 seconds');
});

test('names a data folder that is missing', async () => {
  const result = await program.run(['healthcheck', '--data', 'nowhere']);
  const nowhere = join(program.folder, 'nowhere');
  const line = `tenantry: cannot read the data folder ${nowhere}: no such file or directory; name it with --data\n`;
  assert.equal(result, { code: 1, stdout: '', stderr: line });
});

test('rejects a server in memory unless called with --ephemeral', async () => {
  const memory = await program.serve(['--ephemeral', '--admin-listen', '127.0.0.1:0']);
  const address = new URL(memory.startup.admin as string).host;
  const words = ['healthcheck', '--data', 'data', '--admin-listen', address];
  const { code, stderr } = await program.run(words);
  const line = `tenantry: not ready: http://${address}/readyz belongs to a server without the data folder ${data}\n`;
  assert.equal([code, stderr], [1, line]);
  assert.equal(await program.run([...words, '--ephemeral']), { code: 0, stdout: 'ready\n', stderr: '' });
});

test.run();
