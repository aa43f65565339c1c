import { readdirSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { parseArgs } from 'node:util';
import { type Config, optionName } from '../../kernel/config/config.ts';
import { fileVariable, type Sources } from '../../kernel/config/load.ts';
import { suggestion } from '../../kernel/nearest.ts';
import { codeOf, errorOf, present } from '../../kernel/present.ts';
import { showingProgress } from '../../kernel/progress.ts';
import { loadConfig, readConfigFile, settingNames, settings } from '../settings.ts';

/** The groups of commands, in the order of the help. */
export const groups = {
  server: 'Server',
  people: 'Users and accounts',
  data: 'Data',
  configuration: 'Configuration and documentation',
} as const;

/** An option of a command. */
interface Flag {
  readonly type: 'boolean' | 'string';
  /** Placeholder of its value in the help. */
  readonly value?: string;
  readonly help: string;
}

/** A command with its arguments and options. Every command also accepts every setting. */
export interface Command {
  /** Names of the arguments. Those in [brackets] are optional. */
  readonly words?: readonly string[];
  /** The valid values of the only argument. */
  readonly choices?: readonly string[];
  readonly flags?: Readonly<Record<string, Flag>>;
  readonly group: (typeof groups)[keyof typeof groups];
  /** Imperative summary, short enough for a line of 72 characters with the name. */
  readonly help: string;
  /** Possible arguments, and facts to know before running the command. */
  readonly details?: string;
  /** Command lines without the program name. */
  readonly examples?: readonly string[];
  readonly run: (args: Arguments) => void | Promise<void>;
}

/** Commands by name (one or two words). */
export type Commands = Readonly<Record<string, Command>>;

/** The parsed command line of a command. */
export interface Arguments {
  /** The name of the command. */
  readonly name: string;
  readonly words: readonly string[];
  readonly flags: Readonly<Record<string, string | boolean | undefined>>;
  readonly config: Config;
  /** The sources of the settings. */
  readonly sources: Sources;
}

/** The option that names a configuration file. */
export const fileOption = 'config';

/** The message on stderr of a list without rows. */
export const nothingFound = 'tenantry: nothing found\n';

/** A mistake on the command line: printed on one line, exit code 2. */
export class UsageError extends Error {}

/** Parses the command line. Settings are read on first access. Throws UsageError. */
export function readArguments(
  commands: Commands,
  args: readonly string[],
): { command: Command; commandArguments: Arguments } {
  const { positionals, values } = parse(commands, args);
  const { name, words } = calledCommand(commands, positionals, values);
  const command = present(commands[name]);
  const settingValues = new Map(settingNames.map((setting) => [optionName(setting).slice(2), setting]));
  const options: Record<string, string> = {};
  for (const [option, value] of Object.entries(values)) {
    const setting = settingValues.get(option);
    if (setting !== undefined) options[setting] = String(value);
    else if (name !== 'help' && !Object.hasOwn(command.flags ?? {}, option) && option !== name && option !== fileOption)
      throw unknownOption(`--${option}`, name, command);
  }
  if (name !== 'help') checkWords(name, command, words);
  const path = values[fileOption] ?? process.env[fileVariable];
  const file = typeof path === 'string' && path !== '' ? path : undefined;
  // Read on access, so that an invalid setting does not prevent help.
  const sources = (): Sources => ({ options, env: process.env, ...(file && { file: readConfigFile(file) }) });
  return {
    command,
    commandArguments: {
      name,
      words,
      flags: values,
      get sources() {
        return sources();
      },
      get config() {
        return loadConfig(sources());
      },
    },
  };
}

/** Throws UsageError unless the number of arguments is right and each is one of the choices. */
function checkWords(name: string, command: Command, words: readonly string[]): void {
  const { choices, words: expected = [] } = command;
  const required = expected.filter((word) => !word.startsWith('['));
  if (words.length < required.length || words.length > expected.length)
    throw new UsageError(`usage: ${usageOf(name, command)}; see tenantry ${name} --help`);
  const [word = ''] = words;
  if (choices && !choices.includes(word))
    throw new UsageError(
      `unknown ${name} "${word}"${suggestion(word, choices, JSON.stringify) || `; use ${choices.join(', ')}`}`,
    );
}

function unknownOption(option: string, name: string, { flags = {} }: Command): UsageError {
  const known = [...Object.keys(flags).map((flag) => `--${flag}`), ...settingNames.map(optionName), `--${fileOption}`];
  return new UsageError(
    `${name} has no option ${option}${suggestion(option, known) || `; see tenantry ${name} --help`}`,
  );
}

/** Returns the command name and its arguments; for help, its topic. Throws UsageError. */
function calledCommand(
  commands: Commands,
  positionals: readonly string[],
  { help, version }: Readonly<Record<string, unknown>>,
): { readonly name: string; readonly words: readonly string[] } {
  if (positionals[0] === 'help') return { name: 'help', words: positionals.slice(1) };
  if (help === true) return { name: 'help', words: positionals };
  if (version === true) return { name: 'version', words: [] };
  if (positionals.length === 0) return { name: 'help', words: [] };
  const name = commandName(commands, positionals);
  return { name, words: positionals.slice(name.split(' ').length) };
}

/** Returns the first word, or the first two, if they name a command. */
const namedCommand = (commands: Commands, [first = '', second]: readonly string[]): string | undefined =>
  [first, `${first} ${second}`].find((name) => Object.hasOwn(commands, name));

/**
 * Returns the command name in the first word or two. Throws UsageError that suggests the nearest command or topic.
 */
export function commandName(commands: Commands, words: readonly string[], topics: readonly string[] = []): string {
  const [first = '', second] = words;
  const command = namedCommand(commands, words);
  if (command !== undefined) return command;
  const names = Object.keys(commands);
  const below = names.flatMap((name) => (name.startsWith(`${first} `) ? [name.slice(first.length + 1)] : []));
  if (below.length > 0 && second === undefined)
    throw new UsageError(`${first} needs a command: ${below.join(', ')}; see tenantry ${first} --help`);
  const unknown = below.length > 0 ? `${first} ${second}` : first;
  const known = [...names, ...new Set(names.map((name) => name.split(' ', 1)[0] ?? '')), ...topics];
  throw new UsageError(
    `unknown command "${unknown}"${suggestion(unknown, known, JSON.stringify) || '; see tenantry help'}`,
  );
}

/** Splits the arguments into words and options, accepting the options of every command. Throws UsageError. */
function parse(
  commands: Commands,
  args: readonly string[],
): { positionals: string[]; values: Record<string, string | boolean | undefined> } {
  const options: Record<string, { type: 'string' | 'boolean'; short?: string }> = {
    help: { type: 'boolean', short: 'h' },
    version: { type: 'boolean' },
    [fileOption]: { type: 'string' },
  };
  for (const name of settingNames) options[optionName(name).slice(2)] = { type: 'string' };
  for (const { flags = {} } of Object.values(commands))
    for (const [name, { type }] of Object.entries(flags)) options[name] = { type };
  try {
    const { positionals, values } = parseArgs({
      args: normalized(args),
      options,
      allowPositionals: true,
      strict: true,
    });
    // No option is declared `multiple`, so no value is a list.
    const single = Object.entries(values).flatMap(([name, value]) => (Array.isArray(value) ? [] : [[name, value]]));
    return { positionals, values: Object.fromEntries(single) };
  } catch (error) {
    const { message } = errorOf(error);
    const unknown = codeOf(error) === 'ERR_PARSE_ARGS_UNKNOWN_OPTION' && /'(-[^']*)'/.exec(message)?.[1];
    if (unknown) {
      const name = namedCommand(commands, args);
      const command = name === undefined ? undefined : commands[name];
      if (name !== undefined && command) throw unknownOption(unknown, name, command);
      const known = Object.keys(options).map((option) => `--${option}`);
      throw new UsageError(`unknown option ${unknown}${suggestion(unknown, known) || '; see tenantry help'}`);
    }
    // The other lines of these messages are advice for programmers.
    throw new UsageError(message.replace(/\n[\s\S]*$/, ''));
  }
}

/** Adds `=true` to boolean settings without a value, such as `--owners-can-manage-owners`. */
function normalized(args: readonly string[]): string[] {
  const booleans = new Set(settingNames.filter((name) => settings[name].kind === 'boolean').map(optionName));
  return args.map((arg, i) => {
    const next = args[i + 1];
    return booleans.has(arg) && (next === undefined || next.startsWith('-')) ? `${arg}=true` : arg;
  });
}

/** Returns the usage line of a command. */
export const usageOf = (name: string, { words = [] }: Command): string =>
  ['tenantry', name, ...words, '[OPTIONS]'].join(' ');

/** The option of scheduled commands, because cron mails their output. */
export const quiet = { quiet: { type: 'boolean', help: 'Print nothing on success' } } as const;

/** Shows the progress of long work at a terminal, unless `--quiet` is set. */
export const withProgress = <T>({ quiet }: Arguments['flags'], work: () => Promise<T>): Promise<T> =>
  quiet === true ? work() : showingProgress(process.stderr, work);

/** Prints a success message unless `--quiet` is set. */
export function printSuccess(
  { quiet }: Arguments['flags'],
  text: string,
  stream: NodeJS.WritableStream = process.stdout,
): void {
  if (quiet !== true) stream.write(text);
}

/**
 * Gives this process the lowest priority, so that a server on the same machine takes precedence. On Linux, priorities belong to
 * threads, and Node.js has already started some, such as those for compression.
 */
export function lowerPriority(): void {
  const { PRIORITY_LOW: low } = constants.priority;
  setPriority(low);
  for (const thread of threads()) {
    try {
      setPriority(thread, low);
    } catch {
      // The thread has ended.
    }
  }
}

/** Returns the ids of the threads of this process; none where the kernel does not list them. */
function threads(): number[] {
  if (process.platform !== 'linux') return [];
  try {
    return readdirSync('/proc/self/task').map(Number);
  } catch {
    return [];
  }
}
