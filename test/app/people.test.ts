/** `tenantry user …` and `tenantry account list` on the command line. `npm test` builds the program first. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { failed, nativeCache, Program, type Serving } from '../support/program.ts';

const people = suite('users on the command line');
const program = new Program(nativeCache);
const data = join(program.folder, 'data');
let server: Serving;
let token: string;

const run = (...words: string[]): ReturnType<Program['run']> => program.run([...words, '--data', data]);
const success = (stdout: string): object => ({ code: 0, stdout, stderr: '' });

async function call(method: string, path: string, body?: object, as = token): Promise<Response> {
  return fetch(server.url + path, {
    method,
    headers: { 'Content-Type': 'application/json', Authorization: `Token ${as}` },
    ...(body && { body: JSON.stringify(body) }),
  });
}

const json = async (method: string, path: string, body?: object): Promise<Record<string, string>> =>
  (await call(method, path, body)).json() as Promise<Record<string, string>>;

/** Returns the messages of the newest events, newest first. */
async function messages(count: number): Promise<string[]> {
  const events = (await (await call('GET', `/api/events/?page_size=${count}`)).json()) as { message: string }[];
  return events.map(({ message }) => message);
}

people.before(async () => {
  server = await program.serve();
  token = (await run('token', 'admin')).stdout.trim();
  await run('user', 'add', 'carol', '--email', 'carol@example.com');
});
people.after(async () => {
  await program.end();
});

people('lists users with their rights, and shows one with roles, beside a running server', async () => {
  const { uuid } = await json('POST', '/api/customers/', { name: 'Alpha Ltd' });
  assert.equal(
    await run('user', 'grant', 'CAROL', 'owner', '--customer', 'Alpha Ltd', '--until', '2099-01-01T00:00Z'),
    success('CAROL is owner in customer Alpha Ltd.\n'),
  );
  assert.equal(await messages(1), ['User carol has gained role of Owner in customer Alpha Ltd.']);
  const { stdout } = await run('user', 'show', 'carol', '--json');
  const { joined, ...output } = JSON.parse(stdout);
  assert.match(joined, /^\d{4}-\d\d-\d\dT/);
  assert.equal(output, {
    username: 'carol',
    full_name: '',
    email: 'carol@example.com',
    active: true,
    staff: false,
    support: false,
    password: false,
    last_seen: null,
    roles: [{ role: 'owner', customer: 'Alpha Ltd', project: null, expires: '2099-01-01T00:00:00Z' }],
  });
  const table = (await run('user', 'list')).stdout.split('\n');
  assert.match(table[0] ?? '', /^username +full_name +email +active +staff +support +password +joined +last_seen$/);
  assert.match(table[2] ?? '', /^carol +- +carol@example.com +yes +no +no +no +\S+ +-$/);
  assert.match(
    (await run('user', 'show', 'carol')).stdout,
    /\n\nrole +customer +project +expires\nowner +Alpha Ltd +- +2099/,
  );
  assert.equal(
    await run('user', 'revoke', 'carol', 'owner', '--customer', String(uuid)),
    success(`carol is no longer owner in customer ${uuid}.\n`),
  );
  assert.equal(
    await run('user', 'revoke', 'carol', 'owner', '--customer', String(uuid)),
    success(`carol is not owner in customer ${uuid}.\n`),
  );
  assert.equal(await messages(1), ['User carol has lost role of Owner in customer Alpha Ltd.']);
});

people('revokes all tokens of a disabled user immediately, and enables the user again', async () => {
  const own = (await run('token', 'carol')).stdout.trim();
  assert.is((await call('GET', '/api/customers/', undefined, own)).status, 200);
  assert.equal(await run('user', 'disable', 'carol'), success('carol is disabled.\n'));
  assert.is((await call('GET', '/api/customers/', undefined, own)).status, 401);
  assert.equal(await run('user', 'disable', 'carol'), success('carol is already disabled.\n'));
  assert.equal(await run('token', 'carol'), failed('There is no active user "carol"'));
  assert.equal(await run('user', 'enable', 'carol'), success('carol is active.\n'));
  assert.is((await call('GET', '/api/customers/', undefined, own)).status, 401);
  assert.equal(await messages(2), ['User carol has been activated.', 'User carol has been deactivated.']);
});

people('says on stderr that a list has no rows', async () => {
  assert.equal(await run('key', 'list'), { code: 0, stdout: '', stderr: 'tenantry: nothing found\n' });
  assert.equal(await run('key', 'list', '--json'), { code: 0, stdout: '[]\n', stderr: '' });
});

people('creates, lists and revokes API keys', async () => {
  const added = await run('key', 'add', 'carol', 'Build server', '--scopes', 'customers:read', '--until', '30d');
  assert.equal([added.code, added.stderr], [0, '']);
  const key = added.stdout.trim();
  assert.match(key, /^tnt_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/);
  assert.is((await call('GET', '/api/customers/', undefined, key)).status, 200);
  assert.is((await call('GET', '/api/projects/', undefined, key)).status, 403);
  const [listed, ...others] = JSON.parse((await run('key', 'list', '--user', 'carol', '--json')).stdout);
  assert.equal(
    [others.length, listed.user, listed.name, listed.scopes, listed.expired],
    [0, 'carol', 'Build server', 'customers:read', false],
  );
  assert.equal(
    await run('key', 'add', 'carol', 'Build server', '--scopes', 'users:read'),
    failed('API key with this name already exists.'),
  );
  const invalid: [string[], string][] = [
    [['--scopes', 'all'], '--scopes: "all" is not a valid choice.'],
    [['--scopes', '*:read', '--networks', '10'], '--networks: Enter a valid network.'],
    [
      ['--scopes', '*:read', '--networks', Array(21).fill('10.0.0.0/8').join()],
      '--networks: Ensure this field has no more than 20 elements.',
    ],
    [['--scopes', '*:read', '--until', '2001-02-03T04:05Z'], '--until must be in the future'],
  ];
  for (const [words, message] of invalid)
    assert.equal(await run('key', 'add', 'carol', 'x', ...words), failed(message));
  assert.match(
    (await run('key', 'add', 'carol', 'x', '--scopes', '*:read', '--until', '9999d')).stderr,
    /^tenantry: --until: Ensure this value is less than or equal to /,
  );
  await json('POST', '/api/customers/', { name: 'Hidden' });
  assert.equal(
    await run('key', 'add', 'carol', 'x', '--scopes', '*:read', '--customer', 'Hidden'),
    failed('the user "carol" cannot see the customer "Hidden"'),
  );
  assert.equal(await run('key', 'revoke', listed.uuid), success('The API key "Build server" of carol is revoked.\n'));
  assert.is((await call('GET', '/api/customers/', undefined, key)).status, 401);
  assert.equal(await run('key', 'revoke', listed.uuid), failed(`there is no API key "${listed.uuid}"`));
});

people('sets a password that logs in, and revokes earlier tokens', async () => {
  const own = (await run('token', 'carol')).stdout.trim();
  const set = await program.run(['user', 'password', 'carol', '--password-stdin', '--data', data], {
    input: 'a long enough one 7\n',
  });
  assert.equal(set, success('The password of carol is set and their tokens are revoked.\n'));
  assert.is((await call('GET', '/api/customers/', undefined, own)).status, 401);
  const body = { username: 'carol', password: 'a long enough one 7' };
  assert.is((await call('POST', '/api-auth/password/', body)).status, 200);
  const short = await program.run(['user', 'password', 'carol', '--password-stdin', '--data', data], { input: 'x' });
  assert.is(short.code, 1);
  assert.match(short.stderr, /^tenantry: password: /);
  assert.equal(
    await run('user', 'password', 'carol'),
    failed('cannot ask for the password without a terminal; use --password-stdin', 2),
  );
});

people('grants and revokes staff and global support without a place', async () => {
  assert.equal(await run('user', 'grant', 'carol', 'support'), success('carol is support.\n'));
  assert.equal(await run('user', 'grant', 'carol', 'support'), success('carol is already support.\n'));
  assert.is(JSON.parse((await run('user', 'show', 'carol', '--json')).stdout).support, true);
  assert.equal(await run('user', 'revoke', 'carol', 'support'), success('carol is no longer support.\n'));
});

people('rejects invalid grants in one line with the rule, and changes nothing', async () => {
  await json('POST', '/api/customers/', { name: 'Twins' });
  await json('POST', '/api/customers/', { name: 'Twins' });
  const grant = (...words: string[]): ReturnType<typeof run> => run('user', 'grant', 'carol', ...words);
  const rejections: [string[], string, number?][] = [
    [['owner'], 'owner is a role in a customer or project: name one with --customer or --project'],
    [['boss', '--customer', 'Twins'], 'the roles in a customer are owner, support; not boss'],
    [['owner', '--customer', 'Twins'], 'several customers have the name "Twins": give a uuid'],
    [['admin', '--project', 'None'], 'there is no project "None"'],
    [
      ['owner', '--customer', 'Alpha Ltd', '--until', 'soon'],
      '--until must be an instant such as 2027-01-31T12:00Z, or a duration such as 30d',
    ],
    [['owner', '--customer', 'Alpha Ltd', '--until', '2001-01-01T00:00Z'], '--until must be in the future'],
    [['staff', '--until', '30d'], '--until is for roles in a customer or project'],
    [['owner', '--customer', 'a', '--project', 'b'], '--customer and --project cannot be combined', 2],
  ];
  for (const [words, line, code] of rejections) assert.equal(await grant(...words), failed(line, code));
  assert.equal(await run('user', 'show', 'nobody'), failed('there is no user "nobody"'));
  assert.equal((await grant('owner', '--customer', 'Alpha Ltd')).code, 0);
  assert.equal(
    await grant('support', '--customer', 'Alpha Ltd'),
    failed('The fields customer and user must make a unique set.'),
  );
  const nowhere = join(program.folder, 'nowhere');
  assert.equal(await program.run(['user', 'list', '--data', nowhere]), failed(`there is no database in ${nowhere}`));
});

people('lists provider accounts with their state and last error', async () => {
  const { url } = await json('POST', '/api/customers/', { name: 'Beta Ltd' });
  const settings = { name: 'Cloud', type: 'OpenStack', customer: url, backend_url: 'simulator://' };
  assert.is((await call('POST', '/api/service-settings/', settings)).status, 201);
  const [listed] = JSON.parse((await run('account', 'list', '--json')).stdout);
  assert.equal(
    { ...listed, state: '', synced: null },
    { name: 'Cloud', type: 'OpenStack', state: '', customer: 'Beta Ltd', error: '', shared: false, synced: null },
  );
});

people('completes commands, their arguments, and options in a shell', async () => {
  const script = (await run('completion', 'bash')).stdout;
  const complete = (...words: string[]): string => {
    const lines = [`COMP_WORDS=(tenantry ${words.join(' ')})`, `_tenantry tenantry ${words.at(-1)}`];
    const ask = [script, ...lines.map((line) => line.replace('COMP_WORDS', `COMP_CWORD=${words.length}; COMP_WORDS`))];
    return execFileSync('bash', ['-c', `${ask.join('\n')}\necho "\${COMPREPLY[@]}"`], { encoding: 'utf8' }).trim();
  };
  assert.equal(
    [
      complete('rest'),
      complete('user', 'gr'),
      complete('user', 'grant', '--cu'),
      complete('serve', '--port'),
      complete('example', 'gr'),
    ],
    ['restore', 'grant', '--customer', '--port', 'grafana'],
  );
  for (const shell of ['zsh', 'fish']) assert.match((await run('completion', shell)).stdout, /rotate-key/);
  assert.equal(await run('completion', 'tcsh'), failed('unknown completion "tcsh"; use bash, zsh, fish', 2));
});

people.run();
