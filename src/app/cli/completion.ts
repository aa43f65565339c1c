/** Shell completion scripts, generated from the commands and settings. */
import { optionName } from '../../kernel/config/config.ts';
import { present } from '../../kernel/present.ts';
import { settingNames, settings } from '../settings.ts';
import { type Commands, fileOption } from './command-line.ts';

const shells: Readonly<Record<string, (tree: readonly Branch[]) => string>> = { bash, zsh, fish };

/** The supported shells. */
export const shellNames = Object.keys(shells);

/** Returns the completion script for one of `shellNames`, to be sourced by that shell. */
export const completionFor = (shell: string, commands: Commands): string =>
  `${present(shells[shell])(treeOf(commands))}\n`;

interface Branch {
  readonly name: string;
  readonly help: string;
  /** Options of this command only, without dashes. */
  readonly options: readonly string[];
  readonly subcommands: readonly Branch[];
}

/** Groups the commands by their first words. */
function treeOf(commands: Commands): Branch[] {
  const branches = new Map<string, { name: string; help: string; options: string[]; subcommands: Branch[] }>();
  for (const [name, { choices = [], flags = {}, help }] of Object.entries(commands)) {
    const [first = '', second] = name.split(' ');
    const topics =
      name === 'help'
        ? [...Object.keys(commands).map((command) => command.split(' ', 1)[0] ?? ''), 'settings', 'all']
        : choices;
    const subcommands = [...new Set(topics)].map((choice) => ({
      name: choice,
      help: `${first} ${choice}`,
      options: [],
      subcommands: [],
    }));
    const leaf = { name: second ?? first, help, options: Object.keys(flags), subcommands };
    const branch = branches.get(first);
    if (second === undefined) branches.set(first, leaf);
    else if (branch) branch.subcommands.push(leaf);
    else branches.set(first, { name: first, help: `tenantry ${first} …`, options: [], subcommands: [leaf] });
  }
  return [...branches.values()];
}

const commonOptions = [`--${fileOption}`, ...settingNames.map(optionName)];
const names = (branches: readonly Branch[]): string => branches.map(({ name }) => name).join(' ');
const optionFlags = ({ options }: Branch): string => options.map((option) => `--${option}`).join(' ');

/** Returns a line for each command that has options. */
function eachWithOptions(tree: readonly Branch[], line: (words: string, options: string) => string): string[] {
  return tree.flatMap((branch) => [
    ...branch.subcommands
      .filter(({ options }) => options.length > 0)
      .map((leaf) => line(`${branch.name} ${leaf.name}`, optionFlags(leaf))),
    ...(branch.options.length > 0 ? [line(branch.name, optionFlags(branch))] : []),
  ]);
}

const eachWithSubcommands = (
  tree: readonly Branch[],
  line: (name: string, subcommands: readonly Branch[]) => string,
): string[] =>
  tree.filter(({ subcommands }) => subcommands.length > 0).map(({ subcommands, name }) => line(name, subcommands));

function bash(tree: readonly Branch[]): string {
  return [
    '# Completion of tenantry for bash: source <(tenantry completion bash)',
    '_tenantry() {',
    "  local cur=$2 words=''",
    `  set -- "\${COMP_WORDS[@]:1:2}"`,
    '  if [[ $cur == -* ]]; then',
    '    case "$1 $2" in',
    ...eachWithOptions(
      tree,
      (words, options) => `      '${words}'${words.includes(' ') ? '' : "' '*"}) words='${options}' ;;`,
    ),
    '    esac',
    `    words="$words ${commonOptions.join(' ')}"`,
    '  elif [[ $COMP_CWORD == 1 ]]; then',
    `    words='${names(tree)}'`,
    '  elif [[ $COMP_CWORD == 2 ]]; then',
    '    case "$1" in',
    ...eachWithSubcommands(tree, (name, subcommands) => `      ${name}) words='${names(subcommands)}' ;;`),
    '    esac',
    '  fi',
    '  COMPREPLY=($(compgen -W "$words" -- "$cur"))',
    '}',
    'complete -o default -F _tenantry tenantry',
  ].join('\n');
}

/** Quotes a string for bash and zsh. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const completionItem = ({ help, name }: Branch): string => quoted(`${name}:${help}`);

function zsh(tree: readonly Branch[]): string {
  return [
    '#compdef tenantry',
    '# Completion of tenantry for zsh: source <(tenantry completion zsh)',
    '_tenantry() {',
    '  local -a matches',
    '  if [[ $words[CURRENT] == -* ]]; then',
    '    case "$words[2] $words[3]" in',
    ...eachWithOptions(
      tree,
      (words, options) => `      ${words.includes(' ') ? quoted(words) : `'${words} '*`}) matches=(${options}) ;;`,
    ),
    '    esac',
    `    compadd -- $matches ${commonOptions.join(' ')}`,
    '  elif (( CURRENT == 2 )); then',
    `    matches=(${tree.map(completionItem).join(' ')})`,
    '    _describe command matches',
    '  elif (( CURRENT == 3 )); then',
    '    case $words[2] in',
    ...eachWithSubcommands(
      tree,
      (name, subcommands) =>
        `      ${name}) matches=(${subcommands.map(completionItem).join(' ')}); _describe command matches ;;`,
    ),
    '      *) _files ;;',
    '    esac',
    '  else',
    '    _files',
    '  fi',
    '}',
    'compdef _tenantry tenantry',
  ].join('\n');
}

function fish(tree: readonly Branch[]): string {
  const text = (words: string): string => `'${words.replace(/['\\]/g, '\\$&')}'`;
  const line = (condition: string, rest: string): string => `complete -c tenantry -n ${text(condition)} ${rest}`;
  const isInSubcommand = (name: string): string => `__fish_seen_subcommand_from ${name}`;
  const optionsOf = (condition: string, { options }: Branch): string[] =>
    options.map((option) => line(condition, `-l ${option}`));
  return [
    '# Completion of tenantry for fish: tenantry completion fish | source',
    ...tree.map(({ help, name }) => line('__fish_use_subcommand', `-f -a ${name} -d ${text(help)}`)),
    ...tree.flatMap((branch) => [
      ...branch.subcommands.map(({ help, name }) =>
        line(
          `${isInSubcommand(branch.name)}; and not ${isInSubcommand(names(branch.subcommands))}`,
          `-f -a ${name} -d ${text(help)}`,
        ),
      ),
      ...branch.subcommands.flatMap((leaf) =>
        optionsOf(`${isInSubcommand(branch.name)}; and ${isInSubcommand(leaf.name)}`, leaf),
      ),
      ...optionsOf(isInSubcommand(branch.name), branch),
    ]),
    `complete -c tenantry -l ${fileOption} -r -d 'File with settings'`,
    ...settingNames.map(
      (name) => `complete -c tenantry -l ${optionName(name).slice(2)} -r -d ${text(settings[name].help)}`,
    ),
  ].join('\n');
}
