/** Challenges for passkeys. Each works once, within five minutes, for its session or login (core.md 2.11). */
import { hash } from 'node:crypto';
import type { Request } from '../../../kernel/access/request.ts';
import { minute } from '../../../kernel/clock.ts';
import { type Sql, sql } from '../../../kernel/db/sql.ts';
import { expiringRows } from '../../../kernel/security/expiring-rows.ts';

const lifetime = 5 * minute;
const challengeBytes = 32;

/** The purpose of a stored challenge. Challenges of a login with a passkey alone belong to no session. */
type Purpose = 'enrol' | 'confirm' | 'login';

const digestOf = (challenge: string): Buffer => hash('sha256', challenge, 'buffer');

/** The acceptable challenges of a response. */
export interface ExpectedChallenges {
  /** Whether the challenge is acceptable. */
  readonly includes: (challenge: string) => boolean;
  /** Consumes the challenge. Returns whether it was acceptable. Must run inside a write that commits in both cases. */
  readonly take: (challenge: string) => boolean;
}

const sessionOf = ({ actor }: Request): number | null => actor?.tokenId ?? null;

/** Stores a new challenge for the session of a request and this purpose, replacing the last one. Must run inside a write. */
export function newChallenge(request: Request, purpose: Purpose): string {
  const { app, db, now } = request;
  const challenge = app.random(challengeBytes).toString('base64url');
  const session = sessionOf(request);
  if (session !== null) db.run(sql`DELETE FROM passkey_challenge WHERE token_id = ${session} AND purpose = ${purpose}`);
  db.insert('passkey_challenge', { digest: digestOf(challenge), purpose, token_id: session, expires: now + lifetime });
  return challenge;
}

/** Returns the stored challenges of a request's session for a purpose. */
export function storedChallenges(request: Request, purpose: Purpose): ExpectedChallenges {
  const { db, now } = request;
  const rows = (challenge: string): Sql => sql`passkey_challenge
    WHERE digest = ${digestOf(challenge)} AND purpose = ${purpose} AND token_id IS ${sessionOf(request)} AND expires > ${now}`;
  return {
    includes: (challenge) => db.value(sql`SELECT 1 FROM ${rows(challenge)}`) !== undefined,
    take: (challenge) => db.run(sql`DELETE FROM ${rows(challenge)}`).changes > 0,
  };
}

/** Returns the challenge of a pending login. It lasts as long as the login token. */
export const challengeOfLogin = (token: string): string => hash('sha256', `passkey challenge of ${token}`, 'base64url');

/** Returns that challenge as the only acceptable one. The login ends with the first correct response. */
export function loginChallenge(token: string): ExpectedChallenges {
  const includes = (challenge: string): boolean => challenge === challengeOfLogin(token);
  return { includes, take: includes };
}

export const expiringChallenges = expiringRows('passkey_challenge', lifetime);
