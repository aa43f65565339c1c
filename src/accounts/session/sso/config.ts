import type { Config, ConfigOf, SettingName, Settings } from '../../../kernel/config/config.ts';
import { flag, redirectAddress } from '../../../kernel/config/setting.ts';

declare module '../../../kernel/config/config.ts' {
  interface Config extends ConfigOf<typeof signOnSettings> {}
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
