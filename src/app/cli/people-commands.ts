/** `tenantry user …` and `tenantry account …`: the operator's hand on people, without a token. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { App } from '../../kernel/app.ts';
import { withDeployment } from '../compose/composition.ts';
import { requireDatabase } from '../data/data-folder.ts';
import { listAccounts, listUsers, type Shown, showUser, tableOf } from '../people/listing.ts';
import { grant, type RoleWanted, revoke, setActive, setPassword } from '../people/people.ts';
import { type Arguments, type Commands, groups, UsageError } from './command-line.ts';
import { withReadable } from './readable-folder.ts';

const json = { json: { type: 'boolean', help: 'Print JSON' } } as const;
const place = {
  customer: { type: 'string', value: 'CUSTOMER', help: 'Name or uuid of the customer' },
  project: { type: 'string', value: 'PROJECT', help: 'Name or uuid of the project' },
} as const;
const { people: group } = groups;

/** How a command is given a password. */
export const passwordFlag = {
  'password-stdin': { type: 'boolean', help: 'Read the password from standard input' },
} as const;

/** The password that standard input holds, but for the end of its line. */
export const passwordFromInput = (): string => readFileSync(0, 'utf8').replace(/\r?\n$/, '');

/** Where a role is held is a customer or project by uuid or name. */
export const peopleCommands: Commands = {
  'user list': {
    flags: json,
    group,
    help: 'List all users',
    examples: ['user list --json'],
    run: (args) => look(args, (app) => printRows(args, listUsers(app))),
  },
  'user show': {
    words: ['NAME'],
    flags: json,
    group,
    help: 'Show a user and their roles',
    examples: ['user show alice'],
    run: show,
  },
  'user password': {
    words: ['NAME'],
    flags: passwordFlag,
    group,
    help: "Set a user's password and revoke their tokens",
    details: 'Ask for the password at the terminal unless --password-stdin is set.',
    examples: ['user password alice'],
    run: password,
  },
  'user disable': {
    words: ['NAME'],
    group,
    help: 'Disable a user and revoke their tokens',
    examples: ['user disable alice'],
    run: (args) => activate(args, false),
  },
  'user enable': {
    words: ['NAME'],
    group,
    help: 'Enable a disabled user',
    examples: ['user enable alice'],
    run: (args) => activate(args, true),
  },
  'user grant': {
    words: ['NAME', 'ROLE'],
    flags: {
      ...place,
      until: { type: 'string', value: 'TIME', help: 'End the role at an instant, or after a time such as 30d' },
    },
    group,
    help: 'Grant a role to a user',
    details:
      'ROLE is staff or support; owner or support with --customer; admin, manager or support with --project. A name must be unique.',
    examples: ['user grant alice staff', 'user grant bob manager --project "Web shop" --until 30d'],
    run: (args) =>
      act(args, (app, name) => told(args, grant(app, name, wanted(args), text(args, 'until')), 'is', 'is already')),
  },
  'user revoke': {
    words: ['NAME', 'ROLE'],
    flags: place,
    group,
    help: 'Revoke a role from a user',
    details: 'ROLE is as in tenantry user grant.',
    examples: ['user revoke bob manager --project "Web shop"'],
    run: (args) => act(args, (app, name) => told(args, revoke(app, name, wanted(args)), 'is no longer', 'is not')),
  },
  'account list': {
    flags: json,
    group,
    help: 'List provider accounts and their last errors',
    examples: ['account list --json'],
    run: (args) => look(args, (app) => printRows(args, listAccounts(app))),
  },
};

/** Looks at the data as it is, also where the folder cannot be written. */
async function look({ config }: Arguments, use: (app: App) => void): Promise<void> {
  const folder = resolve(config.data);
  requireDatabase(folder);
  await withReadable(config, folder, (readable) => withDeployment(config, ({ app }) => use(app), 'examine', readable));
}

/** Changes something about the user whom the first word names, beside a server or without one. */
async function act(
  { config, words: [name = ''] }: Arguments,
  use: (app: App, name: string) => void | Promise<void>,
): Promise<void> {
  requireDatabase(resolve(config.data));
  await withDeployment(config, ({ app }) => use(app, name));
}

const text = ({ flags }: Arguments, name: string): string | undefined => {
  const value = flags[name];
  return typeof value === 'string' ? value : undefined;
};

function wanted(args: Arguments): RoleWanted {
  const [, role = ''] = args.words;
  const [customer, project] = [text(args, 'customer'), text(args, 'project')];
  if (customer !== undefined && project !== undefined)
    throw new UsageError('--customer and --project cannot be combined');
  if (customer !== undefined) return { role, place: { structure: 'customer', named: customer } };
  return { role, place: project === undefined ? undefined : { structure: 'project', named: project } };
}

/** Says what has become of a role, in words for one that changed and one that was so before. */
function told(args: Arguments, isNew: boolean, changed: string, kept: string): void {
  const [name, role] = args.words;
  const { place } = wanted(args);
  const where = place ? ` in ${place.structure} ${place.named}` : '';
  process.stdout.write(`${name} ${isNew ? changed : kept} ${role}${where}.\n`);
}

const activate = (args: Arguments, isActive: boolean): Promise<void> =>
  act(args, (app, name) => {
    const state = isActive ? 'active' : 'disabled';
    process.stdout.write(`${name} is ${setActive(app, name, isActive) ? '' : 'already '}${state}.\n`);
  });

async function password(args: Arguments): Promise<void> {
  requireDatabase(resolve(args.config.data));
  const given = args.flags['password-stdin'] ? passwordFromInput() : await askPassword();
  await act(args, async (app, name) => {
    await setPassword(app, name, given);
    process.stdout.write(`The password of ${name} is set and their tokens are revoked.\n`);
  });
}

/** Asks twice on a terminal, without showing what is typed. */
async function askPassword(): Promise<string> {
  if (!process.stdin.isTTY)
    throw new UsageError('cannot ask for the password without a terminal; use --password-stdin');
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  lines.on('SIGINT', () => process.exit(130));
  const ask = async (question: string): Promise<string> => {
    process.stderr.write(question);
    const answer = await lines.question('');
    process.stderr.write('\n');
    return answer;
  };
  try {
    const first = await ask('New password: ');
    if ((await ask('Again: ')) !== first) throw new Error('the passwords differ; nothing was changed');
    return first;
  } finally {
    lines.close();
  }
}

function show(args: Arguments): Promise<void> {
  return look(args, (app) => {
    const { roles, user } = showUser(app, args.words[0] ?? '');
    if (args.flags.json) return void process.stdout.write(`${JSON.stringify({ ...user, roles }, null, 2)}\n`);
    printRows(args, [user]);
    if (roles.length > 0) process.stdout.write(`\n${tableOf(roles)}`);
  });
}

function printRows({ flags }: Arguments, rows: readonly Shown[]): void {
  process.stdout.write(flags.json ? `${JSON.stringify(rows, null, 2)}\n` : tableOf(rows));
}
