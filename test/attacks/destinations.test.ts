/**
 * The service never connects to its internal network for a hook or a provider account, however the address is written (events.md
 * 5.8).
 */
import type { LookupAddress } from 'node:dns';
import * as assert from 'uvu/assert';
import { type ApiResponse, type Client, Fixture, type Json } from '../support/fixture.ts';
import { createPersonas } from '../support/personas.ts';
import { Receiver } from '../support/receiver.ts';
import { suiteWithServer } from '../support/suite.ts';

/** Addresses by host name. Other names do not resolve. */
const names = new Map<string, string>();
const { test, fixture } = suiteWithServer('internal destinations', {
  resolve: (hostname, callback) => {
    const address = names.get(hostname);
    if (address === undefined) callback(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), []);
    else callback(null, [{ address, family: address.includes(':') ? 6 : 4 } satisfies LookupAddress]);
  },
});
let customer: Json;
let owner: Client;
let receiver: Receiver;

test.before(async () => {
  const setup = await createPersonas(fixture);
  customer = setup.customer;
  owner = setup.clients.owner;
  receiver = await Receiver.start();
});
test.after(() => receiver.close());

const hex = (byte: number): string => byte.toString(16).padStart(2, '0');
const groups = ([a, b, c, d]: readonly number[]): string =>
  `${hex(a as number)}${hex(b as number)}:${hex(c as number)}${hex(d as number)}`;
const fullWidthDigits = (text: string): string =>
  text.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)));
const circledDigits = (text: string): string =>
  text.replace(/[1-9]/g, (digit) => String.fromCodePoint(0x2460 + Number(digit) - 1)).replace(/0/g, '⓪');

/** Notations of an IPv4 address in a URL. */
function spellings(address: string): string[] {
  const bytes = address.split('.').map(Number);
  const [a, b, c, d] = bytes as [number, number, number, number];
  const whole = bytes.reduce((sum, byte) => sum * 256 + byte, 0);
  return [
    address,
    `${address}.`,
    String(whole),
    `0x${whole.toString(16)}`,
    `0X${whole.toString(16).toUpperCase()}`,
    `0${whole.toString(8)}`,
    bytes.map((byte) => `0x${hex(byte)}`).join('.'),
    bytes.map((byte) => `0${byte.toString(8)}`).join('.'),
    bytes.map((byte) => `000${byte.toString(8)}`).join('.'),
    `${a}.${b}.${c * 256 + d}`,
    `${a}.${(b * 256 + c) * 256 + d}`,
    `0x${hex(a)}.${b}.0${c.toString(8)}.${d}`,
    fullWidthDigits(address),
    circledDigits(address),
    address.replaceAll('.', '。'),
    address.replaceAll('.', '%2e'),
    address.replace(/./g, (character) => `%${hex(character.charCodeAt(0))}`),
    `[::ffff:${address}]`,
    `[::ffff:${groups(bytes)}]`,
    `[0:0:0:0:0:ffff:${groups(bytes)}]`,
    `[::${address}]`,
    `[::ffff:0:${address}]`,
    `[64:ff9b::${address}]`,
    `[64:ff9b::${groups(bytes)}]`,
    `[64:ff9b:1::${address}]`,
    `[2002:${groups(bytes)}::]`,
    `[2001:0:1:2:3:4:${groups(bytes.map((byte) => byte ^ 255))}]`,
    `[2001:db8::5efe:${address}]`,
    `[2001:db8::200:5efe:${address}]`,
  ];
}

const inside = ['127.0.0.1', '10.0.0.1', '192.168.1.1', '169.254.169.254'].flatMap(spellings);

const hook = (client: Client, url: string): Promise<ApiResponse<Json>> =>
  client.post('/api/hooks-web/', { destination_url: url, event_types: ['user_update_succeeded'] });

const account = (client: Client, url: string, within = customer): Promise<ApiResponse<Json>> =>
  client.post('/api/digitalocean/', {
    name: 'Inside',
    customer: within.url,
    token: 'token-of-the-account',
    backend_url: url,
  });

test('rejects a hook to an internal address in every notation', async () => {
  assert.ok(inside.length > 100);
  for (const host of inside)
    for (const url of [`http://${host}/`, `https://user@${host}:8443/path?x=y#z`]) {
      const { body, status } = await hook(owner, url);
      const messages = url.includes('@')
        ? ['Enter a valid URL.']
        : ['Destination address is not allowed by hooks_allowed_networks.'];
      assert.equal([url, status, body], [url, 400, { destination_url: messages }]);
    }
});

const unreachable = {
  non_field_errors: ['Wrong settings: Destination address is not allowed by provider_allowed_networks.'],
};

test('rejects a provider account at an internal address without calling it', async () => {
  for (const host of inside) {
    const { body, status } = await account(owner, `http://${host}:${receiver.port}/`);
    assert.equal([host, status, body], [host, 400, unreachable]);
  }
  assert.equal([receiver.take(), (await fixture.staff.get('/api/service-settings/')).body], [[], []]);
});

test('rejects an internal address in other parts of a URL or behind blanks, or never calls it', async () => {
  const { port } = receiver;
  names.set('example.com', '93.184.216.34');
  for (const url of [
    `http://user:password@127.0.0.1:${port}/`,
    `http://example.com@127.0.0.1:${port}/`,
    `http://example.com:80@127.0.0.1:${port}/`,
    `http://example.com\\@127.0.0.1:${port}/`,
    `http://127.0.0.1:${port}\\@example.com/`,
    `http:\\\\127.0.0.1:${port}\\`,
    `http:127.0.0.1:${port}/`,
    `http:///127.0.0.1:${port}/`,
    `http://127.0.0.1:${port}?@example.com/`,
    `http://127.0.0.1:${port}#@example.com/`,
    `http://127.0.\t0.1:${port}/`,
    ` http://127.0.0.1:${port}/ `,
    `HTTP://LOCALHOST:${port}/`,
    `http://127.0.0.1:0${port}/`,
    `http://[::1%25lo]:${port}/`,
    `http://[::1]:${port}/`,
    `file:///etc/passwd`,
    `gopher://127.0.0.1:${port}/`,
    `ftp://127.0.0.1:${port}/`,
    `//127.0.0.1:${port}/`,
  ]) {
    assert.is((await hook(owner, url)).status, 400, url);
    assert.is((await account(owner, url)).status, 400, url);
  }
  assert.equal(receiver.take(), []);
});

test('does not call a host name that resolves to an internal address', async () => {
  for (const [name, address] of [
    ['127.0.0.1.nip.example', '127.0.0.1'],
    ['app-10-0-0-1.sslip.example', '10.0.0.1'],
    ['metadata.example', '169.254.169.254'],
    ['platform.example', '168.63.129.16'],
    ['mapped.example', '::ffff:127.0.0.1'],
    ['translated.example', '64:ff9b::7f00:1'],
    ['six.example', '2002:7f00:1::'],
    ['local.example', 'fe80::1%eth0'],
    ['site.example', 'fec0::1'],
    ['unspecified.example', '::'],
  ] as const) {
    names.set(name, address);
    const created = await account(owner, `http://${name}:${receiver.port}/`);
    assert.equal([name, created.status, created.body], [name, 400, unreachable]);
    const { body } = await hook(owner, `http://${name}:${receiver.port}/`);
    assert.is((await owner.post(`${body.url}test/`)).status, 202);
    await fixture.server.settled();
    const [delivery] = (await owner.get(`${body.url}deliveries/`)).body;
    assert.equal([name, delivery.attempts, delivery.error_message], [name, 1, 'Destination is not allowed.']);
    await owner.delete(body.url);
  }
  assert.equal(receiver.take(), []);
});

test('lets staff name private addresses, except those of the machine itself and of its metadata service', async () => {
  for (const address of ['127.0.0.1', '169.254.169.254', '168.63.129.16'])
    for (const host of spellings(address)) {
      const { body, status } = await account(fixture.staff, `http://${host}:${receiver.port}/`);
      assert.equal([host, status, body], [host, 400, unreachable]);
    }
  assert.equal(receiver.take(), []);
});

test('does not follow the redirect of a vendor to an internal address', async () => {
  const open = await Fixture.start({ provider_allowed_networks: ['127.0.0.1'] });
  const alice = await open.customer('Alice');
  const target = await Receiver.start();
  for (const status of [301, 302, 303, 307, 308]) {
    receiver.behaviour = { status, headers: { Location: `${target.url}/v2/account` } };
    const { status: responseStatus } = await open.staff.post('/api/digitalocean/', {
      name: 'Led astray',
      customer: alice.url,
      token: 'token-of-the-account',
      backend_url: receiver.url,
    });
    assert.is(responseStatus, 400);
    assert.ok(receiver.take().length > 0, 'the vendor is called');
    assert.equal(target.take(), [], String(status));
  }
  receiver.behaviour = 200;
  await target.close();
  await open.close();
});

test.run();
