/** The passkeys of users: options for browsers, and the use of a passkey (core.md 2.11). */
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

/** How long browsers wait for the user, in milliseconds: as long as challenges last. */
const timeout = (5 * minute) / 1000;

/** A credential as options name it. */
interface Descriptor {
  readonly type: 'public-key';
  readonly id: string;
  readonly transports?: readonly string[];
}

/** Returns the credentials of a user in the order of their creation. */
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

/** The id of a user for authenticators, in base64url. */
const userHandleOf = (uuid: string): string => Buffer.from(uuid, 'hex').toString('base64url');

/** Returns the options of a new passkey: PublicKeyCredentialCreationOptionsJSON. */
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

/** Options of the use of a passkey: PublicKeyCredentialRequestOptionsJSON. */
export interface RequestOptions {
  readonly challenge: string;
  readonly timeout: number;
  readonly rpId: string;
  readonly allowCredentials: readonly Descriptor[];
  readonly userVerification: 'preferred' | 'required';
}

/** Returns the options of the use of one of these credentials. Without any, the user chooses one, and it must verify them. */
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

/** A passkey that a request presents, verified as far as that is possible outside of a transaction. */
export interface PresentedPasskey {
  /** Undefined if the response has none. */
  readonly challenge: string | undefined;
  /** Undefined if anything is wrong. */
  readonly verified: { readonly factor: number; readonly user: number; readonly counter: number } | undefined;
  /** The owner of the credential, even if anything is wrong; undefined if it is unknown. */
  readonly owner: number | undefined;
}

interface StoredPasskey {
  readonly id: number;
  readonly user_id: number;
  readonly uuid: string;
  readonly public_key: Uint8Array;
}

/**
 * Verifies a credential, except for its counter and whether its challenge is still unused. `user` is the one whose passkeys are
 * valid; without it the passkey is the only factor, and names its user. Throws 400 if the service has no domain.
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
  // Before anything that takes long.
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
 * Uses the challenge of a passkey up, and stores its counter. Returns whether it is accepted: a counter that does not increase
 * belongs to a copy of the authenticator. Must run inside a write that the caller completes in both cases.
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
