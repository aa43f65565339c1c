import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { pino } from 'pino';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ProviderError } from '../../../src/cloud/catalogue/provider-error.ts';
import { VendorHttp, type VendorHttpOptions, vendorAddressRule } from '../../../src/cloud/catalogue/vendor-http.ts';
import { systemResolver } from '../../../src/kernel/net/resolver.ts';
import { certificate } from '../../support/certificate.ts';
import { Receiver } from '../../support/receiver.ts';
import { DigitalOcean } from '../../vendors/digitalocean/stand-in.ts';

const test = suite('calls of vendors');
let receiver: Receiver;
let secure: Receiver;
let logged = '';
const log = pino({ level: 'trace', base: null }, { write: (line: string) => (logged += line) });

test.before(async () => {
  receiver = await Receiver.start();
  secure = await Receiver.start(certificate);
});

test.after(async () => {
  await receiver.close();
  await secure.close();
});

test.after.each(() => {
  receiver.behaviour = secure.behaviour = 200;
  receiver.take();
  secure.take();
  logged = '';
});

const client = (options: Partial<VendorHttpOptions> = {}): VendorHttp =>
  new VendorHttp({ resolve: systemResolver, allows: () => true, log, ...options });

const get = (url: string, http = client()): Promise<unknown> =>
  http.json({ method: 'GET', url: new URL(url) }, (body) => (body as { message?: string })?.message);

/** Returns the class and message of a failed call's error. */
async function failure(call: Promise<unknown>): Promise<readonly [string, string]> {
  try {
    await call;
  } catch (error) {
    assert.instance(error, ProviderError);
    return [(error as ProviderError).type, (error as ProviderError).message];
  }
  throw new Error('the call succeeded');
}

const unavailable = ['unavailable', 'Backend does not respond'];
const malformed = ['malformed', 'Unexpected answer of backend'];

test('sends and reads JSON', async () => {
  receiver.behaviour = { status: 201, headers: { 'X-Next-Page': '2' }, body: '{"droplet":{"id":1}}' };
  const reply = await client().json(
    {
      method: 'POST',
      url: new URL(`${receiver.url}/v2/droplets`),
      headers: { Authorization: 'Bearer t' },
      json: { name: 'Ülle' },
    },
    () => undefined,
  );
  assert.is(reply.status, 201);
  assert.is(reply.headers['x-next-page'], '2');
  assert.equal(reply.body, { droplet: { id: 1 } });
  const [{ body, headers, path }] = receiver.take() as [(typeof receiver.requests)[0]];
  assert.equal(
    [path, body, headers['content-type'], headers.authorization],
    ['/v2/droplets', '{"name":"Ülle"}', 'application/json', 'Bearer t'],
  );
});

test('an empty response has no document, and a response that is not JSON is unexpected', async () => {
  receiver.behaviour = 204;
  assert.is(((await get(receiver.url)) as { body: unknown }).body, undefined);
  receiver.behaviour = { status: 200, body: '{"droplets":[' };
  assert.equal(await failure(get(receiver.url)), malformed);
});

test('maps statuses to error classes, with the message of the vendor', async () => {
  const classes: Record<string, unknown> = {};
  for (const status of [400, 401, 403, 404, 409, 410, 418, 422, 429]) {
    receiver.behaviour = { status, body: `{"message":"No ${status}."}` };
    const [type, text] = await failure(get(receiver.url));
    classes[status] = type;
    assert.is(text, `No ${status}.`);
  }
  assert.equal(classes, {
    400: 'invalid',
    401: 'unauthorized',
    403: 'unauthorized',
    404: 'not_found',
    409: 'conflict',
    410: 'not_found',
    418: 'invalid',
    422: 'invalid',
    429: 'limited',
  });
  for (const status of [500, 502, 503, 504]) {
    receiver.behaviour = { status, body: '<html>Bad gateway</html>' };
    assert.equal(await failure(get(receiver.url)), unavailable);
  }
});

test('reports a rejection without a message by its status', async () => {
  receiver.behaviour = { status: 422, body: '<html></html>' };
  assert.equal(await failure(get(receiver.url)), ['invalid', 'Backend answered with status 422']);
});

test('replaces secrets in messages of the vendor with stars', async () => {
  receiver.behaviour = { status: 403, body: '{"message":"Token s3cret of user s3cret is not allowed."}' };
  assert.equal(await failure(get(receiver.url, client({ secrets: ['s3cret', '', 'a', 'the'] }))), [
    'unauthorized',
    'Token *** of user *** is not allowed.',
  ]);
});

test('a rate-limited call returns the time to wait: Retry-After in seconds or as a date, otherwise the reset of the limit', async () => {
  const date = 'Fri, 05 Jan 2018 04:47:00 GMT';
  const waits = async (headers: Record<string, string>): Promise<number | undefined> => {
    receiver.behaviour = { status: 429, headers: { Date: date, ...headers } };
    return get(receiver.url).then(
      () => -1,
      (error: ProviderError) => error.retryAfter,
    );
  };
  assert.is(await waits({ 'Retry-After': '30' }), 30_000);
  assert.is(await waits({ 'Retry-After': 'Fri, 05 Jan 2018 04:48:30 GMT' }), 90_000);
  assert.is(await waits({ 'RateLimit-Reset': '1515127630' }), 10_000);
  assert.is(await waits({ 'Retry-After': '5', 'RateLimit-Reset': '1515127630' }), 5000);
  assert.is(await waits({}), undefined);
});

test('does not follow redirects', async () => {
  receiver.behaviour = { status: 302, headers: { Location: `${secure.url}/elsewhere` } };
  assert.equal(await failure(get(receiver.url)), malformed);
  assert.equal(secure.take(), []);
});

test('a response above the limit is unexpected', async () => {
  receiver.behaviour = { status: 200, body: `"${'x'.repeat(2000)}"` };
  assert.equal(await failure(get(receiver.url, client({ limits: { bytes: 2000 } }))), malformed);
  assert.is(((await get(receiver.url, client({ limits: { bytes: 2002 } }))) as { status: number }).status, 200);
});

test('a connection that is rejected, reset or interrupted counts as an unresponsive backend', async () => {
  receiver.behaviour = 'reset';
  assert.equal(await failure(get(receiver.url)), unavailable);
  receiver.behaviour = { status: 200, headers: { 'Content-Length': '100', Connection: 'close' }, body: '{}' };
  assert.equal(await failure(get(receiver.url, client({ limits: { response: 300 } }))), unavailable);
  assert.equal(await failure(get('http://127.0.0.1:1/')), unavailable);
});

test('a backend that does not connect or respond in time counts as unresponsive', async () => {
  receiver.behaviour = 'no-response';
  assert.equal(await failure(get(receiver.url, client({ limits: { response: 50 } }))), unavailable);
  const mute = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => mute.once('listening', resolve));
  const started = performance.now();
  assert.equal(
    await failure(
      get(`https://127.0.0.1:${(mute.address() as AddressInfo).port}/`, client({ limits: { connect: 50 } })),
    ),
    unavailable,
  );
  assert.ok(performance.now() - started < 5000);
  mute.close();
});

test('verifies the certificate of the backend, with that of the settings as an additional trust anchor', async () => {
  assert.equal(await failure(get(secure.url)), unavailable);
  assert.is(((await get(secure.url, client({ certificate: certificate.cert }))) as { status: number }).status, 200);
  assert.equal(await failure(get(secure.url, client({ certificate: 'no certificate' }))), unavailable);
});

test('makes one call at a time', async () => {
  const vendor = await DigitalOcean.start();
  vendor.injectFault('GET /regions', { delay: 10 }, 3);
  const http = client();
  await Promise.all([1, 2, 3].map(() => get(`${vendor.url}/regions`, http).catch(() => undefined)));
  assert.equal([vendor.take().length, vendor.server.maxConcurrent], [3, 1]);
  await vendor.close();
});

test('rejects addresses of the machine and its network, as numbers and as names', async () => {
  const rule = vendorAddressRule([], false);
  const rejection = ['invalid', 'Destination address is not allowed by provider_allowed_networks'];
  for (const url of [
    'http://127.0.0.1/',
    'http://localhost/',
    'http://0x7f000001/',
    'http://[::1]/',
    'http://169.254.169.254/',
    'http://10.0.0.1/',
    'http://224.0.0.1/',
    'http://[fec0::1]/',
    'http://168.63.129.16/',
    'http://[64:ff9b:1::93.184.216.34]/',
  ]) {
    assert.equal(await failure(get(url, client({ allows: rule }))), rejection, url);
  }
  const resolve: VendorHttpOptions['resolve'] = (_, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]);
  assert.equal(
    await failure(get(receiver.url.replace('127.0.0.1', 'cloud.example.com'), client({ allows: rule, resolve }))),
    rejection,
  );
  assert.equal(receiver.take(), []);
  const allowed = client({ allows: vendorAddressRule(['127.0.0.0/8'], false), resolve });
  assert.is(
    ((await get(receiver.url.replace('127.0.0.1', 'cloud.example.com'), allowed)) as { status: number }).status,
    200,
  );
});

test('settings written by staff may use private addresses, but not those of the machine, the link or the metadata service', () => {
  const checked = [
    '203.0.113.7',
    '10.1.2.3',
    '172.16.0.1',
    '192.168.1.1',
    'fd12::1',
    '127.0.0.1',
    '169.254.169.254',
    'fd00:ec2::254',
    '224.0.0.1',
    '100.100.100.200',
  ];
  const allowed = (mayBePrivate: boolean, networks: string[] = []): string[] =>
    checked.filter(vendorAddressRule(networks, mayBePrivate));
  assert.equal(allowed(false), ['203.0.113.7']);
  assert.equal(allowed(true), ['203.0.113.7', '10.1.2.3', '172.16.0.1', '192.168.1.1', 'fd12::1']);
  assert.equal(allowed(false, ['192.168.1.0/24', '127.0.0.1']), ['203.0.113.7', '192.168.1.1', '127.0.0.1']);
});

test('logs a failed call without credentials and bodies', async () => {
  receiver.behaviour = 'reset';
  const call = {
    method: 'POST' as const,
    url: new URL(`${receiver.url}/v2/droplets?token=t0ken`),
    headers: { Authorization: 'Bearer s3cret' },
    json: { user_data: 'passw0rd' },
  };
  await failure(client().json(call, () => undefined));
  const { host, method, msg, path, reason } = JSON.parse(logged);
  assert.equal(
    { host, method, msg, path, reason },
    {
      host: new URL(receiver.url).host,
      method: 'POST',
      msg: 'vendor call failed',
      path: '/v2/droplets',
      reason: 'ECONNRESET',
    },
  );
  assert.not.match(logged, /s3cret|t0ken|passw0rd/);
});

test.run();
