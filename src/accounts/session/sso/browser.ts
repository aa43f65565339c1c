import { hash } from 'node:crypto';
import type { Request } from '../../../kernel/access/request.ts';
import type { Sql } from '../../../kernel/db/sql.ts';

/** SHA-256 of the cookie that binds the steps of a login to a browser. The cookie itself is never stored. */
export type Browser = Buffer;

/** The cookie of one protocol. */
export interface BrowserCookie {
  readonly name: string;
  /** Whether the identity provider's page posts the response. A post sends no Lax cookies, so this requires https. */
  readonly isPosted: boolean;
  /** Selects a row if this browser has a pending request or session. */
  readonly known: (browser: Browser) => Sql;
}

/** A browser with its secret, and the header that sets a new cookie. */
interface RecognizedBrowser {
  readonly browser: Browser;
  /** The value of the cookie: 64 hexadecimal digits. */
  readonly secret: string;
  readonly headers: Readonly<Record<string, string>>;
}

const isSecure = ({ base }: Request): boolean => base.startsWith('https:');

/** Returns the cookie name. With https, a prefix prevents other hosts of the domain from setting the cookie. */
const nameOf = (request: Request, { name }: BrowserCookie): string => (isSecure(request) ? `__Host-${name}` : name);

/** Returns the value of the cookie of a request. */
export function cookieOf(request: Request, cookie: BrowserCookie): string | undefined {
  const start = `${nameOf(request, cookie)}=`;
  const part = (request.incoming.headers.cookie ?? '')
    .split(';')
    .map((text) => text.trim())
    .find((text) => text.startsWith(start));
  const value = part?.slice(start.length) ?? '';
  return /^[0-9a-f]{64}$/.test(value) ? value : undefined;
}

/** Returns the browser with this cookie value. */
export const browserWith = (secret: string): Browser => hash('sha256', secret, 'buffer');

/** Returns the browser of a request, with a new cookie if the request has no known one. */
export function recognize(request: Request, cookie: BrowserCookie): RecognizedBrowser {
  const present = cookieOf(request, cookie);
  if (present !== undefined && request.db.value(cookie.known(browserWith(present))) !== undefined)
    return { browser: browserWith(present), secret: present, headers: {} };
  const secret = request.app.random(32).toString('hex');
  const site = isSecure(request) ? `Secure; SameSite=${cookie.isPosted ? 'None' : 'Lax'}` : 'SameSite=Lax';
  return {
    browser: browserWith(secret),
    secret,
    headers: { 'Set-Cookie': `${nameOf(request, cookie)}=${secret}; Path=/; HttpOnly; ${site}` },
  };
}
