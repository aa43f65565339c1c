import { join, resolve } from 'node:path';
import { addUser } from '../accounts/users/add.ts';
import { ProviderError } from '../cloud/catalogue/provider-error.ts';
import { resourceKind } from '../cloud/catalogue/type.ts';
import { propertyDetail, propertyInSet, propertyLink, shownProperty } from '../cloud/properties/property.ts';
import { SimulatorDriver } from '../cloud/providers/simulator/driver.ts';
import { detail, shownDetail } from '../cloud/resources/details.ts';
import { exact } from '../kernel/collection/filter.ts';
import { computedValue } from '../kernel/collection/representation.ts';
import { integer, text } from '../kernel/collection/values.ts';
import { ConfigError } from '../kernel/config/config.ts';
import { withoutControls } from '../kernel/control-characters.ts';
import { invalid } from '../kernel/http/error.ts';
import { isProgram } from '../kernel/native/platform.ts';
import { errorOf, plainReason, present } from '../kernel/present.ts';
import { backupSummary } from './backup/ages.ts';
import { auditCommands } from './cli/audit-commands.ts';
import { backupCommands } from './cli/backup-commands.ts';
import { helpFor } from './cli/command-help.ts';
import {
  type Arguments,
  type Commands,
  groups,
  printSuccess,
  quiet,
  readArguments,
  UsageError,
  withProgress,
} from './cli/command-line.ts';
import { completionFor, shellNames } from './cli/completion.ts';
import { dataCommands } from './cli/data-commands.ts';
import { exampleNames, printExample } from './cli/examples.ts';
import { checkHealth } from './cli/healthcheck.ts';
import { keyCommands } from './cli/key-commands.ts';
import { listen, listenFlags } from './cli/listen.ts';
import { loginCheckCommands } from './cli/login-check.ts';
import { passwordFlag, passwordFromInput, peopleCommands, warnOfStaffNetworks } from './cli/people-commands.ts';
import {
  handleOutputErrors,
  lockoutWarning,
  printConfig,
  printLicenses,
  printOpenApi,
  printVersion,
} from './cli/printing.ts';
import { withReadable } from './cli/readable-folder.ts';
import { reportReady } from './cli/ready.ts';
import { serveFlags, serveOptions } from './cli/serve-options.ts';
import { type OpenDeployment, withDeployment } from './compose/composition.ts';
import { createServer } from './create-server.ts';
import { databaseFile, isDamage, needsDatabase, requireDatabase } from './data/data-folder.ts';
import { demo, hasCustomers } from './demo/demo.ts';
import { examine } from './doctor/doctor.ts';
import { externalProblems } from './doctor/external.ts';
import { serveControl } from './fixture/control.ts';
import { hostProcessOf } from './operation/program.ts';
import { serviceManager } from './operation/service-manager.ts';
import { localDefaults, sourceOf, unknownVariables } from './settings.ts';

export type { ProviderType } from '../cloud/catalogue/type.ts';
export { type Clock, type SettableClock, settableClock } from '../kernel/clock.ts';
export { ConfigError } from '../kernel/config/config.ts';
export { type RepeatableRandom, repeatableRandom } from '../kernel/random.ts';
export { providerTypes } from './compose/providers.ts';
export { createServer, type Server, type ServerOptions } from './create-server.ts';
export type { FixtureHandle, UserFetch } from './fixture/fixture.ts';
export { FixtureError } from './fixture/fixture-error.ts';
export type { FixtureEvent, FixtureMail } from './fixture/recorded.ts';
export type {
  Seed,
  SeedCustomer,
  Seeded,
  SeedKey,
  SeedProject,
  SeedResource,
  SeedRole,
  SeedService,
  SeedUser,
} from './fixture/seed.ts';

/**
 * Building blocks for provider types in embedding programs (`providers` of `createServer`).
 * @internal
 */
export const providerKit = {
  ProviderError,
  SimulatorDriver,
  computedValue,
  detail,
  exact,
  integer,
  invalid,
  propertyDetail,
  propertyInSet,
  propertyLink,
  resourceKind,
  shownDetail,
  shownProperty,
  text,
} as const;

const { configuration, data, people } = groups;

const commands: Commands = {
  serve: {
    flags: serveFlags,
    group: groups.server,
    help: 'Serve the API and the console',
    details:
      'Common settings are --data, --host, --port and --base-url. SIGTERM stops the server after the requests in progress; SIGHUP reopens the log and audit files and reloads the TLS certificate.',
    examples: ['serve --data /var/lib/tenantry', 'serve --ephemeral --demo --port 9000'],
    run: serve,
  },
  'user add': {
    words: ['NAME'],
    flags: {
      staff: { type: 'boolean', help: 'Make the user staff' },
      support: { type: 'boolean', help: 'Make the user global support' },
      email: { type: 'string', value: 'EMAIL', help: 'Set the email address' },
      ...passwordFlag,
    },
    group: people,
    help: 'Create a user',
    details: 'If --data names an empty or missing folder, create a database there first.',
    examples: ['user add alice --staff --email alice@example.com', 'user add bob --password-stdin < password.txt'],
    run: addUserFromArguments,
  },
  ...peopleCommands,
  ...keyCommands,
  token: {
    words: ['NAME'],
    group: people,
    help: 'Print a new token of a user',
    details: 'The token is valid for as long as one from a login.',
    examples: ['token admin'],
    run: printToken,
  },
  demo: {
    flags: { seed: { type: 'string', value: 'TEXT', help: 'Derive the random data from this text' }, ...quiet },
    group: groups.server,
    help: 'Fill an empty database with sample data',
    details:
      'Create users, customers, projects, provider accounts, some 300 resources and two years of history, and print logins to try. The database must have no customers. Stop the server first.',
    examples: ['demo --data data/demo'],
    run: insertDemo,
  },
  doctor: {
    flags: {
      repair: { type: 'boolean', help: 'Recount quota usages and remove orphaned rows' },
      'accept-clock': { type: 'boolean', help: 'Trust the clock after a jump; resume removing old data' },
    },
    group: data,
    help: 'Check the data for problems',
    details:
      'Print one line per problem, or no problems. Mails that have waited for an hour and provider accounts in state Erred are also listed, but do not count as damage. Exit with 1 if a problem remains. A server may be running.',
    examples: ['doctor', 'doctor --repair'],
    run: doctor,
  },
  ...dataCommands,
  ...loginCheckCommands,
  ...backupCommands,
  ...auditCommands,
  healthcheck: {
    group: groups.server,
    flags: { ephemeral: { type: 'boolean', help: 'Check a server that keeps all data in memory' } },
    help: 'Check whether the server is ready',
    details:
      'Query /readyz at the address of --admin-listen. Exit with 1 and the reason if the server is not ready, or if the server that responds uses another data folder.',
    examples: ['healthcheck --data /var/lib/tenantry', 'healthcheck --admin-listen 127.0.0.1:9480 --ephemeral'],
    run: checkHealth,
  },
  listen: {
    flags: listenFlags,
    group: groups.server,
    help: 'Forward events as signed web hooks, for development',
    details:
      'Read the event stream of --url with the token in --token-file, and post each event to --forward-to as a web hook would, once and in order. Run until stopped.',
    examples: ['listen --url https://t.test --token-file t --forward-to http://[::1]'],
    run: listen,
  },
  example: {
    words: ['WHAT'],
    choices: exampleNames,
    group: configuration,
    help: 'Print a configuration file for another program',
    details: `WHAT can be ${exampleNames.slice(0, -1).join(', ')} or ${exampleNames.at(-1)}. The file contains the current settings.`,
    examples: ['example docker', 'example systemd --port 9000'],
    run: printExample,
  },
  openapi: {
    group: configuration,
    help: 'Print the OpenAPI document of the API',
    examples: ['openapi > openapi.json'],
    run: printOpenApi,
  },
  config: {
    flags: {
      markdown: { type: 'boolean', help: 'Print the defaults as a Markdown table' },
      file: { type: 'boolean', help: 'Print a file for --config' },
    },
    group: configuration,
    help: 'Print every setting with its value and its source',
    examples: ['config --file > tenantry.conf'],
    run: printConfig,
  },
  completion: {
    words: ['SHELL'],
    choices: shellNames,
    group: configuration,
    help: 'Print a completion script for a shell',
    details: `SHELL is ${shellNames.slice(0, -1).join(', ')} or ${shellNames.at(-1)}.`,
    examples: ['completion bash > /etc/bash_completion.d/tenantry'],
    run: ({ words: [shell = ''] }) => void process.stdout.write(completionFor(shell, commands)),
  },
  licenses: { group: configuration, help: 'Print the licences of the program and its packages', run: printLicenses },
  version: { group: configuration, help: 'Print the version', run: printVersion },
  help: {
    words: ['[TOPIC]'],
    group: configuration,
    help: 'Show help for a command or for settings',
    details:
      'TOPIC is a command, all for every command, or settings [PREFIX] for the settings whose names start with PREFIX.',
    examples: ['help user grant', 'help settings', 'help settings hooks'],
    run: ({ words }) => void process.stdout.write(helpFor(commands, words)),
  },
};

async function serve({ config: settings, flags, name, sources }: Arguments): Promise<void> {
  const { ephemeral, hasControl, hasDemo, options } = serveOptions(flags);
  const isLocal = ephemeral || hasDemo;
  const config = { ...settings, ...(isLocal && localDefaults((name) => sourceOf(name, sources) !== undefined)) };
  const server = await withProgress(flags, async () => {
    if (hasDemo && !ephemeral)
      await withDeployment({ config, name }, async ({ app }) => void (hasCustomers(app) || (await demo(app))), 'serve');
    return await createServer({
      ...config,
      ...options,
      isProgram: true,
      isTrial: hasDemo,
      hostProcess: hostProcessOf(sources),
    });
  });
  const control = hasControl ? await serveControl(server) : undefined;
  for (const unknown of unknownVariables(process.env)) server.app.log.warn(unknown, 'no setting has this name');
  const warning = ephemeral ? undefined : lockoutWarning(config, process.env);
  if (warning !== undefined) server.app.log.warn(warning);
  const manager = serviceManager(process.env, server.app.log, () => server.isAlive());
  let isClosing = false;
  const stop = (): void => {
    if (isClosing) return;
    isClosing = true;
    manager?.stopping();
    void Promise.all([control?.close(), server.close()]).then(
      () => process.exit(0),
      // `closed` rejects as well.
      () => undefined,
    );
  };
  server.closed.catch((error: unknown) => {
    const { message } = errorOf(error);
    if (isClosing) process.stderr.write(`tenantry: failed to save pending work: ${message}\n`);
    else if (process.stderr.isTTY) process.stderr.write(`tenantry: ${message}\n`);
    process.exit(1);
  });
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  // At a terminal, SIGHUP means that the terminal was closed.
  process.on('SIGHUP', process.stdout.isTTY ? stop : () => server.reload());
  reportReady({ server, control, config, ephemeral, hasDemo });
  manager?.ready();
  process.on('uncaughtException', (error) => {
    server.app.log.fatal({ err: error }, 'uncaught exception');
    if (process.stderr.isTTY) process.stderr.write(`${error.stack}\n`);
    process.exit(1);
  });
}

async function addUserFromArguments({ config, flags, name, sources, words }: Arguments): Promise<void> {
  const [username = ''] = words;
  const folder = resolve(config.data);
  const isNew = needsDatabase(folder, sourceOf('data', sources) !== undefined);
  const password = flags['password-stdin'] ? passwordFromInput() : undefined;
  await withDeployment({ config, name }, async ({ app }) => {
    if (isNew) process.stderr.write(`tenantry: created a new database in ${folder}\n`);
    await addUser(app, {
      username,
      isStaff: flags.staff === true,
      isSupport: flags.support === true,
      ...(typeof flags.email === 'string' && { email: flags.email }),
      ...(password !== undefined && { password }),
    });
    warnOfStaffNetworks(app, username);
  });
  process.stdout.write(`Created user ${username}${password === undefined ? ', without a password' : ''}.\n`);
}

async function printToken({ config, name, words }: Arguments): Promise<void> {
  requireDatabase(resolve(config.data));
  const username = present(words[0]);
  await withDeployment({ config, name }, ({ app, issueToken }) => {
    process.stdout.write(`${issueToken(username)}\n`);
    warnOfStaffNetworks(app, username);
  });
}

async function insertDemo({ config, flags, name }: Arguments): Promise<void> {
  const seed = typeof flags.seed === 'string' ? flags.seed : undefined;
  await withDeployment(
    { config, name },
    async ({ app }) => {
      printSuccess(flags, await withProgress(flags, () => demo(app, seed)));
    },
    'serve',
  );
}

async function doctor({ config, flags, name }: Arguments): Promise<void> {
  const folder = resolve(config.data);
  requireDatabase(folder);
  const acceptsClock = flags['accept-clock'] === true;
  const run = ({ app, watch }: OpenDeployment): void => {
    if (acceptsClock) watch.accept();
    const { isHealthy, problems } = examine(app, flags.repair === true);
    // Print these first: the queries of externalProblems can fail on a damaged page.
    for (const line of problems) process.stdout.write(`${line}\n`);
    const troubles = externalProblems(app);
    for (const line of problems.length + troubles.length === 0 ? ['no problems'] : troubles)
      process.stdout.write(`${line}\n`);
    for (const line of backupSummary(app)) process.stdout.write(`${line}\n`);
    if (!isHealthy) process.exitCode = 1;
  };
  if (flags.repair === true || acceptsClock) await withDeployment({ config, name }, run, 'examine', folder, true);
  else await withReadable(config, folder, (readable) => withDeployment({ config }, run, 'examine', readable));
}

/** Returns an error message as one line for a terminal. SQLite's errors about damage can contain raw data. */
function lineOf(error: unknown): string {
  const [line = ''] = withoutControls(plainReason(error)).split('\n');
  return line;
}

/**
 * Runs a command and sets the exit code: 0 on success, 1 on failure, 2 for a wrong command line or setting.
 * @internal
 */
export async function main(args: readonly string[]): Promise<void> {
  let parsed: Arguments | undefined;
  // If the event loop runs empty before the command is done, the process would exit with code 0.
  const reportUnfinished = (): void => {
    process.stderr.write('tenantry: the command ended before it was done\n');
    process.exitCode = 1;
  };
  process.once('beforeExit', reportUnfinished);
  try {
    const { command, commandArguments } = readArguments(commands, args);
    parsed = commandArguments;
    await command.run(commandArguments);
  } catch (error) {
    const file = parsed && isDamage(error) ? `${join(resolve(parsed.config.data), databaseFile)}: ` : '';
    process.stderr.write(`tenantry: ${file}${lineOf(error)}\n`);
    process.exitCode = error instanceof UsageError || error instanceof ConfigError ? 2 : 1;
  } finally {
    process.off('beforeExit', reportUnfinished);
  }
}

if (isProgram(import.meta.url)) {
  handleOutputErrors();
  void main(process.argv.slice(2));
}
