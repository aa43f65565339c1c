import type { Request } from '../../../kernel/access/request.ts';
import type { Endpoint } from '../../../kernel/collection/endpoint.ts';
import { type Reply, redirect } from '../../../kernel/http/reply.ts';
import { present } from '../../../kernel/present.ts';
import { requireMethod } from '../login-steps.ts';
import { newMessageId, samlPath, setupOf } from './endpoint.ts';
import { findIdentityProvider } from './identity-providers.ts';
import { fail, problems } from './rejected-message.ts';
import { browserOf, type PendingRequest, storeRequest } from './requests.ts';
import { runSamlTask } from './saml-thread.ts';
import { liveSession } from './sessions.ts';

/** A started logout, or the reason why it cannot start. */
type Start = { readonly problem: string } | { readonly pending: PendingRequest; readonly url: string };

async function prepare(request: Request): Promise<Start> {
  requireMethod(request, 'SAML2');
  const session = liveSession(request, browserOf(request));
  if (!session) return { problem: problems.noSession };
  const provider = findIdentityProvider(request.db, session.entityId);
  const { nameId } = session;
  if (!provider?.logoutUrl || nameId === null) return { problem: problems.noLogout };
  const id = newMessageId(request);
  const url = await runSamlTask(request, 'logoutUrl', {
    id,
    setup: setupOf(request, provider),
    subject: {
      nameID: nameId,
      nameIDFormat: session.nameIdFormat ?? 'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified',
      ...(session.nameQualifier !== null && { nameQualifier: session.nameQualifier }),
      ...(session.spNameQualifier !== null && { spNameQualifier: session.spNameQualifier }),
      ...(session.sessionIndex !== null && { sessionIndex: session.sessionIndex }),
    },
  });
  return { pending: { id, entityId: provider.entityId, session: session.id }, url };
}

function handle(request: Request, start: Start): Reply {
  if ('problem' in start) return fail(request, 'logout_failed_url', start.problem);
  const browser = present(browserOf(request));
  request.db.write(() => storeRequest(request, browser, start.pending));
  return redirect(start.url);
}

/** GET /api-auth/saml2/logout/ (services.md 11) */
export const samlLogout: Endpoint = {
  path: `${samlPath}logout/`,
  name: 'SAML Logout',
  description: 'Sends the browser to its identity provider to log out.',
  open: true,
  actions: (request) => void requireMethod(request, 'SAML2'),
  operations: {
    GET: {
      summary: 'Redirects to the identity provider that this browser logged in at, with a request to log out.',
      allowedFor: 'Any caller.',
      output: { status: 302 },
      rejections: { 401: true, 503: true },
      unaudited: 'It starts a logout, which has a record when it ends.',
      prepare,
      handle,
    },
  },
};
