import { existsSync, readFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { firstUser, initialPasswordFile } from '../accounts/session/initial-password.ts';
import { addUser } from '../accounts/users/add.ts';
import { sealAnew } from '../kernel/access/rotation.ts';
import { addKey } from '../kernel/access/secrets.ts';
import { isoTime } from '../kernel/clock.ts';
import {
  type Config,
  ConfigError,
  environmentName,
  loadConfig,
  optionName,
  printSetting,
  settingNames,
  settings,
} from '../kernel/config/config.ts';
import { embeddedLicenses } from '../kernel/native/embedded.ts';
import { isProgram } from '../kernel/native/native.ts';
import { version } from '../kernel/version.ts';
import { endpoints } from './api.ts';
import { backUp } from './backup/backup.ts';
import { restore } from './backup/restore.ts';
import { type Opened, openDeployment } from './composition.ts';
import { prepareFolder, requireDatabase } from './data-folder.ts';
import { demo } from './demo/demo.ts';
import { openApi, serverPath } from './docs/openapi.ts';
import { examine } from './doctor/doctor.ts';
import { createServer } from './server.ts';

export { settableClock } from '../kernel/clock.ts';
export { createServer, type Server, type ServerOptions } from './server.ts';

/** A command: the words and flags behind its name, and what it does. Every command takes every setting besides. */
interface Command {
  readonly words?: readonly string[];
  readonly flags?: Readonly<Record<string, { readonly type: 'boolean' | 'string'; readonly value?: string }>>;
  readonly help: string;
  readonly run: (args: Arguments) => void | Promise<void>;
}

const commands: Readonly<Record<string, Command>> = {
  serve: {
    flags: { ephemeral: { type: 'boolean' } },
    help: 'serve the API; --ephemeral keeps everything in memory',
    run: serve,
  },
  'user add': {
    words: ['NAME'],
    flags: {
      staff: { type: 'boolean' },
      support: { type: 'boolean' },
      email: { type: 'string', value: 'E' },
      'password-stdin': { type: 'boolean' },
    },
    help: 'create a user; --password-stdin reads a password from standard input',
    run: addUserNamed,
  },
  token: { words: ['NAME'], help: 'print a fresh token of a user', run: printToken },
  demo: {
    flags: { seed: { type: 'string', value: 'TEXT' } },
    help: 'fill a database without customers with a believable world',
    run: fill,
  },
  doctor: {
    flags: { repair: { type: 'boolean' } },
    help: 'examine the data; --repair counts usages of quotas anew and removes what belongs to nothing',
    run: doctor,
  },
  backup: {
    words: ['FILE'],
    help: 'write all data and the encryption keys into a new file, or to standard output (-); a server may be running',
    run: writeBackup,
  },
  restore: {
    words: ['FILE'],
    help: 'fill an empty data folder from a backup, or from standard input (-); no server may be running',
    run: readBackup,
  },
  'rotate-key': {
    help: 'add an encryption key and encrypt every stored secret with it; no server may be running',
    run: rotateKey,
  },
  openapi: { help: 'print the OpenAPI document of the API', run: printOpenApi },
  config: { flags: { markdown: { type: 'boolean' } }, help: 'print every setting with its value', run: printConfig },
  licenses: { help: 'print the licences of the program and of everything in it', run: printLicenses },
  version: { help: 'print the version', run: printVersion },
  help: { help: 'print this', run: printHelp },
};

interface Arguments {
  readonly words: readonly string[];
  readonly flags: Readonly<Record<string, string | boolean | undefined>>;
  readonly config: Config;
}

/** A mistake in the command line; told in one line, with exit code 2. */
class UsageError extends Error {}

/** The command that the arguments name, and what they give it. Throws UsageError and ConfigError. */
function readArguments(args: readonly string[]): { command: Command; given: Arguments } {
  const { positionals, values } = parse(args);
  const name = values.help ? 'help' : values.version ? 'version' : commandName(positionals);
  const command = commands[name] as Command;
  const settingValues = new Map(settingNames.map((setting) => [optionName(setting).slice(2), setting]));
  const options: Record<string, string> = {};
  for (const [option, value] of Object.entries(values)) {
    const setting = settingValues.get(option);
    if (setting !== undefined) options[setting] = value as string;
    else if (!Object.hasOwn(command.flags ?? {}, option) && option !== name)
      throw new UsageError(`${name} takes no --${option}; see tenantry help`);
  }
  const words = name === 'help' || name === 'version' ? [] : positionals.slice(name.split(' ').length);
  if (words.length !== (command.words ?? []).length) throw new UsageError(`usage: tenantry ${synopsis(name, command)}`);
  // Read when it is asked for: help is not refused because of a setting.
  const config = (): Config => loadConfig({ options, env: process.env });
  return {
    command,
    given: {
      words,
      flags: values,
      get config() {
        return config();
      },
    },
  };
}

/** The first word, or the first two, as a command's name; help when there is none. */
function commandName(words: readonly string[]): string {
  const [first = 'help', second] = words;
  const known = [first, `${first} ${second}`].find((name) => Object.hasOwn(commands, name));
  if (known !== undefined) return known;
  const longer = Object.entries(commands).find(([name]) => name.startsWith(`${first} `));
  throw new UsageError(
    longer ? `usage: tenantry ${synopsis(...longer)}` : `there is no command "${first}"; see tenantry help`,
  );
}

/** Options as they stand in the arguments, whatever the command. */
function parse(args: readonly string[]): {
  positionals: string[];
  values: Record<string, string | boolean | undefined>;
} {
  const options: Record<string, { type: 'string' | 'boolean'; short?: string }> = {
    help: { type: 'boolean', short: 'h' },
    version: { type: 'boolean' },
  };
  for (const name of settingNames) options[optionName(name).slice(2)] = { type: 'string' };
  for (const { flags = {} } of Object.values(commands))
    for (const [name, { type }] of Object.entries(flags)) options[name] = { type };
  try {
    return parseArgs({ args: normalized(args), options, allowPositionals: true, strict: true }) as ReturnType<
      typeof parse
    >;
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    const unknown = code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION' && /'(-[^']*)'/.exec(message)?.[1];
    // The further lines of such a message are advice for programmers.
    throw new UsageError(
      unknown ? `there is no option ${unknown}; see tenantry help` : (message.split('\n', 1)[0] as string),
    );
  }
}

/** A boolean setting may stand without a value: `--owners-can-manage-owners`. */
function normalized(args: readonly string[]): string[] {
  const booleans = new Set(settingNames.filter((name) => settings[name].kind === 'boolean').map(optionName));
  return args.map((arg, i) => {
    const next = args[i + 1];
    return booleans.has(arg) && (next === undefined || next.startsWith('-')) ? `${arg}=true` : arg;
  });
}

/** A command's name with the words and flags it takes. */
function synopsis(name: string, { flags = {}, words = [] }: Command): string {
  const options = Object.entries(flags).map(([flag, { value }]) =>
    value === undefined ? `[--${flag}]` : `[--${flag} ${value}]`,
  );
  return [name, ...words, ...options].join(' ');
}

async function serve({ config, flags }: Arguments): Promise<void> {
  const ephemeral = flags.ephemeral === true;
  const server = await createServer({ ...config, ephemeral });
  let isClosing = false;
  const stop = (): void => {
    if (isClosing) return;
    isClosing = true;
    void server.close().then(() => process.exit(0));
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  if (process.stdout.isTTY) {
    process.stdout.write(`Tenantry ${version} listens on ${server.url}\n`);
    process.stdout.write(
      ephemeral
        ? `Everything is kept in memory. A token of the staff user admin: ${server.issueToken()}\n`
        : `Data: ${resolve(config.data)}\n`,
    );
  } else {
    process.stdout.write(
      `${JSON.stringify({ event: 'listening', url: server.url, ...(ephemeral && { token: server.issueToken() }) })}\n`,
    );
  }
  const passwordFile = initialPasswordFile(resolve(config.data));
  if (!ephemeral && existsSync(passwordFile)) {
    process.stderr.write(
      `The password of the staff user "${firstUser}" is in ${passwordFile}; change it, and the file goes away.\n`,
    );
  }
  process.on('uncaughtException', (error) => {
    server.deployment.log.fatal({ err: error }, 'uncaught exception');
    process.stderr.write(`${error.stack}\n`);
    process.exit(1);
  });
}

async function addUserNamed({ config, flags, words }: Arguments): Promise<void> {
  const [username = ''] = words;
  const password = flags['password-stdin'] ? readFileSync(0, 'utf8').replace(/\r?\n$/, '') : undefined;
  await withDeployment(config, ({ deployment }) =>
    addUser(deployment, {
      username,
      isStaff: flags.staff === true,
      isSupport: flags.support === true,
      ...(typeof flags.email === 'string' && { email: flags.email }),
      ...(password !== undefined && { password }),
    }),
  );
  process.stdout.write(`Created user ${username}${password === undefined ? ', without a password' : ''}.\n`);
}

async function printToken({ config, words }: Arguments): Promise<void> {
  requireDatabase(resolve(config.data));
  await withDeployment(config, ({ issueToken }) => void process.stdout.write(`${issueToken(words[0] as string)}\n`));
}

async function fill({ config, flags }: Arguments): Promise<void> {
  await withDeployment(config, async ({ deployment }) => {
    process.stdout.write(await demo(deployment, typeof flags.seed === 'string' ? flags.seed : undefined));
  });
}

async function doctor({ config, flags }: Arguments): Promise<void> {
  requireDatabase(resolve(config.data));
  await withDeployment(config, ({ deployment }) => {
    const { isHealthy, problems } = examine(deployment, flags.repair === true);
    process.stdout.write(`${problems.length === 0 ? 'no problems' : problems.join('\n')}\n`);
    if (!isHealthy) process.exitCode = 1;
  });
}

/** Opens the data for a command; `serves` says that no server may use it meanwhile. */
async function withDeployment(
  config: Config,
  use: (opened: Opened) => void | Promise<void>,
  { serves = false } = {},
): Promise<void> {
  const opened = openDeployment(config, { folder: resolve(config.data), serves });
  try {
    await use(opened);
  } finally {
    opened.close();
  }
}

async function rotateKey({ config }: Arguments): Promise<void> {
  const folder = resolve(config.data);
  requireDatabase(folder);
  await withDeployment(
    config,
    ({ deployment }) => {
      // Keys from the settings are the operator's to change: the first of them is the new one already.
      const secrets = config.encryption_keys.length > 0 ? deployment.secrets : addKey(folder, deployment.random);
      process.stdout.write(`${sealAnew(deployment, secrets)} secrets encrypted anew.\n`);
    },
    { serves: true },
  );
}

async function writeBackup({ config, words }: Arguments): Promise<void> {
  const [file = ''] = words;
  const folder = resolve(config.data);
  requireDatabase(folder);
  if (file === '-' && process.stdout.isTTY)
    throw new UsageError('a backup is not for a terminal; name a file, or send standard output somewhere');
  // A server that runs beside comes first.
  setPriority(constants.priority.PRIORITY_LOW);
  const { holdsKeys } = await backUp(
    folder,
    file === '-' ? process.stdout : resolve(file),
    prepareFolder(config, folder),
  );
  // A key file from before the setting was given does not open what was sealed since.
  const isWhole = holdsKeys && config.encryption_keys.length === 0;
  const keys = isWhole
    ? 'It holds the encryption keys: whoever reads it reads every secret.'
    : 'It does not hold the encryption keys, which the settings give: keep them, too.';
  (file === '-' ? process.stderr : process.stdout).write(
    `Backup of ${folder} written${file === '-' ? '' : ` to ${resolve(file)}`}. ${keys}\n`,
  );
}

async function readBackup({ config, words }: Arguments): Promise<void> {
  const [file = ''] = words;
  const folder = resolve(config.data);
  const { keys, made } = await restore(file === '-' ? process.stdin : resolve(file), folder, config);
  process.stdout.write(
    `The backup of ${isoTime(made)} is restored in ${folder}.${keys === null ? ' Its encryption keys are those of the settings then.' : ''}\n`,
  );
}

function printConfig({ config, flags }: Arguments): void {
  const rows = settingNames.map((name) => ({
    name,
    setting: settings[name],
    value: printSetting(name, config[name]),
    fallback: printSetting(name, settings[name].fallback),
  }));
  if (flags.markdown) {
    const lines = rows.map(
      ({ name, setting, fallback }) =>
        `| \`${name}\` | ${setting.kind} | ${fallback === '' ? '' : `\`${fallback}\``} | ${setting.help} |`,
    );
    process.stdout.write(`${['| Setting | Kind | Default | Meaning |', '|---|---|---|---|', ...lines].join('\n')}\n`);
    return;
  }
  for (const { name, setting, value } of rows)
    process.stdout.write(`# ${setting.help}\n${environmentName(name)}=${value}\n`);
}

function printOpenApi({ config }: Arguments): void {
  process.stdout.write(`${JSON.stringify(openApi(endpoints, serverPath(config)), null, 2)}\n`);
}

function printVersion(): void {
  process.stdout.write(`${version}\n`);
}

function printLicenses(): void {
  process.stdout.write(embeddedLicenses());
}

function printHelp(): void {
  const forms = Object.entries(commands).map(
    ([name, command]) => `  ${synopsis(name, command)}\n      ${command.help}`,
  );
  const width = Math.max(...settingNames.map((name) => optionName(name).length));
  const lines = settingNames.map((name) => `  ${optionName(name).padEnd(width)}  ${settings[name].help}`);
  const about = 'Every setting is an option of every command; --some-name is TENANTRY_SOME_NAME in the environment:';
  process.stdout.write(`${['Usage: tenantry COMMAND', '', ...forms, '', about, '', ...lines].join('\n')}\n`);
}

/** Runs the command line; answers nothing, sets the exit code: 0, 1 when it failed, 2 when it was not understood. */
async function main(args: readonly string[]): Promise<void> {
  try {
    const { command, given } = readArguments(args);
    await command.run(given);
  } catch (error) {
    process.stderr.write(`tenantry: ${(error as Error).message}\n`);
    process.exitCode = error instanceof UsageError || error instanceof ConfigError ? 2 : 1;
  }
}

if (isProgram(import.meta.url)) await main(process.argv.slice(2));
