/** The receiver in the manual works as printed, with a server in memory (events.md 5.8). */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer as createNetServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createServer, type Server, type ServerOptions } from 'tenantry';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Json } from '../../support/fixture.ts';
import { type Received, Receiver } from '../../support/receiver.ts';

const test = suite('hooks to this machine');
const page = readFileSync(new URL('../../../src/manual/hooks.md', import.meta.url), 'utf8');
let server: Server;
let receiver: ChildProcess | undefined;
const folder = mkdtempSync(join(tmpdir(), 'tenantry-receiver-'));

test.after.each(async () => {
  await server.close();
  receiver?.kill();
  if (receiver?.exitCode === null && receiver.signalCode === null) await once(receiver, 'close');
  receiver = undefined;
});
test.after(() => rmSync(folder, { recursive: true }));

async function open(options: ServerOptions = {}): Promise<void> {
  server = await createServer({ ephemeral: true, port: 0, log_level: 'silent', ...options });
}

async function post(path: string, body: Json): Promise<readonly [number, Json]> {
  const response = await fetch(server.url + path, {
    method: 'POST',
    headers: { Authorization: `Token ${server.token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  return [response.status, await response.json()];
}

async function freePort(): Promise<number> {
  const holder = createNetServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  const { port } = holder.address() as AddressInfo;
  holder.close();
  await once(holder, 'close');
  return port;
}

test('the receiver in the manual gets an event with a signature that it accepts', async () => {
  await open();
  const port = String(await freePort());
  const [code] = [...page.matchAll(/```js\n(import .*?)```/gs)].map(([, block = '']) => block);
  const [, body = ''] = /-d '(\{"destination_url": "http:\/\/127\.0\.0\.1:9000\/".*?\})'/.exec(page) ?? [];
  const [created, hook] = await post('/api/hooks-web/', JSON.parse(body.replace('9000', port)));
  assert.is(created, 201, JSON.stringify(hook));
  writeFileSync(join(folder, 'receiver.mjs'), (code ?? '').replace('9000', port));
  receiver = spawn(process.execPath, ['receiver.mjs'], {
    cwd: folder,
    env: { ...process.env, SECRET: hook.secret },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface(receiver.stdout as NodeJS.ReadableStream);
  // It is listening once a connection succeeds.
  while (receiver.exitCode === null) {
    const isOpen = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{}' }).then(
      ({ status }) => status === 401,
      () => false,
    );
    if (isOpen) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const reports = once(lines, 'line');
  const [, customer] = await post('/api/customers/', { name: 'Alice' });
  assert.is((await post('/api/projects/', { name: 'Web', customer: customer.url }))[0], 201);
  const [line] = (await reports) as [string];
  assert.match(line, /^\S+ Project Web has been created\.$/);
});

test('the lines for Ed25519 in the manual accept a signature of the server, and no other', async () => {
  await open();
  const target = await Receiver.start();
  const [, hook] = await post('/api/hooks-web/', {
    destination_url: `${target.url}/`,
    event_groups: ['customers'],
    signature: 'ed25519',
  });
  await post('/api/customers/', { name: 'Alice' });
  await server.settled();
  const [{ body, headers }] = target.take() as [Received];
  await target.close();
  const code = [...page.matchAll(/```js\n(import .*?)```/gs)].map(([, block = '']) => block)[1];
  const text = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  const check = `console.log(isSigned(process.env.TEXT, process.env.SIGNATURE), isSigned(process.env.TEXT + ' ', process.env.SIGNATURE))`;
  writeFileSync(join(folder, 'verify.mjs'), `${code}\n${check}\n`);
  const env = { PUBLIC_KEY: hook.public_key, TEXT: text, SIGNATURE: String(headers['webhook-signature']) };
  assert.is(
    execFileSync(process.execPath, ['verify.mjs'], { cwd: folder, env: { ...process.env, ...env }, encoding: 'utf8' }),
    'true false\n',
  );
});

test('a server in memory lets hooks call only the loopback, unless the setting is given', async () => {
  const hookTo = (address: string) => post('/api/hooks-web/', { destination_url: address, event_groups: ['projects'] });
  const rejected = [400, { destination_url: ['Destination address is not allowed by hooks_allowed_networks.'] }];
  await open();
  for (const host of ['127.0.0.1:9000', '127.8.8.8', '[::1]:9000', 'localhost:3000'])
    assert.is((await hookTo(`http://${host}/`))[0], 201, host);
  for (const host of ['10.0.0.1', '169.254.169.254', '192.168.1.1', '[fe80::1]'])
    assert.equal(await hookTo(`http://${host}/`), rejected, host);
  assert.equal(await hookTo('http://127.0.0.1:22/'), [
    400,
    { destination_url: ['Destination port is not allowed by hooks_allowed_ports.'] },
  ]);
  for (const input of [[], ['10.0.0.0/8']]) {
    await server.close();
    await open({ hooks_allowed_networks: input });
    assert.equal(await hookTo('http://127.0.0.1:9000/'), rejected);
  }
});

test.run();
