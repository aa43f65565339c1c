/** Logins with a correct first factor that still require a second one (core.md 2.11). */
import { hash } from 'node:crypto';
import type { Context } from '../../../kernel/access/context.ts';
import type { Request } from '../../../kernel/access/request.ts';
import { newUuid } from '../../../kernel/app.ts';
import { minute } from '../../../kernel/clock.ts';
import { objectShape } from '../../../kernel/collection/field.ts';
import type { JsonSchema } from '../../../kernel/collection/json-schema.ts';
import { sql } from '../../../kernel/db/sql.ts';
import { prefixOf } from '../../../kernel/net/networks.ts';
import { expiringRows } from '../../../kernel/security/expiring-rows.ts';
import type { LoginMethod } from '../../../kernel/security/tokens.ts';
import { factorMethods, methodsOf } from './factor-store.ts';
import { challengeOfLogin } from './passkey-challenges.ts';
import { credentialsOf, type RequestOptions, requestOptions, requestOptionsShape } from './passkeys.ts';
import { relyingPartyOf } from './relying-party.ts';

const lifetime = 5 * minute;
const maxAttempts = 5;

export interface PendingLogin {
  readonly id: number;
  readonly user_id: number;
  /** The method of the future session. */
  readonly method: LoginMethod;
  readonly attempts: number;
  /** The session at an identity provider, sealed for `uuid`; both null for a login by password. */
  readonly session: Uint8Array | null;
  readonly uuid: string | null;
}

const digestOf = (token: string): Buffer => hash('sha256', token, 'buffer');

/** Data that a client needs to present the second factor. */
export interface Challenge {
  readonly token: string;
  readonly methods: readonly string[];
  /** Present if the user has a passkey. */
  readonly passkey_options?: RequestOptions;
}

/** The member `second_factor` of responses. */
export const challengeMember: Readonly<Record<'second_factor', JsonSchema>> = {
  second_factor: {
    type: 'object',
    properties: {
      token: { type: 'string', pattern: '^[0-9a-f]{40}$' },
      methods: { type: 'array', items: { type: 'string', enum: factorMethods } },
      passkey_options: requestOptionsShape,
    },
    required: ['token', 'methods'],
  },
};

/** A response with only that member. */
export const challengeShape: JsonSchema = objectShape(challengeMember);

/**
 * Stores a login that requires a second factor, with the JSON of its session at an identity provider if it has one. Must run
 * inside a write.
 */
export function beginPendingLogin(request: Request, user: number, method: LoginMethod, session?: string): Challenge {
  const { app, address, now } = request;
  const uuid = session === undefined ? null : newUuid(app);
  const token = app.random(20).toString('hex');
  app.db.insert('pending_login', {
    digest: digestOf(token),
    user_id: user,
    method,
    network: prefixOf(address),
    expires: now + lifetime,
    uuid,
    session: session !== undefined && uuid !== null ? app.secrets.seal(session, uuid) : null,
  });
  return challengeOf(request, user, token);
}

/** Returns the data that a client needs to present the second factor of this user's pending login. */
export function challengeOf(request: Request, user: number, token: string): Challenge {
  const methods = methodsOf(request, user);
  const party = relyingPartyOf(request);
  if (!party || !methods.includes('passkey')) return { token, methods };
  return {
    token,
    methods,
    passkey_options: requestOptions(party, challengeOfLogin(token), credentialsOf(request.db, user)),
  };
}

/** Returns the login that a client at this address may complete with a token; undefined if unknown, used or expired. */
export const findPendingLogin = ({ address, app: { db }, now }: Context, token: string): PendingLogin | undefined =>
  db.get<PendingLogin>(sql`
    SELECT id, user_id, method, attempts, session, uuid FROM pending_login
    WHERE digest = ${digestOf(token)} AND network = ${prefixOf(address ?? '')} AND expires > ${now}`);

/** Ends a completed login. */
export const endPendingLogin = ({ app: { db } }: Context, { id }: PendingLogin): void =>
  void db.run(sql`DELETE FROM pending_login WHERE id = ${id}`);

/**
 * Ends the pending logins whose sessions at an identity provider match, because the provider has ended them. Returns the number
 * of logins. Must run inside a write.
 */
export function endPendingSessions<S>(
  { app: { db, secrets } }: Context,
  method: LoginMethod,
  isEnded: (session: S) => boolean,
): number {
  const ended = db
    .all<{ id: number; session: Uint8Array; uuid: string }>(
      sql`SELECT id, session, uuid FROM pending_login WHERE method = ${method} AND session IS NOT NULL`,
    )
    .filter(({ session, uuid }) => isEnded(JSON.parse(secrets.open(session, uuid))));
  for (const { id } of ended) db.run(sql`DELETE FROM pending_login WHERE id = ${id}`);
  return ended.length;
}

/** Counts a wrong second factor. The last attempt ends the login. */
export function countAttempt(context: Context, login: PendingLogin): void {
  const attempts = login.attempts + 1;
  if (attempts >= maxAttempts) endPendingLogin(context, login);
  else context.app.db.update('pending_login', login.id, { attempts });
}

export const expiringLogins = expiringRows('pending_login', lifetime);
