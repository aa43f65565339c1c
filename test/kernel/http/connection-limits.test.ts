/** The maximum number of simultaneous connections (core.md 1.1 "Connections"). */

import { EventEmitter } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { Socket } from 'node:net';
import { createServer } from 'tenantry';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Connections } from '../../../src/kernel/http/connections.ts';
import { parseNetworks } from '../../../src/kernel/net/networks.ts';
import { Wire } from '../../support/wire.ts';

const test = suite('limits of connections');

test('closes connections above max_connections and accepts new ones after others end', async () => {
  // A separate server: the clients of a fixture have connections to it.
  const server = await createServer({ ephemeral: true, port: 0, log_level: 'silent', max_connections: 3 });
  const ask = async (wire: Wire): Promise<number> =>
    (await wire.lines('GET /api/version/ HTTP/1.1', 'Host: localhost', '').response()).status;
  try {
    const wires = [await Wire.to(server.url), await Wire.to(server.url), await Wire.to(server.url)];
    for (const wire of wires) assert.is(await ask(wire), 200);
    assert.is(await (await Wire.to(server.url)).closed(), '');
    for (const wire of wires) assert.is(await ask(wire), 200, 'those that are there are left alone');
    wires[0]?.close();
    let status: number | undefined;
    for (let i = 0; i < 100 && status === undefined; i++)
      status = await ask(await Wire.to(server.url)).catch(() => undefined);
    assert.is(status, 200);
    for (const wire of wires) wire.close();
  } finally {
    await server.close();
  }
});

/** A simulated connection from an address. */
class FakeSocket extends EventEmitter {
  destroyed = false;
  constructor(readonly remoteAddress: string) {
    super();
  }
  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.emit('close');
  }
}

/** Connects from these addresses to a server that accepts two connections from each. Returns the sockets. */
function connect(addresses: readonly string[]): { sockets: readonly FakeSocket[]; more: (address: string) => boolean } {
  const server = createHttpServer();
  new Connections({ all: 100, each: 2 }, parseNetworks(['10.9.0.0/16'])).watch(server);
  const one = (address: string): FakeSocket => {
    const socket = new FakeSocket(address);
    server.emit('connection', socket as unknown as Socket);
    return socket;
  };
  return { sockets: addresses.map(one), more: (address) => !one(address).destroyed };
}

const states = (sockets: readonly FakeSocket[]): string =>
  sockets.map(({ destroyed }) => (destroyed ? '-' : '+')).join('');

test('limits each address to max_connections_per_address connections', () => {
  const { more, sockets } = connect(['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2', '::ffff:192.0.2.1']);
  assert.is(states(sockets), '++-+-');
  sockets[0]?.destroy();
  assert.equal([more('192.0.2.1'), more('192.0.2.1')], [true, false]);
});

test('a /64 of IPv6 counts as one address', () => {
  assert.is(states(connect(['2001:db8::1', '2001:db8::2', '2001:db8::3', '2001:db8:0:1::1']).sockets), '++-+');
});

test('loopback and trusted proxies may have more', () => {
  const addresses = ['127.0.0.1', '::1', '::ffff:127.0.0.1', '10.9.1.1'];
  for (const address of addresses) assert.is(states(connect(Array(5).fill(address)).sockets), '+++++', address);
});

test.run();
