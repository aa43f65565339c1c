import { hash } from 'node:crypto';
import type { Request } from '../../../kernel/access/request.ts';
import { sql } from '../../../kernel/db/sql.ts';

/** SHA-256 of the cookie that the steps of a login are bound to a browser by; the cookie itself is kept nowhere. */
export type Browser = Buffer;

const isSecure = ({ base }: Request): boolean => base.startsWith('https:');

/** On https the prefix keeps other hosts of the domain from setting it. */
const cookieName = (request: Request): string => (isSecure(request) ? '__Host-saml2' : 'saml2');

/** The browser of a request, as far as its cookie tells. */
export function browserOf(request: Request): Browser | undefined {
  const start = `${cookieName(request)}=`;
  const cookie = (request.incoming.headers.cookie ?? '')
    .split(';')
    .map((part) => part.trim())
    .find((part) => part.startsWith(start));
  const value = cookie?.slice(start.length) ?? '';
  return /^[0-9a-f]{64}$/.test(value) ? digest(value) : undefined;
}

/** The browser of a request, and, where it has none that is known here, the header that gives it a cookie. */
export function recognise(request: Request): {
  readonly browser: Browser;
  readonly headers: Readonly<Record<string, string>>;
} {
  const present = browserOf(request);
  if (present && isKnown(request, present)) return { browser: present, headers: {} };
  const value = request.app.random(32).toString('hex');
  // An identity provider answers by a form of its own page, and Lax cookies do not come with that: on http it must be of the same site.
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
