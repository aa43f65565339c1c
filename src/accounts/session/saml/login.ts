import type { Request } from '../../../kernel/access/request.ts';
import type { Endpoint } from '../../../kernel/collection/endpoint.ts';
import { validate } from '../../../kernel/collection/validate.ts';
import { text } from '../../../kernel/collection/values.ts';
import { invalid } from '../../../kernel/http/error.ts';
import { type Reply, redirect } from '../../../kernel/http/reply.ts';
import { requireMethod } from '../login-steps.ts';
import { limitSignOns } from '../sso/outcome.ts';
import { newMessageId, samlActions, samlPath, setupOf } from './endpoint.ts';
import { findIdentityProvider } from './identity-providers.ts';
import { fail, problems } from './rejected-message.ts';
import { browserOf, recognizeBrowser, storeRequest } from './requests.ts';
import { runSamlTask } from './saml-thread.ts';
import { liveSession } from './sessions.ts';

const fields = {
  idp: text({
    max: 1024,
    required: true,
    help: 'Entity id of an identity provider.',
    example: 'https://idp.example.com/metadata',
  }),
};

/** A started login, or the reason why it cannot start. */
type Start = { readonly problem: string } | { readonly id: string; readonly entityId: string; readonly url: string };

async function prepare(request: Request): Promise<Start> {
  requireMethod(request, 'SAML2');
  limitSignOns(request);
  const { idp } = validate(fields, request, 'create');
  const provider = findIdentityProvider(request.db, idp);
  if (!provider) throw invalid({ idp: ['Unknown identity provider.'] });
  if (liveSession(request, browserOf(request))) return { problem: problems.anonymousOnly };
  if (provider.loginUrl === null) return { problem: problems.noBinding };
  const id = newMessageId(request);
  const url = await runSamlTask(request, 'loginUrl', { id, setup: setupOf(request, provider) });
  return { id, entityId: provider.entityId, url };
}

function handle(request: Request, start: Start): Reply {
  if ('problem' in start) return fail(request, 'login_failed_url', start.problem);
  const { browser, headers } = recognizeBrowser(request);
  storeRequest(request, browser, { id: start.id, entityId: start.entityId, session: null });
  return redirect(start.url, headers);
}

/** POST /api-auth/saml2/login/ (services.md 11) */
export const samlLogin: Endpoint = {
  path: `${samlPath}login/`,
  name: 'SAML Login',
  description: 'Sends the browser to an identity provider to log in.',
  open: true,
  actions: samlActions(fields),
  operations: {
    POST: {
      summary: 'Redirects to an identity provider, with a request to log in.',
      allowedFor: 'Any caller.',
      input: { fields, purpose: 'create' },
      output: { status: 302 },
      rejections: { 401: true, 429: true, 503: true },
      isLogin: true,
      unaudited: 'It starts a login, which has a record when it ends.',
      prepare,
      handle,
    },
  },
};
