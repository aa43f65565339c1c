import type { Config, ConfigOf, SettingName, Settings } from '../../../kernel/config/config.ts';
import { flag, problemOfAddress, redirectAddress, text } from '../../../kernel/config/setting.ts';
import { present } from '../../../kernel/present.ts';

declare module '../../../kernel/config/config.ts' {
  interface Config extends ConfigOf<typeof oidcSettings>, ConfigOf<typeof signOnSettings> {}
}

/** Required and optional placeholders of login_completed_url. */
export const completionPlaces: readonly string[] = ['token', 'method'];
export const optionalPlaces: readonly string[] = ['next'];

/** Settings of SAML and OpenID Connect: web client pages to which browsers return. */
export const signOnSettings = {
  login_completed_url: redirectAddress(
    'Page after a SAML or OpenID Connect login; contains {token} and {method}, and optionally {next}. Required with SAML2 and OIDC.',
    completionPlaces,
    optionalPlaces,
  ),
  login_failed_url: redirectAddress(
    'Page after a failed SAML or OpenID Connect login; gets the parameter message. Required with SAML2 and OIDC.',
  ),
  logout_completed_url: redirectAddress('Page after a SAML or OpenID Connect logout. Required with SAML2.'),
  logout_failed_url: redirectAddress(
    'Page after a failed SAML or OpenID Connect logout; gets the parameter message. Required with SAML2.',
  ),
  second_factor_for_sso: flag(
    false,
    'Whether SAML and OpenID Connect logins of users with a second factor require it.',
  ),
  login_second_factor_url: redirectAddress(
    'Page that asks for the second factor of such a login; contains {token}, and optionally {next}. Required with second_factor_for_sso.',
    ['token'],
    optionalPlaces,
  ),
} satisfies Settings;

/** Rejects a missing page for second factors. */
export function checkSignOn(config: Config, reject: (name: SettingName, rule: string) => never): void {
  if (config.second_factor_for_sso && config.login_second_factor_url === null)
    reject('login_second_factor_url', 'must be set with second_factor_for_sso');
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
