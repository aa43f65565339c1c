import type { Context } from '../../../kernel/access/context.ts';
import { newUuid } from '../../../kernel/app.ts';
import type { Browser } from '../sso/browser.ts';
import type { ProviderLogin } from './exchange.ts';
import type { OidcProvider } from './provider-file.ts';

/** Stores the login of a token. The ID token, which a logout returns to the provider, is encrypted. */
export function openSession(
  { app }: Context,
  token: number,
  browser: Browser,
  { issuer, name }: OidcProvider,
  { idToken, sid, subject }: ProviderLogin,
): void {
  const uuid = newUuid(app);
  app.db.insert('oidc_session', {
    uuid,
    token_id: token,
    browser,
    provider: name,
    issuer,
    subject,
    sid: sid ?? null,
    id_token: app.secrets.seal(idToken, uuid),
  });
}
