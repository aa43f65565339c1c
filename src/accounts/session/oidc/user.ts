import type { Request } from '../../../kernel/access/request.ts';
import { hasEmail } from '../../../kernel/db/email-address.ts';
import { caseFold, sql } from '../../../kernel/db/sql.ts';
import { acceptableValues } from '../../users/acceptable-values.ts';
import { addIdentity, maxIdentities, ownerOfIdentity } from '../../users/identities.ts';
import { oidcRegistration, type UserRow, userOf } from '../../users/users.ts';
import { createMappedUser, type MappedTexts, mapAttributes, updateMappedUser } from '../sso/mapped-user.ts';
import type { Claims, ProviderLogin } from './exchange.ts';
import type { OidcProvider } from './provider-file.ts';

/**
 * Returns the active user of a login, after creating, linking or updating it (services.md 11 "Users"). Returns undefined if there
 * is none and none may be created, or if the user is inactive.
 */
export function userOfLogin(
  request: Request,
  provider: OidcProvider,
  { claims, subject }: ProviderLogin,
): UserRow | undefined {
  const { username, ...texts } = textsOf(provider, claims);
  const identity = { issuer: provider.issuer, provider: provider.name, subject };
  const owner = ownerOfIdentity(request, provider.issuer, subject);
  const known = owner === undefined ? undefined : userOf(request, owner);
  if (known) return known.is_active && !known.is_service_account ? updateMappedUser(request, known, texts) : undefined;
  const linked = provider.linkByVerifiedEmail ? userOfVerifiedEmail(request, claims) : undefined;
  if (linked) {
    addIdentity(request, linked.id, identity);
    return updateMappedUser(request, linked, texts);
  }
  if (!provider.createUnknownUser) return undefined;
  const wanted = username ?? claimText(claims.email)?.split('@', 1)[0] ?? subject;
  const created = createMappedUser(request, freeUsername(request, wanted), texts, oidcRegistration);
  addIdentity(request, created.id, identity);
  return created;
}

/** Converts a claim to text: a string, the first string in a list, or a number. */
function claimText(value: unknown): string | undefined {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  if (typeof first === 'number') return String(first);
  return typeof first === 'string' && first.trim() !== '' ? first : undefined;
}

/** Returns the texts for user fields. Includes the email address only if the provider has verified it. */
function textsOf({ claims: mapping }: OidcProvider, claims: Claims): MappedTexts {
  const { email, ...texts } = mapAttributes(mapping, (name) => claimText(claims[name]));
  const isVerified = claims.email_verified === true && email !== undefined && email === claimText(claims.email);
  return isVerified ? { ...texts, email } : texts;
}

/** Returns the active user whose email address both sides have verified, unless the account is privileged. */
function userOfVerifiedEmail(request: Request, claims: Claims): UserRow | undefined {
  const email = claimText(claims.email);
  if (claims.email_verified !== true || email === undefined) return undefined;
  return request.db.get<UserRow>(sql`
    SELECT * FROM user
    WHERE ${hasEmail(email)} AND email_verified AND is_active
    AND NOT is_staff AND NOT is_support AND NOT is_service_account
    AND NOT EXISTS (SELECT 1 FROM second_factor WHERE user_id = user.id)
    AND (SELECT count(*) FROM user_identity WHERE user_id = user.id) < ${maxIdentities}`);
}

const maxUsernameLength = 30;

/** Returns a valid, free username: the wanted one, or a numbered variant. */
function freeUsername(request: Request, wanted: string): string {
  const plain =
    wanted
      .normalize('NFKC')
      .trim()
      .replaceAll(/[^\p{L}\p{M}\p{N}@.+_-]+/gu, '-') || 'user';
  for (let number = 1; ; number++) {
    const suffix = number === 1 ? '' : `-${number}`;
    const username = `${[...plain].slice(0, maxUsernameLength - suffix.length).join('')}${suffix}`;
    const isTaken =
      request.db.value(sql`SELECT 1 FROM user WHERE username_folded = ${caseFold(username)}`) !== undefined;
    if (!isTaken) return acceptableValues(request, { username }).username ?? `${request.app.random(8).toString('hex')}`;
  }
}
