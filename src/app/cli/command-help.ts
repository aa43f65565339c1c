/** The output of `tenantry help` and `--help`. */
import { environmentName, optionName } from '../../kernel/config/config.ts';
import { fileVariable } from '../../kernel/config/load.ts';
import { suggestion } from '../../kernel/nearest.ts';
import { secretSettings, settingGroups, settingNames, settings } from '../settings.ts';
import { type Command, type Commands, commandName, fileOption, groups, UsageError, usageOf } from './command-line.ts';

/**
 * Returns the help of a topic: the overview without one, `all` commands, one command, the commands that start with a word, or
 * `settings`, optionally with a prefix. Throws UsageError for an unknown topic.
 */
export function helpFor(commands: Commands, topic: readonly string[]): string {
  const [first, second = ''] = topic;
  if (first === undefined) return overview(commands);
  if (first === 'settings') return settingsHelp(second);
  if (first === 'all')
    return Object.entries(commands)
      .map(([name, command]) => commandHelp(name, command))
      .join('\n\n');
  const subcommands = Object.entries(commands).filter(([name]) => name.startsWith(`${first} `));
  if (subcommands.length > 0 && second === '')
    return `Usage: tenantry ${first} COMMAND [OPTIONS]\n\nCommands:\n${commandTable(subcommands)}\n${footer}`;
  const name = commandName(commands, topic, ['settings', 'all']);
  const command = commands[name];
  return command ? commandHelp(name, command) : overview(commands);
}

const footer = `
Run tenantry COMMAND --help for the options of a command, and
tenantry help settings [PREFIX] for settings, which every command accepts.
`;

/** Families of at least this many commands with the same first word share a line, so that the overview fits on a screen. */
const minFamilySize = 3;

/** Lists every command by group, one per line. A family of commands shares a line with their second words. */
function overview(commands: Commands): string {
  const parts = Object.values(groups).map((group) => {
    const members = Object.entries(commands).filter(([, command]) => command.group === group);
    const families = new Map<string, Member[]>();
    for (const member of members) {
      const [first = ''] = member[0].split(' ');
      families.set(first, [...(families.get(first) ?? []), member]);
    }
    const rows = [...families].flatMap(([first, family]) =>
      family.length < minFamilySize ? family.map(rowOf) : [familyRow(first, family)],
    );
    return `${group}:\n${columns(rows)}`;
  });
  return `Usage: tenantry COMMAND [OPTIONS]\n\n${parts.join('\n\n')}\n${footer}`;
}

/** Aligns rows of two columns. */
function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`.trimEnd()).join('\n');
}

type Member = readonly [name: string, command: Command];

const rowOf = ([name, { help, words = [] }]: Member): [string, string] => [[name, ...words].join(' '), help];

/** Maximum length of a family's names, so that its row fits on one line. */
const maxNamesLength = 54;

function familyRow(first: string, family: readonly Member[]): [string, string] {
  const names = family.map(([name]) => name.slice(first.length + 1));
  const listedNames = names.filter((_, i) => names.slice(0, i + 1).join(', ').length <= maxNamesLength);
  return [`${first} COMMAND`, listedNames.length < names.length ? `${listedNames.join(', ')}, …` : names.join(', ')];
}

const commandTable = (commands: readonly Member[]): string => columns(commands.map(rowOf));

/** Options that every command accepts. */
const commonOptions = [
  [`--${fileOption} FILE`, 'Read settings from a file'],
  ['--SETTING VALUE', 'Override a setting: see tenantry help settings'],
  ['-h, --help', 'Show this help'],
] as const;

function commandHelp(name: string, command: Command): string {
  const { details, examples = [], flags = {}, help } = command;
  const options = Object.entries(flags).map(
    ([flag, { help: meaning, value }]) => [value === undefined ? `--${flag}` : `--${flag} ${value}`, meaning] as const,
  );
  const parts = [
    `Usage: ${usageOf(name, command)}`,
    wrap(details === undefined ? `${help}.` : `${help}. ${details}`),
    `Options:\n${columns([...options, ...commonOptions])}`,
    ...(examples.length > 0 ? [`Examples:\n${examples.map((example) => `  tenantry ${example}`).join('\n')}`] : []),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** Wraps a text at 80 characters, indenting each line. */
function wrap(text: string, indent = ''): string {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= 80) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(`${indent}${word}`);
  }
  return lines.join('\n');
}

/** Lists the settings with a prefix, in groups. Throws UsageError if there is none. */
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
  const option = environmentName('port').replace('PORT', 'SOME_NAME');
  const secrets = [...secretSettings].map((name) => `${environmentName(name)}_FILE`).join(', ');
  const intro = [
    `Set a setting some_name by the option --some-name, by the variable ${option} or by the line`,
    `some_name = value in the file that --${fileOption} FILE or ${fileVariable} names. The first of these wins.`,
    `To read a secret from a file, set ${secrets} to its path.`,
  ];
  return `${[wrap(intro.join(' ')), ...parts].join('\n\n')}\n`;
}

const settingLines = (name: (typeof settingNames)[number]): string =>
  `  ${optionName(name)}\n${wrap(settings[name].help, '      ')}`;
