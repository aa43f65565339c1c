/** Confirmation of sessions. Operations that create lasting access require a recent login or its factors (core.md 2.8). */
import { closedReason } from '../../kernel/access/caller.ts';
import type { Request } from '../../kernel/access/request.ts';
import { authenticated, Right } from '../../kernel/access/right.ts';
import { isoTime } from '../../kernel/clock.ts';
import { describeFields, type Endpoint } from '../../kernel/collection/endpoint.ts';
import { optional } from '../../kernel/collection/field.ts';
import { validate } from '../../kernel/collection/validate.ts';
import { conflict, forbidden, HttpError, invalid, unauthenticated } from '../../kernel/http/error.ts';
import { json, type Reply } from '../../kernel/http/reply.ts';
import { confirmToken, isConfirmedToken } from '../../kernel/security/tokens.ts';
import { lockedText, presentedPassword, verifyCurrent } from '../users/passwords.ts';
import { userOf } from '../users/users.ts';
import { hasFactor, methodsOf } from './factors/factor-store.ts';
import { type ExpectedChallenges, newChallenge, storedChallenges } from './factors/passkey-challenges.ts';
import { credentialsOf, requestOptions, requestOptionsShape } from './factors/passkeys.ts';
import {
  exactlyOne,
  factorFields,
  factorLockOf,
  type PreparedFactor,
  prepareFactor,
  presentedFactor,
  useFactor,
} from './factors/presented.ts';
import { requireRelyingParty } from './factors/relying-party.ts';

const fields = { password: optional(presentedPassword), ...factorFields };

/** Returns the ways in which a user can confirm a session; none if they must log in again. */
function confirmationMethods(request: Request): readonly string[] {
  const user = userOf(request, request.caller.id);
  if (hasFactor(request.db, user.id)) return methodsOf(request, user.id);
  return user.password_hash === null ? [] : ['password'];
}

/** Throws 403 with the available methods unless the session of the request is confirmed. */
export function requireConfirmation(request: Request): void {
  const reason = closedReason(request.caller);
  if (reason !== undefined) throw forbidden(reason);
  if (isConfirmedToken(request, request.caller.tokenId)) return;
  throw new HttpError(403, { detail: 'Confirm your identity first.', methods: confirmationMethods(request) });
}

/** Restricts a right to confirmed sessions. OPTIONS also shows it to callers with unconfirmed sessions. */
class ConfirmedRight<S> extends Right<S> {
  override require(request: Request, subject: S): void {
    super.require(request, subject);
    requireConfirmation(request);
  }
}

/** Returns a right that additionally requires a confirmed session (core.md 2.8). */
export const confirmed = <S>({ denialReason, words }: Right<S>): Right<S> =>
  new ConfirmedRight(`${words}, in a confirmed session`, denialReason);

/** The proof in a request: a password that matched this hash, or a second factor that has yet to be accepted. */
type Presented = { readonly hash: string | null } | { readonly factor: PreparedFactor };

const passwordRejected = (): HttpError => invalid({ password: ['Confirm with a second factor.'] });

const challengesOf = (request: Request): ExpectedChallenges => storedChallenges(request, 'confirm');

/** Verifies a password. A second factor is accepted later, in the transaction that consumes it. */
async function prepare(request: Request): Promise<Presented> {
  const { password, ...values } = validate(fields, request, 'create');
  const member = exactlyOne({ password, ...values }, ['password', 'code', 'recovery_code', 'passkey']);
  const user = userOf(request, request.caller.id);
  if (member !== 'password')
    return { factor: await prepareFactor(request, user.id, presentedFactor(values), challengesOf(request)) };
  // A thief of the session may have set the password (core.md 4.4).
  if (hasFactor(request.db, user.id)) throw passwordRejected();
  await verifyCurrent(request, user, password ?? '', 'password');
  return { hash: user.password_hash };
}

function confirm(request: Request, presented: Presented): Reply {
  const user = userOf(request, request.caller.id);
  if ('factor' in presented) {
    const { factor } = presented;
    if (factorLockOf(request, user, factor) !== undefined) throw invalid({ [factor.member]: [lockedText] });
    // Returned instead of thrown, so that the failure is stored.
    if (!useFactor(request, user, factor, challengesOf(request)))
      return json({ [factor.member]: ['Wrong code.'] }, 400);
    return confirmedReply(request);
  }
  // Check again: during the comparison, the session may have ended, the password changed, or a factor been added.
  if (hasFactor(request.db, user.id)) throw passwordRejected();
  if (user.password_hash !== presented.hash) throw unauthenticated({ detail: 'Invalid token.' });
  return confirmedReply(request);
}

function confirmedReply(request: Request): Reply {
  const until = confirmToken(request, request.caller.tokenId);
  if (until === undefined) throw unauthenticated({ detail: 'Invalid token.' });
  return json({ confirmed_until: isoTime(until) });
}

/** POST /api/sessions/confirm/ (core.md 2.8) */
export const confirmSession: Endpoint = {
  path: '/api/sessions/confirm/',
  name: 'Session Confirm',
  description: 'Confirms the current session with the password or a second factor of its user.',
  actions: (request) => ({ POST: describeFields(fields, request, 'create') }),
  operations: {
    POST: {
      summary: 'Confirms the current session for 15 minutes with the password or a second factor of its user.',
      allowedFor: authenticated.allowedFor,
      input: { fields, purpose: 'create', example: { password: 'correct-horse-1' } },
      output: {
        status: 200,
        shape: {
          type: 'object',
          properties: { confirmed_until: { type: 'string', format: 'date-time' } },
          required: ['confirmed_until'],
        },
      },
      rejections: { 400: true, 503: true },
      prepare,
      handle: (request, presented) => confirm(request, presented as Presented),
    },
  },
};

/** POST /api/sessions/confirm/options/ (core.md 2.8) */
export const confirmationOptions: Endpoint = {
  path: '/api/sessions/confirm/options/',
  name: 'Session Confirm Options',
  description: 'Creates a challenge for a passkey that confirms the current session.',
  actions: () => ({ POST: {} }),
  operations: {
    POST: {
      summary: 'Returns the options with which a browser asks for a passkey of the caller.',
      allowedFor: authenticated.allowedFor,
      output: { status: 200, shape: requestOptionsShape },
      rejections: { 400: true, 409: true },
      unaudited: 'It stores only a challenge.',
      handle: (request) => {
        const party = requireRelyingParty(request);
        const credentials = credentialsOf(request.db, request.caller.id);
        if (credentials.length === 0) throw conflict('You have no passkeys.');
        return json(requestOptions(party, newChallenge(request, 'confirm'), credentials));
      },
    },
  },
};
