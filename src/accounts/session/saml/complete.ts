import type { Request } from '../../../kernel/access/request.ts';
import type { Endpoint } from '../../../kernel/collection/endpoint.ts';
import { validate } from '../../../kernel/collection/validate.ts';
import type { Reply } from '../../../kernel/http/reply.ts';
import { present } from '../../../kernel/present.ts';
import { requireMethod } from '../login-steps.ts';
import { signOn } from '../sso/sign-on.ts';
import type { Assertion } from './assertion.ts';
import { maxMessageBodyBytes, messageField, samlActions, samlPath, setupOf } from './endpoint.ts';
import { findIdentityProvider } from './identity-providers.ts';
import { fail, noteRejected, problems, RejectedMessage, rejectFlood } from './rejected-message.ts';
import { browserOf, findRequest, type PendingRequest, takeRequest, useOnce } from './requests.ts';
import { rejectionOf, runSamlTask } from './saml-thread.ts';
import { openSamlSession, samlSession } from './sessions.ts';
import { userOfAttributes } from './user.ts';

const fields = { SAMLResponse: messageField({ required: true }) };

/** A checked response to a login: its assertion or the reason for its rejection, and the pending request of this browser. */
interface CheckedResponse {
  readonly pending?: PendingRequest | undefined;
  readonly assertion?: Assertion;
  readonly rejection?: RejectedMessage;
}

async function prepare(request: Request): Promise<CheckedResponse> {
  requireMethod(request, 'SAML2');
  rejectFlood(request);
  const { SAMLResponse: message } = validate(fields, request, 'create');
  let pending: PendingRequest | undefined;
  try {
    const requestId = await runSamlTask(request, 'requestIdOf', message);
    pending = findRequest(request.db, browserOf(request), requestId, request.now);
    if (!pending || pending.session !== null)
      throw new RejectedMessage('it does not match a login started by this browser');
    const provider = findIdentityProvider(request.db, pending.entityId);
    if (!provider) throw new RejectedMessage('its identity provider is no longer known');
    const setup = setupOf(request, provider);
    return {
      pending,
      assertion: await runSamlTask(request, 'checkResponse', {
        message,
        setup,
        requestId: pending.id,
        now: request.now,
      }),
    };
  } catch (error) {
    return { pending, rejection: rejectionOf(error) };
  }
}

function handle(request: Request, { assertion, pending, rejection }: CheckedResponse): Reply {
  const isFirst = pending !== undefined && takeRequest(request.db, pending.id);
  const problem = rejection ?? (isFirst ? undefined : new RejectedMessage('its login was already completed'));
  if (problem || !pending || !assertion) return reject(request, present(problem), pending);
  if (!useOnce(request.db, pending.entityId, assertion.id, assertion.expires))
    return reject(request, new RejectedMessage('its assertion was used before'), pending);
  const user = userOfAttributes(request, assertion.attributes);
  if (!user) return reject(request, new RejectedMessage('its subject cannot log in', problems.noUser), pending);
  const session = samlSession(present(browserOf(request)), pending.entityId, assertion);
  return signOn(request, { user, session, shown: 'saml2', open: openSamlSession });
}

function reject(request: Request, rejection: RejectedMessage, pending: PendingRequest | undefined): Reply {
  noteRejected(request, rejection, pending?.entityId);
  return fail(request, 'login_failed_url', rejection.displayed);
}

/** POST /api-auth/saml2/login/complete/ (services.md 11) */
export const samlLoginComplete: Endpoint = {
  path: `${samlPath}login/complete/`,
  name: 'SAML Login Complete',
  description: 'Accepts the response of an identity provider to a login.',
  open: true,
  bodyLimit: maxMessageBodyBytes,
  actions: samlActions(fields),
  operations: {
    POST: {
      summary: 'Accepts the response of an identity provider, and redirects to the web client with a token.',
      allowedFor: 'The browser that started the login.',
      input: { fields, purpose: 'create' },
      // Identity providers also send RelayState.
      takesAnything: true,
      output: { status: 302 },
      rejections: { 401: true, 429: true, 503: true },
      isLogin: true,
      prepare,
      handle,
    },
  },
};
