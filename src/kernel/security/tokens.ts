import { hash } from 'node:crypto';
import {
  actorOfRow,
  type Caller,
  callerColumns,
  callerOf,
  restricted,
  restrictedText,
  staffRightsApply,
} from '../access/caller.ts';
import type { Context } from '../access/context.ts';
import { type App, newUuid } from '../app.ts';
import type { VersionedCache } from '../cache/versioned-cache.ts';
import { day, hour, minute, second } from '../clock.ts';
import { withoutControls } from '../control-characters.ts';
import type { Database } from '../db/database.ts';
import { type Sql, sql } from '../db/sql.ts';
import { forbidden, HttpError, unauthenticated } from '../http/error.ts';
import type { IncomingRequest } from '../http/incoming-request.ts';
import type { StoredInstants } from '../jobs/clock-watch.ts';
import { authenticateApiKey, isApiKey, ownerOfApiKey } from './api-keys.ts';
import type { TokenRow } from './token-use.ts';

declare module '../app.ts' {
  interface App {
    /** Recently used tokens with their owners. */
    readonly knownTokens: VersionedCache<KnownToken>;
  }
}

/** A used token, and its owner where staff rights apply. */
interface KnownToken extends TokenRow {
  readonly caller: Caller;
}

/** Approximate size of a token with its owner, in bytes. */
const tokenWeight = 1000;
const storedAfterEnd = 7 * day;
/** How long a login or confirmation confirms a session. */
const confirmedFor = 15 * minute;
const maxExaminedPerBatch = 200;
/** Position of the current removal among the tokens. */
const examined = new WeakMap<Database, number>();

/**
 * Returns the owner of the token or API key in the Authorization header, and extends the token's lifetime. Throws 401 (core.md
 * 2.2, 2.9), and 403 for a key from a network that is not allowed, unless `ignoresKeyNetworks`.
 */
export function authenticate(app: App, incoming: IncomingRequest, now: number, ignoresKeyNetworks = false): Caller {
  const { address, headers } = incoming;
  const token = presentedToken(headers.authorization);
  if (isApiKey(token)) return authenticateApiKey(app, token, now, address, ignoresKeyNetworks);
  const caller = ownerOfToken(app, token, now, address);
  if (caller.tokenId !== null) app.tokenUse.note(caller.tokenId, now);
  return caller;
}

/** Returns the owner of a token or API key without recording a use. Throws like `authenticate`. */
export const ownerOf = (app: App, token: string, now: number, address: string): Caller =>
  isApiKey(token) ? ownerOfApiKey(app, token, now, address) : ownerOfToken(app, token, now, address);

function ownerOfToken(app: App, token: string, now: number, address: string): Caller {
  const known = app.knownTokens.get(token);
  const { tokens } = app.metrics.caches;
  if (known) tokens.hits++;
  else tokens.misses++;
  const row = known ?? findToken(app, token);
  if (!row.is_active) throw denial('User inactive or deleted.');
  if (row.revoked !== null) throw denial('Invalid token.');
  if (hasEnded(app, row, now)) throw denial('Token has expired.');
  if (row.creator && !staffRightsApply(app, address)) throw forbidden(restrictedText);
  const caller = restricted(app, row.caller, address);
  return mustEnrol(app, row) ? { ...caller, mustEnrol: true } : caller;
}

/** Whether a session must set up a second factor first (core.md 2.11). Tokens that the operator issues are exempt. */
function mustEnrol({ config }: App, { has_factor: hasFactor, is_staff, is_support, method }: TokenRow): boolean {
  const { second_factor_required: required } = config;
  if (required === 'none' || hasFactor || method === 'operator') return false;
  return required === 'all' || is_staff === 1 || is_support === 1;
}

function findToken({ db, knownTokens }: App, token: string): KnownToken {
  const { result: row, reads } = db.versions.observe(() => selectToken(db, sql`t.digest = ${digest(token)}`));
  if (!row) throw denial('Invalid token.');
  const { creator, credential, token_id: tokenId } = row;
  const impersonator = creator && actorOfRow(creator);
  const caller = callerOf(row, { tokenId, token, apiKey: null, credential, impersonator });
  return knownTokens.set(token, { ...row, caller }, reads, tokenWeight);
}

/** Returns the token that meets a condition, with the session that created it. */
function selectToken(db: Database, condition: Sql): TokenRow | undefined {
  const row = db.get<Omit<TokenRow, 'creator'> & { readonly creator_id: number | null }>(sql`
    SELECT t.id AS token_id, t.uuid AS credential, t.last_used, t.ends, t.revoked, t.creator_id, t.method,
      u.token_lifetime, u.is_active, EXISTS (SELECT 1 FROM second_factor f WHERE f.user_id = u.id) AS has_factor, ${callerColumns}
    FROM token t JOIN user u ON u.id = t.user_id WHERE ${condition}`);
  if (!row) return undefined;
  return { ...row, creator: row.creator_id === null ? null : (selectToken(db, sql`t.id = ${row.creator_id}`) ?? null) };
}

/** Whether an unrevoked token has expired, or its impersonating staff user may no longer impersonate. */
function hasEnded(app: App, row: TokenRow, now: number): boolean {
  const { creator } = row;
  if (hasExpired(app, row.token_id, row, now)) return true;
  if (!creator) return false;
  const isPrivileged = row.is_staff === 1 || row.is_support === 1;
  return isPrivileged || creator.is_staff !== 1 || !isLive(app, creator, now);
}

const isLive = (app: App, row: TokenRow, now: number): boolean =>
  row.is_active === 1 && row.revoked === null && !hasEnded(app, row, now);

function presentedToken(header = ''): string {
  // The spelling of nearly all clients.
  const [, plain] = /^(?:token|bearer) ([\x21-\x7e]+)$/i.exec(header) ?? [];
  if (plain !== undefined) return plain;
  // Only spaces separate words: a no-break space is an invalid character like any other.
  const words = header.split(/[ \t]+/).filter((word) => word !== '');
  if (words.length === 0) throw denial('Authentication credentials were not provided.');
  if (!/^(token|bearer)$/i.test(words[0] ?? ''))
    throw denial('Unknown authorization scheme. Send "Authorization: Token <token>".');
  if (words.length === 1) throw denial('Invalid token. No credentials provided.');
  if (words.length > 2) throw denial('Invalid token. Token string should not contain spaces.');
  const [, token = ''] = words;
  if (!/^[\x20-\x7e]*$/.test(token)) {
    throw denial('Invalid token header. Token string should not contain invalid characters.');
  }
  return token;
}

const denial = (detail: string): Error => unauthenticated({ detail });

const digest = (token: string): Buffer => hash('sha256', token, 'buffer');

export const loginMethods = ['password', 'saml', 'oidc', 'passkey', 'operator', 'recovery', 'impersonation'] as const;
export type LoginMethod = (typeof loginMethods)[number];

/** The origin of a token; `operator`: the command line, or the program that embeds the server. */
interface Login {
  readonly method: LoginMethod;
  /** The header User-Agent of the request. */
  readonly agent?: string | undefined;
  /** Whether it confirms its session (core.md 2.8). Default: true. */
  readonly confirms?: boolean;
  /** Microseconds after which the session ends, even if in use. Default: only the owner's `token_lifetime` ends it. */
  readonly lasts?: number;
  /** The session of the impersonating staff user, with which the token ends. */
  readonly creator?: number | null;
}

/** The login of a request with a password, or at an identity provider. */
export const loginBy = (method: Login['method'], { headers }: IncomingRequest): Login => ({
  method,
  agent: headers['user-agent'],
});

const maxAgentLength = 200;

/** Creates a token for a user and returns its text, which is not stored. */
export const issueToken = (context: Context, user: number, login: Login): string =>
  createToken(context, user, login).text;

/** Does the same and also returns the id of the token's row. `text` sets a specific token. */
export function createToken(
  context: Context,
  user: number,
  { agent = '', confirms = true, creator = null, lasts, method }: Login,
  text = context.app.random(20).toString('hex'),
): { readonly id: number; readonly text: string } {
  const { app, now } = context;
  const uuid = newUuid(app);
  // The record of an impersonation names the staff user, who does not log in.
  if (creator === null) noteLogin(app, user, method, uuid);
  const id = app.db.insert('token', {
    uuid,
    digest: digest(text),
    user_id: user,
    created: now,
    last_used: now,
    confirmed_until: confirms ? now + confirmedFor : null,
    ends: lasts === undefined ? null : now + lasts,
    creator_id: creator,
    method,
    user_agent: withoutControls(agent).slice(0, maxAgentLength),
  });
  return { id, text };
}

/** Sets the user and the session of a login in its audit record. */
function noteLogin({ db, trail }: App, user: number, method: string, session: string): void {
  if (!trail.current) return;
  const row = db.one<{ uuid: string; username: string; fullName: string; nativeName: string }>(sql`
    SELECT uuid, username, full_name AS fullName, native_name AS nativeName FROM user WHERE id = ${user}`);
  trail.current.login = { method, session, user: row };
}

/** Whether a token is still valid. */
export function isLiveToken({ app, now }: Context, token: number): boolean {
  const row = selectToken(app.db, sql`t.id = ${token}`);
  return row !== undefined && isLive(app, row, now);
}

/** Whether a session is confirmed: its user has logged in or confirmed their identity recently. */
export const isConfirmedToken = ({ app, now }: Context, token: number | null): boolean =>
  app.db.value(sql`SELECT 1 FROM token WHERE id = ${token} AND revoked IS NULL AND confirmed_until > ${now}`) !==
  undefined;

/** Confirms a session and returns the end of the confirmation; undefined if the session has been revoked. */
export function confirmToken({ app, now }: Context, token: number | null): number | undefined {
  const until = now + confirmedFor;
  const { changes } = app.db.run(
    sql`UPDATE token SET confirmed_until = ${until} WHERE id = ${token} AND revoked IS NULL`,
  );
  return changes === 1 ? until : undefined;
}

const hasExpired = (
  app: App,
  token: number,
  row: Pick<TokenRow, 'ends' | 'last_used' | 'token_lifetime'>,
  now: number,
): boolean =>
  (row.ends !== null && now >= row.ends) ||
  (row.token_lifetime !== null && now >= app.tokenUse.lastUse(token, row.last_used) + row.token_lifetime * second);

/** Whether more than half of a token's lifetime has passed since its last stored use; false for an invalid token. */
export function isHalfRunOut(app: App, authorization: string | undefined, now: number): boolean {
  try {
    const token = presentedToken(authorization);
    const { last_used, token_lifetime } = app.knownTokens.get(token) ?? findToken(app, token);
    return token_lifetime !== null && now >= last_used + (token_lifetime * second) / 2;
  } catch (error) {
    if (error instanceof HttpError) return false;
    throw error;
  }
}

/** Whether a token expired unused instead of being revoked. */
export function isExpiredToken(app: App, token: string, now: number): boolean {
  try {
    const row = app.knownTokens.get(token) ?? findToken(app, token);
    return row.revoked === null && hasExpired(app, row.token_id, row, now);
  } catch (error) {
    // Ended tokens are removed some days later.
    if (error instanceof HttpError) return true;
    throw error;
  }
}

/** Ends a token and the impersonations of its session. */
export function revokeToken(context: Context, token: number | null): void {
  context.app.db.run(sql`UPDATE token SET revoked = ${context.now} WHERE id = ${token} AND revoked IS NULL`);
}

/** Ends all tokens of a user, optionally except one. Returns the number of ended tokens. */
export function revokeTokensOf(context: Context, user: number, except?: number | null): number {
  return context.app.db.run(sql`UPDATE token SET revoked = ${context.now}
    WHERE user_id = ${user} AND revoked IS NULL AND id IS NOT ${except ?? null}`).changes;
}

/** Permanently ends expired tokens and confirmations, so that setting the clock back does not revive them. */
export function endExpiredTokens({ app: { db, tokenUse }, now }: Context): void {
  tokenUse.save(db);
  db.run(sql`UPDATE token SET revoked = ${now} WHERE revoked IS NULL
    AND (ends <= ${now} OR last_used + (SELECT token_lifetime FROM user WHERE id = user_id) * ${second} <= ${now})`);
  db.run(sql`UPDATE token SET confirmed_until = NULL WHERE confirmed_until <= ${now}`);
}

export const tokenInstants: readonly StoredInstants[] = [
  { table: 'token', column: 'last_used', ahead: 0 },
  { table: 'token', column: 'revoked', ahead: 0 },
  { table: 'token', column: 'confirmed_until', ahead: confirmedFor },
  { table: 'token', column: 'ends', ahead: hour },
];

/**
 * Removes tokens that were revoked or expired a week ago, in steps through all tokens, because an index of their ends would cost
 * every use more than the scan. Returns whether more remain.
 */
export function removeEndedTokens({ app: { db }, now }: Context): boolean {
  const horizon = now - storedAfterEnd;
  const from = examined.get(db) ?? 0;
  const ids = db.values<number>(sql`SELECT id FROM token WHERE id > ${from} ORDER BY id LIMIT ${maxExaminedPerBatch}`);
  const to = ids.at(-1) ?? from;
  db.run(sql`DELETE FROM token WHERE id > ${from} AND id <= ${to}
    AND (revoked < ${horizon} OR ends < ${horizon} OR last_used + (SELECT token_lifetime FROM user WHERE id = user_id) * ${second} < ${horizon})`);
  const isMore = ids.length === maxExaminedPerBatch;
  examined.set(db, isMore ? to : 0);
  return isMore;
}
