import { withoutCredentials } from '../url.ts';
import type { Setting } from './setting.ts';

declare module '../app.ts' {
  interface App {
    readonly config: Config;
  }
}

/** Declarations of settings by name, in display order. */
export type Settings = Readonly<Record<string, Setting<unknown>>>;

/** The values of declared settings. */
export type ConfigOf<S extends Settings> = {
  readonly [K in keyof S]: ReturnType<S[K]['read']> | S[K]['fallback'];
};

/**
 * The values of all settings. Each module adds its settings in a file config.ts (`declare module`). src/app/settings.ts combines
 * the declarations in one table.
 */
// biome-ignore lint/suspicious/noEmptyInterface: modules add its members
export interface Config {}

export type SettingName = keyof Config;

/** Thrown for an invalid setting. `message` names the setting and the rule. */
export class ConfigError extends Error {
  /** The message may contain the value, except for credentials in URLs. */
  constructor(message: string, options?: ErrorOptions) {
    super(withoutCredentials(message), options);
  }
}

/** The variable of a setting: `TENANTRY_SOME_NAME`. */
export const environmentName = (name: string): string => `TENANTRY_${name.toUpperCase()}`;
/** The option of a setting: `--some-name`. */
export const optionName = (name: string): string => `--${name.replaceAll('_', '-')}`;
