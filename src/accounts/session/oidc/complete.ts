import type { Request } from '../../../kernel/access/request.ts';
import type { Endpoint } from '../../../kernel/collection/endpoint.ts';
import { parameter } from '../../../kernel/collection/filter.ts';
import { HttpError } from '../../../kernel/http/error.ts';
import type { Reply } from '../../../kernel/http/reply.ts';
import { present } from '../../../kernel/present.ts';
import { noteRejected, type RejectedSignOn, redirectToFailure, rejectFlood } from '../sso/outcome.ts';
import { signOn } from '../sso/sign-on.ts';
import { clientOf, oidcPath, redirectUri, waitFor } from './endpoint.ts';
import { exchangeCode, type ProviderLogin } from './exchange.ts';
import { applyGroups } from './group-grants.ts';
import { groupsOf } from './group-rules.ts';
import { rejected, rejectionOf } from './problems.ts';
import { browserOf, findLogin, type PendingLogin, takeLogin } from './requests.ts';
import { oidcSession, openOidcSession } from './sessions.ts';
import { userOfLogin } from './user.ts';

/** A checked response: its login or the reason for its rejection, and the pending login in this browser. */
interface CheckedResponse {
  readonly pending?: PendingLogin | undefined;
  readonly login?: ProviderLogin;
  readonly groups?: ReadonlySet<string>;
  readonly rejection?: RejectedSignOn;
}

async function prepare(request: Request): Promise<CheckedResponse> {
  const client = clientOf(request);
  rejectFlood(request);
  const { issuer, name } = client.provider;
  const url = redirectUri(request, name);
  url.search = request.query.text;
  const pending = findLogin(request, request.query.one('state'));
  if (!pending) return { rejection: rejected('invalid', 'its state does not belong to a login in this browser') };
  if (pending.provider !== name || pending.issuer !== issuer)
    return { pending, rejection: rejected('invalid', 'its state belongs to a login at another provider') };
  try {
    const exchange = (): Promise<ProviderLogin> => exchangeCode(client, request.now, { ...pending.secrets, url });
    const login = await waitFor(request, client, exchange);
    return { pending, login, groups: groupsOf(client.provider, login.claims) };
  } catch (error) {
    if (error instanceof HttpError) throw error;
    return { pending, rejection: rejectionOf(error) };
  }
}

const handle = (request: Request, { groups = new Set(), login, pending, rejection }: CheckedResponse): Reply =>
  request.db.write(() => {
    const { provider } = clientOf(request);
    const isFirst = pending !== undefined && takeLogin(request.db, pending);
    const problem = rejection ?? (isFirst ? undefined : rejected('invalid', 'its login was already completed'));
    if (problem || !pending || !login) return reject(request, present(problem), provider.name);
    const user = userOfLogin(request, provider, login);
    if (!user) return reject(request, rejected('noUser', 'its subject cannot log in'), provider.name);
    applyGroups(request, provider, user, groups);
    const session = oidcSession(present(browserOf(request)), provider, login);
    return signOn(request, { user, session, shown: 'oidc', next: pending.next, open: openOidcSession });
  });

function reject(request: Request, rejection: RejectedSignOn, provider: string): Reply {
  noteRejected(request, 'OIDC', rejection, provider);
  return redirectToFailure(present(request.config.login_failed_url), rejection.displayed);
}

/** GET /api-auth/oidc/‹name›/complete/ (services.md 11) */
export const oidcComplete: Endpoint = {
  path: `${oidcPath}:key/complete/`,
  key: 'text',
  name: 'OpenID Connect Login Complete',
  description: 'Accepts the response of an OpenID Connect provider to a login.',
  open: true,
  actions: (request) => void clientOf(request),
  operations: {
    GET: {
      summary: 'Accepts the response of an OpenID Connect provider, and redirects to the web client with a token.',
      allowedFor: 'The browser that started the login.',
      filters: {
        state: parameter('string', 'The state of the login.'),
        code: parameter('string', 'The authorization code.'),
        iss: parameter('string', 'The issuer of the response.'),
        error: parameter('string', 'Why the provider rejected the login.'),
      },
      // Providers also send session_state and other parameters.
      takesAnything: true,
      output: { status: 302 },
      rejections: { 401: true, 404: true, 429: true, 503: true },
      isLogin: true,
      isWriting: true,
      prepare,
      handle,
    },
  },
};
