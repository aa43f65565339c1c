/** The base of links and the client's address: Host, base_url and trusted proxies (core.md 1.6, 2.1). */
import * as assert from 'uvu/assert';
import { Fixture } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';
import { sendOverWire } from '../../support/wire.ts';

const { test: origins, fixture: direct } = suiteWithServer('links and client addresses');
let proxied: Fixture;

origins.before(async () => {
  proxied = await Fixture.start({ trusted_proxies: ['127.0.0.1', '10.0.0.0/8', '2001:db8::/32'] });
});
origins.after(() => proxied.close());

/** Returns the base of the links in the root for these headers, or the error. */
async function base(fixture: Fixture, lines: readonly string[], target = '/api/', version = '1.1'): Promise<unknown> {
  const response = await sendOverWire(
    fixture.url,
    `GET ${target} HTTP/${version}`,
    `Authorization: Token ${fixture.staff.token}`,
    ...lines,
    '',
  );
  const body = JSON.parse(response.body);
  return response.status === 200 ? (body.users ?? body.api).replace(/\/api\/(users\/)?$/, '') : [response.status, body];
}

/** Returns the client address in the event of a failed login. */
async function address(fixture: Fixture, ...forwarded: readonly string[]): Promise<string | undefined> {
  const body = '{"username":"nobody","password":"x"}';
  fixture.events();
  const lines = forwarded.map((value) => `X-Forwarded-For: ${value}`);
  await sendOverWire(
    fixture.url,
    'POST /api-auth/password/ HTTP/1.1',
    'Host: localhost',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    ...lines,
    '',
    body,
  );
  fixture.clock.advance(3600);
  return fixture.events()[0]?.context.ip_address;
}

const invalidHost = [400, { detail: 'Invalid Host header.' }];

origins('links start with http and the Host of the request', async () => {
  for (const host of [
    'tenantry.example.com',
    'tenantry.example.com:8443',
    '192.0.2.7',
    '[2001:db8::7]:8080',
    'my_host',
  ])
    assert.is(await base(direct, [`Host: ${host}`]), `http://${host}`);
});

origins('an invalid Host is 400 and never appears in a link', async () => {
  for (const host of ['', 'a b', 'a/b', '"><script>', 'user@host', 'host:port', 'host:123456', '[::1', 'a,b'])
    assert.equal([host, await base(direct, [`Host: ${host}`])], [host, invalidHost]);
});

origins('a request without a Host is 400, also one of HTTP/1.0', async () => {
  assert.equal(await base(direct, []), invalidHost);
  assert.equal(await base(direct, [], '/api/', '1.0'), invalidHost);
  assert.is(await base(direct, ['Host: shown.example.com'], '/api/', '1.0'), 'http://shown.example.com');
});

origins('a target in absolute form names the host itself', async () => {
  assert.is(await base(direct, ['Host: other'], 'http://shown.example.com/api/'), 'http://shown.example.com');
  assert.equal(
    await base(direct, ['Host: other'], 'http://shown.example.com/api/?unknown=1'),
    'http://shown.example.com',
  );
  assert.is(await base(direct, ['Host: other'], 'http://shown.example.com'), 'http://shown.example.com');
  assert.equal(await base(direct, ['Host: other'], 'http://user@shown/api/'), invalidHost);
  assert.equal(await base(direct, ['Host: other'], 'ftp://shown/api/'), [400, { detail: 'Invalid request target.' }]);
});

origins('the setting base_url overrides everything in the request', async () => {
  const fixture = await Fixture.start({
    base_url: 'https://cloud.example.com/tenantry',
    trusted_proxies: ['127.0.0.1'],
  });
  assert.is(await base(fixture, ['Host: other', 'X-Forwarded-Host: third']), 'https://cloud.example.com/tenantry');
  assert.equal(await base(fixture, ['Host: "strange"']), invalidHost);
  const customer = await fixture.customer('Ministry');
  assert.is(customer.url, `https://cloud.example.com/tenantry/api/customers/${customer.uuid}/`);
  const created = await fixture.staff.post('/api/projects/', { name: 'Bridge', customer: customer.url });
  assert.equal(
    [created.status, created.body.customer, created.headers.get('location')],
    [201, customer.url, created.body.url],
  );
  await fixture.close();
});

origins('X-Forwarded-Proto and -Host count only from trusted proxies', async () => {
  const forwarded = ['Host: inner:8080', 'X-Forwarded-Proto: https', 'X-Forwarded-Host: outer.example.com'];
  assert.is(await base(direct, forwarded), 'http://inner:8080');
  assert.is(await base(proxied, forwarded), 'https://outer.example.com');
  assert.is(await base(proxied, ['Host: inner:8080']), 'http://inner:8080');
  assert.is(await base(proxied, ['Host: inner', 'X-Forwarded-Proto: gopher']), 'http://inner');
  assert.equal(await base(proxied, ['Host: inner', 'X-Forwarded-Host: "evil"']), invalidHost);
});

origins(
  'the port that a trusted proxy forwards counts where the host names none; the own port of a scheme is left out',
  async () => {
    const forwarded = ['Host: inner:8080', 'X-Forwarded-Host: outer.example.com'];
    assert.is(await base(direct, ['Host: inner:80', 'X-Forwarded-Port: 81']), 'http://inner');
    assert.is(await base(proxied, [...forwarded, 'X-Forwarded-Port: 8443']), 'http://outer.example.com:8443');
    assert.is(
      await base(proxied, [...forwarded, 'X-Forwarded-Proto: https', 'X-Forwarded-Port: 443']),
      'https://outer.example.com',
    );
    assert.is(await base(proxied, ['Host: inner:8080', 'X-Forwarded-Port: 8443']), 'http://inner:8080');
    assert.equal(await base(proxied, ['Host: inner', 'X-Forwarded-Port: 99999']), invalidHost);
  },
);

origins('the client address is the peer, whatever headers it sends, unless the peer is a trusted proxy', async () => {
  assert.is(await address(direct), '127.0.0.1');
  assert.is(await address(direct, '203.0.113.9'), '127.0.0.1');
  assert.is(await address(proxied), '127.0.0.1');
});

origins('behind trusted proxies it is the last X-Forwarded-For entry that is not one itself', async () => {
  assert.is(await address(proxied, '203.0.113.9'), '203.0.113.9');
  assert.is(await address(proxied, '198.51.100.1, 203.0.113.9'), '203.0.113.9');
  assert.is(await address(proxied, '198.51.100.1, 203.0.113.9, 10.1.2.3, 2001:db8::5'), '203.0.113.9');
  assert.is(await address(proxied, '198.51.100.1', '203.0.113.9', '10.9.9.9'), '203.0.113.9');
  assert.is(await address(proxied, '::ffff:203.0.113.9'), '203.0.113.9');
  assert.is(await address(proxied, '2001:DB9::1'), '2001:db9::1');
  assert.is(await address(proxied, '10.1.2.3, 10.1.2.4'), '127.0.0.1');
});

origins('an entry may have a port; entries before an invalid one are ignored', async () => {
  assert.is(await address(proxied, '198.51.100.1, 203.0.113.9:4711'), '203.0.113.9');
  assert.is(await address(proxied, '198.51.100.1, [2001:db9::1]:4711'), '2001:db9::1');
  assert.is(await address(proxied, '198.51.100.1, "203.0.113.9"'), '203.0.113.9');
  assert.is(await address(proxied, '"[2001:db9::1]:4711", "10.1.2.3:80"'), '2001:db9::1');
  assert.is(await address(proxied, '203.0.113.9, "unknown"'), '127.0.0.1');
  assert.is(await address(proxied, '203.0.113.9, "198.51.100.1'), '127.0.0.1');
  assert.is(await address(proxied, '198.51.100.1, unknown'), '127.0.0.1');
  assert.is(await address(proxied, '198.51.100.1, ,'), '127.0.0.1');
});

origins.run();
