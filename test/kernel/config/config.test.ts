/** core.md 12: settings. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  loadConfig,
  printSetting,
  readConfigFile,
  settingNames,
  settings,
  sourceOf,
  unknownVariables,
} from '../../../src/app/settings.ts';
import { ConfigError, environmentName, optionName, type SettingName } from '../../../src/kernel/config/config.ts';

const config = suite('settings');

const read = (name: SettingName, text: string): unknown => loadConfig({ options: { [name]: text } })[name];
/** Returns the sentence that rejects a value on the command line. */
function rejection(name: SettingName, text: string): string {
  try {
    read(name, text);
  } catch (error) {
    assert.instance(error, ConfigError);
    return (error as Error).message;
  }
  return assert.unreachable(`${name}=${text} was accepted`) ?? '';
}

config('the settings have the defaults of the specification', () => {
  const {
    base_url,
    max_body_bytes,
    allowed_origins,
    trusted_proxies,
    owners_can_manage_customers,
    owners_can_manage_owners,
    user_competences,
    native_name_enabled,
    validate_invitation_email,
    authentication_methods,
  } = loadConfig();
  assert.equal(
    {
      base_url,
      max_body_bytes,
      allowed_origins,
      trusted_proxies,
      owners_can_manage_customers,
      owners_can_manage_owners,
      user_competences,
      native_name_enabled,
      validate_invitation_email,
      authentication_methods,
    },
    {
      base_url: null,
      max_body_bytes: 1_048_576,
      allowed_origins: [],
      trusted_proxies: [],
      owners_can_manage_customers: false,
      owners_can_manage_owners: false,
      user_competences: [],
      native_name_enabled: false,
      validate_invitation_email: false,
      authentication_methods: ['LOCAL_SIGNIN'],
    },
  );
});

config('a setting has a name in the environment and one on the command line', () => {
  assert.equal(
    [environmentName('max_body_bytes'), optionName('max_body_bytes')],
    ['TENANTRY_MAX_BODY_BYTES', '--max-body-bytes'],
  );
});

config(
  'what is given by the program comes before options, options before the environment, the environment before defaults',
  () => {
    const sources = {
      env: { TENANTRY_PORT: '1', TENANTRY_HOST: 'a', TENANTRY_DATA: 'd' },
      options: { port: '2', host: 'b' },
      input: { port: 3 },
    };
    const { port, host, data, log_level } = loadConfig(sources);
    assert.equal([port, host, data, log_level], [3, 'b', 'd', 'info']);
  },
);

config(
  'a text that a program gives is read as on the command line, and so are wrong values and unknown names rejected',
  () => {
    const { allowed_origins, job_delay, owners_can_manage_owners, port } = loadConfig({
      // A program in JavaScript can pass such values.
      input: JSON.parse(
        '{"job_delay":"1s","port":"81","owners_can_manage_owners":"yes","allowed_origins":"http://a,http://b"}',
      ),
    });
    assert.equal([job_delay, port, owners_can_manage_owners], [1_000_000, 81, true]);
    assert.equal(allowed_origins, ['http://a', 'http://b']);
    const mistakes: [given: object, line: string][] = [
      [{ job_delay: 'soon' }, 'job_delay must be a duration such as 45s, 30m, 12h or 7d'],
      [{ job_delay: -1 }, 'job_delay must be a duration such as 45s, 30m, 12h or 7d, or a number of microseconds'],
      [{ port: 65536 }, 'port must be a whole number from 0 to 65535'],
      [{ port: null }, 'port must be a whole number'],
      [{ owners_can_manage_owners: 1 }, 'owners_can_manage_owners must be true or false'],
      [
        { trusted_proxies: ['here'] },
        'trusted_proxies must list addresses or networks such as 10.0.0.0/8, but has "here"',
      ],
      [{ data: 5 }, 'data must be a string'],
      [{ prot: 80 }, 'there is no setting prot; did you mean port?'],
    ];
    for (const [input, line] of mistakes)
      assert.throws(
        () => loadConfig({ input }),
        (error: Error) => error instanceof ConfigError && error.message === line,
        line,
      );
  },
);

config('finds variables that look like settings but are not', () => {
  const env = {
    TENANTRY_PORT: '1',
    TENANTRY_PROT: '1',
    TENANTRY_ENCRYPTION_KEYS_FILE: 'f',
    TENANTRY_SAML_KEY_FILE: 'f',
    TENANTRY_PORT_FILE: 'f',
    PATH: '/bin',
  };
  assert.equal(unknownVariables(env), [
    { variable: 'TENANTRY_PROT', did_you_mean: 'TENANTRY_PORT' },
    { variable: 'TENANTRY_PORT_FILE' },
  ]);
});

config('reads a secret from a file, without the trailing newline; other settings cannot be read so', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-config-'));
  const holding = (content: string): string => {
    writeFileSync(join(folder, 'secret'), content, { mode: 0o644 });
    return join(folder, 'secret');
  };
  const env = (name: string, content: string) => ({ env: { [`TENANTRY_${name}_FILE`]: holding(content) } });
  const key = `1:${Buffer.alloc(32).toString('base64')}`;
  assert.is(loadConfig(env('PUSH_SERVER_KEY_IOS', 'AAAA\n')).push_server_key_ios, 'AAAA');
  assert.is(loadConfig(env('PUSH_SERVER_KEY_ANDROID', 'AAAA')).push_server_key_android, 'AAAA');
  assert.equal(loadConfig(env('ENCRYPTION_KEYS', `${key}\r\n`)).encryption_keys, [key]);
  const smtp = { ...env('SMTP_URL', 'smtp://me:word@mail.example\n').env, TENANTRY_EMAIL_FROM: 'me@mail.example' };
  assert.is(loadConfig({ env: smtp }).smtp_url, 'smtp://me:word@mail.example');
  assert.is(loadConfig({ env: smtp, options: { smtp_url: 'smtp://b' } }).smtp_url, 'smtp://b', 'an option comes first');
  assert.equal(
    [sourceOf('smtp_url', { env: smtp }), sourceOf('email_from', { env: smtp }), sourceOf('port', { env: smtp })],
    [`TENANTRY_SMTP_URL_FILE=${join(folder, 'secret')}`, 'TENANTRY_EMAIL_FROM', undefined],
  );
  assert.is(loadConfig(env('PORT', '81')).port, 8080);
  const empty = { TENANTRY_SMTP_URL: 'smtp://a', TENANTRY_SMTP_URL_FILE: '', TENANTRY_EMAIL_FROM: 'a@b.example' };
  assert.is(loadConfig({ env: empty }).smtp_url, 'smtp://a');

  const reports = (content: string, name = 'ENCRYPTION_KEYS', more = {}): string => {
    try {
      loadConfig({ env: { ...env(name, content).env, ...more } });
    } catch (error) {
      assert.instance(error, ConfigError);
      return (error as Error).message;
    }
    return '';
  };
  const named = `TENANTRY_ENCRYPTION_KEYS_FILE=${join(folder, 'secret')}`;
  assert.is(reports('\n'), `${named} is empty`);
  assert.is(reports(`${key}\n${key}\n`), `${named} must contain exactly one line`);
  assert.is(reports('nonsense'), `${named} must list keys such as 2024:<base64 of 32 bytes>`);
  assert.is(
    reports(key, 'ENCRYPTION_KEYS', { TENANTRY_ENCRYPTION_KEYS: key }),
    'TENANTRY_ENCRYPTION_KEYS and TENANTRY_ENCRYPTION_KEYS_FILE are both set: one of them must go',
  );
  rmSync(folder, { recursive: true });
  assert.throws(
    () => loadConfig({ env: { TENANTRY_ENCRYPTION_KEYS_FILE: join(folder, 'secret') } }),
    (error: Error) => error.message.startsWith(`${named} cannot be read: `),
  );
});

config('an empty variable counts as not set, and other variables are ignored', () => {
  assert.equal(loadConfig({ env: { TENANTRY_PORT: '', PORT: '9', TENANTRY_NOTHING: 'x' } }), loadConfig());
});

config('rejects an invalid value with an error that names the setting as the user wrote it', () => {
  assert.throws(
    () => loadConfig({ env: { TENANTRY_PORT: 'http' } }),
    (error: Error) => error.message === 'TENANTRY_PORT must be a whole number from 0 to 65535',
  );
  assert.is(rejection('port', '65536'), '--port must be a whole number from 0 to 65535');
});

config('whole numbers', () => {
  assert.equal([read('port', '0'), read('port', ' 8080 '), read('max_body_bytes', '1024')], [0, 8080, 1024]);
  for (const text of ['-1', '1.5', '1e3', '0x10', '', 'NaN', '٣', '99999999999999999999'])
    assert.match(rejection('port', text), /^--port must be a whole number/);
  assert.match(rejection('max_body_bytes', '1023'), /^--max-body-bytes must be a whole number from 1024 to/);
});

config('booleans', () => {
  for (const text of ['true', 'True', '1', 'yes', 'ON', 't', 'y'])
    assert.is(read('native_name_enabled', text), true, text);
  for (const text of ['false', 'FALSE', '0', 'no', 'off', 'f', 'n'])
    assert.is(read('native_name_enabled', text), false, text);
  assert.is(rejection('native_name_enabled', 'perhaps'), '--native-name-enabled must be true or false');
});

config('texts that must not be empty', () => {
  for (const name of ['host', 'data', 'product_name'] as const)
    assert.is(rejection(name, ' '), `${optionName(name)} must not be empty`);
});

config('lists are separated by commas', () => {
  assert.equal(read('user_competences', ' one, two words ,,three '), ['one', 'two words', 'three']);
  assert.equal(read('user_competences', ''), []);
});

config('base_url is an http or https URL, without the trailing slash', () => {
  assert.equal(
    [
      'https://cloud.example.com',
      'https://cloud.example.com/',
      'http://localhost:8080/tenantry//',
      'https://Bücher.example/é',
      'https://a.example/?x#y',
      '',
    ].map((text) => read('base_url', text)),
    [
      'https://cloud.example.com',
      'https://cloud.example.com',
      'http://localhost:8080/tenantry',
      'https://xn--bcher-kva.example/%C3%A9',
      'https://a.example',
      null,
    ],
  );
  for (const text of ['cloud.example.com', 'ftp://cloud.example.com', 'https://', '/tenantry'])
    assert.is(rejection('base_url', text), '--base-url must be an http or https URL');
});

config('allowed_origins lists origins', () => {
  assert.equal(read('allowed_origins', 'https://a.example, http://localhost:3000'), [
    'https://a.example',
    'http://localhost:3000',
  ]);
  assert.equal(read('allowed_origins', '*, https://*.a.example, http://localhost:*'), [
    '*',
    'https://*.a.example',
    'http://localhost:*',
  ]);
  for (const text of ['**', 'a.example', 'https://a.example/', 'https://a.example/path', 'null', 'https://A.example']) {
    assert.is(
      rejection('allowed_origins', text),
      `--allowed-origins must list origins such as https://app.example.com, https://*.example.com or http://localhost:*, but has "${text}"`,
    );
  }
});

config('trusted_proxies lists addresses and networks', () => {
  assert.equal(read('trusted_proxies', '127.0.0.1, 10.0.0.0/8, ::1, 2001:db8::/32'), [
    '127.0.0.1',
    '10.0.0.0/8',
    '::1',
    '2001:db8::/32',
  ]);
  const octal = ['010.1.1.1', '10.0.0.01', '10.0.0.0/08'];
  for (const text of [
    ...octal,
    '::1%lo',
    'localhost',
    '10',
    '10/8',
    '10.0.0.0/33',
    '10.0.0.256',
    '*',
    '10.0.0.0-10.0.0.9',
  ]) {
    assert.is(
      rejection('trusted_proxies', text),
      `--trusted-proxies must list addresses or networks such as 10.0.0.0/8, but has "${text}"`,
    );
  }
});

config('link_template_hosts lists hosts with or without a port', () => {
  assert.equal(
    read('link_template_hosts', 'app.example.com, localhost:3000, app.example.com:80, app.example.com:443, [::1]'),
    ['app.example.com', 'localhost:3000', 'app.example.com:80', 'app.example.com:443', '[::1]'],
  );
  for (const text of [
    'https://app.example.com',
    'app.example.com/',
    'App.example.com',
    '*',
    'app.example.com:0080',
    'me@app.example.com',
    'a b',
    '::1',
  ]) {
    assert.is(
      rejection('link_template_hosts', text),
      `--link-template-hosts must list hosts such as app.example.com or localhost:3000, but has "${text}"`,
    );
  }
});

config('authentication_methods', () => {
  assert.equal(
    [read('authentication_methods', 'LOCAL_SIGNIN'), read('authentication_methods', '')],
    [['LOCAL_SIGNIN'], []],
  );
  assert.match(rejection('authentication_methods', 'PASSWORD'), /^--authentication-methods must list /);
});

config('log_level', () => {
  for (const text of ['debug', 'info', 'warn', 'error', 'silent']) assert.is(read('log_level', text), text);
  assert.is(rejection('log_level', 'loud'), '--log-level must be debug, info, warn, error or silent');
});

config('durations have a unit', () => {
  assert.equal(
    ['45s', '30m', '12h', '7 d', '0s'].map((text) => read('closed_alerts_lifetime', text)),
    [45e6, 1800e6, 43_200e6, 604_800e6, 0],
  );
  for (const text of ['7', '1w', '-1d', '1.5h', 'd', ''])
    assert.match(rejection('closed_alerts_lifetime', text), /^--closed-alerts-lifetime must be a duration/);
});

config('prints every setting as it is read', () => {
  for (const name of settingNames) {
    const { fallback, help } = settings[name];
    assert.match(help, /\.$/, name);
    if (fallback !== null) assert.equal([name, read(name, printSetting(name, fallback))], [name, fallback]);
  }
  assert.equal(
    [
      printSetting('closed_alerts_lifetime', 5400e6),
      printSetting('closed_alerts_lifetime', 172_800e6),
      printSetting('base_url', null),
      printSetting('user_competences', ['a', 'b']),
      printSetting('native_name_enabled', true),
    ],
    ['90m', '2d', '', 'a,b', 'true'],
  );
});

config('prints credentials as stars, or nothing if there are none', () => {
  assert.equal(
    [
      printSetting('push_server_key_ios', 'AAAA'),
      printSetting('encryption_keys', ['1:abc']),
      printSetting('smtp_url', 'smtps://me:word@mail.example:465'),
      printSetting('smtp_url', 'smtp://mail.example'),
      printSetting('encryption_keys', []),
    ],
    ['********', '********', 'smtps://********@mail.example:465', 'smtp://mail.example', ''],
  );
});

config('prints no credentials in URLs of settings', () => {
  assert.is(
    printSetting('smtp_url', 'smtps://mailer:p:a@ss@mail.example.com:465'),
    'smtps://********@mail.example.com:465',
  );
  assert.is(printSetting('smtp_url', 'smtp://token@mail.example.com'), 'smtp://********@mail.example.com');
  assert.is(printSetting('base_url', 'https://user:pass@example.com/a@b'), 'https://********@example.com/a@b');
  assert.is(
    printSetting('saml_idp_metadata_urls', [{ url: 'https://u:p@idp.example.com/m', cert_file: '/etc/idp.pem' }]),
    'https://********@idp.example.com/m|/etc/idp.pem',
  );
  assert.is(
    printSetting('allowed_origins', ['https://a.example.com', 'https://u@b.example.com']),
    'https://a.example.com,https://********@b.example.com',
  );
});

config('nor in rejected values', () => {
  const url = 'https://user:pass@example.com/';
  for (const name of [
    'smtp_url',
    'peers',
    'allowed_origins',
    'trusted_proxies',
    'link_template_hosts',
    'hooks_allowed_ports',
    'saml_idp_metadata_urls',
    'job_tick',
  ] as const)
    assert.not.match(rejection(name, url), 'pass', name);
  assert.is(
    rejection('peers', url),
    '--peers must list http or https URLs without credentials, but has "https://********@example.com/"',
  );
});

/** Reads a configuration file with these lines. */
function fromFile(...lines: string[]): ReturnType<typeof readConfigFile> {
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-config-'));
  try {
    const path = join(folder, 'tenantry.conf');
    writeFileSync(path, lines.join('\n'));
    return readConfigFile(path);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

config('a file sets what neither the command line nor the environment sets', () => {
  const file = fromFile(
    '# ports',
    'port = 1',
    'host=::1 ',
    '',
    'empty_collections =',
    'base_url = https://a.example/?x=1',
  );
  const sources = { file, env: { TENANTRY_PORT: '2' }, options: {} };
  const { base_url, empty_collections, host, port } = loadConfig(sources);
  assert.equal(
    { base_url, empty_collections, host, port },
    { base_url: 'https://a.example', empty_collections: [], host: '::1', port: 2 },
  );
  assert.is(loadConfig({ ...sources, options: { port: '3' } }).port, 3);
  assert.match(sourceOf('host', sources) ?? '', /^host in .*tenantry\.conf:3$/);
});

config('reports an error in a file with its line', () => {
  const denial = (...lines: string[]): string => {
    try {
      loadConfig({ file: fromFile(...lines) });
    } catch (error) {
      assert.instance(error, ConfigError);
      return (error as Error).message.replace(/\S*\/tenantry\.conf/g, 'FILE');
    }
    return assert.unreachable() ?? '';
  };
  assert.is(denial('', 'prot = 1'), 'FILE:2: there is no setting prot; did you mean port?');
  assert.is(denial('port'), 'FILE:1 must be a line such as port = 8080');
  assert.is(denial('port = 1', 'port = 2'), 'FILE:2: there is port in FILE:1 already');
  assert.is(denial('port = high'), 'port in FILE:1 must be a whole number from 0 to 65535');
  assert.throws(
    () => readConfigFile('/nowhere/tenantry.conf'),
    /^the configuration file cannot be read: \/nowhere\/tenantry.conf: no such file or directory$/,
  );
});

config.run();
