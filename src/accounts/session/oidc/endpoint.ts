/** Shared code of the OpenID Connect endpoints. */
import type { Context } from '../../../kernel/access/context.ts';
import type { Request } from '../../../kernel/access/request.ts';
import { HttpError, notFound } from '../../../kernel/http/error.ts';
import { requireMethod, serviceBase } from '../login-steps.ts';
import type { OidcClient } from './client.ts';

export const oidcPath = '/api-auth/oidc/';

/** Returns the provider in the path. Throws 401 if OIDC is disabled, 404 for an unknown provider. */
export function clientOf(request: Request): OidcClient {
  requireMethod(request, 'OIDC');
  const client = request.app.oidcClients.get(request.params.key ?? '');
  if (!client) throw notFound();
  return client;
}

/** Returns the redirect URI of a provider. Throws 400 (see `serviceBase`). */
export const redirectUri = (request: Request, provider: string): URL => redirectUriAt(serviceBase(request), provider);

/** Returns the redirect URI for a service at this base URL. */
export const redirectUriAt = (base: string, provider: string): URL =>
  new URL(`${base}${oidcPath}${provider}/complete/`);

/** Runs work that waits for the provider. Rejects with 503 if too many logins are already waiting. */
export function waitFor<T>({ now }: Context, client: OidcClient, work: () => Promise<T>): Promise<T> {
  const result = client.wait(now, work);
  if (!result) throw new HttpError(503, { detail: 'Too many logins at once. Try again.' }, { 'Retry-After': '1' });
  return result;
}
