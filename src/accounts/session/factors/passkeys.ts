/** The passkeys of users: options for browsers, and verification (core.md 2.11). */
import type { Context } from '../../../kernel/access/context.ts';
import type { Request } from '../../../kernel/access/request.ts';
import { minute } from '../../../kernel/clock.ts';
import { objectShape } from '../../../kernel/collection/field.ts';
import type { JsonSchema } from '../../../kernel/collection/json-schema.ts';
import type { Database } from '../../../kernel/db/database.ts';
import { sql } from '../../../kernel/db/sql.ts';
import type { UserRow } from '../../users/users.ts';
import type { ExpectedChallenges } from './passkey-challenges.ts';
import { type RelyingParty, requireRelyingParty } from './relying-party.ts';
import { algorithms, assertionOf, type Credential, challengeIn, verifyAssertion } from './webauthn.ts';

/** How long browsers wait for the user, in milliseconds: the lifetime of a challenge. */
const timeout = (5 * minute) / 1000;

/** A credential in options. */
interface Descriptor {
  readonly type: 'public-key';
  readonly id: string;
  readonly transports?: readonly string[];
}

/** Returns the credentials of a user in creation order. */
export const credentialsOf = (db: Database, user: number): readonly Descriptor[] =>
  db
    .all<{ credential_id: string; transports: string | null }>(
      sql`SELECT credential_id, transports FROM second_factor WHERE user_id = ${user} AND kind = 'passkey' ORDER BY id`,
    )
    .map(({ credential_id: id, transports }) => ({
      type: 'public-key',
      id,
      ...(transports !== null && { transports: JSON.parse(transports) }),
    }));

/** Returns the id of a user for authenticators, in base64url. */
const userHandleOf = (uuid: string): string => Buffer.from(uuid, 'hex').toString('base64url');

/** Returns the options for creating a passkey: PublicKeyCredentialCreationOptionsJSON. */
export const creationOptions = (
  { config, db }: Request,
  { id }: RelyingParty,
  { full_name, id: userId, username, uuid }: UserRow,
  challenge: string,
) => ({
  rp: { id, name: config.product_name },
  user: { id: userHandleOf(uuid), name: username, displayName: full_name || username },
  challenge,
  pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key', alg })),
  timeout,
  excludeCredentials: credentialsOf(db, userId),
  authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'preferred' },
  attestation: 'none',
});

/** The options for using a passkey: PublicKeyCredentialRequestOptionsJSON. */
export interface RequestOptions {
  readonly challenge: string;
  readonly timeout: number;
  readonly rpId: string;
  readonly allowCredentials: readonly Descriptor[];
  readonly userVerification: 'preferred' | 'required';
}

/** Returns the options for using one of these credentials. Without credentials, any passkey that verifies the user will do. */
export const requestOptions = (
  { id }: RelyingParty,
  challenge: string,
  credentials: readonly Descriptor[],
): RequestOptions => ({
  challenge,
  timeout,
  rpId: id,
  allowCredentials: credentials,
  userVerification: credentials.length > 0 ? 'preferred' : 'required',
});

const textShape: JsonSchema = { type: 'string' };
const credentialsShape: JsonSchema = {
  type: 'array',
  items: {
    type: 'object',
    properties: { type: { const: 'public-key' }, id: textShape, transports: { type: 'array', items: textShape } },
    required: ['type', 'id'],
  },
};

export const creationOptionsShape: JsonSchema = {
  title: 'PasskeyCreationOptions',
  ...objectShape({
    rp: objectShape({ id: textShape, name: textShape }),
    user: objectShape({ id: textShape, name: textShape, displayName: textShape }),
    challenge: textShape,
    pubKeyCredParams: {
      type: 'array',
      items: objectShape({ type: { const: 'public-key' }, alg: { type: 'integer', enum: algorithms } }),
    },
    timeout: { type: 'integer' },
    excludeCredentials: credentialsShape,
    authenticatorSelection: objectShape({
      residentKey: textShape,
      requireResidentKey: { type: 'boolean' },
      userVerification: textShape,
    }),
    attestation: { const: 'none' },
  }),
};

export const requestOptionsShape: JsonSchema = {
  title: 'PasskeyRequestOptions',
  ...objectShape({
    challenge: textShape,
    timeout: { type: 'integer' },
    rpId: textShape,
    allowCredentials: credentialsShape,
    userVerification: { type: 'string', enum: ['preferred', 'required'] },
  }),
};

/** A passkey in a request, verified as far as possible outside a transaction. */
export interface PresentedPasskey {
  /** Undefined if the response has none. */
  readonly challenge: string | undefined;
  /** Undefined if the credential is invalid. */
  readonly verified: { readonly factor: number; readonly user: number; readonly counter: number } | undefined;
  /** The owner of the credential, even if it is invalid; undefined if it is unknown. */
  readonly owner: number | undefined;
}

interface StoredPasskey {
  readonly id: number;
  readonly user_id: number;
  readonly uuid: string;
  readonly public_key: Uint8Array;
}

/**
 * Verifies a credential, except its counter and whether its challenge is unused. Only passkeys of `user` are valid; without it,
 * the passkey is the only factor and identifies its user. Throws 400 if the service has no domain.
 */
export async function verifyPasskey(
  request: Request,
  credential: Credential,
  challenges: ExpectedChallenges,
  user?: number,
): Promise<PresentedPasskey> {
  const party = requireRelyingParty(request);
  const challenge = challengeIn(credential);
  const rejected = { challenge, verified: undefined, owner: undefined };
  // Check this before expensive work.
  if (challenge === undefined || !challenges.includes(challenge)) return rejected;
  const assertion = assertionOf(credential);
  const stored =
    assertion &&
    request.db.get<StoredPasskey>(sql`
      SELECT f.id, f.user_id, f.public_key, u.uuid FROM second_factor f JOIN user u ON u.id = f.user_id
      WHERE f.credential_id = ${assertion.id} AND f.kind = 'passkey'`);
  if (!stored || (user !== undefined && stored.user_id !== user)) return rejected;
  const { userHandle } = assertion.response;
  const isAlone = user === undefined;
  const isHandleRight = userHandle === userHandleOf(stored.uuid) || (!isAlone && userHandle == null);
  const counter = isHandleRight
    ? await verifyAssertion(party, challenge, credential, stored.public_key, isAlone)
    : undefined;
  return {
    challenge,
    owner: stored.user_id,
    verified: counter === undefined ? undefined : { factor: stored.id, user: stored.user_id, counter },
  };
}

/**
 * Consumes the challenge of a passkey and stores its counter. Returns whether it is accepted: a counter that does not increase
 * suggests a copied authenticator. Must run inside a write that commits in both cases.
 */
export function usePasskey(
  { app, now }: Context,
  { challenge, verified }: PresentedPasskey,
  challenges: ExpectedChallenges,
): boolean {
  const { db, log } = app;
  if (challenge === undefined || !challenges.take(challenge) || !verified) return false;
  const { counter, factor, user } = verified;
  const { changes } = db.run(sql`
    UPDATE second_factor SET counter = ${counter}, last_used = ${now}
    WHERE id = ${factor} AND user_id = ${user} AND (counter < ${counter} OR (counter = 0 AND ${counter} = 0))`);
  if (changes > 0) return true;
  const row = db.get<{ uuid: string; counter: number }>(
    sql`SELECT uuid, counter FROM second_factor WHERE id = ${factor}`,
  );
  if (row)
    db.onceStored(() =>
      log.warn(
        { factor: row.uuid, counter, expected: row.counter + 1 },
        'passkey is rejected: its counter has not increased, so its authenticator may have been copied',
      ),
    );
  return false;
}
