/** `tenantry key …`: create, list and revoke API keys. */
import { addKey, listKeys, revokeKey } from '../people/api-keys.ts';
import { type Arguments, type Commands, groups, UsageError } from './command-line.ts';
import { change, json, printRows, read, scopeFlags, text } from './people-commands.ts';

const { people: group } = groups;

/** Splits a comma-separated option. */
const itemsOf = (args: Arguments, name: string): string[] =>
  (text(args, name) ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

export const keyCommands: Commands = {
  'key add': {
    words: ['USER', 'NAME'],
    flags: {
      scopes: { type: 'string', value: 'LIST', help: 'Comma-separated scopes, such as events:read' },
      networks: { type: 'string', value: 'LIST', help: 'Comma-separated addresses and networks' },
      ...scopeFlags,
      until: { type: 'string', value: 'TIME', help: 'End the key at an instant or after a time such as 90d' },
    },
    group,
    help: 'Create an API key of a user and print it',
    details: 'With --customer or --project, the key is bound to that object.',
    examples: ['key add alice CI --scopes events:read --until 90d'],
    run: addedKey,
  },
  'key list': {
    flags: { user: { type: 'string', value: 'USER', help: 'List the keys of this user only' }, ...json },
    group,
    help: 'List API keys',
    examples: ['key list --user alice --json'],
    run: (args) => read(args, (app) => printRows(args, listKeys(app, text(args, 'user')))),
  },
  'key revoke': {
    words: ['UUID'],
    group,
    help: 'Revoke an API key',
    examples: ['key revoke 0160c4a4d1407748bd8170e423ba17cc'],
    run: (args) =>
      change(args, (app, uuid) => {
        const { name, username } = revokeKey(app, uuid);
        process.stdout.write(`The API key "${name}" of ${username} is revoked.\n`);
      }),
  },
};

/** Creates a key and prints it alone on a line, for scripts. */
function addedKey(args: Arguments): Promise<void> {
  const scopes = itemsOf(args, 'scopes');
  if (scopes.length === 0) throw new UsageError('--scopes is required: see GET /api/api-keys/scopes/');
  return change(args, (app, username) => {
    const spec = {
      name: args.words[1] ?? '',
      scopes,
      networks: itemsOf(args, 'networks'),
      until: text(args, 'until'),
      bounds: { customer: text(args, 'customer'), project: text(args, 'project') },
    };
    process.stdout.write(`${addKey(app, username, spec)}\n`);
  });
}
