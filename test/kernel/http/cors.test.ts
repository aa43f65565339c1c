/** core.md 1.11: CORS. */
import * as assert from 'uvu/assert';
import { loadConfig } from '../../../src/app/settings.ts';
import { eventually } from '../../support/eventually.ts';
import { type ApiResponse, Fixture } from '../../support/fixture.ts';
import { Program } from '../../support/program.ts';
import { suiteWithServer } from '../../support/suite.ts';

const origin = 'https://app.example.com';
const { test: cors, fixture } = suiteWithServer('CORS', { allowed_origins: [origin, 'http://localhost:3000'] });
let closed: Fixture;

cors.before(async () => {
  closed = await Fixture.start();
});
cors.after(() => closed.close());

const corsHeaders = ({ headers }: ApiResponse): Record<string, string> =>
  Object.fromEntries([...headers].filter(([name]) => name === 'vary' || name.startsWith('access-control-')));
const ask = (to: Fixture, method: string, path: string, headers: Record<string, string>) =>
  to.anonymous.send(method, path, undefined, headers);
const exposed = {
  'access-control-allow-origin': origin,
  'access-control-expose-headers':
    'X-Result-Count, Link, ETag, Location, X-Request-Id, X-Ignored, X-Tenantry-Version, Retry-After',
  vary: 'Origin',
};

cors('a listed origin may read responses and their headers, without credentials', async () => {
  for (const [path, status] of [
    ['/api/version/', 200],
    ['/api/customers/', 401],
    ['/nothing/', 404],
  ] as const) {
    const response = await ask(fixture, 'GET', path, { Origin: origin });
    assert.equal([response.status, corsHeaders(response)], [status, exposed]);
  }
  const created = await fixture.staff.send('POST', '/api/customers/', '{"name":"Ministry"}', {
    'Content-Type': 'application/json',
    Origin: 'http://localhost:3000',
  });
  assert.equal([created.status, created.headers.get('access-control-allow-origin')], [201, 'http://localhost:3000']);
  const list = await fixture.staff.get('/api/customers/', { Origin: origin });
  assert.equal(corsHeaders(list), { ...exposed, vary: 'Origin, Accept-Encoding' });
});

cors(
  'a preflight from a listed origin is 204 without authentication and allows all methods and four headers',
  async () => {
    for (const path of ['/api/customers/', '/api/nothing/', '/api-auth/password/']) {
      const response = await ask(fixture, 'OPTIONS', path, {
        Origin: origin,
        'Access-Control-Request-Method': 'PATCH',
        'Access-Control-Request-Headers': 'authorization',
      });
      assert.equal([response.status, response.body], [204, undefined]);
      const { 'access-control-max-age': _, ...rest } = corsHeaders(response);
      assert.equal(rest, {
        ...exposed,
        'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS',
        'access-control-allow-headers':
          'authorization, content-type, if-match, if-none-match, last-event-id, x-tenantry-version',
      });
    }
  },
);

cors('a star stands for any origin, for a port, or for exactly one first label', async () => {
  const open = await Fixture.start({
    allowed_origins: ['http://localhost:*', 'https://*.example.com', 'http://[::1]:*'],
  });
  const allowed = async (from: Fixture, requests: string) =>
    (await ask(from, 'GET', '/api/version/', { Origin: requests })).headers.get('access-control-allow-origin') ===
    requests;
  for (const good of ['http://localhost:3000', 'http://localhost', 'https://a.example.com', 'http://[::1]:80'])
    assert.ok(await allowed(open, good), good);
  for (const bad of [
    'https://localhost:3000',
    'http://localhost.evil.com:3000',
    'https://example.com',
    'https://a.b.example.com',
    'https://a.example.com:444',
    'https://.example.com',
    'http://a.example.com',
    'https://a.example.com.evil.com',
    'null',
  ])
    assert.not.ok(await allowed(open, bad), bad);
  await open.close();
  const any = await Fixture.start({ allowed_origins: ['*'] });
  for (const good of ['null', 'https://evil.example.com', 'app://x']) assert.ok(await allowed(any, good), good);
  await any.close();
  for (const bad of ['https://*', 'https://*.*.com', 'http://localhost:*/', 'http*://a'])
    assert.throws(() => loadConfig({ options: { allowed_origins: bad } }), /must list origins/);
});

cors('OPTIONS from a listed origin without Access-Control-Request-Method is an ordinary OPTIONS', async () => {
  assert.is((await ask(fixture, 'OPTIONS', '/api/customers/', { Origin: origin })).status, 401);
  const response = await ask(fixture, 'OPTIONS', '/api/version/', { Origin: origin });
  assert.equal([response.status, response.body.name, corsHeaders(response)], [200, 'Version', exposed]);
});

cors(
  'for other origins no CORS header is sent, and their preflight gets a response without authentication',
  async () => {
    for (const other of [
      'https://evil.example.com',
      'https://app.example.com.evil.com',
      'http://app.example.com',
      'https://app.example.com:444',
      'null',
      `${origin}/`,
    ]) {
      const plain = await ask(fixture, 'GET', '/api/version/', { Origin: other });
      assert.equal([plain.status, corsHeaders(plain)], [200, {}], other);
      for (const path of ['/api/customers/', '/api/nothing/']) {
        const preflight = await ask(fixture, 'OPTIONS', path, {
          Origin: other,
          'Access-Control-Request-Method': 'GET',
        });
        assert.equal([preflight.status, preflight.body, corsHeaders(preflight)], [204, undefined, {}], other);
      }
    }
    const ordinary = await ask(fixture, 'OPTIONS', '/api/customers/', { 'Access-Control-Request-Method': 'GET' });
    assert.is(ordinary.status, 401, 'without an origin it is no preflight');
  },
);

cors('a server in memory without the setting allows pages of this machine on any port', async () => {
  for (const local of ['http://localhost:5173', 'https://localhost', 'http://127.0.0.1:3000', 'http://[::1]:8000']) {
    const preflight = await ask(closed, 'OPTIONS', '/api/customers/', {
      Origin: local,
      'Access-Control-Request-Method': 'GET',
    });
    assert.equal([preflight.status, preflight.headers.get('access-control-allow-origin')], [204, local]);
    const rejection = await ask(fixture, 'GET', '/api/version/', { Origin: local.replace(':3000', ':3001') });
    assert.equal(corsHeaders(rejection), {}, 'the setting names others');
  }
  for (const other of ['http://localhost.example.com:5173', 'http://127.0.0.2', 'https://app.example.com', 'null'])
    assert.equal(corsHeaders(await ask(closed, 'GET', '/api/version/', { Origin: other })), {}, other);
});

cors(
  'the log names an origin that is not allowed once, and the setting, but not for pages of the server itself',
  async () => {
    const program = new Program(undefined);
    try {
      const { url, errors } = await program.serve([]);
      const warnings = (): unknown[] =>
        errors()
          .split('\n')
          .filter((line) => line.includes('allowed_origins'))
          .map((line) => JSON.parse(line).origin);
      const send = (requests: string, method = 'GET') =>
        fetch(`${url}/api/version/`, {
          method,
          headers: { Origin: requests, ...(method === 'OPTIONS' && { 'Access-Control-Request-Method': 'GET' }) },
        });
      for (const requests of [
        url,
        url.replace('http:', 'https:'),
        'http://localhost:5173',
        'https://app.example.com',
        'null',
      ])
        for (const method of ['OPTIONS', 'GET', 'GET'])
          assert.is((await send(requests, method)).headers.get('access-control-allow-origin'), null);
      const first = ['http://localhost:5173', 'https://app.example.com', 'null'];
      await eventually('the log has the warnings', () => warnings().length >= first.length);
      assert.equal(warnings(), first);
      for (let i = 0; i < 110; i++) await send(`https://${'a'.repeat(300)}${i}.example.com`);
      for (let i = 0; i < 110; i++) await send(`https://app-${i}.example.com`);
      await eventually('the log has the warnings', () => warnings().length >= 100);
      assert.is(warnings().length, 100);
      assert.is(String(warnings()[3]).length, 200);
    } finally {
      await program.end();
    }
  },
);

cors.run();
