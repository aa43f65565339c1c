/**
 * The one-file build, alone in an empty folder, with all of its functions: each setting, login method, optional feature, thread
 * and late module runs once. A part missing in the file fails here, and so does a setting that no start sets.
 * TENANTRY_TEST_PROGRAM names another file: `npm run live -- package binary` tests the programs of the package and the
 * executable.
 */
import { randomBytes } from 'node:crypto';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { basename, join } from 'node:path';
import SQLite from 'better-sqlite3';
import { Secret, TOTP } from 'otpauth';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type AuthenticationMethod, authenticationMethods } from '../../src/accounts/session/config.ts';
import { serveFlags } from '../../src/app/cli/serve-options.ts';
import { settingNames } from '../../src/app/settings.ts';
import { once } from '../../src/kernel/memoised.ts';
import { type LateModule, lateModules, type ThreadName, threads } from '../../src/kernel/native/parts.ts';
import { certificate } from '../support/certificate.ts';
import { EmbeddedParts } from '../support/embedded-parts.ts';
import { EventReader } from '../support/event-stream.ts';
import { eventually as within } from '../support/eventually.ts';
import { Client, type Json } from '../support/fixture.ts';
import { entityDescriptor } from '../support/identity-provider.ts';
import { Mailbox } from '../support/mailbox.ts';
import { oidcSettings, tokenOf } from '../support/oidc-fixture.ts';
import { Jar, OpenIdProvider } from '../support/openid-provider.ts';
import { otherSettings } from '../support/other-settings.ts';
import { Authenticator, enrolPasskey } from '../support/passkeys.ts';
import { builtProgram, Program, type Serving } from '../support/program.ts';
import { Receiver } from '../support/receiver.ts';
import { otherKeys, providerKeys } from '../support/saml-keys.ts';
import { SamlProvider, wordsOf } from '../support/saml-login.ts';
import { signed } from '../support/saml-signed.ts';
import { Amazon } from '../vendors/amazon/stand-in.ts';

const test = suite('everything in the one-file build');
const tested = process.env.TENANTRY_TEST_PROGRAM ?? builtProgram;
const password = 'correct-horse-1';
const federated = 'https://federated.example.com';

let program: Program;
let parts: EmbeddedParts;
let saml: SamlProvider;
let openId: OpenIdProvider;
let mailbox: Mailbox;
let web: Receiver;
let amazon: Amazon;
let syslog: Awaited<ReturnType<typeof syslogServer>>;
/** All settings with non-default values. */
let others: Readonly<Record<string, string>>;
/** The database of the first start. Keep it open, so that its write-ahead log is not truncated. */
let db: SQLite.Database;

/** The first start: all features are on. */
let server: Serving;
let admin: Client;
/** The second start is a primary whose follower uses TLS. */
let primary: Serving;
let follower: Serving;

/** Settings with non-default values while the program served, and the options passed to `serve`. */
const settingsInForce = new Set<string>();
const flagsGiven = new Set<string>();

/** An age key pair. */
const ageKeys = {
  identity: 'AGE-SECRET-KEY-1084T9Q862QTAN8HWWR0NSKMPKU4XQKENGRZP30SLHRMA0X2REPTQ8RSRV4',
  recipient: 'age1qlm0uywkmu9aeewpn4awxj07uzxsmefk96pvvwxq3gjma5zr4v5s5aasjt',
};

/** Wait without using the CPU, which other tests need. */
const eventually = (what: string, holds: () => boolean | Promise<boolean>): Promise<void> =>
  within(what, holds, 30, 100);

const isLocal = (url: string): boolean => /^http:\/\/(127\.0\.0\.1|localhost)/.test(url);

const at = (name: string): string => join(program.folder, name);
function file(name: string, content: string): string {
  writeFileSync(at(name), content);
  return at(name);
}

test.before(async () => {
  const name = basename(tested);
  program = new Program(undefined, /\.[cm]js$/.test(name) ? [process.execPath, name] : [`./${name}`]);
  copyFileSync(tested, at(name));
  parts = new EmbeddedParts(tested, program.folder);
  [saml, mailbox, web, amazon, syslog] = await Promise.all([
    SamlProvider.start('localhost'),
    Mailbox.start(),
    Receiver.start(),
    Amazon.start(),
    syslogServer(),
  ]);
  openId = await OpenIdProvider.start(`http://localhost:${saml.settings.port}`, 'company');
  web.behaviour = ({ path }) => ({ status: 200, body: bodies[path] ?? '{}' });
  others = otherSettings(givenSettings());
});

test.after(async () => {
  db?.close();
  await program.end();
  await Promise.all([saml.close(), openId.close(), mailbox.close(), web.close(), amazon.close()]);
  syslog.close();
});

/** Responses of the simulated web by path. */
const bodies: Readonly<Record<string, string>> = {
  '/token': JSON.stringify({ access_token: 'access', expires_in: 3600 }),
  '/metadata.xml': signed(entityDescriptor({ entityId: federated, url: federated })),
};

/** Collects received data. */
async function syslogServer(): Promise<{ readonly url: string; readonly text: string; readonly close: () => void }> {
  let text = '';
  const listener = createServer((socket) => socket.setEncoding('utf8').on('data', (chunk) => (text += chunk)));
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const { port } = listener.address() as AddressInfo;
  return {
    url: `tcp://127.0.0.1:${port}`,
    get text() {
      return text;
    },
    close: () => void listener.close(),
  };
}

/** Values that cannot be derived from the declaration of a setting. */
function givenSettings(): Readonly<Record<string, string>> {
  const account = {
    project_id: 'rocket',
    client_email: 'push@rocket.example.com',
    private_key: providerKeys.key,
    token_uri: `${web.url}/token`,
  };
  return {
    ...saml.settings,
    ...mailbox.settings,
    authentication_methods: authenticationMethods.join(','),
    oidc_providers_file: oidcSettings(saml.files, [{ name: 'company', issuer: openId.issuer }]).oidc_providers_file,
    admin_listen: '127.0.0.1:0',
    tls_cert_file: file('tls.crt', certificate.cert),
    tls_key_file: file('tls.key', certificate.key),
    data: 'everything',
    base_url: `http://localhost:${saml.settings.port}`,
    allowed_origins: 'https://app.example.com',
    empty_collections: 'rockets',
    user_competences: 'Pilot',
    users_visible: 'connected',
    link_template_hosts: 'app.example.com',
    password_reset_url: 'https://app.example.com/reset/{secret}/',
    passkey_rp_id: 'localhost',
    second_factor_required: 'staff',
    login_second_factor_url: 'https://app.example.com/second-factor/{token}/',
    saml_idp_metadata_urls: `${web.url}/metadata.xml|${file('federation.crt', otherKeys.cert)}`,
    saml_identity_provider_url: saml.idp.entityId,
    saml_identity_provider_label: 'Example University',
    policy_url: 'https://app.example.com/policy',
    product_name: 'Ground Control',
    notification_time_zone: 'Europe/Tallinn',
    backup_schedule: '0 3 * * *',
    backup_target: 'backups',
    backup_keep: '3d',
    backup_recipients_file: file('recipients', ageKeys.recipient),
    backup_identity_file: file('identity', ageKeys.identity),
    backup_verify: 'off',
    backup_s3_endpoint: 'https://objects.example.com',
    backup_s3_region: 'eu-north-1',
    backup_s3_access_key_id: 'key',
    backup_s3_secret_access_key_file: file('s3-secret', 'secret'),
    email_hook_confirmation_url: 'https://app.example.com/confirm/{secret}/',
    push_gateway_url: `${web.url}/push`,
    push_server_key_android: 'android-key',
    push_server_key_ios: 'ios-key',
    push_service_account: file('account.json', JSON.stringify(account)),
    push_title: 'News',
    encryption_keys: `first:${randomBytes(32).toString('base64')}`,
    job_delay: '0s',
    litestream_program: 'another-litestream',
    lease_url: 's3://leases/lease',
    peers: web.url,
    audit_sink_url: `${web.url}/audit`,
    audit_file: at('audit.ndjson'),
    audit_syslog: syslog.url,
    audit_sink_header_file: file('audit-header', 'Authorization: Bearer secret'),
    log_file: 'server.log',
    log_level: 'debug',
    native_cache: 'native',
  };
}

/** All settings except these, which keep their defaults. */
const without = (...names: readonly string[]): Record<string, string> =>
  Object.fromEntries(Object.entries(others).filter(([name]) => !names.includes(name)));

/** Starts a server with these settings. */
function serve(words: readonly string[], values: Readonly<Record<string, string>> = {}): Promise<Serving> {
  for (const word of words) if (word.startsWith('--')) flagsGiven.add(word.slice(2));
  return program.serve([...words, ...wordsOf(values)], {
    env: { ...parts.environment, NODE_EXTRA_CA_CERTS: at('tls.crt') },
  });
}

/** Compares the settings that a server reports with those passed to it. */
function checkSettings(reported: Json, values: Readonly<Record<string, string>>): void {
  assert.equal(
    reported.map(({ name, source }: Json) => [name, source]),
    settingNames.flatMap((name) => (values[name] === undefined ? [] : [[name, `--${name.replaceAll('_', '-')}`]])),
  );
  for (const { default: usual, is_secret: isSecret, name, value } of reported) {
    if (value !== usual) settingsInForce.add(name);
    if (!isSecret && !/^\d+s$/.test(values[name] ?? '')) assert.is(value, values[name], name);
  }
}

const run = async (words: readonly string[], input?: string): Promise<string> => {
  const values = { env: parts.environment, ...(input !== undefined && { input }) };
  const { code, stderr, stdout } = await program.run(words, values);
  assert.is(code, 0, stderr);
  return stdout;
};

test('lists every setting of the table in its help', async () => {
  const names = [...(await run(['help', 'settings'])).matchAll(/^ {2}--([\w-]+)$/gm)].map(([, name]) => name);
  assert.equal(
    names,
    settingNames.map((name) => name.replaceAll('_', '-')),
  );
});

test('serves with all features on, and reports each setting as it was given', async () => {
  // All settings are options of every command.
  const settings = without(
    'tls_cert_file',
    'tls_key_file',
    'lease_url',
    'peers',
    'replicated',
    'second_factor_required',
    'console_enabled',
    'saml_create_unknown_user',
  );
  const created = ['user', 'add', 'admin', '--staff', '--email', 'admin@example.com', '--password-stdin'];
  await run([...created, ...wordsOf(settings)], `${password}\n`);
  db = new SQLite(at('everything/tenantry.db'));
  db.pragma('wal_autocheckpoint = 0');
  // A list long enough for the reader thread and the checkpoint thread.
  db.exec(`INSERT INTO ssh_key (uuid, user_id, name, public_key, fingerprint, fingerprint_sha256, created)
    WITH RECURSIVE keys (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM keys WHERE n < 12000)
    SELECT lower(hex(randomblob(16))), 1, 'key ' || n, printf('%.600c', 'x'), hex(randomblob(8)), hex(randomblob(16)), n FROM keys`);
  server = await serve([], settings);
  const body = { username: 'admin', password };
  admin = new Client(server, (await new Client(server, undefined).post('/api-auth/password/', body)).body.token);
  const me = (await admin.get('/api/users/?current')).body[0];
  await admin.patch(me.url, { agree_with_policy: true });
  checkSettings((await admin.get('/api/deployment-settings/?is_given=true&page_size=200')).body, settings);
});

/** Runs a login method; returns a token. */
const logins: Readonly<Record<AuthenticationMethod, () => Promise<string>>> = {
  LOCAL_SIGNIN: async () =>
    (await new Client(server, undefined).post('/api-auth/password/', { username: 'admin', password })).body.token,
  SAML2: () => saml.token(server.url, 'mari'),
  OIDC: async () => {
    const user = { accountId: 'liis', claims: { preferred_username: 'liis' } };
    await openId.next(user);
    return tokenOf(await new Jar().follow(`${server.url}/api-auth/oidc/company/login/`, isLocal));
  },
};

const usernames: Readonly<Record<AuthenticationMethod, string>> = {
  LOCAL_SIGNIN: 'admin',
  SAML2: 'mari',
  OIDC: 'liis',
};

for (const method of authenticationMethods)
  test(`logs in by ${method}`, async () => {
    const { status, body } = await new Client(server, await logins[method]()).get('/api/users/?current');
    assert.equal([status, body[0].username], [200, usernames[method]]);
  });

/** Proof that a late module works. */
const lateEffects: Readonly<Record<LateModule, () => Promise<void>>> = {
  nodemailer: async () => {
    await new Client(server, undefined).post('/api-auth/password/forgot/', { email: 'admin@example.com' });
    await eventually('the mail is sent', () => mailbox.mails.length > 0);
    assert.is(mailbox.take()[0]?.subject, 'New password for Ground Control');
  },
  '@zxcvbn-ts/language-common': async () => {
    const { body: user } = await admin.post('/api/users/', { username: 'weak', email: 'weak@example.com' });
    const { body } = await admin.post(`${user.url}password/`, { password: '1234567890a' });
    assert.equal(body, { password: ['This password is too common.'] });
  },
  'openid-client': async () => void (await logins.OIDC()),
  jose: async () => void (await logins.OIDC()),
  aws4: () => synchronised(),
  'age-encryption': async () => {
    const settings = without('tls_cert_file', 'tls_key_file', 'lease_url', 'peers', 'replicated');
    assert.match(await run(['backups', 'now', ...wordsOf(settings)]), /^Backup tenantry-\S+\.age is complete in /);
    assert.match(
      await run(['backups', 'verify', ...wordsOf(settings)]),
      /is verified: it was restored and has no problems/,
    );
  },
  '@simplewebauthn/server': async () => {
    const authenticator = new Authenticator(`http://localhost:${saml.settings.port}`);
    await admin.post('/api/sessions/confirm/', { password });
    const factor = await enrolPasskey(admin, authenticator);
    const anonymous = new Client(server, undefined);
    const { body: options } = await anonymous.post('/api-auth/passkey/options/');
    const { body } = await anonymous.post('/api-auth/passkey/', { credential: authenticator.get(options) });
    assert.is((await new Client(server, body.token).delete(factor.url)).status, 204);
  },
  otpauth: () => enrolled(),
  sax: () => synchronised(),
  'prom-client': async () => {
    const { headers, text } = await page(`${server.startup.admin}/metrics`);
    assert.match(headers.get('content-type') ?? '', 'text/plain; version=0.0.4');
    assert.match(text, /^tenantry_build_info\{.*\} 1$/m);
  },
  uqr: () => enrolled(),
};

/** Adds an authenticator app to a user. */
const enrolled = once(async (): Promise<void> => {
  const anonymous = new Client(server, undefined);
  const logIn = async (): Promise<Json> =>
    (await anonymous.post('/api-auth/password/', { username: 'enrolled', password })).body;
  const { body: user } = await admin.post('/api/users/', { username: 'enrolled' });
  await admin.post(`${user.url}password/`, { password });
  const client = new Client(server, (await logIn()).token);
  const { body } = await client.post('/api/second-factors/totp/');
  assert.match(body.qr_svg, /^<svg /);
  const code = TOTP.generate({ secret: Secret.fromBase32(body.secret) });
  const { body: factor, status } = await client.post('/api/second-factors/totp/confirm/', { code });
  assert.equal([status, factor.kind, factor.recovery_codes.length], [201, 'totp', 10]);
  assert.equal((await logIn()).second_factor.methods, ['totp', 'recovery_code']);
});

/** Makes an account at Amazon read its regions: calls are signed, responses are XML. */
const synchronised = once(async (): Promise<void> => {
  const { body: customer } = await admin.post('/api/customers/', { name: 'Rockets' });
  const [[username, { secret: token }] = ['', { secret: '' }]] = amazon.accessKeys;
  const fields = { name: 'Account', customer: customer.url, backend_url: amazon.url, username, token };
  const { body: service, status } = await admin.post('/api/aws/', fields);
  assert.is(status, 201, JSON.stringify(service));
  const settings = async (): Promise<Json> => (await admin.get(service.settings)).body;
  await eventually('the account is synchronised', async () => !/Schedul|ing$/.test((await settings()).state));
  const { error_message: error, state } = await settings();
  assert.equal([state, error], ['In Sync', '']);
  assert.ok((await admin.get('/api/aws-regions/')).body.length > 0);
});

for (const name of Object.keys(lateModules) as LateModule[]) test(`uses ${name}`, () => lateEffects[name]());

/** Proof that a thread works. */
const threadEffects: Readonly<Record<ThreadName, () => Promise<void>>> = {
  'kernel/durability/checkpoint-thread': async () => {
    const state = (): Json => db.prepare('PRAGMA wal_checkpoint(NOOP)').get();
    await eventually('the write-ahead log is moved', () => state().log - state().checkpointed < 2000);
  },
  'kernel/durability/snapshot-thread': async () => {
    const { body: backup } = await admin.post('/api/backups/');
    const state = async (): Promise<Json> => (await admin.get(backup.url)).body;
    await eventually('the backup is written', async () => (await state()).state !== 'writing');
    const { error_message: error, state: last } = await state();
    assert.equal([last, error], ['ready', '']);
  },
  'kernel/threads/reader-thread': async () => {
    const { headers, status } = await admin.get('/api/keys/');
    assert.equal([status, headers.get('x-result-count')], [200, '12000']);
  },
  // As at Amazon: the server parses the XML of the federation, and of each login.
  'accounts/session/saml/thread': async () => {
    const known = async (): Promise<string[]> =>
      (await admin.get('/api-auth/saml2/providers/')).body.map(({ url }: Json) => url).sort();
    await eventually('the metadata on the web is read', async () => (await known()).length === 2);
    assert.equal(await known(), [federated, saml.idp.entityId]);
  },
};

for (const name of Object.keys(threads) as ThreadName[]) test(`runs ${name}`, () => threadEffects[name]());

async function page(url: string): Promise<{ readonly headers: Headers; readonly text: string }> {
  const response = await fetch(url, { headers: { Accept: 'text/html' } });
  assert.is(response.status, 200, url);
  return { headers: response.headers, text: await response.text() };
}

test('serves the console, the documentation and the manual, and reports its health', async () => {
  assert.match((await page(`${server.url}/`)).text, '<title>Ground Control</title>');
  for (const name of ['app.js', 'style.css', 'et.js'])
    assert.ok((await page(`${server.url}/console/${name}`)).text.length > 1000, name);
  assert.match((await page(`${server.url}/docs/`)).text, '<rapi-doc');
  assert.match((await page(`${server.url}/docs/manual/tour/`)).text, '<h1>');
  for (const path of ['healthz', 'readyz']) await page(`${server.startup.admin}/${path}`);
  assert.match(await run(['licenses']), 'better-sqlite3');
});

test('sends an event to a stream, to a webhook and to a device, and its audit record to the sinks', async () => {
  const subscribed = { event_types: ['custom_notification'] };
  const hooks = [
    await admin.post('/api/hooks-web/', { ...subscribed, destination_url: `${web.url}/hook` }),
    await admin.post('/api/hooks-push/', { ...subscribed, type: 'Android', token: 'device' }),
  ];
  assert.equal(
    hooks.map(({ status }) => status),
    [201, 201],
  );
  const stream = await EventReader.open(server, admin);
  web.take();
  await admin.post('/api/events/', { level: 'info', message: 'Lift-off' });
  assert.equal(await stream.messages(1), ['Lift-off']);
  stream.leave();
  const sent = (): string[] =>
    web.requests
      .filter(({ body }) => body.includes('Lift-off'))
      .map(({ path }) => path)
      .sort();
  await eventually('all are sent', () => sent().length === 3);
  assert.equal(sent(), ['/audit', '/hook', '/push']);
  const isRecorded = (text: string): boolean => text.includes('Lift-off');
  await eventually(
    'the other sinks have the record',
    () => isRecorded(readFileSync(at('audit.ndjson'), 'utf8')) && isRecorded(syslog.text),
  );
});

test('ends without a warning except about the backup', async () => {
  assert.is(await server.stop(), 0);
  assert.is(server.errors(), '');
  db.close();
  const lines = readFileSync(at('server.log'), 'utf8').trim().split('\n');
  assert.ok(lines.length > 10);
  assert.equal(
    lines
      .map((line) => JSON.parse(line))
      .filter(({ level }) => level >= 40)
      .map(({ msg }) => msg),
    ['a backup is written'],
  );
});

test('serves as a primary with the features off, and a follower over TLS', async () => {
  const settings = without('tls_cert_file', 'tls_key_file', 'lease_url');
  primary = await serve([], settings);
  // A login would first have to set up a second factor.
  const token = (await run(['token', 'admin', ...wordsOf(settings)])).trim();
  const staff = new Client(primary, token);
  checkSettings((await staff.get('/api/deployment-settings/?is_given=true&page_size=200')).body, settings);
  const created = await staff.post('/api/customers/', { name: 'Written at the primary' });
  const version = created.headers.get('x-tenantry-version') ?? '';

  const own = { ...without('peers'), data: 'copy', port: '0' };
  follower = await serve(['--follow', 'everything', '--primary', primary.url], own);
  const read = (path: string): Promise<Json> =>
    new Promise((resolve, reject) => {
      const headers = { Authorization: `Token ${token}`, 'X-Tenantry-Version': version };
      get(new URL(path, follower.url), { ca: certificate.cert, headers }, async (response) => {
        const chunks: Buffer[] = [];
        for await (const chunk of response) chunks.push(chunk);
        resolve(JSON.parse(Buffer.concat(chunks).toString()));
      }).on('error', reject);
    });
  assert.match(follower.url, /^https:/);
  assert.equal(
    (await read('/api/customers/')).map(({ name }: Json) => name),
    ['Rockets', 'Written at the primary'],
  );
  checkSettings(await read('/api/deployment-settings/?is_given=true&page_size=200'), own);
  assert.equal([await follower.stop(), await primary.stop()], [0, 0]);
});

test('serves a seed from memory', async () => {
  const seed = file(
    'seed.json',
    JSON.stringify({ users: { bob: {} }, customers: { Acme: { roles: { bob: 'owner' } } } }),
  );
  const seeded = await serve(['--ephemeral', '--seed', seed, '--control', '--clock', '2026-01-05T09:00:00Z']);
  const { control, token } = seeded.startup as unknown as { control: { url: string; secret: string }; token: string };
  const ask = async (method: string, path: string): Promise<Json> =>
    (await fetch(control.url + path, { method, headers: { Authorization: `Bearer ${control.secret}` } })).json();
  assert.is((await ask('GET', '/seeded/Acme')).name, 'Acme');
  assert.equal(await ask('GET', '/clock'), { now: '2026-01-05T09:00:00Z' });
  const named = async (): Promise<string[]> =>
    (await new Client(seeded, token).get('/api/customers/')).body.map(({ name }: Json) => name);
  assert.equal(await named(), ['Acme']);
  assert.is(await seeded.stop(), 0);
});

test('serves the sample data from memory', async () => {
  const demo = await serve(['--ephemeral', '--demo']);
  const { token } = demo.startup as unknown as { token: string };
  const customers = (await new Client(demo, token).get('/api/customers/?name=Dnipro')).body;
  assert.equal(
    customers.map(({ name }: Json) => name),
    ['Dnipro Labs LLC'],
  );
  assert.is(await demo.stop(), 0);
});

test('was given each setting and each option of serve in one of the starts', () => {
  assert.equal(
    settingNames.filter((name) => !settingsInForce.has(name)),
    [],
  );
  assert.equal(
    Object.keys(serveFlags).filter((name) => !flagsGiven.has(name)),
    [],
  );
});

test('has unpacked each of its parts', () => {
  // Only the SQLite module for this Node.js.
  const isUnpacked = (name: string): boolean => parts.unpacked.includes(name);
  assert.equal(
    parts.unpacked,
    parts.all.filter((name) => !name.startsWith('better_sqlite3-') || isUnpacked(name)),
  );
  const listed = [...Object.keys(lateModules), ...Object.keys(threads)];
  assert.equal(
    listed.filter((name) => !parts.all.includes(name)),
    [],
  );
});

test.run();
