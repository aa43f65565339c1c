import type { Request } from '../../../kernel/access/request.ts';
import { sql } from '../../../kernel/db/sql.ts';
import { type Browser, type BrowserCookie, browserWith, cookieOf, recognize } from '../sso/browser.ts';

export type { Browser } from '../sso/browser.ts';

/** The identity provider's page posts the response, so with http, both must share a site. */
const cookie: BrowserCookie = {
  name: 'saml2',
  isPosted: true,
  known: (browser) =>
    sql`SELECT 1 FROM saml_request WHERE browser = ${browser} UNION SELECT 1 FROM saml_session WHERE browser = ${browser}`,
};

/** Returns the browser of a request, identified by its cookie. */
export function browserOf(request: Request): Browser | undefined {
  const secret = cookieOf(request, cookie);
  return secret === undefined ? undefined : browserWith(secret);
}

/** Returns the browser of a request, and the header that sets a new cookie if the request has no known one. */
export const recognizeBrowser = (request: Request): ReturnType<typeof recognize> => recognize(request, cookie);
