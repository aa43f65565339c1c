import { hash } from 'node:crypto';
import type { Request } from '../../../kernel/access/request.ts';
import { sql } from '../../../kernel/db/sql.ts';

/** SHA-256 of the cookie that binds the steps of a login to a browser. The cookie itself is not stored. */
export type Browser = Buffer;

const isSecure = ({ base }: Request): boolean => base.startsWith('https:');

/** With https, the prefix prevents other hosts of the domain from setting the cookie. */
const cookieName = (request: Request): string => (isSecure(request) ? '__Host-saml2' : 'saml2');

/** Returns the browser of a request by its cookie. */
export function browserOf(request: Request): Browser | undefined {
  const start = `${cookieName(request)}=`;
  const cookie = (request.incoming.headers.cookie ?? '')
    .split(';')
    .map((part) => part.trim())
    .find((part) => part.startsWith(start));
  const value = cookie?.slice(start.length) ?? '';
  return /^[0-9a-f]{64}$/.test(value) ? digest(value) : undefined;
}

/** Returns the browser of a request, and the header that sets a new cookie if the request has no known one. */
export function recognizeBrowser(request: Request): {
  readonly browser: Browser;
  readonly headers: Readonly<Record<string, string>>;
} {
  const present = browserOf(request);
  if (present && isKnown(request, present)) return { browser: present, headers: {} };
  const value = request.app.random(32).toString('hex');
  // The response is a form post from the identity provider's page, which does not send Lax cookies: with http, both must share a site.
  const site = isSecure(request) ? 'Secure; SameSite=None' : 'SameSite=Lax';
  return {
    browser: digest(value),
    headers: { 'Set-Cookie': `${cookieName(request)}=${value}; Path=/; HttpOnly; ${site}` },
  };
}

const isKnown = ({ db }: Request, browser: Browser): boolean =>
  db.value(
    sql`SELECT 1 FROM saml_request WHERE browser = ${browser} UNION SELECT 1 FROM saml_session WHERE browser = ${browser}`,
  ) !== undefined;

const digest = (value: string): Browser => hash('sha256', value, 'buffer');
