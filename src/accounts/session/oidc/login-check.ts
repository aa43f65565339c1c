/** Checks the prerequisites of login at an OpenID Connect provider, without a user (services.md 11.2). */
import type { ServerMetadata } from 'openid-client';
import { second } from '../../../kernel/clock.ts';
import { errorOf } from '../../../kernel/present.ts';
import { urlOf } from '../../../kernel/url.ts';
import { type LoginCheck, type LoginCheckStep, passed } from '../sso/login-check.ts';
import { checkedKeys, checkedMetadata, discoveryUrl, type OidcClient, statusError } from './client.ts';
import { configure, loginUrl, malformedResponse } from './exchange.ts';
import { providerErrorIn } from './problems.ts';
import { clockToleranceSeconds } from './signed-token.ts';

/** State shared by the steps. `redirectUri` is undefined if the service has no URL. */
interface Subject {
  readonly client: OidcClient;
  readonly redirectUri: URL | undefined;
  readonly now: number;
}

const needsDiscovery = 'Make the discovery document readable first: this step needs it.';

/** Checks a provider in six steps. Never rejects. */
export async function checkProvider(
  client: OidcClient,
  redirectUri: URL | undefined,
  now: number,
): Promise<LoginCheck> {
  const subject: Subject = { client, redirectUri, now };
  const { name } = client.provider;
  const discovered = await discover(client);
  const { clock = passed, metadata, problem } = discovered;
  const steps: LoginCheckStep[] = [
    { step: 'discovery', result: problem ?? passed },
    {
      step: 'issuer',
      result: discovered.issuer === undefined ? needsDiscovery : issuerResult(client, discovered.issuer),
    },
  ];
  const rest: readonly (readonly [string, (subject: Subject, metadata: ServerMetadata) => Promise<string>])[] = [
    ['keys', checkKeys],
    ['redirect_uri', checkRedirect],
    ['client', checkClient],
  ];
  for (const [step, check] of rest) {
    const result = metadata ? await check(subject, metadata).catch(sentenceOf) : needsDiscovery;
    steps.push({ step, result });
  }
  steps.push({ step: 'clock', result: discovered.issuer === undefined ? needsDiscovery : clock });
  return { name, protocol: 'oidc', steps };

  function clockOf(date: string | undefined): string {
    const skew = Math.round(now / second - Date.parse(date ?? '') / 1000 || 0);
    if (Math.abs(skew) <= clockToleranceSeconds) return passed;
    return skew > 0
      ? `Synchronise the clock of this machine or of the provider: this one is ${skew} seconds ahead.`
      : `Synchronise the clock of this machine or of the provider: this one is ${-skew} seconds behind.`;
  }

  async function discover({ provider }: OidcClient): Promise<Discovered> {
    const url = discoveryUrl(provider.issuer);
    try {
      const { document, headers } = await client.read(url);
      const issuer = typeof document.issuer === 'string' ? document.issuer : '';
      const found = { issuer, clock: clockOf(headers.date) };
      try {
        return { ...found, metadata: checkedMetadata({ ...document, issuer: provider.issuer }, provider) };
      } catch (error) {
        const reason = errorOf(error).message.replace(/^the discovery document /, 'it ');
        return { ...found, problem: `Correct the discovery document ${url}: ${reason}.` };
      }
    } catch (error) {
      // The sentence names the URL already.
      const reason = reasonOf(error).replace(`${url.host}${url.pathname}: `, '');
      return {
        problem: `Check the issuer, the network and certificates: the discovery document ${url} cannot be read (${reason}).`,
      };
    }
  }
}

interface Discovered {
  readonly metadata?: ServerMetadata;
  readonly issuer?: string;
  readonly clock?: string;
  readonly problem?: string;
}

/** Returns the message of an error as part of a sentence. */
const reasonOf = (error: unknown): string => errorOf(error).message.replace(/\.$/, '');

const sentenceOf = (error: unknown): string => `Make the provider respond: ${reasonOf(error)}.`;

const issuerResult = ({ provider }: OidcClient, issuer: string): string =>
  issuer === provider.issuer
    ? passed
    : `Set issuer to ${JSON.stringify(issuer)}, as the discovery document spells it, instead of ${JSON.stringify(provider.issuer)}.`;

/** Whether a public key can verify one of the accepted algorithms. */
const isUsable = ({
  crv,
  kty,
  use = 'sig',
}: {
  readonly kty?: string;
  readonly crv?: string;
  readonly use?: string;
}): boolean =>
  use === 'sig' && (kty === 'RSA' || (kty === 'EC' && crv === 'P-256') || (kty === 'OKP' && crv === 'Ed25519'));

async function checkKeys({ client }: Subject, { jwks_uri: address = '' }: ServerMetadata): Promise<string> {
  const { keys } = checkedKeys((await client.read(new URL(address))).document);
  return keys.some(isUsable)
    ? passed
    : `Let the provider sign ID tokens with RS256, PS256, ES256 or EdDSA: none of its ${keys.length} keys is for these.`;
}

/** Errors that require the user, which means that the provider has accepted the client and its redirect URI. */
const needsUser = /^(login|interaction|consent|account_selection)_required$/;

/** Starts a login without user interaction. A provider that knows the redirect URI returns an error to it. */
async function checkRedirect({ client, now, redirectUri }: Subject, metadata: ServerMetadata): Promise<string> {
  if (!redirectUri) return 'Set base_url: the provider sends browsers back to it.';
  const secrets = { url: redirectUri, state: 'login-check', nonce: 'login-check', verifier: 'login-check'.repeat(4) };
  const url = new URL(await loginUrl(client, now, metadata, secrets));
  url.searchParams.set('prompt', 'none');
  const { headers, status } = await client.send('GET', url, { Accept: 'text/html' });
  if (status >= 500) throw statusError(url, status);
  const target = urlOf(headers.location ?? '');
  if (target && target.origin + target.pathname === redirectUri.href) {
    const error = target.searchParams.get('error');
    return error === null || needsUser.test(error)
      ? passed
      : `Change the client at the provider: it rejects logins with ${error}.`;
  }
  return `Register the redirect URI ${redirectUri.href} for the client at the provider, which responded to it with status ${status}.`;
}

/** Exchanges an invalid code. A provider that accepts the client rejects only the code. */
async function checkClient({ client, now, redirectUri }: Subject, metadata: ServerMetadata): Promise<string> {
  const library = await import('openid-client');
  const configuration = await configure(client, library, now, metadata);
  const uri = redirectUri?.href ?? 'http://localhost/';
  try {
    await library.genericGrantRequest(configuration, 'authorization_code', {
      code: 'login-check',
      redirect_uri: uri,
      code_verifier: 'login-check'.repeat(4),
    });
    return 'Replace the provider: it accepted a code that it has not issued.';
  } catch (error) {
    if (error instanceof library.ResponseBodyError && error.error === 'invalid_grant') return passed;
    const isRejected =
      error instanceof library.ResponseBodyError || error instanceof library.WWWAuthenticateChallengeError;
    if (!isRejected) throw providerErrorIn(error) ?? malformedResponse(error, metadata.token_endpoint);
    const file = typeof client.provider.credential === 'string' ? 'client_secret_file' : 'private_key_file';
    const reason = error instanceof library.ResponseBodyError ? error.error : `status ${error.status}`;
    return `Check client_id and ${file}: the provider rejects the client (${reason}).`;
  }
}
