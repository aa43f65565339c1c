import type { Config, ConfigOf, SettingName, Settings } from '../../../kernel/config/config.ts';
import { problemOfAddress, text } from '../../../kernel/config/setting.ts';
import { present } from '../../../kernel/present.ts';
import { completionPlaces, optionalPlaces } from '../sso/config.ts';

declare module '../../../kernel/config/config.ts' {
  interface Config extends ConfigOf<typeof oidcSettings> {}
}

/** The settings of login by OpenID Connect (services.md 11). */
export const oidcSettings = {
  oidc_providers_file: text(null, 'JSON file with the OpenID Connect providers; required with OIDC.'),
} satisfies Settings;

const required = ['oidc_providers_file', 'login_completed_url', 'login_failed_url'] as const;

/** Rejects the first missing or invalid setting of login by OpenID Connect. */
export function checkOidc(config: Config, reject: (name: SettingName, rule: string) => never): void {
  if (!config.authentication_methods.includes('OIDC')) return;
  const missing = required.find((name) => !config[name]);
  if (missing) reject(missing, 'must be set with OIDC');
  const address = problemOfAddress(present(config.login_completed_url), completionPlaces, optionalPlaces);
  if (address) reject('login_completed_url', address);
}
