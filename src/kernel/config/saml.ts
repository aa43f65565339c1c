import { errorOf, present } from '../present.ts';
import { urlOf } from '../url.ts';
import type { Setting } from './setting.ts';

/*
 * Settings of single sign-on (services.md 11) that are more than a word. Each is checked in the same way whether it was read
 * or given by an embedding program.
 */

/** Metadata of identity providers on the web, and the file of the certificate that it must be signed with. */
export interface MetadataUrl {
  readonly url: string;
  readonly cert_file: string;
}

/** Name of an attribute to the fields of a user that its first value fills. */
export type AttributeMapping = Readonly<Record<string, readonly string[]>>;

/** What an identity provider may tell about a user; everything else about users is a right, or the service's own. */
export const mappedFields = [
  'username',
  'full_name',
  'native_name',
  'job_title',
  'email',
  'phone_number',
  'organization',
  'civil_number',
  'description',
  'preferred_language',
  'competence',
] as const;

export type MappedField = (typeof mappedFields)[number];

export const metadataUrls = (help: string): Setting<readonly MetadataUrl[]> => ({
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

export const attributeMapping = (help: string): Setting<AttributeMapping | null> => ({
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

/** Where browsers are sent to: an address as it stands, with places to fill in. */
export const redirectAddress = (help: string, places: readonly string[] = []): Setting<string | null> => ({
  kind: 'URL',
  fallback: null,
  help,
  read: (text) => {
    if (text === '') return null;
    const problem = problemOfAddress(text, places);
    if (problem) throw new Error(problem);
    return text;
  },
});

function problemOfAddress(text: string, places: readonly string[]): string | undefined {
  const missing = places.find((place) => !text.includes(`{${place}}`));
  if (missing) return `must hold {${missing}}`;
  // A place in the host would send the token to whatever its value names.
  const filled = urlOf(places.reduce((address, place) => address.replaceAll(`{${place}}`, 'x'), text));
  const emptied = urlOf(places.reduce((address, place) => address.replaceAll(`{${place}}`, ''), text));
  if (!filled || !/^https?:$/.test(filled.protocol) || filled.origin !== emptied?.origin)
    return 'must be an http or https URL';
  // It becomes a header of the answer.
  return /[^\x21-\x7e]/.test(text)
    ? 'must be an http or https URL without blanks, other characters encoded'
    : undefined;
}

/** The settings that single sign-on works with, as far as they are checked. */
interface SamlSettings {
  readonly authentication_methods: readonly string[];
  readonly saml_cert_file: string | null;
  readonly saml_key_file: string | null;
  readonly saml_attribute_mapping: AttributeMapping | null;
  readonly saml_idp_metadata_files: readonly string[];
  readonly saml_idp_metadata_urls: readonly MetadataUrl[];
  readonly login_completed_url: string | null;
  readonly login_failed_url: string | null;
  readonly logout_completed_url: string | null;
  readonly logout_failed_url: string | null;
}

const required = [
  'saml_cert_file',
  'saml_key_file',
  'saml_attribute_mapping',
  'login_completed_url',
  'login_failed_url',
  'logout_completed_url',
  'logout_failed_url',
] as const;

/** Refuses settings that single sign-on cannot work with, naming the first of them. */
export function checkSaml(config: SamlSettings, refuse: (name: keyof SamlSettings, rule: string) => never): void {
  const mapping = problemOfMapping(config.saml_attribute_mapping);
  if (mapping) refuse('saml_attribute_mapping', mapping);
  for (const { cert_file: file, url } of config.saml_idp_metadata_urls) {
    if (!/^https?:$/.test(urlOf(url)?.protocol ?? ''))
      refuse('saml_idp_metadata_urls', `must list http or https URLs, but has "${url}"`);
    if (!file) refuse('saml_idp_metadata_urls', `must name the certificate that signs ${url}`);
  }
  if (!config.authentication_methods.includes('SAML2')) return;
  const missing = required.find((name) => !config[name]);
  if (missing) refuse(missing, 'must be set with SAML2');
  const address = problemOfAddress(present(config.login_completed_url), ['token', 'method']);
  if (address) refuse('login_completed_url', address);
  if (config.saml_idp_metadata_files.length + config.saml_idp_metadata_urls.length === 0) {
    refuse('saml_idp_metadata_files', 'or TENANTRY_SAML_IDP_METADATA_URLS must name an identity provider with SAML2');
  }
}

function problemOfMapping(mapping: AttributeMapping | null): string | undefined {
  if (mapping === null) return undefined;
  const isMapping =
    typeof mapping === 'object' &&
    !Array.isArray(mapping) &&
    Object.values(mapping).every(
      (fields) => Array.isArray(fields) && fields.every((field) => typeof field === 'string'),
    );
  if (!isMapping) return 'must be a JSON object of lists of fields, such as {"mail": ["email"]}';
  const fields = Object.values(mapping).flat();
  const refused = fields.find((field) => !mappedFields.some((allowed) => allowed === field));
  if (refused !== undefined)
    return `must not fill "${refused}": the fields that can be filled are ${mappedFields.join(', ')}`;
  const repeated = fields.find((field, i) => fields.indexOf(field) !== i);
  if (repeated !== undefined) return `must fill "${repeated}" from one attribute`;
  return fields.includes('username') ? undefined : 'must fill username from an attribute';
}
