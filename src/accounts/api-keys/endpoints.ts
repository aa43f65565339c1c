/** Further paths of API keys: rotation, the key of the request, and revoking all keys (core.md 2.9). */
import type { Request } from '../../kernel/access/request.ts';
import { authenticated, forbiddenText } from '../../kernel/access/right.ts';
import { day, second } from '../../kernel/clock.ts';
import { action } from '../../kernel/collection/action.ts';
import { describeFields, type Endpoint } from '../../kernel/collection/endpoint.ts';
import { validate } from '../../kernel/collection/validate.ts';
import { integer, text } from '../../kernel/collection/values.ts';
import { sql } from '../../kernel/db/sql.ts';
import { forbidden, invalid, notFound } from '../../kernel/http/error.ts';
import { changed, empty, type Reply, secret } from '../../kernel/http/reply.ts';
import { issueApiKey } from '../../kernel/security/api-keys.ts';
import { type ApiKeyRow, apiKeys, rotators, tooManyKeys } from './api-keys.ts';
import { latestEnd, newEnd } from './fields.ts';
import { recordNewKey } from './insert.ts';

const maxOverlap = (7 * day) / second;
const defaultOverlap = day / second;

/** Returns the expiry that gives a new key the lifetime of the one it replaces. */
function sameLifetime(request: Request, { expires, issued }: ApiKeyRow): number | null {
  const latest = latestEnd(request);
  if (expires === null) return latest;
  const end = request.now + expires - issued;
  return latest === null ? end : Math.min(end, latest);
}

/** POST /api/api-keys/<uuid>/rotate/ */
const rotate = action({
  on: apiKeys,
  name: 'rotate',
  summary: 'Replaces the key with a new one. The old key remains valid during the overlap.',
  description: 'Replaces an API key with a new one.',
  right: rotators,
  denialReason: (request, row) => (row.ended === null ? undefined : tooManyKeys(request, row.user_id)),
  fields: { overlap: integer({ min: 0, max: maxOverlap, example: defaultOverlap }), expires: newEnd },
  output: { status: 200, shape: apiKeys.listing.shape },
  run: (request, row, { expires, overlap = defaultOverlap }) => {
    const { db, now } = request;
    const overlapEnd = Math.min(now + overlap * second, row.expires ?? Number.POSITIVE_INFINITY);
    const { columns, key } = issueApiKey(request);
    db.update('api_key', row.id, {
      ...columns,
      created_by: request.caller.id,
      expires: expires === undefined ? sameLifetime(request, row) : expires,
      ended: null,
      reminded: null,
      ...(overlapEnd > now
        ? { previous_digest: row.digest, previous_expires: overlapEnd }
        : { previous_digest: null, previous_expires: null }),
    });
    recordNewKey(request, row.user_id);
    return changed(apiKeys.represent(request, row.id, { key }));
  },
});

/** The key of the request. Throws 404 in a session. */
function currentKey({ caller: { apiKey } }: Request): NonNullable<Request['caller']['apiKey']> {
  if (!apiKey) throw notFound();
  return apiKey;
}

/** Revokes the key of the request. The previous key of a rotation is revoked separately. */
function endCurrent(request: Request): Reply {
  const { id, isPrevious } = currentKey(request);
  request.db.run(
    isPrevious
      ? sql`UPDATE api_key SET previous_digest = NULL, previous_expires = NULL WHERE id = ${id}`
      : sql`DELETE FROM api_key WHERE id = ${id}`,
  );
  return empty();
}

/** GET, DELETE /api/api-keys/current/ */
const current: Endpoint = {
  path: '/api/api-keys/current/',
  name: 'API Key Current',
  description: 'The API key of the request.',
  actions: (request) => void currentKey(request),
  operations: {
    GET: {
      summary: 'Returns the API key of the request.',
      allowedFor: 'Callers with an API key.',
      output: { status: 200, shape: apiKeys.listing.shape },
      rejections: { 404: true },
      handle: (request) => secret(apiKeys.represent(request, currentKey(request).id)),
    },
    DELETE: {
      summary: 'Revokes the API key of the request.',
      allowedFor: 'Callers with an API key.',
      output: { status: 204 },
      rejections: { 404: true },
      // A person who finds a leaked key is usually outside of its networks.
      ignoresKeyNetworks: true,
      handle: endCurrent,
    },
  },
};

const ofUser = { user_uuid: text({ max: 36, help: 'Uuid of the user, for staff; default: the caller.' }) };

/** Returns the id of the user whose keys to revoke. Throws 400 and, without the right, 403. */
function revokedUser(request: Request): number {
  const { user_uuid: uuid = '' } = validate(ofUser, request, 'create');
  if (uuid === '') return request.caller.id;
  const plain = uuid.replaceAll('-', '').toLowerCase();
  if (!/^[0-9a-f]{32}$/.test(plain)) throw invalid({ user_uuid: [`"${uuid}" is not a valid UUID.`] });
  const { caller, db } = request;
  if (plain === caller.uuid) return caller.id;
  if (!caller.isStaff) throw forbidden(forbiddenText);
  const user = db.value<number>(sql`SELECT id FROM user WHERE uuid = ${plain}`);
  if (user === undefined) throw invalid({ user_uuid: ['There is no such user.'] });
  return user;
}

/** POST /api/api-keys/revoke_all/ */
const revokeAll: Endpoint = {
  path: '/api/api-keys/revoke_all/',
  name: 'API Key Revoke All',
  description: 'Revokes all API keys of a user.',
  actions: (request) => ({ POST: describeFields(ofUser, request, 'create') }),
  operations: {
    POST: {
      summary: 'Revokes all API keys of a user.',
      allowedFor: `${authenticated.allowedFor.slice(0, -1)}, for themselves; staff.`,
      input: { fields: ofUser, purpose: 'create', example: {} },
      output: { status: 204 },
      rejections: { 403: true },
      handle: (request) => {
        const user = revokedUser(request);
        request.db.run(sql`DELETE FROM api_key WHERE user_id = ${user} AND revoked IS NULL`);
        return empty();
      },
    },
  },
};

export const apiKeyEndpoints: readonly Endpoint[] = [rotate.endpoint, current, revokeAll];
