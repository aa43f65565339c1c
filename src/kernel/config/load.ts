import { readFileSync } from 'node:fs';
import { nearest, suggestion } from '../nearest.ts';
import { errorOf, namesOf, plainReason, present } from '../present.ts';
import { type Config, ConfigError, environmentName, optionName, type SettingName, type Settings } from './config.ts';
import type { ConfigFile } from './file.ts';
import type { Setting } from './setting.ts';

/** A rule across settings. It calls `reject` with the setting that breaks it and the end of a sentence. */
type SettingsRule = (config: Config, reject: (name: SettingName, rule: string) => never) => void;

/** Sources of settings other than the defaults. */
export interface Sources {
  /** Values from an embedding program: texts as on the command line, or parsed values. */
  readonly input?: Readonly<Record<string, unknown>>;
  /** Texts from the command line, by setting name. */
  readonly options?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Overridden by every other source except the defaults. */
  readonly file?: ConfigFile | undefined;
}

/**
 * Reads all settings of a table, from these sources by precedence: values from an embedding program, options, environment
 * variables or the files that they name for secrets, the configuration file, defaults. Throws ConfigError.
 */
export function loadSettings(settings: Settings, rules: readonly SettingsRule[], sources: Sources): Config {
  const settingNames = namesOf(settings);
  const { input = {} } = sources;
  for (const name of Object.keys(input))
    if (!Object.hasOwn(settings, name))
      throw new ConfigError(`there is no setting ${name}${suggestion(name, settingNames)}`);
  const config: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(settings)) {
    const value = input[name];
    const written = value === undefined ? writtenText(name, setting, sources) : undefined;
    if (value === setting.fallback) config[name] = value;
    else if (value !== undefined) config[name] = named(name, () => readValue(setting, value));
    else if (written !== undefined) config[name] = named(written.source, () => setting.read(written.text()));
    else config[name] = setting.fallback;
  }
  // Each declaration has parsed its setting.
  const loaded = config as unknown as Config;
  for (const check of rules)
    check(loaded, (name, rule) => {
      throw new ConfigError(`${environmentName(name)} ${rule}`);
    });
  return loaded;
}

/** Returns the option, variable or line that sets a setting; undefined for the default. */
export const sourceOfSetting = (settings: Settings, name: SettingName, sources: Sources): string | undefined =>
  writtenText(name, present(settings[name]), sources)?.source;

/** Returns the text of a setting and its name at the source. */
function writtenText(
  name: string,
  { isSecret }: Setting<unknown>,
  { env, file: lines, options }: Sources,
): { readonly source: string; readonly text: () => string } | undefined {
  const option = options?.[name];
  if (option !== undefined) return { source: optionName(name), text: () => option.trim() };
  const [variable, secretVariable] = [environmentName(name), fileName(name)];
  const [value, file] = [env?.[variable], isSecret ? env?.[secretVariable] : undefined];
  if (value && file) throw new ConfigError(`${variable} and ${secretVariable} are both set: one of them must go`);
  if (file) return { source: `${secretVariable}=${file}`, text: () => contentOf(file) };
  if (value) return { source: variable, text: () => value.trim() };
  const line = lines?.get(name);
  return line && { source: line.source, text: () => line.text };
}

/** The variable that names a configuration file, as `--config` does. */
export const fileVariable = 'TENANTRY_CONFIG';

/** The variable that names the file of a secret setting. */
const fileName = (name: string): string => `${environmentName(name)}_FILE`;

/** Returns the content of a file without its final newline. Throws with the end of a sentence. */
function contentOf(file: string): string {
  let content: string;
  try {
    content = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    throw new Error(`cannot be read: ${plainReason(error)}`, { cause: error });
  }
  // An empty text would mean the default: for encryption keys, a new key that decrypts no stored secrets.
  if (content.trim() === '') throw new Error('is empty');
  if (/[\r\n]/.test(content)) throw new Error('must contain exactly one line');
  return content;
}

/** Prefixes the message about a broken rule with the setting. */
function named(shownAs: string, read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    throw new ConfigError(`${shownAs} ${errorOf(error).message}`);
  }
}

interface UnknownVariable {
  readonly variable: string;
  /** Returns the closest known name. */
  readonly did_you_mean?: string;
}

/** Returns environment variables that look like settings, or files with secret settings, but are not. */
export function findUnknownVariables(
  settings: Settings,
  env: Readonly<Record<string, string | undefined>>,
): UnknownVariable[] {
  const names = namesOf(settings);
  const secretNames = names.filter((name) => settings[name]?.isSecret);
  const known = new Set([fileVariable, ...names.map(environmentName), ...secretNames.map(fileName)]);
  return Object.keys(env)
    .filter((name) => name.startsWith('TENANTRY_') && !known.has(name))
    .map((variable) => {
      const prefix = 'TENANTRY_'.length;
      const candidates = [...known].map((name) => name.slice(prefix));
      const suggestion = nearest(variable.slice(prefix), candidates);
      return { variable, ...(suggestion !== undefined && { did_you_mean: `TENANTRY_${suggestion}` }) };
    });
}

/**
 * Checks a value from an embedding program: a text as on the command line, or the value itself, with durations in microseconds.
 * Throws a readable error that names the rule.
 */
function readValue(setting: Setting<unknown>, value: unknown): unknown {
  if (typeof value === 'string') return setting.read(value.trim());
  const rule = valueRules[setting.kind];
  if (value === null ? setting.fallback === null : (rule?.holds(value) ?? typeof value === 'object')) {
    // Ranges of numbers and formats of list items are checked on their texts.
    if (typeof value === 'number' && setting.kind === 'integer') setting.read(String(value));
    if (Array.isArray(value)) for (const item of value) if (typeof item !== 'object') setting.read(String(item));
    return value;
  }
  throw new Error(rule?.sentence ?? 'must be a string');
}

const isWhole = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const listRule = { holds: Array.isArray, sentence: 'must be a list' };

/** Rules for values other than texts, by kind of setting. */
const valueRules: Readonly<Record<string, { holds: (value: unknown) => boolean; sentence: string }>> = {
  integer: { holds: isWhole, sentence: 'must be a whole number' },
  boolean: { holds: (value) => typeof value === 'boolean', sentence: 'must be true or false' },
  duration: { holds: isWhole, sentence: 'must be a duration such as 45s, 30m, 12h or 7d, or a number of microseconds' },
  list: listRule,
  networks: listRule,
  ports: listRule,
  text: { holds: () => false, sentence: 'must be a string' },
  URL: { holds: () => false, sentence: 'must be a string' },
  choice: { holds: () => false, sentence: 'must be a string' },
};
