import type { Request } from '../../../kernel/access/request.ts';
import type { Endpoint } from '../../../kernel/collection/endpoint.ts';
import { parameter } from '../../../kernel/collection/filter.ts';
import { HttpError, invalid } from '../../../kernel/http/error.ts';
import { type Reply, redirect } from '../../../kernel/http/reply.ts';
import { present } from '../../../kernel/present.ts';
import { limitSignOns, noteRejected, type RejectedSignOn, redirectToFailure } from '../sso/outcome.ts';
import { clientOf, oidcPath, redirectUri, waitFor } from './endpoint.ts';
import { loginUrl } from './exchange.ts';
import { rejectionOf } from './problems.ts';
import { recognizeBrowser, secretsOf, storeLogin } from './requests.ts';

const maxNextLength = 2000;

/** A started login with the URL of the provider, or the reason why it cannot start. */
type Start =
  | { readonly rejection: RejectedSignOn }
  | {
      readonly recognized: ReturnType<typeof recognizeBrowser>;
      readonly secrets: ReturnType<typeof secretsOf>;
      readonly url: string;
    };

/** Returns the parameter `next`, a path in the web client. Throws 400 for anything else, such as a URL of another site. */
function nextOf({ query }: Request): string {
  const next = query.one('next') ?? '';
  // Browsers treat a backslash as a slash and skip control characters.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are rejected
  const isPath = /^\/(?!\/)[^\\\0-\x1f\x7f]*$/.test(next) && next.length <= maxNextLength;
  if (next !== '' && !isPath) throw invalid({ next: ['Enter a path.'] });
  return next;
}

async function prepare(request: Request): Promise<Start> {
  const client = clientOf(request);
  limitSignOns(request);
  nextOf(request);
  const recognized = recognizeBrowser(request);
  const secrets = secretsOf(recognized.secret, request.app.random(32).toString('base64url'));
  const url = redirectUri(request, client.provider.name);
  const { now } = request;
  const start = async (): Promise<string> => loginUrl(client, now, await client.metadata(now), { ...secrets, url });
  try {
    return { recognized, secrets, url: await waitFor(request, client, start) };
  } catch (error) {
    if (error instanceof HttpError) throw error;
    return { rejection: rejectionOf(error) };
  }
}

function handle(request: Request, start: Start): Reply {
  const { provider } = clientOf(request);
  if ('rejection' in start) {
    noteRejected(request, 'OIDC', start.rejection, provider.name);
    return redirectToFailure(present(request.config.login_failed_url), start.rejection.displayed);
  }
  const { recognized, secrets, url } = start;
  const login = { provider: provider.name, issuer: provider.issuer, next: nextOf(request), secrets };
  request.db.write(() => storeLogin(request, recognized.browser, login));
  return redirect(url, recognized.headers);
}

/** GET /api-auth/oidc/‹name›/login/ (services.md 11) */
export const oidcLogin: Endpoint = {
  path: `${oidcPath}:key/login/`,
  key: 'text',
  name: 'OpenID Connect Login',
  description: 'Sends the browser to an OpenID Connect provider to log in.',
  open: true,
  actions: (request) => void clientOf(request),
  operations: {
    GET: {
      summary: 'Redirects to an OpenID Connect provider, with a request to log in.',
      allowedFor: 'Any caller.',
      filters: { next: parameter('string', 'Path in the web client that replaces {next} in login_completed_url.') },
      output: { status: 302 },
      rejections: { 400: true, 401: true, 404: true, 429: true, 503: true },
      isLogin: true,
      unaudited: 'It starts a login, which has a record when it ends.',
      prepare,
      handle,
    },
  },
};
