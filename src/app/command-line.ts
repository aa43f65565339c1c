import { parseArgs } from 'node:util';
import { type Config, optionName, settingNames, settings } from '../kernel/config/config.ts';
import { readConfigFile } from '../kernel/config/file.ts';
import { fileVariable, loadConfig, type Sources } from '../kernel/config/load.ts';
import { suggestion } from '../kernel/nearest.ts';
import { codeOf, errorOf, present } from '../kernel/present.ts';
import { showingProgress } from '../kernel/progress.ts';

/** The groups of commands in the help, in order. */
export const groups = {
  server: 'Server',
  people: 'Users and accounts',
  data: 'Data',
  configuration: 'Configuration and documentation',
} as const;

/** An option of a command. */
interface Flag {
  readonly type: 'boolean' | 'string';
  /** What the help calls its value. */
  readonly value?: string;
  readonly help: string;
}

/** A command: the words and flags behind its name, and what it does. Every command takes every setting besides. */
export interface Command {
  readonly words?: readonly string[];
  /** What its only word may be, where that is not the caller's to invent. */
  readonly choices?: readonly string[];
  readonly flags?: Readonly<Record<string, Flag>>;
  readonly group: (typeof groups)[keyof typeof groups];
  /** What it does, in one line of at most 52 characters. */
  readonly help: string;
  /** What else to know before using it. */
  readonly details?: string;
  /** Arguments that show its use. */
  readonly examples?: readonly string[];
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
  const { name, words } = calledCommand(commands, positionals, values);
  const command = present(commands[name]);
  const settingValues = new Map(settingNames.map((setting) => [optionName(setting).slice(2), setting]));
  const options: Record<string, string> = {};
  for (const [option, value] of Object.entries(values)) {
    const setting = settingValues.get(option);
    if (setting !== undefined) options[setting] = String(value);
    else if (name !== 'help' && !Object.hasOwn(command.flags ?? {}, option) && option !== name && option !== fileOption)
      throw new UsageError(`${name} takes no --${option}; see tenantry help`);
  }
  if (name !== 'help' && words.length !== (command.words ?? []).length)
    throw new UsageError(`usage: tenantry ${synopsis(name, command)}`);
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

/** The command that is called, and the words behind its name; of help they are its topic. Throws UsageError. */
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

/** The first word, or the first two, as a command's name. Throws UsageError. */
export function commandName(commands: Commands, words: readonly string[]): string {
  const [first = '', second] = words;
  const found = [first, `${first} ${second}`].find((name) => Object.hasOwn(commands, name));
  if (found !== undefined) return found;
  const names = Object.keys(commands);
  const below = names.flatMap((name) => (name.startsWith(`${first} `) ? [name.slice(first.length + 1)] : []));
  if (below.length > 0 && second === undefined)
    throw new UsageError(`${first} needs one of the words ${below.join(', ')}; see tenantry help ${first}`);
  const unknown = below.length > 0 ? `${first} ${second}` : first;
  const known = [...names, ...new Set(names.map((name) => name.split(' ', 1)[0] ?? ''))];
  throw new UsageError(
    `there is no command "${unknown}"${suggestion(unknown, known, JSON.stringify) || '; see tenantry help'}`,
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
    if (unknown) {
      const known = Object.keys(options).map((name) => `--${name}`);
      throw new UsageError(`there is no option ${unknown}${suggestion(unknown, known) || '; see tenantry help'}`);
    }
    throw new UsageError(message.replace(/\n[\s\S]*$/, ''));
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
export function synopsis(name: string, { flags = {}, words = [] }: Command): string {
  const options = Object.entries(flags).map(([flag, { value }]) =>
    value === undefined ? `[--${flag}]` : `[--${flag} ${value}]`,
  );
  return [name, ...words, ...options].join(' ');
}

/** Of commands that nobody watches: a scheduled one that says something is a mail to the operator. */
export const quiet = { quiet: { type: 'boolean', help: 'Print nothing on success' } } as const;

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
