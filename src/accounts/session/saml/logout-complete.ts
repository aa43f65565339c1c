import type { Request } from '../../../kernel/access/request.ts';
import type { Endpoint, Operation } from '../../../kernel/collection/endpoint.ts';
import { FieldError, type WritableField } from '../../../kernel/collection/field.ts';
import { parameter } from '../../../kernel/collection/filter.ts';
import { validate } from '../../../kernel/collection/validate.ts';
import { text } from '../../../kernel/collection/values.ts';
import { invalid, invalidRequest } from '../../../kernel/http/error.ts';
import { type Reply, redirect } from '../../../kernel/http/reply.ts';
import { present } from '../../../kernel/present.ts';
import { endPendingSessions } from '../factors/pending-logins.ts';
import { requireMethod } from '../login-steps.ts';
import {
  addressesOf,
  maxMessageBodyBytes,
  messageField,
  newMessageId,
  samlActions,
  samlPath,
  setupOf,
} from './endpoint.ts';
import { findIdentityProvider, type IdentityProvider } from './identity-providers.ts';
import type { LogoutMessage, RawMessage } from './logout-message.ts';
import { fail, noteRejected, RejectedMessage, rejectFlood } from './rejected-message.ts';
import { browserOf, findRequest, takeRequest, useOnce } from './requests.ts';
import { rejectionOf, runSamlTask } from './saml-thread.ts';
import { endSession, isOfSubject, type SamlSession, sessionsOf } from './sessions.ts';

const fields = {
  SAMLResponse: messageField({ required: false }),
  SAMLRequest: messageField({ required: false }),
  RelayState: text({ max: 1024 }),
};

type Parameters = Partial<Record<keyof typeof fields, string>>;

/** A checked message with its response URLs, or the reason for its rejection. */
interface CheckedMessage {
  readonly message?: LogoutMessage;
  readonly provider?: IdentityProvider;
  /** URLs of the responses to a request: sessions ended, or unknown subject. */
  readonly replies?: { readonly done: string; readonly unknown: string } | undefined;
  readonly rejection?: RejectedMessage;
}

async function prepare(request: Request): Promise<CheckedMessage> {
  requireMethod(request, 'SAML2');
  rejectFlood(request);
  const isQuery = request.incoming.method !== 'POST';
  const values: Parameters = isQuery ? readQuery(request) : validate(fields, request, 'create');
  const name = values.SAMLResponse ? 'SAMLResponse' : 'SAMLRequest';
  const base64 = values[name];
  if (!base64) throw invalidRequest('Either SAMLResponse or SAMLRequest must be provided.');
  try {
    const raw: RawMessage = { parameter: name, base64, query: isQuery ? request.query.text : undefined };
    const provider = findIdentityProvider(request.db, await runSamlTask(request, 'issuerOfLogout', raw));
    if (!provider) throw new RejectedMessage('its Issuer is not known');
    const { certificates } = provider;
    const destination = addressesOf(request).logout;
    const message = await runSamlTask(request, 'checkLogout', { raw, certificates, destination, now: request.now });
    return { message, provider, replies: await repliesTo(request, message, provider, values.RelayState ?? '') };
  } catch (error) {
    return { rejection: rejectionOf(error) };
  }
}

/** Validates query parameters like a body. Throws 400. */
function readQuery(request: Request): Parameters {
  const read = ([name, { input }]: [string, WritableField<string>]): [string, string][] => {
    const value = request.query.one(name);
    if (value === undefined) return [];
    try {
      return [[name, input.parse(value, request, true)]];
    } catch (error) {
      throw error instanceof FieldError ? invalid({ [name]: error.messages }) : error;
    }
  };
  return Object.fromEntries(Object.entries(fields).flatMap(read));
}

async function repliesTo(
  request: Request,
  { id, request: logout }: LogoutMessage,
  provider: IdentityProvider,
  relayState: string,
): Promise<CheckedMessage['replies']> {
  const logoutUrl = provider.logoutResponseUrl ?? provider.logoutUrl;
  if (!logout || !logoutUrl) return undefined;
  return runSamlTask(request, 'logoutReplies', {
    setup: setupOf(request, { ...provider, logoutUrl }),
    request: id,
    nameId: logout.nameId,
    relayState,
    ids: { done: newMessageId(request), unknown: newMessageId(request) },
  });
}

const handle = (request: Request, checked: CheckedMessage): Reply =>
  request.db.write(() => {
    const { message, provider, rejection, replies } = checked;
    if (provider && message?.request)
      return endSessions(request, provider.entityId, message.id, message.request, replies);
    if (provider && message?.response) return completeLogout(request, provider.entityId, message.response);
    return reject(request, present(rejection));
  });

/** Handles an identity provider's request to end sessions. */
function endSessions(
  request: Request,
  entityId: string,
  id: string,
  logout: NonNullable<LogoutMessage['request']>,
  replies: CheckedMessage['replies'],
): Reply {
  if (!useOnce(request.db, entityId, id, logout.expires))
    return reject(request, new RejectedMessage('it was used before'), entityId);
  const { nameId, sessionIndexes } = logout;
  const sessions = sessionsOf(request, entityId, nameId, sessionIndexes);
  for (const session of sessions) endSession(request, session.id);
  const pendingCount = endPendingSessions<SamlSession>(request, 'saml', (session) =>
    isOfSubject(session, entityId, nameId, sessionIndexes),
  );
  return redirect(
    replies
      ? sessions.length + pendingCount > 0
        ? replies.done
        : replies.unknown
      : present(request.config.logout_completed_url),
  );
}

/** Handles the response to a logout from this browser. Ends the session even if the identity provider failed to. */
function completeLogout(
  request: Request,
  entityId: string,
  { inResponseTo, isSuccess }: NonNullable<LogoutMessage['response']>,
): Reply {
  const pending = findRequest(request.db, browserOf(request), inResponseTo, request.now);
  if (!pending || pending.session === null || pending.entityId !== entityId) {
    return reject(request, new RejectedMessage('it does not match a logout started by this browser'), entityId);
  }
  takeRequest(request.db, pending.id);
  endSession(request, pending.session);
  if (!isSuccess) return reject(request, new RejectedMessage('the identity provider did not log out'), entityId);
  return redirect(present(request.config.logout_completed_url));
}

function reject(request: Request, rejection: RejectedMessage, entityId?: string): Reply {
  noteRejected(request, rejection, entityId);
  return fail(request, 'logout_failed_url', rejection.displayed);
}

const operation = {
  summary: 'Ends the session that an identity provider has ended or requests to end.',
  allowedFor: 'The browser that started the logout; identity providers through any browser.',
  output: { status: 302 },
  takesAnything: true,
  rejections: { 401: true, 429: true, 503: true },
  prepare,
  handle,
} satisfies Operation;

/** GET, POST /api-auth/saml2/logout/complete/ (services.md 11) */
export const samlLogoutComplete: Endpoint = {
  path: `${samlPath}logout/complete/`,
  name: 'SAML Logout Complete',
  description: 'Accepts messages of identity providers about logouts.',
  open: true,
  bodyLimit: maxMessageBodyBytes,
  actions: samlActions(fields),
  operations: {
    GET: {
      ...operation,
      isWriting: true,
      filters: {
        SAMLResponse: parameter('string', 'The response to a logout request, base64.'),
        SAMLRequest: parameter('string', 'A logout request, base64.'),
        RelayState: parameter('string', 'Value that the response to the request returns.'),
        SigAlg: parameter('string', 'Algorithm of the signature.'),
        Signature: parameter('string', 'The signature of the preceding parameters, base64.'),
      },
    },
    POST: { ...operation, input: { fields, purpose: 'create' } },
  },
};
