import { readFileSync } from 'node:fs';
import { nearest, suggestion } from '../nearest.ts';
import { plainReason } from '../plain-reason.ts';
import { errorOf } from '../present.ts';
import {
  type Config,
  ConfigError,
  environmentName,
  type GivenSettings,
  optionName,
  type SettingName,
  secretSettings,
  settingNames,
  settings,
} from './config.ts';
import type { ConfigFile } from './file.ts';
import { readGiven } from './given.ts';
import { checkSaml } from './saml.ts';
import type { Setting } from './setting.ts';

/** Where settings come from besides their defaults. */
export interface Sources {
  /** Values of an embedding program. */
  readonly given?: GivenSettings;
  /** Texts of the command line, by the names of settings. */
  readonly options?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** What gives way to all of these but the defaults. */
  readonly file?: ConfigFile | undefined;
}

/**
 * All settings: given values first, then option texts, then environment texts or the files that the environment names for
 * secrets, then those of a configuration file, then defaults. Throws ConfigError.
 */
export function loadConfig(sources: Sources = {}): Config {
  for (const name of Object.keys(sources.given ?? {}))
    if (!Object.hasOwn(settings, name))
      throw new ConfigError(`there is no setting ${name}${suggestion(name, settingNames)}`);
  const config: Record<string, unknown> = {};
  for (const name of settingNames) {
    const setting: Setting<unknown> = settings[name];
    const given: unknown = sources.given?.[name];
    const written = given === undefined ? writtenText(name, sources) : undefined;
    if (given !== undefined) config[name] = named(name, () => readGiven(setting, given));
    else if (written !== undefined) config[name] = named(written.source, () => setting.read(written.text()));
    else config[name] = setting.fallback;
  }
  if (config.smtp_url && !config.email_from)
    throw new ConfigError(`${environmentName('email_from')} must be set with ${environmentName('smtp_url')}`);
  for (const [one, other] of [
    ['tls_cert_file', 'tls_key_file'],
    ['tls_key_file', 'tls_cert_file'],
  ] as const)
    if (config[one] && !config[other])
      throw new ConfigError(`${environmentName(other)} must be set with ${environmentName(one)}`);
  // Every setting has been read by its own reader.
  const loaded = config as Config;
  checkSaml(loaded, (name, rule) => {
    throw new ConfigError(`${environmentName(name)} ${rule}`);
  });
  return loaded;
}

/** What names a setting on the command line, in the environment or in a file; undefined where the default holds. */
export const sourceOf = (name: SettingName, sources: Sources): string | undefined => writtenText(name, sources)?.source;

/** The text of a setting that was written somewhere, and how it is called there. */
function writtenText(
  name: SettingName,
  { env, file: lines, options }: Sources,
): { readonly source: string; readonly text: () => string } | undefined {
  const option = options?.[name];
  if (option !== undefined) return { source: optionName(name), text: () => option.trim() };
  const [variable, secretVariable] = [environmentName(name), fileName(name)];
  const [value, file] = [env?.[variable], secretSettings.has(name) ? env?.[secretVariable] : undefined];
  if (value && file) throw new ConfigError(`${variable} and ${secretVariable} are both set: one of them must go`);
  if (file) return { source: `${secretVariable}=${file}`, text: () => contentOf(file) };
  if (value) return { source: variable, text: () => value.trim() };
  const line = lines?.get(name);
  return line && { source: line.source, text: () => line.text };
}

/** The variable that names a configuration file, as `--config` does. */
export const fileVariable = 'TENANTRY_CONFIG';

/** The variable that names the file of a secret setting. */
const fileName = (name: SettingName): string => `${environmentName(name)}_FILE`;

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

/** Whoever breaks a rule is told of which setting. */
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
export function unknownVariables(env: Readonly<Record<string, string | undefined>>): UnknownVariable[] {
  const known = new Set([fileVariable, ...settingNames.map(environmentName), ...[...secretSettings].map(fileName)]);
  return Object.keys(env)
    .filter((name) => name.startsWith('TENANTRY_') && !known.has(name))
    .map((variable) => {
      const prefix = 'TENANTRY_'.length;
      const names = [...known].map((name) => name.slice(prefix));
      const meant = nearest(variable.slice(prefix), names);
      return { variable, ...(meant !== undefined && { did_you_mean: `TENANTRY_${meant}` }) };
    });
}
