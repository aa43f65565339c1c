/** `tenantry user …` and `tenantry account …`: manage users without a token. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { App } from '../../kernel/app.ts';
import { caseFold, sql } from '../../kernel/db/sql.ts';
import { withDeployment } from '../compose/composition.ts';
import { requireDatabase } from '../data/data-folder.ts';
import { type DisplayRow, listAccounts, listUsers, showUser, tableOf } from '../people/listing.ts';
import { grant, type RoleSpec, recoveryUrl, revoke, setActive, setPassword } from '../people/people.ts';
import { type Arguments, type Commands, groups, nothingFound, UsageError } from './command-line.ts';
import { warnOfLockout } from './printing.ts';
import { withReadable } from './readable-folder.ts';

/** The option of commands that can print JSON. */
export const json = { json: { type: 'boolean', help: 'Print JSON' } } as const;
/** The options that name a customer or a project. */
export const scopeFlags = {
  customer: { type: 'string', value: 'CUSTOMER', help: 'Name or uuid of the customer' },
  project: { type: 'string', value: 'PROJECT', help: 'Name or uuid of the project' },
} as const;
const { people: group } = groups;

/** The option of commands that set a password. */
export const passwordFlag = {
  'password-stdin': { type: 'boolean', help: 'Read the password from standard input' },
} as const;

/** Reads a password from standard input, without the line break at its end. */
export const passwordFromInput = (): string => readFileSync(0, 'utf8').replace(/\r?\n$/, '');

export const peopleCommands: Commands = {
  'user list': {
    flags: json,
    group,
    help: 'List all users',
    examples: ['user list --json'],
    run: (args) => read(args, (app) => printRows(args, listUsers(app))),
  },
  'user show': {
    words: ['NAME'],
    flags: json,
    group,
    help: 'Show a user and their roles',
    examples: ['user show alice'],
    run: printUser,
  },
  'user password': {
    words: ['NAME'],
    flags: passwordFlag,
    group,
    help: "Set a user's password and revoke their tokens",
    details: 'Ask for the password at the terminal unless --password-stdin is set.',
    examples: ['user password alice'],
    run: changePassword,
  },
  'user disable': {
    words: ['NAME'],
    group,
    help: 'Disable a user and revoke their tokens',
    examples: ['user disable alice'],
    run: (args) => setState(args, false),
  },
  'user enable': {
    words: ['NAME'],
    group,
    help: 'Enable a disabled user',
    examples: ['user enable alice'],
    run: (args) => setState(args, true),
  },
  'user recover': {
    words: ['NAME'],
    group,
    help: 'Print a link that logs a user in without a second factor',
    details: 'The link works once, for 30 minutes. The session lasts an hour.',
    examples: ['user recover alice'],
    run: (args) =>
      change(args, (app, name) => {
        process.stdout.write(`${recoveryUrl(app, name)}\n`);
        warnOfStaffNetworks(app, name);
      }),
  },
  'user grant': {
    words: ['NAME', 'ROLE'],
    flags: {
      ...scopeFlags,
      until: { type: 'string', value: 'TIME', help: 'End the role at an instant or after a time such as 30d' },
    },
    group,
    help: 'Grant a role to a user',
    details:
      'ROLE is staff or support; owner or support with --customer; admin, manager or support with --project. A name must be unique.',
    examples: ['user grant alice staff', 'user grant bob manager --project "Web shop" --until 30d'],
    run: (args) =>
      change(args, (app, name) => {
        const spec = roleSpec(args);
        printRole(args, grant(app, name, spec, text(args, 'until')), 'is', 'is already');
        if (spec.target === undefined) warnOfStaffNetworks(app, name);
      }),
  },
  'user revoke': {
    words: ['NAME', 'ROLE'],
    flags: scopeFlags,
    group,
    help: 'Revoke a role from a user',
    details: 'ROLE is as in tenantry user grant.',
    examples: ['user revoke bob manager --project "Web shop"'],
    run: (args) =>
      change(args, (app, name) => printRole(args, revoke(app, name, roleSpec(args)), 'is no longer', 'is not')),
  },
  'account list': {
    flags: json,
    group,
    help: 'List provider accounts and their last errors',
    examples: ['account list --json'],
    run: (args) => read(args, (app) => printRows(args, listAccounts(app))),
  },
};

/** Reads the data, even in a read-only folder. */
export async function read({ config }: Arguments, use: (app: App) => void): Promise<void> {
  const folder = resolve(config.data);
  requireDatabase(folder);
  await withReadable(config, folder, (readable) =>
    withDeployment({ config }, ({ app }) => use(app), 'examine', readable),
  );
}

/** Changes the user named by the first argument. A server may be running. */
export async function change(
  { config, name: command, words: [name = ''] }: Arguments,
  use: (app: App, name: string) => void | Promise<void>,
): Promise<void> {
  requireDatabase(resolve(config.data));
  await withDeployment({ config, name: command }, ({ app }) => use(app, name));
}

/** The value of an option. */
export const text = ({ flags }: Arguments, name: string): string | undefined => {
  const value = flags[name];
  return typeof value === 'string' ? value : undefined;
};

/** Warns, after a command that gives access to staff or global support, if their rights do not apply from here. */
export function warnOfStaffNetworks({ config, db }: App, username: string): void {
  const isStaff = sql`SELECT 1 FROM user WHERE username_folded = ${caseFold(username)} AND (is_staff OR is_support)`;
  if (db.value(isStaff) !== undefined) warnOfLockout(config);
}

function roleSpec(args: Arguments): RoleSpec {
  const [, role = ''] = args.words;
  const [customer, project] = [text(args, 'customer'), text(args, 'project')];
  if (customer !== undefined && project !== undefined)
    throw new UsageError('--customer and --project cannot be combined');
  if (customer !== undefined) return { role, target: { structure: 'customer', nameOrUuid: customer } };
  return { role, target: project === undefined ? undefined : { structure: 'project', nameOrUuid: project } };
}

/** Prints the result of a grant or revocation. */
function printRole(args: Arguments, hasChanged: boolean, changed: string, unchanged: string): void {
  const [name, role] = args.words;
  const { target: place } = roleSpec(args);
  const where = place ? ` in ${place.structure} ${place.nameOrUuid}` : '';
  process.stdout.write(`${name} ${hasChanged ? changed : unchanged} ${role}${where}.\n`);
}

const setState = (args: Arguments, isActive: boolean): Promise<void> =>
  change(args, (app, name) => {
    const state = isActive ? 'active' : 'disabled';
    process.stdout.write(`${name} is ${setActive(app, name, isActive) ? '' : 'already '}${state}.\n`);
  });

async function changePassword(args: Arguments): Promise<void> {
  requireDatabase(resolve(args.config.data));
  const password = args.flags['password-stdin'] ? passwordFromInput() : await promptPassword();
  await change(args, async (app, name) => {
    await setPassword(app, name, password);
    process.stdout.write(`The password of ${name} is set and their tokens are revoked.\n`);
  });
}

/** Asks for a password twice at the terminal, without echo. */
async function promptPassword(): Promise<string> {
  if (!process.stdin.isTTY)
    throw new UsageError('cannot ask for the password without a terminal; use --password-stdin');
  const discard = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: discard, terminal: true });
  lines.on('SIGINT', () => process.exit(130));
  const prompt = async (question: string): Promise<string> => {
    process.stderr.write(question);
    const line = await lines.question('');
    process.stderr.write('\n');
    return line;
  };
  try {
    const first = await prompt('New password: ');
    if ((await prompt('Again: ')) !== first) throw new Error('the passwords differ; nothing was changed');
    return first;
  } finally {
    lines.close();
  }
}

function printUser(args: Arguments): Promise<void> {
  return read(args, (app) => {
    const { roles, user } = showUser(app, args.words[0] ?? '');
    if (args.flags.json) return void process.stdout.write(`${JSON.stringify({ ...user, roles }, null, 2)}\n`);
    printRows(args, [user]);
    if (roles.length > 0) process.stdout.write(`\n${tableOf(roles)}`);
  });
}

/** Prints rows as a table, or as JSON with --json. Without rows, says so on stderr, because scripts count the lines. */
export function printRows({ flags }: Arguments, rows: readonly DisplayRow[]): void {
  if (flags.json) process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
  else if (rows.length > 0) process.stdout.write(tableOf(rows));
  else process.stderr.write(nothingFound);
}
