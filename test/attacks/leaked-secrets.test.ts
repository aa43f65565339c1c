/**
 * Logs, events, audit records, exports, metrics and rejections contain no secret of a login or a key, and no database stores one.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Secret, TOTP } from 'otpauth';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Client, type Json } from '../support/fixture.ts';
import { freePort } from '../support/free-port.ts';
import { oidcSettings, tokenOf } from '../support/oidc-fixture.ts';
import { clientSecret, Jar, OpenIdProvider } from '../support/openid-provider.ts';
import { nativeCache, Program, type Serving } from '../support/program.ts';
import { Files } from '../support/saml-fixture.ts';
import { wordsOf } from '../support/saml-login.ts';

const test = suite('secrets of logins and keys');
const password = 'correct-Horse-Battery-1';
let program: Program;
let provider: OpenIdProvider;
let files: Files;
let server: Serving;
let words: readonly string[];
/** The secrets, by their purpose. */
const secrets = new Map<string, string>([
  ['client secret', clientSecret],
  ['password', password],
]);
/** Bodies of responses, except those that issue a secret. */
const bodies: string[] = [];

test.before(async () => {
  const port = await freePort();
  provider = await OpenIdProvider.start(`http://127.0.0.1:${port}`, 'company');
  files = new Files();
  program = new Program(nativeCache);
  const { authentication_methods: methods, ...settings } = oidcSettings(files, [
    { name: 'company', issuer: provider.issuer },
  ]);
  const all = { ...settings, authentication_methods: methods.join(','), port: String(port), log_level: 'debug' };
  words = wordsOf(all);
  const add = ['user', 'add', 'admin', '--staff', '--password-stdin', '--data', 'data'];
  assert.is((await program.run(add, { input: 'another-Horse-Battery-2' })).code, 0);
  server = await program.serve(words);
});
test.after(async () => {
  await program?.end();
  await provider?.close();
  files?.remove();
});

/** Sends a request with secrets in all places of a request that servers tend to log. Its response must not repeat them. */
async function send(client: Client, method: string, path: string, body?: unknown, status?: number): Promise<Json> {
  const [secret = ''] = [...secrets.values()].slice(-1);
  const response = await client.send(method, path, body, { Referer: `${server.url}/page?secret=${secret}` });
  // The links of a page repeat the query of its request.
  const headers = [...response.headers].filter(([name]) => name !== 'link');
  bodies.push(`${method} ${path}: ${JSON.stringify(response.body)} ${JSON.stringify(headers)}`);
  if (status !== undefined) assert.is(response.status, status, bodies.at(-1));
  return response.body;
}

/** Sends a request whose response issues secrets. */
async function issue(client: Client, path: string, body: unknown, status: number): Promise<Json> {
  const response = await client.post(path, body);
  assert.is(response.status, status, JSON.stringify(response.body));
  return response.body;
}

const code = (secret: string, steps = 0): string =>
  TOTP.generate({ secret: Secret.fromBase32(secret), timestamp: Date.now() + steps * 30_000 });

test('a tour of all logins and keys', async () => {
  const { stdout: adminToken } = await program.run(['token', 'admin']);
  const staff = new Client(server, adminToken.trim());
  secrets.set('token of staff', adminToken.trim());
  const [admin] = (await staff.get('/api/users/?current')).body;
  await send(staff, 'PATCH', admin.url, { agree_with_policy: true }, 200);
  await send(staff, 'POST', '/api/users/', { username: 'alice', email: 'alice@example.com' }, 201);
  const [{ url: user, uuid }] = (await staff.get('/api/users/?username=alice')).body;
  await send(staff, 'POST', `${user}password/`, { password }, 200);
  await send(staff, 'POST', '/api/customers/', { name: 'Acme' }, 201);
  const [{ url: customer }] = (await staff.get('/api/customers/')).body;
  await send(staff, 'POST', '/api/customer-permissions/', { user, customer, role: 'owner' }, 201);
  const anonymous = new Client(server, undefined);
  // Logins by password.
  await send(anonymous, 'POST', '/api-auth/password/', { username: 'alice', password: `${password}x` }, 401);
  const { token } = await issue(anonymous, '/api-auth/password/', { username: 'alice', password }, 200);
  secrets.set('token', token);
  const alice = new Client(server, token);
  await send(alice, 'PATCH', user, { agree_with_policy: true }, 200);
  await send(alice, 'GET', `/api/users/?token=${token}`);
  await send(alice, 'GET', `/api/nothing/${token}/`, undefined, 404);
  // API keys, including one of a service account.
  const key = await issue(alice, '/api/api-keys/', { name: 'CI', scopes: ['*:write'] }, 201);
  const rotated = await issue(alice, `${key.url}rotate/`, {}, 200);
  const project = (await send(alice, 'POST', '/api/projects/', { name: 'Web', customer }, 201)).url;
  const account = await send(alice, 'POST', '/api/service-accounts/', { name: 'Robot', project, role: 'admin' }, 201);
  const robot = await issue(
    alice,
    '/api/api-keys/',
    { name: 'Robot', scopes: ['projects:read'], service_account: account.url },
    201,
  );
  for (const [name, text] of Object.entries({ key: key.key, 'rotated key': rotated.key, 'key of robot': robot.key })) {
    secrets.set(name, text);
    const client = new Client(server, text);
    await send(client, 'GET', '/api/customers/', undefined, name === 'key of robot' ? 403 : 200);
    await send(client, 'POST', '/api/projects/', { name: text, customer: text }, name === 'key of robot' ? 403 : 400);
    await send(client, 'GET', `/api/projects/?key=${text}&name=${text}`, undefined, 200);
    await send(client, 'GET', `/api/${text}/`, undefined, 404);
    await send(new Client(server, `${text}x`), 'GET', '/api/customers/', undefined, 401);
    await send(client, 'POST', `/api-auth/password/`, { username: text, password: text }, 401);
    await send(client, 'POST', '/api/sessions/confirm/', { password: text }, 403);
  }
  // An authenticator app and recovery codes.
  const { secret, uri } = await issue(alice, '/api/second-factors/totp/', {}, 200);
  secrets.set('secret of the app', secret);
  secrets.set('address of the app', uri);
  await send(alice, 'POST', '/api/second-factors/totp/confirm/', { code: secret.slice(0, 10), name: 'Phone' }, 400);
  const factor = await issue(alice, '/api/second-factors/totp/confirm/', { code: code(secret), name: 'Phone' }, 201);
  for (const [i, text] of factor.recovery_codes.entries()) secrets.set(`recovery code ${i}`, text);
  const renewed = await issue(alice, '/api/second-factors/recovery-codes/', {}, 200);
  for (const [i, text] of renewed.recovery_codes.entries()) secrets.set(`new recovery code ${i}`, text);
  const pending = await anonymous.post('/api-auth/password/', { username: 'alice', password });
  const { token: waiting } = pending.body.second_factor;
  secrets.set('token of a pending login', waiting);
  await send(anonymous, 'POST', '/api-auth/second-factor/', { token: waiting, code: secret }, 401);
  await send(
    anonymous,
    'POST',
    '/api-auth/second-factor/',
    { token: waiting, recovery_code: factor.recovery_codes[0] },
    401,
  );
  await send(alice, 'POST', '/api/sessions/confirm/', { recovery_code: factor.recovery_codes[0] }, 400);
  await send(alice, 'POST', '/api/sessions/confirm/', { password }, 400);
  const second = await issue(
    anonymous,
    '/api-auth/second-factor/',
    { token: waiting, recovery_code: renewed.recovery_codes[0] },
    200,
  );
  secrets.set('token of the second login', second.token);
  await send(
    anonymous,
    'POST',
    '/api-auth/second-factor/',
    { token: waiting, recovery_code: renewed.recovery_codes[1] },
    401,
  );
  // A login and logout at the provider.
  const jar = new Jar();
  await provider.next({ accountId: 'subject-of-bob', claims: { preferred_username: 'bob' } });
  const start = `${server.url}/api-auth/oidc/company/login/`;
  const isLocal = (url: string): boolean => url.startsWith('http://127.0.0.1') && !url.includes('/complete/');
  const page = await jar.follow(start, isLocal);
  for (const name of ['state', 'code']) secrets.set(name, new URL(page).searchParams.get(name) ?? '');
  secrets.set('cookie', jar.cookieFor(server.url).replace('oidc=', ''));
  // Without the cookie, at another path, and as a body.
  const { pathname, search } = new URL(page);
  await send(anonymous, 'GET', pathname + search, undefined, 302);
  await send(anonymous, 'GET', pathname.replace('complete', 'completed') + search);
  await send(anonymous, 'POST', '/api-auth/oidc/company/backchannel-logout/', { logout_token: search }, 400);
  const completed = (await jar.get(page)).headers.get('location') ?? '';
  secrets.set('token of the login at the provider', tokenOf(completed));
  // Send the used code again.
  assert.is((await jar.get(page)).status, 302);
  const end = (await jar.get(`${server.url}/api-auth/oidc/company/logout/`)).headers.get('location') ?? '';
  const idToken = new URL(end).searchParams.get('id_token_hint') ?? '';
  assert.is(idToken.split('.').length, 3);
  secrets.set('ID token', idToken);
  await send(anonymous, 'POST', '/api-auth/oidc/company/backchannel-logout/', { logout_token: idToken }, 400);
  // A link of the operator.
  const { stdout: link } = await program.run(['user', 'recover', 'alice']);
  const [, recovery = ''] = /#\/recover\/(\w+)/.exec(link) ?? [];
  assert.ok(recovery.length > 20, link);
  secrets.set('secret of the link', recovery);
  await send(anonymous, 'GET', `/api/recover/${recovery}/`);
  const recovered = await issue(anonymous, '/api-auth/recover/', { secret: recovery }, 200);
  secrets.set('token of the recovery', recovered.token);
  await send(anonymous, 'POST', '/api-auth/recover/', { secret: recovery }, 400);
  // Reads everything that the service reports about these requests.
  const seen = [
    '/api/users/',
    '/api/api-keys/',
    '/api/service-accounts/',
    '/api/sessions/',
    '/api/events/',
    '/api/notifications/',
  ];
  for (const path of [
    ...seen,
    `/api/second-factors/?user_uuid=${uuid}`,
    `/api/sessions/?user_uuid=${uuid}`,
    '/api/operation/',
  ]) {
    await send(staff, 'GET', path, undefined, 200);
    await send(staff, 'OPTIONS', path);
  }
  for (const path of ['/api/events/', '/api/notifications/', '/api/api-keys/', '/api/second-factors/', '/api/audit/'])
    await send(new Client(server, recovered.token), 'GET', `${path}?page_size=300`, undefined, 200);
  await send(staff, 'GET', '/api/audit/?page_size=300', undefined, 200);
  await send(staff, 'GET', '/docs/?format=openapi');
});

/** All encodings in which a text could contain a secret. */
const formsOf = (secret: string): readonly string[] => [
  ...new Set([
    secret,
    secret.toLowerCase(),
    secret.replaceAll('-', ''),
    encodeURIComponent(secret),
    Buffer.from(secret).toString('hex'),
    Buffer.from(secret).toString('base64url').replace(/.{2}$/, ''),
    ...(/^[0-9a-f]{40,}$/.test(secret) ? [Buffer.from(secret, 'hex').toString('latin1')] : []),
  ]),
];

/** Fails if a text contains a secret, except those in `but`. */
function assertFree(where: string, text: string, but: readonly string[] = []): void {
  assert.ok(text.length > 0, where);
  for (const [name, secret] of secrets) {
    assert.ok(secret.length >= 11, name);
    if (but.includes(name)) continue;
    const form = formsOf(secret).find((one) => text.includes(one));
    if (form === undefined) continue;
    const at = text.indexOf(form);
    throw new Error(`${where} has the ${name}: …${text.slice(Math.max(0, at - 150), at + form.length + 20)}…`);
  }
}

test('no response but the one that hands it out contains a secret', () => {
  // Users see their own token, and staff see it too. A name that equals a secret was set by its owner.
  const others = bodies.filter((body) => !/^\w+ \S*\/api\/users\//.test(body));
  for (const body of others) {
    const [request = '', ...response] = body.split(': ');
    assertFree(request.slice(0, 60), response.join(': '));
  }
});

test('the log, events, audit trail and metrics contain no secret', async () => {
  assertFree('the log', server.errors());
  const staff = new Client(server, secrets.get('token of staff'));
  assertFree(
    'the audit trail',
    await (
      await fetch(`${server.url}/api/audit/export/`, { headers: { Authorization: `Token ${staff.token}` } })
    ).text(),
  );
});

test('neither the database nor its exports contain a secret', async () => {
  assert.is(await server.stop(), 0);
  const data = join(program.folder, 'data');
  for (const name of readdirSync(data, { recursive: true, encoding: 'utf8' })) {
    const path = join(data, name);
    if (statSync(path).isFile() && statSync(path).size > 0) assertFree(name, readFileSync(path, 'latin1'));
  }
  for (const format of ['ndjson', 'postgres'])
    assertFree(format, (await program.run(['export', '--to', format])).stdout);
  assertFree('doctor', (await program.run(['doctor'])).stdout);
  assertFree('config', (await program.run(['config', ...words])).stdout);
});

test.run();
