import type { CryptoKey, JSONWebKeySet, JWTPayload, JWTVerifyResult } from 'jose';
import { second } from '../../../kernel/clock.ts';
import type { OidcClient } from './client.ts';
import { rejected } from './problems.ts';

/** Allowed difference between the clocks of the provider and the service, in seconds. */
export const clockToleranceSeconds = 60;

/** Accepted signature algorithms, all of which require the provider's private key. */
export const signatureAlgorithms: readonly string[] = ['RS256', 'PS256', 'ES256', 'EdDSA'];

/**
 * Verifies a provider's token: signature by a published key, issuer, audience and times. Refreshes the keys if the token names an
 * unknown one. `required` are additional mandatory claims. `types` are the allowed header types in lower case (default: any).
 * Rejects with an error of jose, RejectedSignOn or ProviderError.
 */
export async function verifySignedToken(
  client: OidcClient,
  token: string,
  now: number,
  required: readonly string[] = [],
  types?: readonly string[],
): Promise<JWTPayload> {
  const { errors } = await import('jose');
  const verify = (keys: JSONWebKeySet): Promise<JWTVerifyResult> => verifyWith(client, token, keys, now, required);
  let verified: JWTVerifyResult;
  try {
    verified = await verify(await client.keys(now));
  } catch (error) {
    if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
    const refreshed = await client.refreshedKeys(now);
    if (!refreshed) throw error;
    verified = await verify(refreshed);
  }
  const { payload: claims, protectedHeader: header } = verified;
  const type = header.typ?.toLowerCase();
  if (types && type !== undefined && !types.includes(type)) throw rejected('invalid', `the token has the type ${type}`);
  checkParty(claims, client.provider.clientId);
  if (Number(claims.iat) > now / second + clockToleranceSeconds)
    throw rejected('invalid', 'the token was issued in the future');
  return claims;
}

async function verifyWith(
  { provider: { clientId, issuer } }: OidcClient,
  token: string,
  keys: JSONWebKeySet,
  now: number,
  required: readonly string[],
): Promise<JWTVerifyResult> {
  const { createLocalJWKSet, errors, jwtVerify } = await import('jose');
  const options = {
    algorithms: [...signatureAlgorithms],
    issuer,
    audience: clientId,
    clockTolerance: clockToleranceSeconds,
    currentDate: new Date(now / 1000),
    requiredClaims: ['iss', 'aud', 'iat', ...required],
  };
  try {
    return await jwtVerify(token, createLocalJWKSet(keys), options);
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    // The token names no key, so try all published ones.
    for await (const key of error as AsyncIterable<CryptoKey>) {
      try {
        return await jwtVerify(token, key, options);
      } catch (failure) {
        if (!(failure instanceof errors.JWSSignatureVerificationFailed)) throw failure;
      }
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}

/** Checks that a token for several clients was issued to this one. */
function checkParty({ aud, azp }: JWTPayload, clientId: string): void {
  const isForSeveral = Array.isArray(aud) && aud.length > 1;
  if (azp === undefined ? isForSeveral : azp !== clientId)
    throw rejected('invalid', 'the token was issued to another client (azp)');
}
