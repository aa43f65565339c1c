import { join } from 'node:path';
import { createServer } from 'tenantry';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually } from '../support/eventually.ts';
import type { Json } from '../support/fixture.ts';
import { Mailbox } from '../support/mailbox.ts';
import { nativeCache, Program, type Serving } from '../support/program.ts';

const test = suite('the log');
let program: Program;

test.before.each(() => {
  program = new Program(nativeCache);
});
test.after.each(() => program.end());

const linesOf = (serving: Serving): Json[] => {
  const lines = serving.errors().split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line));
};

/** Serves, sends requests, stops; returns the log lines of requests without varying parts. */
async function requests(
  ask: (serving: Serving, token: string) => Promise<unknown>,
  words: string[] = [],
): Promise<Json[]> {
  const serving = await program.serve(['--ephemeral', '--log-level', 'info', ...words]);
  await ask(serving, serving.startup.token as string);
  assert.is(await serving.stop(), 0);
  return linesOf(serving).flatMap(({ time, level, ms, msg, request, ...line }) => {
    if (msg !== 'request') return [];
    assert.equal([typeof time, level, typeof request], ['string', 30, 'string']);
    assert.ok(ms === undefined || ms >= 0);
    return [line];
  });
}

test('logs one line per request with method, path, route, status, duration, address, user and request id', async () => {
  let uuid = '';
  const lines = await requests(async ({ url }, token) => {
    const headers = { Authorization: `Token ${token}` };
    const [me] = (await (await fetch(`${url}/api/users/?current`, { headers })).json()) as [{ uuid: string }];
    uuid = me.uuid;
    await fetch(`${url}/api/users/${uuid}/?field=name`, { headers });
    await fetch(`${url}/api/customers/`, { method: 'POST', body: '{}' });
  });
  const address = '127.0.0.1';
  assert.equal(lines, [
    { method: 'GET', path: '/api/users/', route: '/api/users/', status: 200, address, user: uuid },
    { method: 'GET', path: `/api/users/${uuid}/`, route: '/api/users/:key/', status: 200, address, user: uuid },
    { method: 'POST', path: '/api/customers/', route: '/api/customers/', status: 401, address },
  ]);
});

test('logs the address of the client behind a trusted proxy', async () => {
  const lines = await requests(
    ({ url }) => fetch(`${url}/api/version/`, { headers: { 'X-Forwarded-For': '192.0.2.7' } }),
    ['--trusted-proxies', '127.0.0.1'],
  );
  assert.is(lines[0]?.address, '192.0.2.7');
});

test('logs the pattern of a path that may hold a secret, and redacts secrets in unknown ones', async () => {
  const secret = '0123456789abcdef0123456789abcdef';
  const lines = await requests(async ({ url }, token) => {
    for (const action of ['accept/', 'check/', 'send/', 'cancel/', ''])
      await fetch(`${url}/api/user-invitations/${secret}/${action}?secret=${secret}`, {
        method: 'POST',
        headers: { Authorization: `Token ${token}` },
      });
    await fetch(`${url}/api/user-invitations/${secret}/accept`, { method: 'POST' });
    await fetch(`${url}/hooks/confirm/${secret}`);
    await fetch(`${url}/hooks/unknown/${secret}`);
  });
  assert.equal(
    lines.map(({ path }) => path),
    [
      '/api/user-invitations/:key/accept/',
      '/api/user-invitations/:key/check/',
      '/api/user-invitations/:key/send/',
      '/api/user-invitations/:key/cancel/',
      '/api/user-invitations/:key/',
      '/api/user-invitations/:key/accept/',
      '/hooks/confirm/:key/',
      '/hooks/unknown/…/',
    ],
  );
});

/** Creates provider settings, and waits for a log line about them. */
async function linesOfSettings(fields: Record<string, unknown>, message: string): Promise<[Json, Json[]]> {
  const serving = await program.serve(['--ephemeral']);
  const creation = await fetch(`${serving.url}/api/service-settings/`, {
    method: 'POST',
    headers: { Authorization: `Token ${serving.startup.token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'Ocean', type: 'DigitalOcean', ...fields }),
  });
  const body = (await creation.json()) as Json;
  assert.is(creation.status, 201, JSON.stringify(body));
  await eventually(message, () => serving.errors().includes(message));
  assert.is(await serving.stop(), 0);
  return [body, linesOf(serving).map(({ time: _, ...line }) => line)];
}

test('warns of new simulated settings', async () => {
  const msg = 'new settings are simulated: no provider is called';
  const [{ uuid }, lines] = await linesOfSettings({ token: 'taken for real' }, msg);
  assert.equal(lines, [{ level: 40, settings: uuid, type: 'DigitalOcean', msg }]);
});

test('warns of a failed synchronisation, and names the setting that would allow a rejected address', async () => {
  const msg = 'synchronisation failed';
  const fields = { token: 'secret token', backend_url: 'http://127.0.0.1:9/v2' };
  const [{ uuid }, lines] = await linesOfSettings(fields, msg);
  const reason = 'Destination address is not allowed by provider_allowed_networks';
  assert.equal(
    lines.filter((line) => line.msg === msg),
    [{ level: 40, settings: uuid, type: 'DigitalOcean', name: 'Ocean', reason, msg }],
  );
  assert.not.match(JSON.stringify(lines), /secret token/);
});

test('writes every line at start as JSON, also that about the initial password', async () => {
  const serving = await program.serve(['--log-level', 'info']);
  await serving.stop();
  const lines = linesOf(serving);
  assert.ok(lines.some(({ msg }) => msg.includes('initial-password')));
});

test('warns of the first X-Forwarded-For of an untrusted client only', async () => {
  const ask = async (serving: Serving): Promise<void> => {
    for (let i = 0; i < 3; i++)
      await fetch(`${serving.url}/api/version/`, { headers: { 'X-Forwarded-For': `192.0.2.${i}` } });
  };
  for (const [words, expected] of [
    [[], 1],
    [['--trusted-proxies', '127.0.0.0/8'], 0],
  ] as const) {
    const serving = await program.serve(['--ephemeral', ...words]);
    await fetch(`${serving.url}/api/version/`);
    assert.equal(linesOf(serving), []);
    await ask(serving);
    await serving.stop();
    const warnings = linesOf(serving);
    assert.is(warnings.length, expected);
    for (const { level, msg, peer } of warnings) {
      assert.equal([level, peer], [40, '127.0.0.1']);
      assert.match(msg, /^X-Forwarded-For is ignored, as trusted_proxies does not name its sender/);
    }
  }
});

test('names the recipient of a failed mail, and lists it in doctor with erred accounts', async () => {
  const mailbox = await Mailbox.start();
  mailbox.rejection = [450, 'Busy.'];
  const data = join(program.folder, 'data');
  let now = Date.now() * 1000 - 2 * 3600e6;
  const server = await createServer({
    data,
    port: 0,
    log_level: 'silent',
    ...mailbox.settings,
    clock: { now: () => now },
  } as never);
  const post = async (path: string, body: unknown): Promise<Json> => {
    const headers = { Authorization: `Token ${server.issueToken()}`, 'Content-Type': 'application/json' };
    return (await fetch(server.url + path, { method: 'POST', headers, body: JSON.stringify(body) })).json();
  };
  const customer = await post('/api/customers/', { name: 'Alice' });
  await post('/api/user-invitations/', {
    link_template: 'https://app.example.com/{uuid}',
    email: 'new@example.com',
    customer: customer.url,
    customer_role: 'owner',
  });
  server.app.db.write(() =>
    server.app.db.insert('service_settings', {
      uuid: '0'.repeat(32),
      name: 'Main cloud',
      type: 'OpenStack',
      state: 'Erred',
      error_message: 'No route to host',
      created: now,
    }),
  );
  now += 1e6;
  server.tick();
  await server.settled();
  await server.close();
  const [stuck, erred, ...rest] = (await program.run(['doctor'])).stdout.split('\n');
  assert.match(
    stuck as string,
    /^mail of an invitation to new@example\.com has been pending since \d{4}-\d\d-\d\dT[\d:.]+Z, 1 attempts: .*450 Busy\.$/,
  );
  assert.equal([erred, ...rest], ['OpenStack account Main cloud is Erred: No route to host', '']);
  const serving = await program.serve(
    Object.entries(mailbox.settings).flatMap(([name, value]) => [`--${name.replaceAll('_', '-')}`, String(value)]),
  );
  for (let i = 0; i < 100 && !serving.errors().includes('mail could not be sent'); i++)
    await new Promise((resolve) => setTimeout(resolve, 100));
  await serving.stop();
  await mailbox.close();
  const failed = linesOf(serving).find(({ msg }) => msg === 'mail could not be sent');
  assert.equal([failed?.to, failed?.code], ['new@example.com', 450]);
});

test.run();
