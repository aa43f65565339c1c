import { parseArgs } from 'node:util';
import {
  type Config,
  environmentName,
  optionName,
  secretSettings,
  settingNames,
  settings,
} from '../kernel/config/config.ts';
import { readConfigFile } from '../kernel/config/file.ts';
import { fileVariable, loadConfig, type Sources } from '../kernel/config/load.ts';
import { codeOf, errorOf, present } from '../kernel/present.ts';
import { showingProgress } from '../kernel/progress.ts';

/** A command: the words and flags behind its name, and what it does. Every command takes every setting besides. */
export interface Command {
  readonly words?: readonly string[];
  /** What its only word may be, where that is not the caller's to invent. */
  readonly choices?: readonly string[];
  readonly flags?: Readonly<Record<string, { readonly type: 'boolean' | 'string'; readonly value?: string }>>;
  readonly help: string;
  readonly run: (args: Arguments) => void | Promise<void>;
}

/** Every command by its name of one word or two. */
export type Commands = Readonly<Record<string, Command>>;

/** What the command line gives a command. */
export interface Arguments {
  readonly words: readonly string[];
  readonly flags: Readonly<Record<string, string | boolean | undefined>>;
  readonly config: Config;
  /** What the settings were read from. */
  readonly sources: Sources;
}

/** The option that names a configuration file. */
export const fileOption = 'config';

/** A mistake in the command line; told in one line, with exit code 2. */
export class UsageError extends Error {}

/** The command that the arguments name, and what they give it; its settings are read when they are asked for. Throws UsageError. */
export function readArguments(commands: Commands, args: readonly string[]): { command: Command; given: Arguments } {
  const { positionals, values } = parse(commands, args);
  const name = values.help ? 'help' : values.version ? 'version' : commandName(commands, positionals);
  const command = present(commands[name]);
  const settingValues = new Map(settingNames.map((setting) => [optionName(setting).slice(2), setting]));
  const options: Record<string, string> = {};
  for (const [option, value] of Object.entries(values)) {
    const setting = settingValues.get(option);
    if (setting !== undefined) options[setting] = String(value);
    else if (!Object.hasOwn(command.flags ?? {}, option) && option !== name && option !== fileOption)
      throw new UsageError(`${name} takes no --${option}; see tenantry help`);
  }
  const words = name === 'help' || name === 'version' ? [] : positionals.slice(name.split(' ').length);
  if (words.length !== (command.words ?? []).length) throw new UsageError(`usage: tenantry ${synopsis(name, command)}`);
  const path = values[fileOption] ?? process.env[fileVariable];
  const file = typeof path === 'string' && path !== '' ? path : undefined;
  // Read when they are asked for: help is not refused because of a setting.
  const sources = (): Sources => ({ options, env: process.env, ...(file && { file: readConfigFile(file) }) });
  return {
    command,
    given: {
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

/** The first word, or the first two, as a command's name; help when there is none. */
function commandName(commands: Commands, words: readonly string[]): string {
  const [first = 'help', second] = words;
  const known = [first, `${first} ${second}`].find((name) => Object.hasOwn(commands, name));
  if (known !== undefined) return known;
  const longer = Object.entries(commands).find(([name]) => name.startsWith(`${first} `));
  throw new UsageError(
    longer ? `usage: tenantry ${synopsis(...longer)}` : `there is no command "${first}"; see tenantry help`,
  );
}

/** Options as they stand in the arguments, whatever the command. */
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
    // No option of ours may stand twice, so that none has a list of values.
    const single = Object.entries(values).flatMap(([name, value]) => (Array.isArray(value) ? [] : [[name, value]]));
    return { positionals, values: Object.fromEntries(single) };
  } catch (error) {
    const { message } = errorOf(error);
    const unknown = codeOf(error) === 'ERR_PARSE_ARGS_UNKNOWN_OPTION' && /'(-[^']*)'/.exec(message)?.[1];
    // The further lines of such a message are advice for programmers.
    throw new UsageError(
      unknown ? `there is no option ${unknown}; see tenantry help` : message.replace(/\n[\s\S]*$/, ''),
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

/** The text of `tenantry help`: every command, every setting. */
export function helpOf(commands: Commands): string {
  const forms = Object.entries(commands).map(
    ([name, command]) => `  ${synopsis(name, command)}\n      ${command.help}`,
  );
  const width = Math.max(...settingNames.map((name) => optionName(name).length));
  const lines = settingNames.map((name) => `  ${optionName(name).padEnd(width)}  ${settings[name].help}`);
  const about = [
    'Every setting is an option of every command; --some-name is TENANTRY_SOME_NAME in the environment, and a line',
    `some_name = value in the file that --${fileOption} FILE or ${fileVariable} names. The first of these that gives it counts.`,
    `A secret may stand in a file: ${[...secretSettings].map((name) => `${environmentName(name)}_FILE`).join(', ')}.`,
  ];
  return `${['Usage: tenantry COMMAND', '', ...forms, '', ...about, '', ...lines].join('\n')}\n`;
}

/** Of commands that nobody watches: a scheduled one that says something is a mail to the operator. */
export const quiet = { quiet: { type: 'boolean' } } as const;

/** Does long work of a command and shows on a terminal how far it is, unless `--quiet` was given. */
export const showing = <T>({ quiet }: Arguments['flags'], work: () => Promise<T>): Promise<T> =>
  quiet === true ? work() : showingProgress(process.stderr, work);

/** Tells of success, unless `--quiet` was given. */
export function tell(
  { quiet }: Arguments['flags'],
  text: string,
  stream: NodeJS.WritableStream = process.stdout,
): void {
  if (quiet !== true) stream.write(text);
}
