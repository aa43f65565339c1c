import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { systemClock } from './clock.ts';
import { type Config, ConfigError, environmentName, loadConfig, optionName, printSetting, settingNames, settings } from './config.ts';
import { demo } from './demo/demo.ts';
import { version } from './docs/root.ts';
import { isProgram } from './native.ts';
import { createServer, openDeployment } from './server.ts';
import { addUser } from './users/add.ts';

export { settableClock } from './clock.ts';
export { type Server, type ServerOptions, createServer } from './server.ts';

const usage = `Usage: tenantry <command> [options]

  serve [--ephemeral]          serve the API; --ephemeral keeps everything in memory
  user add NAME [--staff] [--support] [--email E] [--password-stdin]
                               create a user; the password is read from standard input
  token NAME                   print a fresh token of a user
  demo                         fill an empty database with a believable world
  config [--markdown]          print every setting with its value
  version, help

Every setting is an option of every command and a variable of the environment:
`;

interface Arguments {
  readonly words: readonly string[];
  readonly flags: Readonly<Record<string, string | boolean | undefined>>;
  readonly config: Config;
}

/** A mistake in the command line; told in one line, with exit code 2. */
class UsageError extends Error {}

const flagNames = ['staff', 'support', 'password-stdin', 'ephemeral', 'markdown', 'help', 'version'] as const;

function readArguments(args: readonly string[]): Arguments {
  const options: Record<string, { type: 'string' | 'boolean' }> = { email: { type: 'string' } };
  for (const name of settingNames) options[optionName(name).slice(2)] = { type: 'string' };
  for (const name of flagNames) options[name] = { type: 'boolean' };
  try {
    const { positionals, values } = parseArgs({ args: normalized(args), options, allowPositionals: true, strict: true });
    const given = Object.fromEntries(
      settingNames.flatMap((name) => {
        const value = values[optionName(name).slice(2)];
        return typeof value === 'string' ? [[name, value]] : [];
      }),
    );
    return { words: positionals, flags: values as Arguments['flags'], config: loadConfig({ options: given, env: process.env }) };
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new UsageError((error as Error).message);
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

const commands: Readonly<Record<string, (args: Arguments) => void | Promise<void>>> = { serve, user, token, demo: fill, config: printConfig, version: printVersion, help: printHelp };

async function serve({ config, flags }: Arguments): Promise<void> {
  const ephemeral = flags.ephemeral === true;
  const server = await createServer({ ...config, ephemeral });
  let closing: Promise<void> | undefined;
  const stop = (): void => {
    closing ??= server.close().then(() => process.exit(0));
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  if (process.stdout.isTTY) {
    process.stdout.write(`Tenantry ${version} listens on ${server.url}\n`);
    process.stdout.write(ephemeral ? `Everything is kept in memory. A token of the staff user admin: ${server.issueToken()}\n` : `Data: ${resolve(config.data)}\n`);
  } else {
    process.stdout.write(`${JSON.stringify({ event: 'listening', url: server.url, ...(ephemeral && { token: server.issueToken() }) })}\n`);
  }
  if (server.initialPassword) {
    process.stderr.write(`The staff user "admin" was created. The password is in ${server.initialPassword}; change it, and the file goes away.\n`);
  }
  process.on('uncaughtException', (error) => {
    server.deployment.log.fatal({ err: error }, 'uncaught exception');
    process.stderr.write(`${error.stack}\n`);
    process.exit(1);
  });
}

async function user({ config, flags, words }: Arguments): Promise<void> {
  const [, action, name] = words;
  if (action !== 'add' || name === undefined) throw new UsageError('usage: tenantry user add NAME [--staff] [--support] [--email E] [--password-stdin]');
  const password = flags['password-stdin'] ? readFileSync(0, 'utf8').replace(/\r?\n$/, '') : undefined;
  await withDeployment(config, (deployment) =>
    addUser(deployment, {
      username: name,
      isStaff: flags.staff === true,
      isSupport: flags.support === true,
      ...(typeof flags.email === 'string' && { email: flags.email }),
      ...(password !== undefined && { password }),
    }),
  );
  process.stdout.write(`Created user ${name}.\n`);
}

async function token({ config, words }: Arguments): Promise<void> {
  const name = words[1];
  if (name === undefined) throw new UsageError('usage: tenantry token NAME');
  await withDeployment(config, (_, issueToken) => {
    process.stdout.write(`${issueToken(name)}\n`);
  });
}

async function fill({ config }: Arguments): Promise<void> {
  await withDeployment(config, async (deployment) => {
    process.stdout.write(await demo(deployment));
  });
}

async function withDeployment(config: Config, use: (...args: [Parameters<typeof demo>[0], (name: string) => string]) => void | Promise<void>): Promise<void> {
  const opened = openDeployment(config, { folder: resolve(config.data), clock: systemClock });
  try {
    await use(opened.deployment, opened.issueToken);
  } finally {
    opened.close();
  }
}

function printConfig({ config, flags }: Arguments): void {
  const rows = settingNames.map((name) => ({ name, setting: settings[name], value: printSetting(name, config[name]), fallback: printSetting(name, settings[name].fallback) }));
  if (flags.markdown) {
    const lines = rows.map(({ name, setting, fallback }) => `| \`${name}\` | ${setting.kind} | ${fallback === '' ? '' : `\`${fallback}\``} | ${setting.help} |`);
    process.stdout.write(`${['| Setting | Kind | Default | Meaning |', '|---|---|---|---|', ...lines].join('\n')}\n`);
    return;
  }
  for (const { name, setting, value } of rows) process.stdout.write(`# ${setting.help}\n${environmentName(name)}=${value}\n`);
}

function printVersion(): void {
  process.stdout.write(`${version}\n`);
}

function printHelp(): void {
  const width = Math.max(...settingNames.map((name) => optionName(name).length));
  const lines = settingNames.map((name) => `  ${optionName(name).padEnd(width)}  ${settings[name].help}`);
  process.stdout.write(`${usage}\n${lines.join('\n')}\n`);
}

/** Runs the command line; answers nothing, sets the exit code. */
async function main(args: readonly string[]): Promise<void> {
  try {
    const read = readArguments(args);
    const name = read.flags.help ? 'help' : read.flags.version ? 'version' : (read.words[0] ?? 'help');
    const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
    if (!command) throw new UsageError(`there is no command "${name}"; see tenantry help`);
    await command(read);
  } catch (error) {
    process.stderr.write(`tenantry: ${(error as Error).message}\n`);
    process.exitCode = error instanceof UsageError || error instanceof ConfigError ? 2 : 1;
  }
}

if (isProgram(import.meta.url)) await main(process.argv.slice(2));
