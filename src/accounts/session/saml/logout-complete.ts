import type { Request } from '../../../kernel/access/request.ts';
import type { Endpoint } from '../../../kernel/collection/endpoint.ts';
import { FieldError, type WritableField } from '../../../kernel/collection/field.ts';
import { parameter } from '../../../kernel/collection/filter.ts';
import { validate } from '../../../kernel/collection/validate.ts';
import { text } from '../../../kernel/collection/values.ts';
import { invalid, invalidRequest } from '../../../kernel/http/error.ts';
import { type Reply, redirect } from '../../../kernel/http/reply.ts';
import { present } from '../../../kernel/present.ts';
import { requireMethod } from '../login.ts';
import { samlActions } from './actions.ts';
import { addressesOf, samlPath } from './addresses.ts';
import { ask, denialOf } from './ask.ts';
import { browserOf } from './browser.ts';
import { findIdentityProvider, type IdentityProvider } from './identity-providers.ts';
import type { LogoutMessage, RawMessage } from './logout-message.ts';
import { messageBytes, messageField } from './message-field.ts';
import { fail, noteRejected, rejectFlood } from './outcome.ts';
import { RejectedMessage } from './refused-message.ts';
import { findRequest, takeRequest, useOnce } from './requests.ts';
import { endSession, sessionsOf } from './sessions.ts';
import { newMessageId, setupOf } from './setup.ts';

const fields = {
  SAMLResponse: messageField({ required: false }),
  SAMLRequest: messageField({ required: false }),
  RelayState: text({ max: 1024 }),
};

type Parameters = Partial<Record<keyof typeof fields, string>>;

/** A checked message and, for a request, where its answers go; or why it is not believed. */
interface Checked {
  readonly message?: LogoutMessage;
  readonly provider?: IdentityProvider;
  /** Of a request: the addresses of an answer that it was followed, and that it names nobody who is known here. */
  readonly replies?: { readonly done: string; readonly unknown: string } | undefined;
  readonly denial?: RejectedMessage;
}

async function prepare(request: Request): Promise<Checked> {
  requireMethod(request, 'SAML2');
  rejectFlood(request);
  const isQuery = request.incoming.method !== 'POST';
  const values: Parameters = isQuery ? readQuery(request) : validate(fields, request, 'create');
  const name = values.SAMLResponse ? 'SAMLResponse' : 'SAMLRequest';
  const base64 = values[name];
  if (!base64) throw invalidRequest('Either SAMLResponse or SAMLRequest must be provided.');
  try {
    const raw: RawMessage = { parameter: name, base64, query: isQuery ? request.query.text : undefined };
    const provider = findIdentityProvider(request.db, await ask(request, 'issuerOfLogout', raw));
    if (!provider) throw new RejectedMessage('its Issuer is not known');
    const { certificates } = provider;
    const destination = addressesOf(request).logout;
    const message = await ask(request, 'checkLogout', { raw, certificates, destination, now: request.now });
    return { message, provider, replies: await repliesTo(request, message, provider, values.RelayState ?? '') };
  } catch (error) {
    return { denial: denialOf(error) };
  }
}

/** The parameters of a query, by the rules of a body. Throws 400. */
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
  { asks, id }: LogoutMessage,
  provider: IdentityProvider,
  relayState: string,
): Promise<Checked['replies']> {
  const logoutUrl = provider.logoutResponseUrl ?? provider.logoutUrl;
  if (!asks || !logoutUrl) return undefined;
  return ask(request, 'logoutReplies', {
    setup: setupOf(request, { ...provider, logoutUrl }),
    request: id,
    nameId: asks.nameId,
    relayState,
    ids: { done: newMessageId(request), unknown: newMessageId(request) },
  });
}

const handle = (request: Request, checked: Checked): Reply =>
  request.db.write(() => {
    const { message, provider, denial, replies } = checked;
    if (provider && message?.asks) return followRequest(request, provider.entityId, message.id, message.asks, replies);
    if (provider && message?.responses) return takeResponse(request, provider.entityId, message.responses);
    return reject(request, present(denial));
  });

/** An identity provider ends sessions. */
function followRequest(
  request: Request,
  entityId: string,
  id: string,
  asks: NonNullable<LogoutMessage['asks']>,
  replies: Checked['replies'],
): Reply {
  if (!useOnce(request.db, entityId, id, asks.expires))
    return reject(request, new RejectedMessage('it was used before'), entityId);
  const sessions = sessionsOf(request, entityId, asks.nameId, asks.sessionIndexes);
  for (const session of sessions) endSession(request, session.id);
  return redirect(
    replies ? (sessions.length > 0 ? replies.done : replies.unknown) : present(request.config.logout_completed_url),
  );
}

/** An identity provider has ended the session of this browser, or could not: here it ends anyway, as was asked. */
function takeResponse(
  request: Request,
  entityId: string,
  { inResponseTo, isSuccess }: NonNullable<LogoutMessage['responses']>,
): Reply {
  const pending = findRequest(request.db, browserOf(request), inResponseTo, request.now);
  if (!pending || pending.session === null || pending.entityId !== entityId) {
    return reject(request, new RejectedMessage('it answers no logout that this browser has started'), entityId);
  }
  takeRequest(request.db, pending.id);
  endSession(request, pending.session);
  if (!isSuccess) return reject(request, new RejectedMessage('the identity provider did not log out'), entityId);
  return redirect(present(request.config.logout_completed_url));
}

function reject(request: Request, denial: RejectedMessage, entityId?: string): Reply {
  noteRejected(request, denial, entityId);
  return fail(request, 'logout_failed_url', denial.displayed);
}

const operation = {
  summary: 'Ends the session that an identity provider has ended, or asks to end.',
  allowedFor: 'The browser that started the logout; identity providers by way of any.',
  output: { status: 302 },
  takesAnything: true,
  rejections: { 401: true, 429: true, 503: true },
  prepare,
  handle,
};

/** GET, POST /api-auth/saml2/logout/complete/ (services.md 11) */
export const samlLogoutComplete: Endpoint = {
  path: `${samlPath}logout/complete/`,
  name: 'SAML Logout Complete',
  description: 'Takes messages of identity providers about logouts.',
  open: true,
  bodyLimit: messageBytes,
  actions: samlActions(fields),
  operations: {
    GET: {
      ...operation,
      filters: {
        SAMLResponse: parameter('string', 'The answer to a request to log out, base64.'),
        SAMLRequest: parameter('string', 'A request to log out, base64.'),
        RelayState: parameter('string', 'What an answer to the request shall carry.'),
        SigAlg: parameter('string', 'Algorithm of the signature.'),
        Signature: parameter('string', 'The signature of the parameters before, base64.'),
      },
    },
    POST: { ...operation, input: { fields, purpose: 'create' } },
  },
};
