import { constants, setPriority } from 'node:os';
import { join, resolve } from 'node:path';
import { addUser } from '../accounts/users/add.ts';
import { isoTime } from '../kernel/clock.ts';
import { ConfigError } from '../kernel/config/config.ts';
import { sourceOf, unknownVariables } from '../kernel/config/load.ts';
import { withoutControls } from '../kernel/control-characters.ts';
import { StorageLost } from '../kernel/db/storage-report.ts';
import { isProgram } from '../kernel/native/platform.ts';
import { errorOf, present } from '../kernel/present.ts';
import { backUp } from './backup/backup.ts';
import { backUpBeforeUpgrade } from './backup/before-upgrade.ts';
import { restore } from './backup/restore.ts';
import { type Arguments, type Commands, helpOf, readArguments, UsageError } from './command-line.ts';
import { completionFor, shellNames } from './completion.ts';
import { type Opened, withDeployment } from './composition.ts';
import { databaseFile, isDamage, makesDatabase, prepareFolder, requireDatabase } from './data-folder.ts';
import { demo, hasCustomers } from './demo/demo.ts';
import { examine } from './doctor/doctor.ts';
import { outsideTroubles } from './doctor/outside.ts';
import { serveControl } from './fixture/control.ts';
import { pruneKeys, rotateKey } from './key-rotation.ts';
import { passwordFlag, passwordFromInput, peopleCommands } from './people/commands.ts';
import { guardOutput, printConfig, printLicenses, printOpenApi, printVersion } from './printing.ts';
import { withReadable } from './readable-folder.ts';
import { tellReady } from './ready.ts';
import { serveFlags, serveOptions } from './serve-options.ts';
import { createServer } from './server.ts';

export type { ProviderType } from '../cloud/catalogue/type.ts';
export { type Clock, type SettableClock, settableClock } from '../kernel/clock.ts';
export { type RepeatableRandom, repeatableRandom } from '../kernel/random.ts';
export type { FixtureHandle, UserFetch } from './fixture/fixture.ts';
export { FixtureError } from './fixture/fixture-error.ts';
export type { FixtureEvent, FixtureMail } from './fixture/recorded.ts';
export type {
  Seed,
  SeedCustomer,
  Seeded,
  SeedProject,
  SeedResource,
  SeedRole,
  SeedService,
  SeedUser,
} from './fixture/seed.ts';
export { providerTypes } from './providers.ts';
export { createServer, type Server, type ServerOptions } from './server.ts';

/** Of commands that nobody watches: a scheduled one that says something is a mail to the operator. */
const quiet = { quiet: { type: 'boolean' } } as const;

const commands: Commands = {
  serve: {
    flags: serveFlags,
    help: 'serve the API; --ephemeral keeps everything in memory, --demo begins with the demonstration world, --seed with what a file in JSON names, --control lets the tests of an application set the state of a server in memory, --clock stops its clock',
    run: serve,
  },
  'user add': {
    words: ['NAME'],
    flags: {
      staff: { type: 'boolean' },
      support: { type: 'boolean' },
      email: { type: 'string', value: 'E' },
      ...passwordFlag,
    },
    help: 'create a user; --password-stdin reads a password from standard input',
    run: addUserNamed,
  },
  ...peopleCommands,
  token: { words: ['NAME'], help: 'print a fresh token of a user', run: printToken },
  demo: {
    flags: { seed: { type: 'string', value: 'TEXT' }, ...quiet },
    help: 'fill a database without customers with a believable world',
    run: fill,
  },
  doctor: {
    flags: { repair: { type: 'boolean' }, 'accept-clock': { type: 'boolean' } },
    help: 'examine the data; --repair counts usages of quotas anew and removes what belongs to nothing; --accept-clock says that the clock is right after a jump, so that what is old is removed again; a server may be running',
    run: doctor,
  },
  backup: {
    words: ['FILE'],
    flags: quiet,
    help: 'write all data and the encryption keys into a new file, or to standard output (-); a server may be running',
    run: writeBackup,
  },
  restore: {
    words: ['FILE'],
    flags: quiet,
    help: 'fill an empty data folder from a backup, or from standard input (-); no server may be running',
    run: readBackup,
  },
  'rotate-key': {
    flags: { prune: { type: 'boolean' }, ...quiet },
    help: 'encrypt every stored secret with a new key; --prune removes the old ones; no server may be running',
    run: rotateKeys,
  },
  openapi: { help: 'print the OpenAPI document of the API', run: printOpenApi },
  config: {
    flags: { markdown: { type: 'boolean' }, file: { type: 'boolean' } },
    help: 'print every setting with its value; --file as a configuration file',
    run: printConfig,
  },
  completion: {
    words: ['SHELL'],
    help: `print what completes the command line in ${shellNames.join(', ')}`,
    run: ({ words: [shell = ''] }) => void process.stdout.write(completionFor(shell, commands)),
  },
  licenses: { help: 'print the licences of the program and of everything in it', run: printLicenses },
  version: { help: 'print the version', run: printVersion },
  help: { help: 'print this', run: printHelp },
};

async function serve({ config, flags }: Arguments): Promise<void> {
  const { ephemeral, hasControl, hasDemo, options } = serveOptions(flags);
  if (hasDemo && !ephemeral)
    await withDeployment(config, async ({ app }) => void (hasCustomers(app) || (await demo(app))), 'serve');
  const server = await createServer({ ...config, ...options });
  const control = hasControl ? await serveControl(server) : undefined;
  for (const variable of unknownVariables(process.env)) server.app.log.warn({ variable }, 'no setting has this name');
  let isClosing = false;
  const stop = (): void => {
    if (isClosing) return;
    isClosing = true;
    void Promise.all([control?.close(), server.close()]).then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`tenantry: what was left could not be saved: ${errorOf(error).message}\n`);
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  tellReady({ server, control, config, ephemeral, hasDemo });
  process.on('uncaughtException', (error) => {
    const isTold = error instanceof StorageLost;
    if (!isTold) server.app.log.fatal({ err: error }, 'uncaught exception');
    if (process.stderr.isTTY) process.stderr.write(isTold ? `tenantry: ${error.message}\n` : `${error.stack}\n`);
    process.exit(1);
  });
}

async function addUserNamed({ config, flags, sources, words }: Arguments): Promise<void> {
  const [username = ''] = words;
  const folder = resolve(config.data);
  const isNew = makesDatabase(folder, sourceOf('data', sources) !== undefined);
  const password = flags['password-stdin'] ? passwordFromInput() : undefined;
  await withDeployment(config, ({ app }) => {
    if (isNew) process.stderr.write(`tenantry: made a new database in ${folder}\n`);
    return addUser(app, {
      username,
      isStaff: flags.staff === true,
      isSupport: flags.support === true,
      ...(typeof flags.email === 'string' && { email: flags.email }),
      ...(password !== undefined && { password }),
    });
  });
  process.stdout.write(`Created user ${username}${password === undefined ? ', without a password' : ''}.\n`);
}

async function printToken({ config, words }: Arguments): Promise<void> {
  requireDatabase(resolve(config.data));
  await withDeployment(config, ({ issueToken }) => void process.stdout.write(`${issueToken(present(words[0]))}\n`));
}

async function fill({ config, flags }: Arguments): Promise<void> {
  await withDeployment(
    config,
    async ({ app }) => {
      tell(flags, await demo(app, typeof flags.seed === 'string' ? flags.seed : undefined));
    },
    'serve',
  );
}

async function doctor({ config, flags }: Arguments): Promise<void> {
  const folder = resolve(config.data);
  requireDatabase(folder);
  const accepts = flags['accept-clock'] === true;
  const look = ({ app, watch }: Opened): void => {
    if (accepts) watch.accept();
    const { isHealthy, problems } = examine(app, flags.repair === true);
    // At once: what is outside may stand on a damaged page.
    for (const line of problems) process.stdout.write(`${line}\n`);
    const troubles = outsideTroubles(app);
    for (const line of problems.length + troubles.length === 0 ? ['no problems'] : troubles)
      process.stdout.write(`${line}\n`);
    if (!isHealthy) process.exitCode = 1;
  };
  if (flags.repair === true || accepts) await withDeployment(config, look, 'examine');
  else await withReadable(config, folder, (readable) => withDeployment(config, look, 'examine', readable));
}

async function rotateKeys({ config, flags }: Arguments): Promise<void> {
  const folder = resolve(config.data);
  requireDatabase(folder);
  if (flags.prune === true && config.encryption_keys.length > 0)
    throw new Error(
      'the setting encryption_keys gives the keys: run rotate-key without --prune, then take old ones out of it',
    );
  await backUpBeforeUpgrade(config, folder);
  const sealed = rotateKey(config, folder);
  const pruned = flags.prune === true ? ` ${pruneKeys(config, folder)} old keys removed.` : '';
  tell(flags, `${sealed} secrets encrypted anew.${pruned}\n`);
}

async function writeBackup({ config, flags, words }: Arguments): Promise<void> {
  const [file = ''] = words;
  const folder = resolve(config.data);
  requireDatabase(folder);
  if (file === '-' && process.stdout.isTTY)
    throw new UsageError('a backup is not for a terminal; name a file, or send standard output somewhere');
  // A server that runs beside comes first.
  setPriority(constants.priority.PRIORITY_LOW);
  const { holdsKeys } = await withReadable(config, folder, (readable) =>
    backUp(readable, file === '-' ? process.stdout : resolve(file), prepareFolder(config, readable)),
  );
  // A key file from before the setting was given does not open what was sealed since.
  const isWhole = holdsKeys && config.encryption_keys.length === 0;
  const keys = isWhole
    ? 'It holds the encryption keys: whoever reads it reads every secret.'
    : 'It does not hold the encryption keys, which the settings give: keep them, too.';
  tell(
    flags,
    `Backup of ${folder} written${file === '-' ? '' : ` to ${resolve(file)}`}. ${keys}\n`,
    file === '-' ? process.stderr : process.stdout,
  );
}

async function readBackup({ config, flags, words }: Arguments): Promise<void> {
  const [file = ''] = words;
  const folder = resolve(config.data);
  const { keys, made } = await restore(file === '-' ? process.stdin : resolve(file), folder, config);
  tell(
    flags,
    `The backup of ${isoTime(made)} is restored in ${folder}.${keys === null ? ' Its encryption keys are those of the settings then.' : ''}\n`,
  );
}

/** Tells of success, unless `--quiet` was given. */
function tell({ quiet }: Arguments['flags'], text: string, stream: NodeJS.WritableStream = process.stdout): void {
  if (quiet !== true) stream.write(text);
}

function printHelp(): void {
  process.stdout.write(helpOf(commands));
}

/** What an error says, in one line for a terminal: of a damaged database SQLite tells what stands in it. */
function lineOf(error: unknown): string {
  const [line = ''] = withoutControls(errorOf(error).message).split('\n');
  return line;
}

/** Runs the command line; answers nothing, sets the exit code: 0, 1 when it failed, 2 when it was not understood. */
async function main(args: readonly string[]): Promise<void> {
  let given: Arguments | undefined;
  try {
    const read = readArguments(commands, args);
    given = read.given;
    await read.command.run(given);
  } catch (error) {
    const file = given && isDamage(error) ? `${join(resolve(given.config.data), databaseFile)}: ` : '';
    process.stderr.write(`tenantry: ${file}${lineOf(error)}\n`);
    process.exitCode = error instanceof UsageError || error instanceof ConfigError ? 2 : 1;
  }
}

if (isProgram(import.meta.url)) {
  guardOutput();
  void main(process.argv.slice(2));
}
