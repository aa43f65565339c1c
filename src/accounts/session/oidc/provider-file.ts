import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Config, ConfigError, environmentName } from '../../../kernel/config/config.ts';
import { isLoopback } from '../../../kernel/net/destination.ts';
import { errorOf } from '../../../kernel/present.ts';
import { urlOf } from '../../../kernel/url.ts';
import { type AttributeMapping, problemOfMapping } from '../sso/mapping.ts';
import { type GroupSettings, readGroupSettings } from './group-rules.ts';

/** An OpenID Connect provider in oidc_providers_file (services.md 11). */
export interface OidcProvider extends GroupSettings {
  readonly name: string;
  readonly label: string;
  /** Must equal the issuer in the discovery document. */
  readonly issuer: string;
  readonly clientId: string;
  /** The client secret or the key for private_key_jwt. */
  readonly credential: string | KeyObject;
  readonly scopes: string;
  readonly claims: AttributeMapping;
  readonly createUnknownUser: boolean;
  readonly linkByVerifiedEmail: boolean;
  readonly prompt: string | undefined;
  readonly autoRedirect: boolean;
}

type Members = Readonly<Record<string, unknown>>;

/** The members of a provider in the file. */
const members = [
  'name',
  'label',
  'issuer',
  'client_id',
  'client_secret_file',
  'private_key_file',
  'scopes',
  'claims',
  'create_unknown_user',
  'link_by_verified_email',
  'groups_claim',
  'group_rules',
  'group_roles_last',
  'prompt',
  'auto_redirect',
] as const;

type Member = (typeof members)[number];

const defaultClaims: AttributeMapping = { preferred_username: ['username'], name: ['full_name'], email: ['email'] };

/** Reads the providers in oidc_providers_file; none unless OIDC is enabled. Throws ConfigError. */
export function readProviders({ authentication_methods: methods, oidc_providers_file: file }: Config): OidcProvider[] {
  if (!methods.includes('OIDC') || !file) return [];
  try {
    const list: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (!Array.isArray(list) || list.length === 0) throw new Error('must be a JSON list with at least one provider');
    const providers = list.map((item: unknown, i) => readProvider(item, i + 1));
    const names = providers.map(({ name }) => name);
    const repeated = names.find((name, i) => names.indexOf(name) !== i);
    if (repeated !== undefined) throw new Error(`has two providers with the name "${repeated}"`);
    return providers;
  } catch (error) {
    const message = `${environmentName('oidc_providers_file')}: ${file}: ${errorOf(error).message}`;
    throw new ConfigError(message, { cause: error });
  }
}

const isMembers = (item: unknown): item is Members => typeof item === 'object' && item !== null && !Array.isArray(item);

/** Reads one provider. Throws an error that names the provider and the member. */
function readProvider(item: unknown, position: number): OidcProvider {
  if (!isMembers(item)) throw new Error(`provider ${position} must be a JSON object`);
  const label = typeof item.name === 'string' ? `provider "${item.name}"` : `provider ${position}`;
  try {
    const unknown = Object.keys(item).find((name) => !members.some((known) => known === name));
    if (unknown !== undefined) throw new Error(`has the unknown member "${unknown}"`);
    return {
      name: slug(requiredText(item, 'name')),
      label: requiredText(item, 'label'),
      issuer: issuerOf(requiredText(item, 'issuer')),
      clientId: requiredText(item, 'client_id'),
      credential: credentialOf(item),
      scopes: scopesOf(item),
      claims: claimsOf(item),
      createUnknownUser: flag(item, 'create_unknown_user', true),
      linkByVerifiedEmail: flag(item, 'link_by_verified_email', false),
      ...readGroupSettings(item),
      prompt: optionalText(item, 'prompt'),
      autoRedirect: flag(item, 'auto_redirect', false),
    };
  } catch (error) {
    throw new Error(`${label}: ${errorOf(error).message}`, { cause: error });
  }
}

function optionalText(item: Members, name: Member): string | undefined {
  const value = item[name];
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || value.trim() === '') throw new Error(`${name} must be a string`);
  return value;
}

function requiredText(item: Members, name: Member): string {
  const value = optionalText(item, name);
  if (value === undefined) throw new Error(`${name} is missing`);
  return value;
}

function flag(item: Members, name: Member, fallback: boolean): boolean {
  const value = item[name] ?? fallback;
  if (typeof value !== 'boolean') throw new Error(`${name} must be true or false`);
  return value;
}

function slug(name: string): string {
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) || name.length > 50)
    throw new Error('name must have at most 50 lower-case letters, digits and single hyphens');
  return name;
}

function issuerOf(issuer: string): string {
  const url = urlOf(issuer);
  const isValid = url && !url.search && !url.hash && !url.username && !url.password;
  if (!isValid || !(url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(issuer))))
    throw new Error('issuer must be an https URL (http only on this machine) without a query');
  return issuer;
}

function scopesOf(item: Members): string {
  const scopes = optionalText(item, 'scopes') ?? 'openid email profile';
  if (!scopes.split(' ').includes('openid')) throw new Error('scopes must contain openid');
  return scopes;
}

function claimsOf({ claims = defaultClaims }: Members): AttributeMapping {
  const problem = problemOfMapping(claims, 'claim');
  if (problem !== undefined) throw new Error(`claims ${problem}`);
  return claims as AttributeMapping;
}

function credentialOf(item: Members): string | KeyObject {
  const secretFile = optionalText(item, 'client_secret_file');
  const keyFile = optionalText(item, 'private_key_file');
  if ((secretFile === undefined) === (keyFile === undefined))
    throw new Error('needs either client_secret_file or private_key_file');
  if (keyFile !== undefined) return privateKey(keyFile);
  const secret = contentOf('client_secret_file', secretFile ?? '').trim();
  if (secret === '') throw new Error(`client_secret_file: ${secretFile} is empty`);
  return secret;
}

/** Reads the file that a member names. Throws an error that names the member. */
function contentOf(name: Member, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`${name}: ${errorOf(error).message}`, { cause: error });
  }
}

/** Reads the PEM key for private_key_jwt: RSA of at least 2048 bits, P-256 or Ed25519. */
function privateKey(file: string): KeyObject {
  const rule = `private_key_file: ${file} must hold`;
  const pem = contentOf('private_key_file', file);
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch (error) {
    throw new Error(`${rule} a private key in PEM without a passphrase`, { cause: error });
  }
  const { modulusLength = 0, namedCurve } = key.asymmetricKeyDetails ?? {};
  const isUsable =
    (key.asymmetricKeyType === 'rsa' && modulusLength >= 2048) ||
    (key.asymmetricKeyType === 'ec' && namedCurve === 'prime256v1') ||
    key.asymmetricKeyType === 'ed25519';
  if (!isUsable) throw new Error(`${rule} an RSA key of at least 2048 bits, a P-256 key or an Ed25519 key`);
  return key;
}
