/** The receiver in the manual works as printed, with a server in memory (events.md 5.8). */
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type Server, type ServerOptions } from 'tenantry';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Json } from '../../support/fixture.ts';
import { freePort } from '../../support/free-port.ts';
import { receiverCode, startReceiver } from '../../support/manual-receiver.ts';

const test = suite('hooks to this machine');
const page = readFileSync(new URL('../../../src/manual/hooks.md', import.meta.url), 'utf8');
let server: Server;
const folder = mkdtempSync(join(tmpdir(), 'tenantry-receiver-'));

test.after.each(async () => {
  await server.close();
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

for (const signature of ['hmac', 'ed25519'])
  test(`the receiver in the manual accepts the ${signature} signature of an event, and no unsigned request`, async () => {
    await open();
    const port = await freePort();
    const [, body = ''] = /-d '(\{"destination_url": "http:\/\/127\.0\.0\.1:9000\/".*?\})'/.exec(page) ?? [];
    const [created, hook] = await post('/api/hooks-web/', {
      ...JSON.parse(body.replace('9000', String(port))),
      signature,
    });
    assert.is(created, 201, JSON.stringify(hook));
    const file = join(folder, 'receiver.mjs');
    writeFileSync(file, receiverCode('js', port));
    const receiver = await startReceiver(process.execPath, [file], port, hook.secret ?? hook.public_key);
    try {
      const printed = once(receiver.lines, 'line');
      const [, customer] = await post('/api/customers/', { name: 'Alice' });
      assert.is((await post('/api/projects/', { name: 'Web', customer: customer.url }))[0], 201);
      const [line] = (await printed) as [string];
      assert.match(line, /^\S+ Project Web has been created\.$/);
    } finally {
      await receiver.stop();
    }
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
