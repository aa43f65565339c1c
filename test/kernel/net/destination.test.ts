import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import type { LookupAddress } from 'node:dns';
import * as assert from 'uvu/assert';
import { loadConfig } from '../../../src/app/settings.ts';
import { sql } from '../../../src/kernel/db/sql.ts';
import { HttpClient } from '../../../src/kernel/net/http-client.ts';
import { Fixture, type Json } from '../../support/fixture.ts';
import { Receiver } from '../../support/receiver.ts';
import { suiteWithServer } from '../../support/suite.ts';

/** The addresses of names, and the number of look-ups of each. */
const names = new Map<string, readonly string[]>();
const requests: string[] = [];
const { test, fixture } = suiteWithServer('destinations of hooks', {
  resolve: (hostname, callback) => {
    requests.push(hostname);
    const addresses = names
      .get(hostname)
      ?.map((address): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 }));
    if (addresses) callback(null, addresses);
    else callback(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), []);
  },
});
let receiver: Receiver;

test.before(async () => {
  receiver = await Receiver.start();
});

test.after(() => receiver.close());

const create = (host: string, on = fixture) =>
  on.staff.post('/api/hooks-web/', { destination_url: `http://${host}/in`, event_types: ['custom_notification'] });

const rejectedHosts = [
  '127.0.0.1',
  '127.255.255.254',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '100.64.0.1',
  '100.127.255.255',
  '[fc00::1]',
  '[fdff::1]',
  '169.254.169.254',
  '[fe80::1]',
  '[febf::1]',
  '[fec0::1]',
  '[feff::1]',
  '168.63.129.16',
  '[64:ff9b:1::1]',
  '[64:ff9b:1::93.184.216.34]',
  '0.0.0.0',
  '0.1.2.3',
  '[::]',
  '224.0.0.1',
  '239.255.255.255',
  '[ff02::1]',
  '192.0.0.1',
  '198.18.0.1',
  '198.19.255.255',
  '240.0.0.1',
  '255.255.255.255',
];

const otherNotations = [
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '017700000001',
  '0177.0.0.1',
  '127.1',
  '127.0.1',
  '0',
  '127.0.0.1.',
  '１２７.0.0.1',
  '%31%32%37.0.0.1',
  '127。0。0。1',
  '[::ffff:127.0.0.1]',
  '[::ffff:168.63.129.16]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[::ffff:0:10.0.0.1]',
  '[64:ff9b::10.0.0.1]',
  '[64:ff9b:1::169.254.169.254]',
  '[2002:7f00:1::]',
  '[2002:a00:1::1]',
  '[2001:0:1:2:3:4:80ff:fffe]',
  '[2001:db8::5efe:10.0.0.1]',
  '[2001:db8::200:5efe:192.168.0.1]',
];

const localNames = ['localhost', 'LOCALHOST', 'localhost.', 'api.localhost', 'ｌocalhost'];

test('rejects literal addresses of private, local, metadata, multicast and reserved networks at creation', async () => {
  for (const host of [...rejectedHosts, ...rejectedHosts.map((host) => `${host}:8080`)]) {
    const response = await create(host);
    assert.equal(
      [response.status, response.body],
      [400, { destination_url: ['Destination address is not allowed by hooks_allowed_networks.'] }],
      host,
    );
  }
});

test('rejects them in every notation, and inside of IPv6 addresses that embed them', async () => {
  for (const host of otherNotations)
    assert.equal(
      (await create(host)).body,
      { destination_url: ['Destination address is not allowed by hooks_allowed_networks.'] },
      host,
    );
});

test('rejects localhost and names below it at creation', async () => {
  for (const host of localNames)
    assert.equal(
      (await create(host)).body,
      { destination_url: ['Destination address is not allowed by hooks_allowed_networks.'] },
      host,
    );
});

test('rejects them in changes, too', async () => {
  const { body } = await create('example.com');
  for (const send of [fixture.staff.put, fixture.staff.patch]) {
    assert.equal((await send(body.url, { destination_url: 'https://10.1.1.1/' })).body, {
      destination_url: ['Destination address is not allowed by hooks_allowed_networks.'],
    });
  }
  await fixture.staff.delete(body.url);
});

test('accepts public addresses and other names', async () => {
  const hosts = [
    '93.184.216.34',
    '172.32.0.1',
    '172.15.255.255',
    '100.128.0.1',
    '11.0.0.1',
    '198.20.0.1',
    '[2606:2800:220:1::1]',
    '[64:ff9b::93.184.216.34]',
    '[2002:5db8:d822::1]',
    'localhost.example.com',
    'notlocalhost',
    '127.0.0.1.example.com',
  ];
  for (const host of hosts) {
    const response = await create(host);
    assert.is(response.status, 201, host);
    await fixture.staff.delete(response.body.url);
  }
});

test('accepts addresses in a network of hooks_allowed_networks', async () => {
  const open = await Fixture.start({ hooks_allowed_networks: ['127.0.0.0/8', '10.0.0.5', 'fd00::/8'] });
  const statuses = async (hosts: readonly string[]) =>
    Promise.all(hosts.map(async (host) => (await create(host, open)).status));
  assert.equal(
    await statuses(['127.0.0.1', 'localhost', '10.0.0.5', '[fd12::1]', '[::ffff:127.0.0.1]', '2130706433']),
    [201, 201, 201, 201, 201, 201],
  );
  assert.equal(await statuses(['10.0.0.6', '[fc00::1]', '[::1]', '169.254.169.254']), [400, 400, 400, 400]);
  await open.close();
});

/** Returns the only delivery to a hook. */
async function delivered(host: string, on = fixture): Promise<Json> {
  const { body: hook } = await create(host, on);
  await on.staff.post(`${hook.url}test/`);
  await on.server.settled();
  const [delivery] = (await on.staff.get(`${hook.url}deliveries/`)).body;
  await on.staff.delete(hook.url);
  return delivery;
}

test('rejects ports below 1024 except 80, 443 and those of hooks_allowed_ports', async () => {
  const rejection = { destination_url: ['Destination port is not allowed by hooks_allowed_ports.'] };
  for (const port of [1, 21, 22, 25, 79, 81, 442, 444, 465, 1023]) {
    const response = await create(`example.com:${port}`);
    assert.equal([response.status, response.body], [400, rejection], String(port));
  }
  const creation = await create('example.com');
  assert.equal(
    (await fixture.staff.patch(creation.body.url, { destination_url: 'https://example.com:22/' })).body,
    rejection,
  );
  for (const port of [80, 443, 1024, 6379, 8080, 65535]) assert.is((await create(`example.com:${port}`)).status, 201);
  const open = await Fixture.start({ hooks_allowed_ports: [25, 81] });
  assert.equal(
    [
      (await create('example.com:81', open)).status,
      (await create('example.com:25', open)).status,
      (await create('example.com:22', open)).body,
    ],
    [201, 201, rejection],
  );
  await open.close();
});

test('an invalid list of ports stops the start with a readable error', () => {
  assert.equal(loadConfig({ env: { TENANTRY_HOOKS_ALLOWED_PORTS: '81, 25' } }).hooks_allowed_ports, [81, 25]);
  for (const text of ['http', '0', '65536', '80-90', '-1', '8e1'])
    assert.throws(
      () => loadConfig({ env: { TENANTRY_HOOKS_ALLOWED_PORTS: `81,${text}` } }),
      `TENANTRY_HOOKS_ALLOWED_PORTS must list ports from 1 to 65535, but has "${text}"`,
    );
});

test('resolves the name at delivery and retries after a forbidden address or none, with the same report', async () => {
  names.set('rebound.example.com', ['93.184.216.34', '127.0.0.1']);
  names.set('metadata.example.com', ['169.254.169.254']);
  names.set('mapped.example.com', ['::ffff:10.0.0.1']);
  names.set('empty.example.com', []);
  for (const name of [
    'rebound.example.com',
    'metadata.example.com',
    'mapped.example.com',
    'empty.example.com',
    'missing.example.com',
  ]) {
    const { attempts, error_message, next_attempt, response_code, status } = await delivered(
      `${name}:${receiver.port}`,
    );
    assert.equal(
      [status, attempts, response_code, error_message, next_attempt !== null],
      ['pending', 1, null, 'Destination is not allowed.', true],
      name,
    );
  }
  assert.equal(receiver.take(), []);
});

test('reports every attempt at a rejected destination like one at a missing name', async () => {
  const attempts: Json[] = [];
  for (const name of ['metadata.example.com', 'missing.example.com']) {
    const { body: hook } = await create(name);
    await fixture.staff.post(`${hook.url}test/`);
    const seen: Json[] = [];
    for (const delay of [0, 5, 30, 120, 600, 3600, 6 * 3600, 24 * 3600]) {
      await fixture.advance(1.25 * delay);
      const [{ created, hook: _, last_attempt, next_attempt, url, uuid, ...delivery }] = (
        await fixture.staff.get(`${hook.url}deliveries/`)
      ).body;
      seen.push(delivery);
    }
    attempts.push(seen);
    assert.equal([seen.at(-1).status, seen.at(-1).attempts], ['failed', 8]);
    await fixture.staff.delete(hook.url);
  }
  assert.equal(attempts[0], attempts[1]);
});

test('connects to the checked address and resolves a name once', async () => {
  const open = await Fixture.start({
    hooks_allowed_networks: ['127.0.0.1'],
    resolve: (hostname, callback) => {
      requests.push(hostname);
      // A name whose address changes between the check and the connection.
      callback(null, [{ address: requests.length === 1 ? '127.0.0.1' : '127.0.0.2', family: 4 }]);
    },
  });
  requests.length = 0;
  const { status } = await delivered(`changing.example.com:${receiver.port}`, open);
  assert.equal([status, requests], ['delivered', ['changing.example.com']]);
  assert.is(receiver.take()[0]?.headers.host, `changing.example.com:${receiver.port}`);
  await open.close();
});

test('does not follow a redirect to a forbidden address', async () => {
  const open = await Fixture.start({ hooks_allowed_networks: ['127.0.0.1'] });
  receiver.behaviour = { status: 302, headers: { Location: 'http://169.254.169.254/' } };
  const { error_message, response_code } = await delivered(`127.0.0.1:${receiver.port}`, open);
  assert.equal([response_code, error_message], [302, 'The receiver responded with 302. Redirects are not followed.']);
  receiver.behaviour = 200;
  receiver.take();
  await open.close();
});

test('checks a literal address again at delivery', async () => {
  const { body: hook } = await create('example.com');
  const { db } = fixture.server.app;
  db.write(() => db.run(sql`UPDATE hook SET destination_url = ${receiver.url} WHERE uuid = ${hook.uuid}`));
  await fixture.staff.post(`${hook.url}test/`);
  await fixture.server.settled();
  assert.is((await fixture.staff.get(`${hook.url}deliveries/`)).body[0].error_message, 'Destination is not allowed.');
  assert.equal(receiver.take(), []);
});

test('names that are longer than DNS allows are not valid, and no call connects to them', async () => {
  const label = 'a'.repeat(61);
  const longest = `${[label, label, label, label].join('.')}.test`.slice(-253);
  const tooLong = `${'a'.repeat(10)}.${longest}`;
  const hook = (host: string): Promise<Json> =>
    fixture.staff.post('/api/hooks-web/', {
      destination_url: `https://${host}/in`,
      event_types: ['custom_notification'],
    });
  assert.is((await hook(longest)).status, 201);
  assert.equal((await hook(tooLong)).body, { destination_url: ['Enter a valid URL.'] });
  const client = new HttpClient({
    resolve: (_, callback) => callback(null, []),
    allows: () => true,
    timeout: 1000,
    maxBytes: 1,
  });
  const call = client.send({ method: 'GET', url: new URL(`https://${tooLong}/`) });
  await call.then(
    () => assert.unreachable(),
    (error: Error) => assert.is(error.message, 'The name of the host is too long.'),
  );
  // From here, OpenSSL would report the name.
  const { privateKey } = generateKeyPairSync('ed25519');
  createPrivateKey({ key: privateKey.export({ type: 'pkcs8', format: 'der' }), format: 'der', type: 'pkcs8' });
});

test.run();
