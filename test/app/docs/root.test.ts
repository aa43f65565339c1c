/** core.md 3: root, version and configuration. */
import { readdirSync, readFileSync } from 'node:fs';
import * as assert from 'uvu/assert';
import { ofTheService } from '../../../src/app/docs/root.ts';
import { Fixture, type Json } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test: root, fixture } = suiteWithServer('root, version and configuration');

root('requires a token for GET /api/', async () => {
  assert.is((await fixture.anonymous.get('/api/')).status, 401);
});

const unlisted = [
  ...[
    'version',
    'configuration',
    'user-counters',
    'second-factors',
    'sessions',
    'stats',
    'notifications',
    'notification-preferences',
  ],
  'api-keys',
  'audit',
  'service-accounts',
  ...ofTheService,
];

root('returns the absolute URL of every list by its prefix, sorted', async () => {
  const { status, body } = await fixture.staff.get('/api/');
  assert.is(status, 200);
  const { paths } = (await fixture.anonymous.get('/docs/')).body;
  const read = Object.keys(paths).filter((path) => paths[path].get);
  const lists = read
    .flatMap((path) => /^\/api\/([^/]+)\/$/.exec(path)?.[1] ?? [])
    .filter((prefix) => !unlisted.includes(prefix));
  assert.equal(body, Object.fromEntries(lists.map((prefix) => [prefix, `${fixture.url}/api/${prefix}/`])));
  assert.equal(Object.keys(body), [...Object.keys(body)].sort());
  for (const prefix of [
    'customer-permissions',
    'customer-permissions-log',
    'customers',
    'keys',
    'project-permissions',
    'project-permissions-log',
    'projects',
    'users',
  ])
    assert.ok(prefix in body, prefix);
});

root('returns URLs that all work', async () => {
  for (const url of Object.values<string>((await fixture.staff.get('/api/')).body))
    assert.is((await fixture.staff.get(url)).status, 200, url);
});

root('serves the manual as pages for browsers: an index, and titled pages with links to each other', async () => {
  const page = async (path: string): Promise<string> => {
    const response = await fetch(`${fixture.url}/docs/manual/${path}`);
    assert.equal([response.status, response.headers.get('content-type')], [200, 'text/html; charset=utf-8'], path);
    return response.text();
  };
  const list = await page('');
  assert.match(list, /<h1>Manual<\/h1>/);
  const names = [...list.matchAll(/<li><a href="([\w-]+)\/">/g)].map(([, name = '']) => name);
  assert.equal(names.slice(0, 2), ['tour', 'deploying']);
  const files = readdirSync(new URL('../../../src/manual', import.meta.url)).filter((file) => file.endsWith('.md'));
  assert.equal([...names].sort(), files.map((file) => file.slice(0, -'.md'.length)).sort());
  for (const name of names) {
    const text = await page(`${name}/`);
    assert.match(text, /<h1>.+<\/h1>/);
    for (const [, other = ''] of text.matchAll(/href="\.\.\/([\w-]+)\//g)) assert.ok(names.includes(other), other);
  }
});

root('returns the version of the package as MAJOR.MINOR.PATCH in GET /api/version/ without a token', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
  const response = await fixture.anonymous.get('/api/version/');
  assert.equal([response.status, response.body], [200, { version }]);
  assert.match(version, /^\d+\.\d+\.\d+$/);
});

root('includes the page of the policy where the setting names one', async () => {
  const page = 'https://example.com/policy?lang=en';
  const other = await Fixture.start({ policy_url: page });
  const { WALDUR_CORE: flags } = (await other.anonymous.get('/api/configuration/')).body;
  assert.equal([Object.keys(flags).at(-1), flags.POLICY_URL], ['POLICY_URL', page]);
  await other.close();
});

root('offers the logins to try only where the server started with sample data', async () => {
  assert.not('DEMO' in (await fixture.anonymous.get('/api/configuration/')).body);
  const other = await Fixture.start({ seed: 'demo' });
  const { DEMO: demo } = (await other.anonymous.get('/api/configuration/')).body;
  assert.equal(demo.logins[0], { username: 'helena.kask', role: 'staff: sees and does everything' });
  for (const { username } of demo.logins) {
    const body = { username, password: demo.password };
    assert.is((await other.anonymous.post('/api-auth/password/', body)).status, 200, username);
  }
  const [{ url }] = (await other.staff.get('/api/users/?username=emeka.obi')).body;
  await other.staff.patch(url, { is_active: false });
  const { logins } = (await other.anonymous.get('/api/configuration/')).body.DEMO;
  assert.equal(
    logins,
    demo.logins.filter(({ username }: Json) => username !== 'emeka.obi'),
    'not those who cannot sign in',
  );
  await other.close();
});

root('returns the public feature flags in GET /api/configuration/ without a token', async () => {
  const response = await fixture.anonymous.get('/api/configuration/');
  assert.equal(
    [response.status, response.body],
    [
      200,
      {
        WALDUR_CORE: {
          AUTHENTICATION_METHODS: ['LOCAL_SIGNIN'],
          INVITATIONS_ENABLED: true,
          ALLOW_SIGNUP_WITHOUT_INVITATION: false,
          VALIDATE_INVITATION_EMAIL: false,
          OWNER_CAN_MANAGE_CUSTOMER: false,
          OWNERS_CAN_MANAGE_OWNERS: false,
          MANAGERS_CAN_MANAGE_ADMINS: false,
          NATIVE_NAME_ENABLED: false,
          COMPANY_TYPES: [],
        },
        WALDUR_AUTH_SOCIAL: {},
      },
    ],
  );
});

root('returns the flags of the settings', async () => {
  const settings = {
    validate_invitation_email: true,
    owners_can_manage_customers: true,
    owners_can_manage_owners: true,
    managers_can_manage_admins: true,
    native_name_enabled: true,
    authentication_methods: [],
  };
  const other = await Fixture.start(settings);
  const { WALDUR_CORE: flags } = (await other.anonymous.get('/api/configuration/')).body;
  assert.equal(
    [
      flags.VALIDATE_INVITATION_EMAIL,
      flags.OWNER_CAN_MANAGE_CUSTOMER,
      flags.OWNERS_CAN_MANAGE_OWNERS,
      flags.MANAGERS_CAN_MANAGE_ADMINS,
      flags.NATIVE_NAME_ENABLED,
      flags.AUTHENTICATION_METHODS,
    ],
    [true, true, true, true, true, []],
  );
  await other.close();
});

root.run();
