import type { Config, ConfigOf, SettingName, Settings } from '../../../kernel/config/config.ts';
import { flag, list, problemOfAddress, type Setting, text } from '../../../kernel/config/setting.ts';
import { errorOf, present } from '../../../kernel/present.ts';
import { urlOf } from '../../../kernel/url.ts';
import { completionPlaces, optionalPlaces } from '../sso/config.ts';
import { type AttributeMapping, problemOfMapping } from '../sso/mapping.ts';

declare module '../../../kernel/config/config.ts' {
  interface Config extends ConfigOf<typeof samlSettings> {}
}

/*
 * Settings of single sign-on (services.md 11). The same checks apply to parsed values and to values from an embedding program.
 */

/** The URL of identity provider metadata, and the file with the certificate that must have signed it. */
export interface MetadataUrl {
  readonly url: string;
  readonly cert_file: string;
}

const metadataUrls = (help: string): Setting<readonly MetadataUrl[]> => ({
  kind: 'list',
  fallback: [],
  help,
  read: (text) => {
    const items = text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '');
    return items.map((item) => {
      const bar = item.lastIndexOf('|');
      if (bar < 0) throw new Error(`must list URL|certificate file, but has "${item}"`);
      return { url: item.slice(0, bar).trim(), cert_file: item.slice(bar + 1).trim() };
    });
  },
});

const attributeMapping = (help: string): Setting<AttributeMapping | null> => ({
  kind: 'JSON',
  fallback: null,
  help,
  read: (text) => {
    if (text === '') return null;
    try {
      const mapping: AttributeMapping = JSON.parse(text);
      return mapping;
    } catch (error) {
      throw new Error(`must be JSON: ${errorOf(error).message}`);
    }
  },
});

/** The settings of single sign-on. */
export const samlSettings = {
  saml_cert_file: text(null, 'PEM certificate by which identity providers know the service; required with SAML2.'),
  saml_key_file: text(
    null,
    'PEM key of that certificate, RSA; signs requests and decrypts assertions. Required with SAML2.',
  ),
  saml_idp_metadata_files: list([], 'Metadata files of identity providers.'),
  saml_idp_metadata_urls: metadataUrls(
    'URLs of identity provider metadata, each followed by a vertical bar and the file of the PEM certificate that signs it.',
  ),
  saml_attribute_mapping: attributeMapping(
    'Attributes of identity providers and the user fields that they fill, as JSON such as {"mail": ["email"]}; one must fill username. Required with SAML2.',
  ),
  saml_create_unknown_user: flag(true, 'Whether a SAML login creates a missing user.'),
  saml_link_existing_users: flag(false, 'Whether a SAML login may use accounts that it did not create.'),
  saml_enable_single_logout: flag(false, 'Whether web clients also log out at the identity provider.'),
  saml_allow_to_select_identity_provider: flag(true, 'Whether web clients let users choose their identity provider.'),
  saml_identity_provider_url: text(
    null,
    'Entity id of the identity provider that web clients use if users do not choose.',
  ),
  saml_identity_provider_label: text(null, 'Name of that identity provider in web clients.'),
} satisfies Settings;

const required = [
  'saml_cert_file',
  'saml_key_file',
  'saml_attribute_mapping',
  'login_completed_url',
  'login_failed_url',
  'logout_completed_url',
  'logout_failed_url',
] as const;

/** Rejects the first invalid setting of single sign-on. */
export function checkSaml(config: Config, reject: (name: SettingName, rule: string) => never): void {
  const { saml_attribute_mapping: mapping } = config;
  const problem = mapping === null ? undefined : (problemOfMapping(mapping, 'attribute') ?? problemOfUsername(mapping));
  if (problem) reject('saml_attribute_mapping', problem);
  for (const { cert_file: file, url } of config.saml_idp_metadata_urls) {
    if (!/^https?:$/.test(urlOf(url)?.protocol ?? ''))
      reject('saml_idp_metadata_urls', `must list http or https URLs, but has "${url}"`);
    if (!file) reject('saml_idp_metadata_urls', `must name the certificate that signs ${url}`);
  }
  if (!config.authentication_methods.includes('SAML2')) return;
  const missing = required.find((name) => !config[name]);
  if (missing) reject(missing, 'must be set with SAML2');
  const address = problemOfAddress(present(config.login_completed_url), completionPlaces, optionalPlaces);
  if (address) reject('login_completed_url', address);
  if (config.saml_idp_metadata_files.length + config.saml_idp_metadata_urls.length === 0) {
    reject('saml_idp_metadata_files', 'or TENANTRY_SAML_IDP_METADATA_URLS must name an identity provider with SAML2');
  }
}

const problemOfUsername = (mapping: AttributeMapping): string | undefined =>
  Object.values(mapping).flat().includes('username') ? undefined : 'must fill username from an attribute';
