/** Exchanges an authorization code for claims about a user, with openid-client. */
import type { KeyObject } from 'node:crypto';
import type { ClientAuth, Configuration, ServerMetadata } from 'openid-client';
import { errorOf, present } from '../../../kernel/present.ts';
import type { OidcClient } from './client.ts';
import { ProviderError, providerErrorIn, rejected, withCause } from './problems.ts';
import type { OidcProvider } from './provider-file.ts';
import { clockToleranceSeconds, signatureAlgorithms, verifySignedToken } from './signed-token.ts';

export type Claims = Readonly<Record<string, unknown>>;

/** A provider's claims about the user who logged in. */
export interface ProviderLogin {
  readonly subject: string;
  /** Id of the session at the provider. */
  readonly sid: string | undefined;
  /** Claims from the ID token and userinfo, which has priority. */
  readonly claims: Claims;
  readonly idToken: string;
}

/** The secrets of a pending login, and the URL to which the browser returned. */
interface Completion {
  readonly url: URL;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

type Library = typeof import('openid-client');

/** Returns the configuration of the library for a discovery document. */
export async function configure(
  client: OidcClient,
  library: Library,
  now: number,
  metadata: ServerMetadata,
): Promise<Configuration> {
  const { isInsecure, provider } = client;
  const published = metadata.id_token_signing_alg_values_supported ?? ['RS256'];
  const server: ServerMetadata = {
    ...metadata,
    id_token_signing_alg_values_supported: published.filter((name) => signatureAlgorithms.includes(name)),
  };
  const clock = {
    [library.clockTolerance]: clockToleranceSeconds,
    [library.clockSkew]: Math.round((now / 1000 - Date.now()) / 1000),
  };
  const authentication = await authenticationOf(provider, metadata, library);
  const configuration = new library.Configuration(server, provider.clientId, clock, authentication);
  configuration[library.customFetch] = client.fetch as NonNullable<Configuration[typeof library.customFetch]>;
  if (isInsecure) library.allowInsecureRequests(configuration);
  return configuration;
}

const importAlgorithms: Readonly<Record<string, RsaHashedImportParams | EcKeyImportParams | { name: string }>> = {
  rsa: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
  ec: { name: 'ECDSA', namedCurve: 'P-256' },
  ed25519: { name: 'Ed25519' },
};

/** Returns the client authentication for the token endpoint. */
async function authenticationOf(
  { credential }: OidcProvider,
  { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] }: ServerMetadata,
  library: Library,
): Promise<ClientAuth> {
  if (typeof credential !== 'string') return library.PrivateKeyJwt(await signingKey(credential));
  return methods.includes('client_secret_basic')
    ? library.ClientSecretBasic(credential)
    : library.ClientSecretPost(credential);
}

const signingKey = (key: KeyObject): Promise<CryptoKey> =>
  crypto.subtle.importKey(
    'pkcs8',
    new Uint8Array(key.export({ type: 'pkcs8', format: 'der' })),
    present(importAlgorithms[key.asymmetricKeyType ?? '']),
    false,
    ['sign'],
  );

/** Returns the URL of the login page in a discovery document. */
export async function loginUrl(
  client: OidcClient,
  now: number,
  metadata: ServerMetadata,
  { nonce, state, url, verifier }: Completion,
): Promise<string> {
  const library = await import('openid-client');
  const configuration = await configure(client, library, now, metadata);
  const { prompt, scopes } = client.provider;
  const address = library.buildAuthorizationUrl(configuration, {
    redirect_uri: url.href,
    scope: scopes,
    state,
    nonce,
    code_challenge: await library.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...(prompt !== undefined && { prompt }),
  });
  return address.href;
}

/**
 * Exchanges the code in the URL for tokens and reads the claims about the user. Checks `state`, `iss`, PKCE, the ID token and
 * userinfo (services.md 11). Rejects with RejectedSignOn, ProviderError or an error of the libraries.
 */
export async function exchangeCode(client: OidcClient, now: number, completion: Completion): Promise<ProviderLogin> {
  const library = await import('openid-client');
  const metadata = await client.metadata(now);
  const configuration = await configure(client, library, now, metadata);
  let endpoint = metadata.token_endpoint;
  try {
    const tokens = await library.authorizationCodeGrant(configuration, completion.url, {
      expectedState: completion.state,
      expectedNonce: completion.nonce,
      pkceCodeVerifier: completion.verifier,
      idTokenExpected: true,
    });
    const idToken = present(tokens.id_token);
    const { sid, ...claims } = await verifySignedToken(client, idToken, now, ['exp', 'sub', 'nonce']);
    const subject = subjectOf(claims.sub);
    endpoint = metadata.userinfo_endpoint;
    const userInfo = endpoint ? await library.fetchUserInfo(configuration, tokens.access_token, subject) : {};
    return { subject, sid: typeof sid === 'string' ? sid : undefined, claims: merged(claims, userInfo), idToken };
  } catch (error) {
    throw explained(error, library, endpoint);
  }
}

/**
 * Merges the claims of both sources. An email address counts as verified only if the same source has both claims. A claim that
 * either source lists in `_claim_names` counts as omitted.
 */
const merged = (claims: Claims, userInfo: Claims): Claims => ({
  ...claims,
  ...(userInfo.email !== undefined && { email_verified: undefined }),
  ...userInfo,
  _claim_names: { ...objectOf(claims._claim_names), ...objectOf(userInfo._claim_names) },
});

const objectOf = (value: unknown): object => (typeof value === 'object' && value !== null ? value : {});

function subjectOf(subject: unknown): string {
  if (typeof subject !== 'string' || subject === '' || subject.length > 255)
    throw rejected('invalid', 'the subject of the ID token is not a string of at most 255 characters');
  return subject;
}

const malformed = /^OAUTH_(PARSE_ERROR|RESPONSE_IS_NOT_JSON|RESPONSE_IS_NOT_CONFORM)$/;

/** Returns why a provider rejects the client instead of the code; undefined for any other error. */
function serviceRejection(error: unknown, library: Library): string | undefined {
  if (error instanceof library.ResponseBodyError)
    return /^(invalid|unauthorized)_client$/.test(error.error) ? error.error : undefined;
  return error instanceof library.WWWAuthenticateChallengeError ? `status ${error.status}` : undefined;
}

/** Returns the failure of an endpoint whose response the library cannot read. */
export function malformedResponse(error: unknown, endpoint: string | undefined): ProviderError {
  const { host, pathname } = new URL(present(endpoint));
  return new ProviderError(`${host}${pathname}: the response is malformed (${errorOf(error).message})`, {
    cause: error,
  });
}

/** Classifies a failed exchange: the provider rejected the login, is unusable, or sent an invalid response. */
function explained(error: unknown, library: Library, endpoint: string | undefined): unknown {
  if (error instanceof library.AuthorizationResponseError)
    return rejected('refused', `the identity provider returned ${error.error} ${error.error_description ?? ''}`.trim());
  const rejection = serviceRejection(error, library);
  if (rejection !== undefined) {
    const cause = new ProviderError(`the provider rejects the service: ${rejection}`);
    return rejected('invalid', cause.message, { cause });
  }
  if (error instanceof library.ResponseBodyError)
    return rejected('invalid', `${error.error} ${error.error_description ?? ''}`.trim());
  const failure = providerErrorIn(error);
  if (failure) return failure;
  const code = withCause(error)
    .map((item) => (item instanceof Error && 'code' in item ? String(item.code) : ''))
    .find(Boolean);
  return malformed.test(code ?? '') ? malformedResponse(error, endpoint) : error;
}
