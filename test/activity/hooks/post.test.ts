import { type AddressInfo, createServer } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { HookClient } from '../../../src/activity/hooks/post.ts';
import { certificate } from '../../support/certificate.ts';
import { withFastTimers } from '../../support/fast-timers.ts';
import { Receiver } from '../../support/receiver.ts';

const test = suite('sending a POST');
const posters: HookClient[] = [];
let receiver: Receiver;

test.before(async () => {
  receiver = await Receiver.start();
});

test.after(async () => {
  for (const each of posters) each.close();
  await receiver.close();
});

function poster(options: ConstructorParameters<typeof HookClient>[0] = {}): HookClient {
  const created = new HookClient(options);
  posters.push(created);
  return created;
}

/** Returns the error of a rejected promise. */
const failure = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'no failure',
    (error: Error) => error.message,
  );

const event = (url: string) => ({ url, headers: { 'X-Name': 'value' }, body: 'body' });

test('the timeout for request and response is 10 seconds', async () => {
  receiver.behaviour = 'no-response';
  await withFastTimers(async () =>
    assert.is(await failure(poster().post(event(receiver.url))), 'No answer within 10 seconds.'),
  );
});

test('the timeout covers both, whichever part is slow', async () => {
  const impatient = poster({ timeoutMs: 50 });
  const late = 'No answer within 0.05 seconds.';
  receiver.behaviour = 'no-response';
  assert.is(await failure(impatient.post(event(receiver.url))), late);
  const resolving = poster({ timeoutMs: 50, resolve: () => undefined });
  assert.is(await failure(resolving.post(event('http://example.com/'))), late);
  const mute = createServer();
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
  assert.is(
    await failure(impatient.post(event(`https://127.0.0.1:${(mute.address() as AddressInfo).port}/`))),
    late,
    'a TLS handshake that never ends',
  );
  mute.close();
});

test('a 2xx counts even if its body does not end', async () => {
  const endless = createServer((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf'));
  await new Promise<void>((resolve) => endless.listen(0, '127.0.0.1', resolve));
  const { status } = await poster({ timeoutMs: 100 }).post(
    event(`http://127.0.0.1:${(endless.address() as AddressInfo).port}/`),
  );
  assert.is(status, 200);
  endless.close();
});

test('reads the response only up to a limit', async () => {
  receiver.behaviour = { status: 200, body: 'x'.repeat(10_000_000) };
  const { body } = await poster().post(event(receiver.url));
  assert.ok(body.length < 200_000, String(body.length));
});

test('verifies TLS certificates', async () => {
  const secure = await Receiver.start(certificate);
  assert.match(await failure(poster().post(event(secure.url))), /^TLS failed: self-signed certificate/);
  assert.equal(secure.take(), []);
  await secure.close();
});

test('reports an invalid header at once and leaves nothing running', async () => {
  await withFastTimers(async () => {
    assert.match(
      await failure(poster().post({ ...event(receiver.url), headers: { Authorization: 'key=line\nline' } })),
      /^Invalid character in header content/,
    );
    const faults: unknown[] = [];
    const note = (fault: unknown): unknown => faults.push(fault);
    process.on('uncaughtException', note);
    await new Promise((resolve) => setTimeout(resolve, 15_000));
    process.off('uncaughtException', note);
    assert.equal(faults, []);
  });
});

test('a response that is not HTTP is a failure', async () => {
  const other = createServer((socket) => socket.end('220 mail.example.com ESMTP\r\n'));
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  assert.match(
    await failure(poster().post(event(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`))),
    /^The connection failed: Parse Error/,
  );
  other.close();
});

test('reuses a connection, and does not fail if the server has closed it meanwhile', async () => {
  let connections = 0;
  const closing = createServer((socket) => {
    connections++;
    let requests = 0;
    socket.on('data', () =>
      ++requests <= 2 ? socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n') : socket.destroy(),
    );
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => closing.listen(0, '127.0.0.1', resolve));
  const { port } = closing.address() as AddressInfo;
  const keeping = poster();
  for (const _ of [1, 2, 3]) assert.is((await keeping.post(event(`http://127.0.0.1:${port}/`))).status, 200);
  assert.is(connections, 2);
  closing.close();
});

test.run();
