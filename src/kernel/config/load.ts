import { readFileSync } from 'node:fs';
import { nearest, suggestion } from '../nearest.ts';
import { plainReason } from '../plain-reason.ts';
import { errorOf, namesOf, present } from '../present.ts';
import { type Config, ConfigError, environmentName, optionName, type SettingName, type Settings } from './config.ts';
import type { ConfigFile } from './file.ts';
import { readGiven } from './given.ts';
import type { Setting } from './setting.ts';

/** A rule over several settings. It calls `reject` with the setting that breaks it and the end of a sentence. */
type SettingsRule = (config: Config, reject: (name: SettingName, rule: string) => never) => void;

/** Where settings come from besides their defaults. */
export interface Sources {
  /** Values of an embedding program: texts as on the command line, or what these are read as. */
  readonly input?: Readonly<Record<string, unknown>>;
  /** Texts of the command line, by the names of settings. */
  readonly options?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** What gives way to all of these but the defaults. */
  readonly file?: ConfigFile | undefined;
}

/**
 * Reads all settings of a table: given values first, then option texts, then environment texts or the files that the environment
 * names for secrets, then those of a configuration file, then defaults. Throws ConfigError.
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
    if (value !== undefined) config[name] = named(name, () => readGiven(setting, value));
    else if (written !== undefined) config[name] = named(written.source, () => setting.read(written.text()));
    else config[name] = setting.fallback;
  }
  // Every setting has been read by its own reader.
  const loaded = config as unknown as Config;
  for (const check of rules)
    check(loaded, (name, rule) => {
      throw new ConfigError(`${environmentName(name)} ${rule}`);
    });
  return loaded;
}

/** What names a setting on the command line, in the environment or in a file; undefined where the default holds. */
export const sourceOfSetting = (settings: Settings, name: SettingName, sources: Sources): string | undefined =>
  writtenText(name, present(settings[name]), sources)?.source;

/** The text of a setting that was written somewhere, and how it is called there. */
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

/** What a file holds but the newline at its end. Throws with the end of a sentence. */
function contentOf(file: string): string {
  let content: string;
  try {
    content = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    throw new Error(`cannot be read: ${plainReason(error)}`, { cause: error });
  }
  // An empty text would leave the default: for encryption keys a fresh one, which opens nothing that is stored.
  if (content.trim() === '') throw new Error('is empty');
  if (/[\r\n]/.test(content)) throw new Error('must hold one line');
  return content;
}

/** The message about a violated rule names the setting. */
function named(shownAs: string, read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    throw new ConfigError(`${shownAs} ${errorOf(error).message}`);
  }
}

interface UnknownVariable {
  readonly variable: string;
  /** The known one that is most probably meant. */
  readonly did_you_mean?: string;
}

/** Variables of the environment that look like settings, or files of secret ones, and are none. */
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
      const meant = nearest(variable.slice(prefix), candidates);
      return { variable, ...(meant !== undefined && { did_you_mean: `TENANTRY_${meant}` }) };
    });
}
