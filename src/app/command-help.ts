/** What `tenantry help` and `--help` print. */
import { environmentName, optionName, secretSettings, settingNames, settings } from '../kernel/config/config.ts';
import { settingGroups } from '../kernel/config/groups.ts';
import { fileVariable } from '../kernel/config/load.ts';
import { suggestion } from '../kernel/nearest.ts';
import { type Command, type Commands, commandName, fileOption, groups, synopsis, UsageError } from './command-line.ts';

/**
 * The help of a topic: the list of commands without one, all of them, one command, the commands that begin with a word, or the settings whose names
 * begin with the second word. Throws UsageError for another topic.
 */
export function helpFor(commands: Commands, topic: readonly string[]): string {
  const [first, second = ''] = topic;
  if (first === undefined) return overview(commands);
  if (first === 'settings') return settingsHelp(second);
  if (first === 'all')
    return Object.entries(commands)
      .map(([name, command]) => commandHelp(name, command))
      .join('\n\n');
  const below = Object.entries(commands).filter(([name]) => name.startsWith(`${first} `));
  if (below.length > 0 && second === '') return `Usage: tenantry ${first} COMMAND\n\n${tableOf(below)}\n${further}`;
  const name = commandName(commands, topic);
  const command = commands[name];
  return command ? commandHelp(name, command) : overview(commands);
}

const further = `
tenantry COMMAND --help shows the options of a command, and
tenantry help settings [PREFIX] the settings, which are options of every command.
`;

/** Every command, a line each. */
function overview(commands: Commands): string {
  const parts = Object.values(groups).map((group) => {
    const members = Object.entries(commands).filter(([, command]) => command.group === group);
    return `${group}:\n${tableOf(members)}`;
  });
  return `Usage: tenantry COMMAND [OPTIONS]\n\n${parts.join('\n\n')}\n${further}`;
}

/** Rows of two columns. */
function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`.trimEnd()).join('\n');
}

const tableOf = (commands: readonly (readonly [string, Command])[]): string =>
  columns(commands.map(([name, { help, words = [] }]) => [[name, ...words].join(' '), help]));

function commandHelp(name: string, command: Command): string {
  const { details, examples = [], flags = {}, help } = command;
  const options = Object.entries(flags).map(
    ([flag, { help: meaning, value }]) => [value === undefined ? `--${flag}` : `--${flag} ${value}`, meaning] as const,
  );
  const parts = [
    `Usage: tenantry ${synopsis(name, command)}`,
    details === undefined ? `${help}.` : `${help}. ${details}`,
    ...(options.length > 0 ? [`Options:\n${columns(options)}`] : []),
    `Every setting is an option, too: see tenantry help settings.\n--${fileOption} FILE reads settings from a file.`,
    ...(examples.length > 0 ? [`Examples:\n${examples.map((example) => `  tenantry ${example}`).join('\n')}`] : []),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** The settings whose names begin with a text, in groups. Throws UsageError where there is none. */
function settingsHelp(prefix: string): string {
  const start = prefix.replace(/^--/, '').replaceAll('-', '_').toLowerCase();
  const parts = settingGroups
    .map(({ names, title }) => ({ title, names: names.filter((name) => name.startsWith(start)) }))
    .filter(({ names }) => names.length > 0)
    .map(({ names, title }) => `${title}:\n${names.map(settingLines).join('\n')}`);
  if (parts.length === 0) {
    const words = [...settingNames, ...settingNames.map((name) => name.split('_', 1)[0] ?? '')];
    throw new UsageError(
      `no setting begins with ${start}${suggestion(start, words) || '; see tenantry help settings'}`,
    );
  }
  const about = [
    `A setting --some-name is also ${environmentName('port').replace('PORT', 'SOME_NAME')} in the environment, and a line some_name = value`,
    `in the file that --${fileOption} FILE or ${fileVariable} names. The first of these that gives it counts.`,
    `Files may hold secrets: ${[...secretSettings].map((name) => `${environmentName(name)}_FILE`).join(', ')}.`,
  ];
  return `${[about.join('\n'), ...parts].join('\n\n')}\n`;
}

const settingLines = (name: (typeof settingNames)[number]): string =>
  `  ${optionName(name)}\n      ${settings[name].help}`;
