/** Unfinished request bodies: their cost for the server and other users (core.md 1.1 "Memory", 1.2). */
import * as assert from 'uvu/assert';
import { Accepted } from '../support/accepted.ts';
import { Fixture } from '../support/fixture.ts';
import { suiteWithServer } from '../support/suite.ts';
import { Wire } from '../support/wire.ts';

const { test: bodies, fixture } = suiteWithServer('unfinished bodies');

const head = (target: string, length: number, ...lines: readonly string[]) => [
  `POST ${target} HTTP/1.1`,
  'Host: localhost',
  'Content-Type: application/json',
  `Content-Length: ${length}`,
  ...lines,
  '',
];
const tokenOf = ({ staff }: Fixture) => `Authorization: Token ${staff.token}`;
const notProvided = { detail: 'Authentication credentials were not provided.' };
const tooMany = { detail: 'Too many uploads at once. Try again.' };
const mebibyte = 1_048_576;

bodies('rejects a request without a token, or with a wrong path or method, as soon as its headers arrive', async () => {
  for (const [target, lines, expected] of [
    ['/api/jira-attachments/', [], [401, notProvided]],
    ['/api/nothing/', [], [401, notProvided]],
    ['/api/nothing/', [tokenOf(fixture)], [404, { detail: 'Not found.' }]],
    ['/nothing/', [], [404, { detail: 'Not found.' }]],
    ['/api/version/', [], [405, { detail: 'Method "POST" not allowed.' }]],
    [
      '/api/jira-webhook-receiver/?secret=x',
      [],
      [403, { detail: 'You do not have permission to perform this action.' }],
    ],
  ] as const) {
    const wire = await Wire.to(fixture.url);
    const reply = await wire.lines(...head(target, 10 * mebibyte, ...lines)).response();
    assert.equal([reply.status, JSON.parse(reply.body)], expected, target);
    wire.close();
  }
});

bodies('does not buffer a hundred rejected uploads without a token', async () => {
  const accepted = new Accepted();
  const before = process.memoryUsage().arrayBuffers;
  const chunk = Buffer.alloc(mebibyte);
  const wires = await Promise.all(
    Array.from({ length: 100 }, async () => {
      const wire = await Wire.to(fixture.url);
      wire.lines(...head('/api/jira-attachments/', 5 * mebibyte)).bytes(chunk);
      assert.is((await wire.response()).status, 401);
      return wire;
    }),
  );
  await accepted.bytes(wires.length * mebibyte);
  assert.ok(process.memoryUsage().arrayBuffers - before < 60 * mebibyte);
  for (const wire of wires) wire.close();
  accepted.stop();
});

bodies('drains the rest of a rejected body, and serves the next request of the connection', async () => {
  const wire = await Wire.to(fixture.url);
  assert.is((await wire.lines(...head('/api/customers/', 100_000)).response()).status, 401);
  wire.bytes('x'.repeat(100_000)).lines('GET /api/version/ HTTP/1.1', 'Host: localhost', '');
  assert.is((await wire.response()).status, 200);
  wire.close();
});

bodies('sends 100 Continue only where it accepts the body', async () => {
  const asking = 'Expect: 100-continue';
  const wire = await Wire.to(fixture.url);
  const denial = await wire.lines(...head('/api/customers/', 20, asking)).response();
  assert.equal([denial.status, denial.headers.connection], [401, 'close']);
  assert.is(await wire.closed(), '');
  const taken = await Wire.to(fixture.url);
  taken.lines(...head('/api/customers/', 20, asking, tokenOf(fixture)));
  assert.is((await taken.response()).status, 100);
  assert.is((await taken.bytes('{"name":"Expected"}\n').response()).status, 201);
  taken.close();
});

bodies('limits bodies of public endpoints to 64 KiB, those of SAML to 512 KiB', async () => {
  const sized = (path: string, bytes: number) =>
    fixture.anonymous.send('POST', path, `{"username":"${'x'.repeat(bytes - 15)}"}`, {
      'Content-Type': 'application/json',
    });
  const tooLarge = [413, { detail: 'Request body is too large.' }];
  const resultOf = async (path: string, bytes: number) => {
    const { status, body } = await sized(path, bytes);
    return [status, body];
  };
  assert.is((await sized('/api-auth/password/', 65_536)).status, 401);
  assert.equal(await resultOf('/api-auth/password/', 65_537), tooLarge);
  assert.is((await sized('/api-auth/saml2/login/complete/', 524_288)).status, 401);
});

bodies(
  'limits unfinished bodies by a shared budget, half of it for one user, and does not count small ones',
  async () => {
    const small = await Fixture.start({ body_budget_bytes: mebibyte });
    const client = await small.user('second').then(() => small.as('second'));
    const begin = async (token: string, bytes: number) => {
      const wire = await Wire.to(small.url);
      wire
        .lines(...head('/api/customers/', mebibyte, `Authorization: Token ${token}`))
        .bytes(`{"name":"${'x'.repeat(bytes)}`);
      return wire;
    };
    const staff = small.staff.token as string;
    const accepted = new Accepted();
    const first = await begin(staff, 500_000);
    await accepted.bytes(500_000);
    const beyond = await begin(staff, 50_000);
    const reply = await beyond.response();
    assert.equal(
      [reply.status, JSON.parse(reply.body), reply.headers['retry-after'], reply.headers.allow],
      [503, tooMany, '1', 'GET, POST, HEAD, OPTIONS'],
    );
    // Another user may use the other half.
    const other = await begin(client.token as string, 400_000);
    assert.is((await small.staff.post('/api/customers/', { name: 'Small' })).status, 201);
    first.close();
    other.close();
    await accepted.gone(2);
    accepted.stop();
    // Closed connections release their share.
    assert.is((await small.staff.post('/api/customers/', { name: 'x'.repeat(500_000) })).status, 400);
    beyond.close();
    await small.close();
  },
);

bodies('uses little more memory than its bytes for a body sent byte by byte', async () => {
  const accepted = new Accepted();
  const before = process.memoryUsage();
  const wire = await Wire.to(fixture.url);
  wire.lines(
    'POST /api/customers/ HTTP/1.1',
    'Host: localhost',
    'Content-Type: application/json',
    'Transfer-Encoding: chunked',
    tokenOf(fixture),
    '',
  );
  const chunks = '1\r\nx\r\n'.repeat(200_000);
  wire.bytes(chunks);
  await accepted.bytes(chunks.length);
  accepted.stop();
  const after = process.memoryUsage();
  global.gc?.();
  assert.ok(after.arrayBuffers - before.arrayBuffers < 30 * mebibyte);
  wire.bytes('0\r\n\r\n');
  assert.is((await wire.response()).status, 400);
  wire.close();
});

bodies.run();
