/** services.md 11.1: failures of a provider are recorded for staff, and affect only its own logins. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { removeOtherFailures, storedFailures } from '../../../../src/accounts/session/oidc/failures.ts';
import { sql } from '../../../../src/kernel/db/sql.ts';
import type { Json } from '../../../support/fixture.ts';
import { HandmadeFixture } from '../../../support/handmade-fixture.ts';
import type { HandmadeIssuer } from '../../../support/handmade-provider.ts';
import { failedLogin, oidcSettings, tokenOf } from '../../../support/oidc-fixture.ts';
import { Program } from '../../../support/program.ts';
import { Files } from '../../../support/saml-fixture.ts';
import { wordsOf } from '../../../support/saml-login.ts';

const test = suite('failing OpenID Connect providers');
const unreachable = failedLogin('The identity provider cannot be reached.');
const invalid = failedLogin('OpenID Connect response has errors. Please check the logs');
let rig: HandmadeFixture;
let one: HandmadeIssuer;

test.before(async () => {
  rig = await HandmadeFixture.start((provider) => {
    one = provider.issuer('one');
    provider.issuer('two', '/two');
    return ['one', 'two'].map((name) => ({ name, issuer: provider.issuers.get(name)?.url ?? '' }));
  });
});
test.after(() => rig?.close());
test.before.each(async () => {
  one.handlers.clear();
  rig.fixture.clock.set('2026-03-01T10:00:00Z');
});

const troubles = async (): Promise<Json> => (await rig.fixture.staff.get('/api/operation/')).body.troubles;
const logIn = (name = 'one'): Promise<string> => rig.logIn(name, { sub: 'alice' });
const begin = async (): Promise<string | null> => {
  const response = await fetch(`${rig.fixture.url}/api-auth/oidc/one/login/`, { redirect: 'manual' });
  return response.headers.get('location');
};
const fails = (status: number, body: Json = {}) =>
  ((_incoming, outgoing) => {
    outgoing.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  }) as NonNullable<ReturnType<HandmadeIssuer['handlers']['get']>>;

test('a provider without a discovery document is recorded with its first failure, until it responds', async () => {
  one.handlers.set('openid-configuration', fails(503));
  assert.is(await begin(), unreachable);
  rig.fixture.clock.advance(600);
  assert.is(await begin(), unreachable);
  const { host, pathname } = new URL(one.url);
  assert.equal(await troubles(), [
    `identity provider one has failed since 2026-03-01T10:00:00Z: ${host}${pathname}/.well-known/openid-configuration: the response had status 503`,
  ]);
  one.handlers.clear();
  assert.ok((await begin())?.startsWith(one.url));
  assert.equal(await troubles(), []);
});

test('a discovery document that cannot be refreshed is recorded, and the cached one is used', async () => {
  one.handlers.set('openid-configuration', fails(500));
  rig.fixture.clock.advance(7200);
  assert.ok((await begin())?.startsWith(one.url));
  assert.is((await troubles()).length, 1);
  one.handlers.clear();
  assert.ok((await begin())?.startsWith(one.url));
  assert.equal(await troubles(), []);
});

test('a failure hidden by cached documents stays recorded when another login starts', async () => {
  tokenOf(await logIn());
  one.handlers.set('token', fails(500));
  assert.is(await logIn(), unreachable);
  assert.ok((await begin())?.startsWith(one.url), 'the discovery document is cached');
  assert.equal(await troubles(), [
    `identity provider one has failed since 2026-03-01T10:00:00Z: ${new URL(one.url).host}/one/token: the response had status 500`,
  ]);
  tokenOf(await logIn('two'));
  assert.is((await troubles()).length, 1, 'the other provider proves nothing');
  one.handlers.clear();
  tokenOf(await logIn());
  assert.equal(await troubles(), []);
});

test('a failure names the endpoint and the reason once', async () => {
  const { host } = new URL(one.url);
  const pages: readonly (readonly [string, string])[] = [
    ['token', '<p>Login</p>'],
    ['userinfo', '['],
  ];
  for (const [name, body] of pages) {
    const type = name === 'token' ? 'text/html' : 'application/json';
    one.handlers.set(name, (_incoming, outgoing) => outgoing.writeHead(200, { 'Content-Type': type }).end(body));
    assert.is(await logIn(), unreachable);
    assert.match((await troubles())[0], new RegExp(`Z: ${host}/one/${name}: the response is malformed \\([^()]+\\)$`));
    const [reason = ''] = rig.reasons.slice(-1);
    assert.match(reason, new RegExp(`^${host}/one/${name}: the response is malformed \\([^()]+\\)$`));
    one.handlers.clear();
  }
  one.handlers.set('token', (_incoming, outgoing) =>
    outgoing.writeHead(200, { 'Content-Type': 'application/json' }).end(`"${'x'.repeat(2 ** 20)}"`),
  );
  assert.is(await logIn(), unreachable);
  assert.is(rig.reasons.at(-1), `${host}/one/token: the response was too long`);
  one.handlers.clear();
  tokenOf(await logIn());
});

test('a provider that rejects the client is recorded, one that rejects a code is not', async () => {
  one.handlers.set('token', fails(400, { error: 'invalid_grant' }));
  assert.is(await logIn(), invalid);
  assert.equal(await troubles(), []);
  one.handlers.set('token', fails(401, { error: 'invalid_client' }));
  assert.is(await logIn(), invalid);
  assert.equal(await troubles(), [
    'identity provider one has failed since 2026-03-01T10:00:00Z: the provider rejects the service: invalid_client',
  ]);
});

test('reasons that alternate are reported at once, but stored at most once a minute', async () => {
  const { db } = rig.fixture.server.app;
  const stored = () => db.values<string>(sql`SELECT message FROM oidc_failure`).map((text) => /\d+$/.exec(text)?.[0]);
  const failWith = async (status: number): Promise<void> => {
    rig.fixture.clock.advance(1);
    one.handlers.set('openid-configuration', fails(status));
    await begin();
    assert.match((await troubles())[0], new RegExp(`status ${status}$`));
  };
  rig.fixture.clock.advance(7200);
  await failWith(503);
  for (let i = 0; i < 3; i++) {
    await failWith(502);
    await failWith(504);
  }
  assert.equal(stored(), ['503']);
  rig.fixture.clock.advance(60);
  await failWith(504);
  assert.equal(stored(), ['504']);
  one.handlers.clear();
  tokenOf(await logIn());
  assert.equal(stored(), [], 'the end of a failure is stored at once');
  assert.equal(await troubles(), []);
});

test('a start without failures of other providers begins no write', async () => {
  const { db } = rig.fixture.server.app;
  const reading = new Proxy(db, {
    get: (target, name) => {
      assert.is.not(name, 'write', 'no write is needed');
      const member = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  removeOtherFailures(reading, []);
  one.handlers.set('token', fails(500));
  assert.is(await logIn(), unreachable);
  removeOtherFailures(reading, [one.url]);
  removeOtherFailures(db, ['https://other.example.com']);
  assert.is(storedFailures(db).length, 0);
});

test('logins by password and at another provider work while one does not respond', async () => {
  await rig.fixture.user('pat');
  await rig.fixture.staff.post(`${(await rig.fixture.as('pat').get('/api/users/?current')).body[0].url}password/`, {
    password: 'correct-horse-7',
  });
  const held: (() => void)[] = [];
  one.handlers.set('token', (_incoming, outgoing) => void held.push(() => outgoing.end()));
  const slow = Array.from({ length: 40 }, () => logIn());
  while (held.length < 40) await new Promise((done) => setTimeout(done, 5));
  const body = { username: 'pat', password: 'correct-horse-7' };
  assert.is((await rig.fixture.anonymous.post('/api-auth/password/', body)).status, 200);
  tokenOf(await logIn('two'));
  for (const release of held) release();
  assert.equal(new Set(await Promise.all(slow)), new Set([unreachable]));
});

test('a failure is known after a kill, and to doctor, until the provider responds', async () => {
  const files = new Files();
  const program = new Program(undefined);
  try {
    const { authentication_methods: methods, ...settings } = oidcSettings(files, [{ name: 'one', issuer: one.url }]);
    const words = wordsOf({ ...settings, authentication_methods: methods.join(','), data: 'data' });
    const logInAt = async (url: string): Promise<void> => {
      await fetch(`${url}/api-auth/oidc/one/login/`, { redirect: 'manual' });
    };
    const line = /^identity provider one has failed since \S+Z: \S+: the response had status 503$/m;
    one.handlers.set('openid-configuration', fails(503));
    const first = await program.serve(words);
    await logInAt(first.url);
    await first.kill();
    assert.match((await program.run(['doctor', ...words])).stdout, line);
    assert.match(
      (await program.run(['doctor', '--data', 'data'])).stdout,
      /^identity provider http:\S+ has failed since \S+Z: \S+: the response had status 503\n$/,
      'without the settings of the server',
    );
    const second = await program.serve(words);
    assert.match((await program.run(['doctor', ...words])).stdout, line, 'beside a server');
    one.handlers.clear();
    await logInAt(second.url);
    assert.is((await program.run(['doctor', ...words])).stdout, 'no problems\n');
    assert.is(await second.stop(), 0);
    one.handlers.set('openid-configuration', fails(503));
    const third = await program.serve(words);
    await logInAt(third.url);
    assert.is(await third.stop(), 0);
    assert.match((await program.run(['doctor', ...words])).stdout, line);
    const without = await program.serve(['--data', 'data']);
    assert.is(await without.stop(), 0);
    assert.is((await program.run(['doctor', ...words])).stdout, 'no problems\n', 'started without the provider');
  } finally {
    await program.end();
    files.remove();
  }
});

test.run();
