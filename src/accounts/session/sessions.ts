/** Sessions: the valid tokens of a user, which the user can list and revoke (core.md 2.7). */
import { userContext } from '../../activity/events/context.ts';
import { record } from '../../activity/events/record.ts';
import type { Request } from '../../kernel/access/request.ts';
import { anyOf, authenticated, staff, userIn, visibleTo } from '../../kernel/access/right.ts';
import { minute, second } from '../../kernel/clock.ts';
import { Collection, type Row } from '../../kernel/collection/collection.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { readOnly, readOnlyText, readOnlyTime, uuidField } from '../../kernel/collection/field.ts';
import { uuidOf } from '../../kernel/collection/filter.ts';
import { selfLink } from '../../kernel/collection/links.ts';
import { booleanValue, notNullTime, plainValue, textValue, timeValue } from '../../kernel/collection/representation.ts';
import { raw, type Sql, sql } from '../../kernel/db/sql.ts';
import { empty } from '../../kernel/http/reply.ts';
import { useSavedWithin } from '../../kernel/security/token-use.ts';
import { loginMethods, revokeToken, revokeTokensOf } from '../../kernel/security/tokens.ts';
import { userOf } from '../users/users.ts';

interface SessionRow extends Row {
  readonly user_id: number;
}

/** Returns SQL of the time at which an unused token expires; null for never. */
function endsOf(alias: string): string {
  const unusedEnds = `(${alias}.last_used + (SELECT token_lifetime FROM user WHERE id = ${alias}.user_id) * ${second})`;
  return `min(ifnull(${alias}.ends, ${unusedEnds}), ifnull(${unusedEnds}, ${alias}.ends))`;
}

const ends = endsOf('t');

/** Condition: the token is valid. Allows for the delay in storing its last use. */
function isLive({ caller, now }: Request): Sql {
  // Round to minutes, so that queries within a minute are identical.
  const since = now - (now % minute) - useSavedWithin;
  return sql`t.revoked IS NULL AND (t.id = ${caller.tokenId} OR ifnull(${raw(ends)} > ${since}, TRUE))
    AND (t.creator_id IS NULL OR EXISTS (
      SELECT 1 FROM token s JOIN user o ON o.id = s.user_id JOIN user i ON i.id = t.user_id
      WHERE s.id = t.creator_id AND s.revoked IS NULL AND o.is_staff AND NOT i.is_staff AND NOT i.is_support AND ifnull(${raw(endsOf('s'))} > ${since}, TRUE)))`;
}

class Sessions extends Collection<typeof fields, SessionRow> {
  override visible(request: Request): Sql {
    return sql`${super.visible(request)} AND ${isLive(request)}`;
  }
}

const fields = {
  url: selfLink('sessions', 't.uuid'),
  uuid: uuidField(),
  user_uuid: readOnlyText(plainValue('(SELECT uuid FROM user WHERE id = t.user_id)')),
  method: readOnlyText(textValue('t.method', { type: ['string', 'null'], enum: [...loginMethods, null] })),
  user_agent: readOnlyText(),
  is_current: readOnly('boolean', { type: 'boolean' }, booleanValue('t.id = @token')),
  created: readOnlyTime(),
  last_use: readOnlyTime(() => notNullTime('t.last_used')),
  expires: readOnlyTime(() => timeValue(ends)),
};

export const sessions = new Sessions({
  path: 'sessions',
  kind: 'Session',
  description: 'Active sessions, one for each login. Users see their own.',
  table: 'token',
  alias: 't',
  fields,
  parameters: ({ caller }) => ({ token: caller.tokenId }),
  visible: visibleTo('the user; staff', (caller) => (caller.isStaff ? raw('TRUE') : sql`t.user_id = ${caller.id}`)),
  page: {
    run: (request, listing) =>
      listing.page(request, [
        sessions.visible(request),
        request.query.one('user_uuid') ? raw('TRUE') : sql`t.user_id = ${request.caller.id}`,
      ]),
  },
  filters: { user_uuid: uuidOf('t.user_id', 'user', 'Uuid of the user, for staff; default: the caller.') },
  orderings: { created: 't.created', last_use: 't.last_used' },
  order: '-t.last_used',
  delete: {
    summary: 'Ends a session.',
    right: anyOf(userIn('user_id', 'the user'), staff),
    run: (request, { id, user_id: owner }) => {
      revokeToken(request, id);
      recordLogout(request, owner);
    },
  },
});

/** Records the logout event of a user. If staff ended the session, also logs their name. */
function recordLogout(request: Request, owner: number): void {
  const { app, caller, db } = request;
  const user = userOf(request, owner);
  const isOwn = owner === caller.id;
  record(request, 'auth_logged_out', { ...userContext(user), ...(!isOwn && { ip_address: null }) });
  if (!isOwn) db.onceStored(() => app.log.info({ user: user.username, by: caller.username }, 'session ended'));
}

/** POST /api/sessions/end_others/ (core.md 2.7) */
export const endOtherSessions: Endpoint = {
  path: '/api/sessions/end_others/',
  name: 'Session End Others',
  description: 'Ends all sessions of the caller except the current one.',
  actions: () => ({ POST: {} }),
  operations: {
    POST: {
      summary: 'Ends all sessions of the caller except the current one.',
      allowedFor: authenticated.allowedFor,
      output: { status: 204 },
      handle: (request) => {
        if (revokeTokensOf(request, request.caller.id, request.caller.tokenId) > 0)
          recordLogout(request, request.caller.id);
        return empty();
      },
    },
  },
};
