import type { Request } from '../../../kernel/access/request.ts';
import type { Endpoint } from '../../../kernel/collection/endpoint.ts';
import { parameter } from '../../../kernel/collection/filter.ts';
import type { Config } from '../../../kernel/config/config.ts';
import { type Reply, redirect } from '../../../kernel/http/reply.ts';
import { errorOf, present } from '../../../kernel/present.ts';
import { noSession, redirectToFailure } from '../sso/outcome.ts';
import { endSignOn } from '../sso/sign-on.ts';
import type { OidcClient } from './client.ts';
import { clientOf, oidcPath, waitFor } from './endpoint.ts';
import { browserOf } from './requests.ts';
import { forgetSession, sessionToEnd } from './sessions.ts';

/** The session of this browser, and the provider's logout page, if it has one. */
interface Start {
  readonly session: NonNullable<ReturnType<typeof sessionToEnd>>;
  readonly page: string | undefined;
}

/** The parameter of clients that have already revoked their token, because without the cookie, the redirect could not. */
const revoked = 'revoked';

async function prepare(request: Request): Promise<Start | undefined> {
  const client = clientOf(request);
  const session = sessionToEnd(request, browserOf(request), client.provider, request.query.flag(revoked));
  return session && { session, page: await endSessionPage(request, client, session.idToken) };
}

/** Returns the provider's logout URL; undefined if it has none or does not respond. */
async function endSessionPage(request: Request, client: OidcClient, idToken: string): Promise<string | undefined> {
  const { app, config, incoming, now } = request;
  try {
    const { end_session_endpoint: endpoint } = await waitFor(request, client, () => client.metadata(now));
    if (endpoint === undefined) return undefined;
    const url = new URL(endpoint);
    url.searchParams.set('id_token_hint', idToken);
    url.searchParams.set('client_id', client.provider.clientId);
    if (config.logout_completed_url !== null)
      url.searchParams.set('post_logout_redirect_uri', config.logout_completed_url);
    return url.href;
  } catch (error) {
    const details = { request: incoming.id, provider: client.provider.name, reason: errorOf(error).message };
    app.log.warn(details, 'failed to find the logout page of an identity provider');
    return undefined;
  }
}

/** Returns the page after a logout. Default: the start page of the web client. */
const completedPage = ({ login_completed_url: login, logout_completed_url: page }: Config): string =>
  page ?? new URL('/', present(login).replaceAll(/\{\w+\}/g, '')).href;

function handle(request: Request, start: Start | undefined): Reply {
  const { config, db } = request;
  if (start) {
    db.write(() => {
      endSignOn(request, start.session.token);
      forgetSession(request, start.session);
    });
    return redirect(start.page ?? completedPage(config));
  }
  if (request.query.flag(revoked)) return redirect(completedPage(config));
  return redirectToFailure(config.logout_failed_url ?? present(config.login_failed_url), noSession);
}

/** GET /api-auth/oidc/‹name›/logout/ (services.md 11.1) */
export const oidcLogout: Endpoint = {
  path: `${oidcPath}:key/logout/`,
  key: 'text',
  name: 'OpenID Connect Logout',
  description: 'Ends the session of this browser, also at its OpenID Connect provider.',
  open: true,
  actions: (request) => void clientOf(request),
  operations: {
    GET: {
      summary: 'Ends the session of this browser, and redirects to the provider to end the session there.',
      allowedFor: 'Any caller.',
      filters: {
        [revoked]: parameter('flag', 'Also finds a session whose token the client has revoked within the last minute.'),
      },
      output: { status: 302 },
      rejections: { 401: true, 404: true, 503: true },
      isWriting: true,
      prepare,
      handle,
    },
  },
};
