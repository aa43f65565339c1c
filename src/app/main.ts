import { join, resolve } from 'node:path';
import { addUser } from '../accounts/users/add.ts';
import { ConfigError } from '../kernel/config/config.ts';
import { sourceOf, unknownVariables } from '../kernel/config/load.ts';
import { withoutControls } from '../kernel/control-characters.ts';
import { StorageLost } from '../kernel/db/storage-report.ts';
import { isProgram } from '../kernel/native/platform.ts';
import { errorOf, present } from '../kernel/present.ts';
import {
  type Arguments,
  type Commands,
  helpOf,
  quiet,
  readArguments,
  showing,
  tell,
  UsageError,
} from './command-line.ts';
import { completionFor, shellNames } from './completion.ts';
import { type Opened, withDeployment } from './composition.ts';
import { dataCommands } from './data-commands.ts';
import { databaseFile, isDamage, makesDatabase, requireDatabase } from './data-folder.ts';
import { demo, hasCustomers } from './demo/demo.ts';
import { examine } from './doctor/doctor.ts';
import { outsideTroubles } from './doctor/outside.ts';
import { exampleNames, printExample } from './examples/examples.ts';
import { serveControl } from './fixture/control.ts';
import { callOf } from './operation/called.ts';
import { checkHealth } from './operation/healthcheck.ts';
import { serviceManager } from './operation/service-manager.ts';
import { passwordFlag, passwordFromInput, peopleCommands } from './people/commands.ts';
import { guardOutput, printConfig, printLicenses, printOpenApi, printVersion } from './printing.ts';
import { withReadable } from './readable-folder.ts';
import { tellReady } from './ready.ts';
import { serveFlags, serveOptions } from './serve-options.ts';
import { createServer } from './server.ts';

export type { ProviderType } from '../cloud/catalogue/type.ts';
export { type Clock, type SettableClock, settableClock } from '../kernel/clock.ts';
export { ConfigError } from '../kernel/config/config.ts';
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
  ...dataCommands,
  healthcheck: {
    help: 'say whether the server of these settings is ready, by the address of admin_listen; ends with 1 when it is not',
    run: checkHealth,
  },
  example: {
    words: ['WHAT'],
    choices: exampleNames,
    help: `print a file with the settings in force: ${exampleNames.slice(0, -1).join(', ')} or ${exampleNames.at(-1)}`,
    run: printExample,
  },
  openapi: { help: 'print the OpenAPI document of the API', run: printOpenApi },
  config: {
    flags: { markdown: { type: 'boolean' }, file: { type: 'boolean' } },
    help: 'print every setting with its value; --file as a configuration file',
    run: printConfig,
  },
  completion: {
    words: ['SHELL'],
    choices: shellNames,
    help: `print what completes the command line in ${shellNames.join(', ')}`,
    run: ({ words: [shell = ''] }) => void process.stdout.write(completionFor(shell, commands)),
  },
  licenses: { help: 'print the licences of the program and of everything in it', run: printLicenses },
  version: { help: 'print the version', run: printVersion },
  help: { help: 'print this', run: printHelp },
};

async function serve({ config, flags, sources }: Arguments): Promise<void> {
  const { ephemeral, hasControl, hasDemo, options } = serveOptions(flags);
  const server = await showing(flags, async () => {
    if (hasDemo && !ephemeral)
      await withDeployment(config, async ({ app }) => void (hasCustomers(app) || (await demo(app))), 'serve');
    return await createServer({ ...config, ...options, isProgram: true, called: callOf(sources) });
  });
  const control = hasControl ? await serveControl(server) : undefined;
  for (const variable of unknownVariables(process.env)) server.app.log.warn({ variable }, 'no setting has this name');
  const manager = serviceManager(process.env, server.app.log, () => server.isAlive());
  let isClosing = false;
  const stop = (): void => {
    if (isClosing) return;
    isClosing = true;
    manager?.stopping();
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
  // At a terminal it says that this has gone.
  process.on('SIGHUP', process.stdout.isTTY ? stop : () => server.reload());
  tellReady({ server, control, config, ephemeral, hasDemo });
  manager?.ready();
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
  const seed = typeof flags.seed === 'string' ? flags.seed : undefined;
  await withDeployment(
    config,
    async ({ app }) => {
      tell(flags, await showing(flags, () => demo(app, seed)));
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
