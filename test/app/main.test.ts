/** The command line. `npm test` builds the program first. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import packageJson from '../../package.json' with { type: 'json' };
import { demoPassword } from '../../src/app/demo/demo.ts';
import { settingNames } from '../../src/app/settings.ts';
import { sql } from '../../src/kernel/db/sql.ts';
import { SqliteDatabase } from '../../src/kernel/db/sqlite-database.ts';
import { builtProgram, failed, nativeCache, Program, type Serving } from '../support/program.ts';

let program: Program;
let folder: string;

const cli = suite('command line');
cli.before.each(() => {
  program = new Program(nativeCache);
  folder = program.folder;
});
cli.after.each(() => program.end());

const run: Program['run'] = (...passed) => program.run(...passed);
const serve = (words?: readonly string[]): Promise<Serving> => program.serve(words);

const createdIn = (name: string): string => `tenantry: created a new database in ${join(folder, name)}\n`;

async function get(url: string, token: string): Promise<unknown> {
  return (await fetch(url, { headers: { Authorization: `Token ${token}` } })).json();
}

cli('lists every command on one screen in help, and without a command', async () => {
  const { code, stdout, stderr } = await run(['help']);
  assert.equal([code, stderr], [0, '']);
  for (const command of [
    'serve',
    'user COMMAND',
    'token NAME',
    'demo',
    'backup FILE',
    'restore FILE',
    'config',
    'version',
  ])
    assert.match(stdout, `\n  ${command} `);
  const lines = stdout.split('\n');
  assert.ok(lines.length <= 40, `${lines.length} lines`);
  assert.equal(
    lines.filter((line) => line.length > 74),
    [],
  );
  for (const words of [[], ['--help'], ['-h'], ['help', '--demo']]) {
    assert.equal(await run(words, { env: { TENANTRY_PORT: 'wrong' } }), { code, stdout, stderr }, words.join(' '));
  }
});

cli('shows help for a command with its options and examples', async () => {
  const expected = {
    code: 0,
    stdout: [
      'Usage: tenantry rotate-key [OPTIONS]',
      '',
      'Encrypt all stored secrets with a new key. Stop the server first.',
      '',
      'Options:',
      '  --prune          Remove the old keys afterwards',
      '  --quiet          Print nothing on success',
      '  --config FILE    Read settings from a file',
      '  --SETTING VALUE  Override a setting: see tenantry help settings',
      '  -h, --help       Show this help',
      '',
      'Examples:',
      '  tenantry rotate-key --prune',
      '',
    ].join('\n'),
    stderr: '',
  };
  for (const words of [
    ['rotate-key', '--help'],
    ['-h', 'rotate-key', '--prune'],
    ['help', 'rotate-key'],
  ])
    assert.equal(await run(words), expected, words.join(' '));
  const user = await run(['user', '--help']);
  assert.match(
    user.stdout,
    /^Usage: tenantry user COMMAND \[OPTIONS\]\n\nCommands:\n {2}user add NAME +Create a user\n/,
  );
  assert.not.match(user.stdout, 'backup');
  assert.match(
    (await run(['help', 'user', 'grant'])).stdout,
    /^Usage: tenantry user grant NAME ROLE \[OPTIONS\]\n[\s\S]*\n {2}--customer CUSTOMER {2}Name/,
  );
});

cli('uses existing commands and options in the examples of help', async () => {
  const { stdout } = await run(['help', 'all']);
  const settingOptions = settingNames.map((name) => `--${name.replaceAll('_', '-')}`);
  const helps = stdout.split(/\n\n\n/);
  assert.ok(helps.length > 25);
  for (const help of helps) {
    const [, usage = ''] = /^Usage: tenantry (.*)\n/.exec(help) ?? [];
    const name = usage.replace(/ *[A-Z[].*/, '');
    const options = [...help.matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, option]) => option);
    for (const line of help.split('\n')) assert.ok(line.length <= 80, line);
    const examples = help.split('\nExamples:\n')[1]?.trim().split(/\n */) ?? [];
    for (const example of examples) {
      assert.ok(`${example} `.startsWith(`tenantry ${name} `), example);
      const own = example.replace(/ [<>|] .*/, '');
      for (const [option] of own.matchAll(/--[a-z-]+/g))
        assert.ok(options.includes(option) || settingOptions.includes(option), example);
    }
  }
});

cli('lists every setting in groups in help settings, or those with a prefix', async () => {
  const all = await run(['help', 'settings']);
  assert.equal([all.code, all.stderr], [0, '']);
  const listed = [...all.stdout.matchAll(/^ {2}--([a-z0-9-]+)$/gm)].map(([, name]) => name?.replaceAll('-', '_'));
  assert.equal(listed, [...settingNames]);
  const hooks = await run(['help', 'settings', 'hooks_']);
  assert.equal(
    [...hooks.stdout.matchAll(/^(?: {2}--.*|\w.*:)$/gm)].map(([line]) => line),
    ['Hooks:', '  --hooks-per-user', '  --hooks-allowed-networks', '  --hooks-allowed-ports'],
  );
  assert.equal(await run(['help', 'settings', '--', '--hooks-']), hooks);
});

cli('prints the version with the command version', async () => {
  for (const word of ['version', '--version'])
    assert.equal(await run([word]), { code: 0, stdout: `${packageJson.version}\n`, stderr: '' });
});

/** The packages that the source imports, except for their types. */
function namedPackages(): Set<string> {
  const source = fileURLToPath(new URL('../../src', import.meta.url));
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file));
  return new Set(
    files
      .flatMap((file) => [
        ...readFileSync(join(source, file), 'utf8').matchAll(
          /(?:^import (?!type ).* from |import\()'(?!node:|\.)((?:@[\w-]+\/)?[^'/]+)[^']*'/gm,
        ),
      ])
      .map(([, name]) => name as string),
  );
}

cli('prints the licences of the program and of every package in it', async () => {
  const { code, stdout, stderr } = await run(['licenses']);
  assert.equal([code, stderr], [0, '']);
  const [own, ...others] = stdout.split(`\n\n${'-'.repeat(80)}\n\n`);
  assert.is(own, readFileSync(new URL('../../LICENSE', import.meta.url), 'utf8').trim());
  assert.match(others[0] as string, /SQLite, which is in the public domain/);
  const versions: Readonly<Record<string, string>> = packageJson.devDependencies;
  const named = namedPackages();
  assert.ok(named.size > 15, `${named.size} packages`);
  for (const name of [...named, 'rapidoc']) {
    const version = versions[name];
    const text = others.find((other) => other.startsWith(`${name} ${version}\n\n`));
    assert.match(text ?? '', /Copyright|public domain/i, name);
  }
  // Packages that contain other packages, and the notices of a script built from several.
  for (const name of ['sonic-boom', 'xml-crypto'])
    assert.ok(
      others.some((other) => other.startsWith(`${name} `)),
      name,
    );
  assert.ok(others.some((other) => other.startsWith('rapidoc ') && other.includes('Google LLC')));
});

cli('reports invalid arguments in one line with exit code 2, and does nothing', async () => {
  const userAdd = 'usage: tenantry user add NAME [OPTIONS]; see tenantry user add --help';
  const subcommands = 'add, list, show, password, disable, enable, recover, grant, revoke';
  const mistakes: [words: string[], line: string][] = [
    [['bogus'], 'unknown command "bogus"; see tenantry help'],
    [['--bogus'], 'unknown option --bogus; see tenantry help'],
    [['serve', '-x'], 'serve has no option -x; see tenantry serve --help'],
    [['serve', 'now'], 'usage: tenantry serve [OPTIONS]; see tenantry serve --help'],
    [['user'], `user needs a command: ${subcommands}; see tenantry user --help`],
    [['user', 'grnt', 'bob'], 'unknown command "user grnt"; did you mean "user grant"?'],
    [['user', 'frobnicate', 'bob'], 'unknown command "user frobnicate"; see tenantry help'],
    [['srve'], 'unknown command "srve"; did you mean "serve"?'],
    [['help', 'bakcup'], 'unknown command "bakcup"; did you mean "backup"?'],
    [['help', 'settings', 'hoks'], 'no setting begins with hoks; did you mean hooks?'],
    [['help', 'settings', 'zzz'], 'no setting begins with zzz; see tenantry help settings'],
    [['serve', '--prot', '1'], 'serve has no option --prot; did you mean --port?'],
    [['serve', '--epehmeral'], 'serve has no option --epehmeral; did you mean --ephemeral?'],
    [['--prot', '1'], 'unknown option --prot; did you mean --port?'],
    [['help', 'setings'], 'unknown command "setings"; did you mean "settings"?'],
    [['example', 'ngnix'], 'unknown example "ngnix"; did you mean "nginx"?'],
    [
      ['user', 'grant', 'bob', 'owner', '--costumer', 'A'],
      'user grant has no option --costumer; did you mean --customer?',
    ],
    [['toString'], 'unknown command "toString"; see tenantry help'],
    [['user', 'add'], userAdd],
    [['user', 'add', 'bob', 'alice'], userAdd],
    [['token'], 'usage: tenantry token NAME [OPTIONS]; see tenantry token --help'],
    [['token', 'admin', '--staff'], 'token has no option --staff; see tenantry token --help'],
    [['config', '--seed', 'x'], 'config has no option --seed; see tenantry config --help'],
    [['demo', '--seed'], "Option '--seed <value>' argument missing"],
    [['serve', '--port'], "Option '--port <value>' argument missing"],
    [['serve', '--host', '--port', '1'], "Option '--host' argument is ambiguous."],
    [['serve', '--ephemeral=yes'], "Option '--ephemeral' does not take an argument"],
    [['serve', '--port', 'http'], '--port must be a whole number from 0 to 65535'],
    [['token', 'admin', '--data', ''], '--data must not be empty'],
    [
      ['serve', '--trusted-proxies', 'here'],
      '--trusted-proxies must list addresses or networks such as 10.0.0.0/8, but has "here"',
    ],
    [['serve', '--owners-can-manage-owners', 'perhaps'], '--owners-can-manage-owners must be true or false'],
  ];
  for (const [words, line] of mistakes) assert.equal(await run(words), failed(line, 2), words.join(' '));
  assert.equal(
    await run(['serve'], { env: { TENANTRY_PORT: '65536' } }),
    failed('TENANTRY_PORT must be a whole number from 0 to 65535', 2),
  );
  assert.equal(readdirSync(folder), []);
});

cli('prints every setting in config: options override the environment, which overrides defaults', async () => {
  const env = { TENANTRY_PORT: '81', TENANTRY_HOST: '::1', TENANTRY_TRUSTED_PROXIES: '10.0.0.0/8, 192.0.2.1' };
  const { stdout } = await run(
    ['config', '--port', '82', '--owners-can-manage-owners', '--closed-alerts-lifetime', '48h'],
    { env },
  );
  const values = Object.fromEntries(
    stdout
      .split('\n')
      .filter((line) => line.startsWith('TENANTRY_'))
      .map((line) => line.split(/=(.*)/s)),
  );
  assert.equal(
    Object.keys(values),
    settingNames.map((name) => `TENANTRY_${name.toUpperCase()}`),
  );
  assert.equal(
    ['PORT', 'HOST', 'DATA', 'TRUSTED_PROXIES', 'OWNERS_CAN_MANAGE_OWNERS', 'CLOSED_ALERTS_LIFETIME'].map(
      (name) => values[`TENANTRY_${name}`],
    ),
    ['82', '::1', 'data', '10.0.0.0/8,192.0.2.1', 'true', '2d'],
  );
});

cli('reads a secret from a file, which config names without the contents', async () => {
  const file = join(folder, 'smtp');
  writeFileSync(file, 'smtp://me:word@mail.example\n', { mode: 0o644 });
  const env = { TENANTRY_SMTP_URL_FILE: file, TENANTRY_EMAIL_FROM: 'me@mail.example' };
  const { code, stderr, stdout } = await run(['config', '--port', '82'], { env });
  assert.equal([code, stderr], [0, '']);
  assert.ok(
    stdout.includes(`\n# From TENANTRY_SMTP_URL_FILE=${file}.\nTENANTRY_SMTP_URL=smtp://********@mail.example\n`),
  );
  assert.ok(stdout.includes('\n# From TENANTRY_EMAIL_FROM.\nTENANTRY_EMAIL_FROM=me@mail.example\n'));
  assert.ok(stdout.includes('\n# From --port.\nTENANTRY_PORT=82\n'));
  assert.is(stdout.match(/^# From /gm)?.length, 4, 'and native_cache');
  rmSync(file);
  assert.equal(
    await run(['config'], { env }),
    failed(`TENANTRY_SMTP_URL_FILE=${file} cannot be read: ${file}: no such file or directory`, 2),
  );
});

cli('warns in serve of variables that resemble settings', async () => {
  const server = await program.serve(['--ephemeral'], {
    env: { TENANTRY_PROT: '81', TENANTRY_HOST_FILE: 'somewhere', TENANTRY_HOST: '127.0.0.1' },
  });
  assert.is(await server.stop(), 0);
  const lines = server.errors().split('\n').slice(0, -1);
  assert.equal(
    lines.map((line) => {
      const { did_you_mean, level, msg, variable } = JSON.parse(line);
      return { level, msg, variable, did_you_mean };
    }),
    ['TENANTRY_PROT', 'TENANTRY_HOST_FILE'].map((variable) => ({
      level: 40,
      msg: 'no setting has this name',
      variable,
      did_you_mean: variable === 'TENANTRY_PROT' ? 'TENANTRY_PORT' : undefined,
    })),
  );
});

cli('prints the table of the manual with config --markdown', async () => {
  const { stdout } = await run(['config', '--markdown']);
  const [head, , first] = stdout.split('\n');
  assert.equal(
    [head, first],
    ['| Setting | Kind | Default | Meaning |', '| `host` | text | `127.0.0.1` | Address to listen on. |'],
  );
});

cli('treats a closed standard output as no failure, and keeps a server running', async () => {
  await run(['user', 'add', 'bob', '--data', 'data']);
  for (const words of [
    ['config'],
    ['openapi'],
    ['help'],
    ['licenses'],
    ['doctor'],
    ['token', 'bob'],
    ['backup', 'b'],
  ]) {
    const child = program.start(words);
    child.stdout?.destroy();
    let errors = '';
    child.stderr?.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    assert.equal([await once(child, 'close'), errors], [[0, null], ''], words[0]);
  }
  assert.ok(existsSync(join(folder, 'b')));
  const cut = program.start(['backup', '-']);
  cut.stdout?.destroy();
  const [line] = (await once(cut.stderr as NodeJS.ReadableStream, 'data')) as [Buffer];
  assert.equal(
    [line.toString(), await once(cut, 'close')],
    ['tenantry: cannot write the backup: broken pipe\n', [1, null]],
    'an unread backup is a failure',
  );
  const server = program.start(['serve', '--port', '0']);
  server.stdout?.destroy();
  writeFileSync(join(folder, 'data/initial-password'), 'of another start');
  await once(server.stderr as NodeJS.ReadableStream, 'data');
  server.kill('SIGTERM');
  assert.equal(await once(server, 'close'), [0, null]);
});

cli('reports an unwritable standard output in one line with exit code 1', async () => {
  if (!existsSync('/dev/full')) return;
  assert.equal(
    await run(['config'], { shell: 'exec > /dev/full' }),
    failed('cannot write to standard output: ENOSPC: no space left on device, write'),
  );
});

cli('prints nothing on success with --quiet, and the reason of a failure', async () => {
  const success = { code: 0, stdout: '', stderr: '' };
  assert.equal(await run(['demo', '--quiet']), success);
  for (const words of [['backup', 'b'], ['rotate-key'], ['restore', 'b', '--data', 'c']])
    assert.equal(await run([...words, '--quiet']), success, words[0]);
  assert.equal(await run(['backup', 'b', '--quiet']), failed(`${join(folder, 'b')} exists already`));
  const { code, stderr, stdout } = await run(['backup', '-', '--quiet']);
  assert.equal([code, stdout === '', stderr], [0, false, '']);
});

cli('creates a user with user add, who can log in with the password from standard input', async () => {
  const words = ['user', 'add', 'bob', '--staff', '--email', 'bob@example.com', '--password-stdin'];
  assert.equal(await run([...words, '--data', 'data'], { input: 'correct horse 7\n' }), {
    code: 0,
    stdout: 'Created user bob.\n',
    stderr: createdIn('data'),
  });
  const server = await serve();
  const response = await fetch(`${server.url}/api-auth/password/`, {
    method: 'POST',
    body: new URLSearchParams({ username: 'bob', password: 'correct horse 7' }),
  });
  const { token } = (await response.json()) as { token: string };
  const [me] = (await get(`${server.url}/api/users/?current`, token)) as [Record<string, unknown>];
  assert.equal([me.username, me.email, me.is_staff, me.is_support], ['bob', 'bob@example.com', true, false]);
  assert.not(existsSync(join(folder, 'data/initial-password')), 'a server with users creates none');
  await server.stop();
});

cli('rejects users in user add by the rules of the API, with the reason', async () => {
  assert.equal(await run(['user', 'add', 'bob', '--support', '--data', 'data']), {
    code: 0,
    stdout: 'Created user bob, without a password.\n',
    stderr: createdIn('data'),
  });
  assert.equal(await run(['user', 'add', 'BOB']), failed('username: user with this username already exists.'));
  assert.equal(await run(['user', 'add', 'b b']), failed('username: Enter a valid username.'));
  assert.equal(await run(['user', 'add', 'eve', '--email', 'nowhere']), failed('email: Enter a valid email address.'));
  const short = failed(
    'password: Ensure this field has at least one digit. Ensure this field has at least 7 characters.',
  );
  assert.equal(await run(['user', 'add', 'eve', '--password-stdin'], { input: 'short\n' }), short);
});

cli('shows users and tokens of a second process immediately in a running server', async () => {
  const server = await serve();
  assert.is((await run(['user', 'add', 'zed', '--support'])).code, 0);
  const { code, stdout } = await run(['token', 'zed']);
  assert.is(code, 0);
  assert.match(stdout, /^[0-9a-f]{40}\n$/);
  const names = ((await get(`${server.url}/api/users/`, stdout.trim())) as { username: string }[]).map(
    ({ username }) => username,
  );
  assert.equal(names, ['admin', 'zed']);
  assert.equal(
    await run(['demo']),
    failed(`another server uses the data folder ${join(folder, 'data')}`),
    'work that would block the writer for seconds is rejected',
  );
  assert.is(await server.stop(), 0);
});

cli('rejects a name without an active user in token', async () => {
  await run(['user', 'add', 'somebody', '--data', 'data']);
  assert.equal(await run(['token', 'nobody']), failed('There is no active user "nobody"'));
});

cli('does not create a database in commands that need one', async () => {
  for (const words of [['token', 'admin'], ['doctor'], ['backup', 'b'], ['rotate-key']]) {
    assert.equal(
      await run([...words, '--data', 'wrong']),
      failed(`there is no database in ${join(folder, 'wrong')}`),
      words[0],
    );
  }
  assert.equal(readdirSync(folder), []);
});

cli('creates a database with user add in a named empty folder only', async () => {
  const advice = 'name its folder with --data, or an empty one to create a database there';
  const none = (name: string): string => `there is no database in ${join(folder, name)}`;
  const words = ['user', 'add', 'bob'];
  assert.equal(await run(words), failed(`${none('data')}: ${advice}`));
  mkdirSync(join(folder, 'home'));
  writeFileSync(join(folder, 'home/letter'), '');
  assert.equal(await run([...words, '--data', 'home']), failed(`${none('home')}, which is not empty: ${advice}`));
  assert.equal([readdirSync(folder), readdirSync(join(folder, 'home'))], [['home'], ['letter']]);
  const stdout = 'Created user bob, without a password.\n';
  assert.equal(await run([...words, '--data', 'new']), { code: 0, stdout, stderr: createdIn('new') });
  mkdirSync(join(folder, 'empty'));
  const env = { TENANTRY_DATA: 'empty' };
  assert.equal(await run(words, { env }), { code: 0, stdout, stderr: createdIn('empty') });
  assert.equal(await run(['user', 'add', 'eve'], { env }), {
    code: 0,
    stdout: 'Created user eve, without a password.\n',
    stderr: '',
  });
});

cli('runs several commands concurrently in a new folder', async () => {
  const ends = await Promise.all(['a', 'b', 'c', 'd'].map((name) => run(['user', 'add', name, '--data', 'data'])));
  assert.equal(
    ends.filter(({ code, stderr }) => code !== 0 || (stderr !== '' && stderr !== createdIn('data'))),
    [],
  );
});

cli('prints logins of the sample data in demo, and rejects a database with customers', async () => {
  const { code, stdout, stderr } = await run(['demo', '--seed', 'mine']);
  assert.equal([code, stderr], [0, '']);
  assert.match(
    stdout,
    /^The sample data is ready: 12 customers, 40 projects, 120 users, \d+ SSH keys,\n\d+ provider accounts, \d+ resources and \d+ events since \d{4}-\d\d-\d\d\.\n\nLogins to try, all with the password demo-world-1\n\n {2}helena\.kask +staff/,
  );
  assert.equal(await run(['demo']), failed('the database already has customers: sample data needs an empty one'));
});

cli('prints the location of the initial password at every start until it is changed', async () => {
  const file = join(folder, 'data/initial-password');
  for (const start of ['first', 'second']) {
    const server = await serve();
    const { first_login, ...rest } = server.startup;
    assert.equal(rest, { event: 'listening', url: server.url });
    const secret = String(first_login).slice(`${server.url}/#/first/`.length);
    assert.match(secret, /^[0-9a-f]{32}$/);
    assert.is(first_login, `${server.url}/#/first/${secret}`);
    assert.not(server.errors().includes(secret), 'the secret is not logged');
    assert.is(await server.stop(), 0);
    const { time: _, ...line } = JSON.parse(server.errors());
    assert.equal(
      line,
      {
        level: 40,
        file,
        msg: `The password of the staff user "admin" is in ${file}. The file is deleted when the password is changed.`,
      },
      start,
    );
  }
  rmSync(file);
  const server = await serve();
  await server.stop();
  assert.is(server.errors(), '');
});

cli('prints a token of admin with serve --ephemeral and leaves no files', async () => {
  const server = await serve(['--ephemeral']);
  const [me] = (await get(`${server.url}/api/users/?current`, server.startup.token as string)) as [
    { username: string },
  ];
  assert.is(me.username, 'admin');
  assert.is(await server.stop(), 0);
  assert.equal([server.errors(), readdirSync(folder)], ['', []]);
});

cli('creates the sample data with serve --demo, and continues with it at the next start', async () => {
  const first = await serve(['--demo']);
  const login = await fetch(`${first.url}/api-auth/password/`, {
    method: 'POST',
    body: new URLSearchParams({ username: 'helena.kask', password: demoPassword }),
  });
  const { logins, password } = first.startup.demo as unknown as Record<string, unknown> & { logins: unknown[] };
  assert.is(password, demoPassword);
  assert.equal(logins[0], { username: 'helena.kask', role: 'staff: sees and does everything' });
  assert.is(logins.length, 10);
  const { token } = (await login.json()) as { token: string };
  const customers = await get(`${first.url}/api/customers/?field=uuid`, token);
  assert.ok((customers as unknown[]).length > 5);
  assert.equal([await first.stop(), first.errors()], [0, '']);
  const second = await serve(['--demo']);
  assert.equal(await get(`${second.url}/api/customers/?field=uuid`, token), customers);
  const page = await fetch(`${second.url}/api/version/`, { headers: { Origin: 'http://localhost:5173' } });
  assert.is(page.headers.get('access-control-allow-origin'), 'http://localhost:5173');
  await second.stop();
});

cli('lets hooks call the loopback with serve --ephemeral and --demo, unless the setting is given', async () => {
  const body = new URLSearchParams({ destination_url: 'http://127.0.0.1:9000/', event_groups: 'projects' });
  const status = async (words: readonly string[]): Promise<number> => {
    const server = await serve([...words, '--ephemeral']);
    const headers = { Authorization: `Token ${server.startup.token}` };
    const reply = await fetch(`${server.url}/api/hooks-web/`, { method: 'POST', headers, body });
    await server.stop();
    return reply.status;
  };
  assert.equal(
    [await status([]), await status(['--demo']), await status(['--hooks-allowed-networks', '10.0.0.0/8'])],
    [201, 201, 400],
  );
});

cli('reports a port in use in one line', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  assert.equal(
    await run(['serve', '--port', String(port)]),
    failed(`cannot listen on 127.0.0.1 port ${port}: the port is in use`),
  );
  other.close();
  const server = await serve();
  await server.stop();
  assert.match(
    server.errors(),
    'initial-password',
    'the next start prints the location of the password from the failed one',
  );
});

cli('reports a host that is not an address of this machine in one line', async () => {
  assert.equal(
    await run(['serve', '--port', '0', '--host', '203.0.113.1']),
    failed('cannot listen on 203.0.113.1 port 0: this machine has no such address'),
  );
});

cli('serves a data folder once at a time, and again after its server has ended in any way', async () => {
  const server = await serve();
  assert.equal(
    await run(['serve', '--port', '0']),
    failed(`another server uses the data folder ${join(folder, 'data')}`),
  );
  assert.is((await fetch(`${server.url}/api/version/`)).status, 200);
  const [child] = program.running;
  child?.kill('SIGKILL');
  await once(child as ChildProcess, 'close');
  assert.is(await (await serve()).stop(), 0);
});

cli('reports a path that cannot be a data folder in one line', async () => {
  writeFileSync(join(folder, 'file'), '');
  const { code, stdout, stderr } = await run(['user', 'add', 'bob', '--data', 'file/data']);
  assert.equal([code, stdout], [1, '']);
  assert.match(stderr, /^tenantry: cannot use the data folder .*file\/data: .*not a directory\n$/);
  assert.is(stderr.split('\n').length, 2);
});

const isRoot = process.getuid?.() === 0 && spawnSync('setpriv', ['--version']).status === 0;

(isRoot ? cli : cli.skip)('names the user to run as when the folder belongs to another user', async () => {
  await run(['user', 'add', 'bob', '--data', 'data']);
  mkdirSync(join(folder, 'data/native'), { mode: 0o700 });
  const [file, home] = [join(folder, 'data/tenantry.db'), join(folder, 'data/native')];
  for (const path of [home, file, join(folder, 'data')]) chownSync(path, 1, 1);
  const name = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .find(([, , uid]) => uid === '1')?.[0];
  const advice = `run this as that user: sudo -u ${name ?? "'#1'"} tenantry …`;
  assert.equal(
    await run(['doctor'], { env: { TENANTRY_NATIVE_CACHE: '' } }),
    failed(`the folder ${home} for native code belongs to another user: ${advice}`),
    'a separate folder for native code would leave files that the server cannot open',
  );
  // Root without its privileges, so that the location of the clone and the permissions of its parent folders do not matter.
  const copy = join(folder, 'tenantry.mjs');
  copyFileSync(builtProgram, copy);
  const unprivileged = ['--bounding-set=-all', '--inh-caps=-all', process.execPath, copy, 'doctor'];
  const child = spawn('setpriv', unprivileged, { cwd: folder, env: { PATH: process.env.PATH } });
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  assert.equal(await once(child, 'close'), [1, null]);
  const data = join(folder, 'data');
  assert.is(output, `tenantry: cannot use the data folder ${data}: ${file}: permission denied: ${advice}\n`);
});

cli('rejects a database of another program and does not change it', async () => {
  const file = join(folder, 'data/tenantry.db');
  mkdirSync(join(folder, 'data'));
  for (const script of ['CREATE TABLE t (a)', 'PRAGMA application_id = 7']) {
    const db = SqliteDatabase.open(file);
    db.script(script);
    db.close();
    const before = readFileSync(file);
    assert.equal(await run(['token', 'admin']), failed(`${file}: The database belongs to another program`));
    assert.ok(readFileSync(file).equals(before));
    assert.equal(readdirSync(join(folder, 'data')), ['tenantry.db']);
    rmSync(file);
  }
  writeFileSync(file, 'no database at all '.repeat(100));
  assert.equal(await run(['token', 'admin']), failed(`${file}: file is not a database`));
});

cli('rejects a database of a newer version and does not change it', async () => {
  const file = join(folder, 'data/tenantry.db');
  assert.is((await run(['user', 'add', 'bob', '--data', 'data'])).code, 0);
  const db = SqliteDatabase.open(file);
  const version = Number(db.value(sql`PRAGMA user_version`));
  db.script('PRAGMA user_version = 99');
  db.close();
  assert.equal(
    await run(['serve', '--port', '0']),
    failed(`${file}: The database has schema 99, newer than this version's ${version}: use a newer Tenantry`),
  );
});

cli.run();
