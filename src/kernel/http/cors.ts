import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Log } from '../log.ts';
import { urlOf } from '../url.ts';

/** Origins of pages that this machine serves, on any port. */
export const localOrigins: readonly string[] = ['http', 'https'].flatMap((scheme) =>
  ['localhost', '127.0.0.1', '[::1]'].map((host) => `${scheme}://${host}:*`),
);

const maxReportedOrigins = 100;
const maxReportedLength = 200;

/** Decides which web pages can read responses (core.md 1.11). */
export class Cors {
  readonly #reported = new Set<string>();

  constructor(
    private readonly allowedOrigins: readonly string[],
    private readonly log: Pick<Log, 'warn'>,
  ) {}

  /** The headers that let a page of an allowed origin read a response; undefined for other requests. */
  headers({ origin }: IncomingHttpHeaders): Record<string, string> | undefined {
    if (origin === undefined || !isAllowedOrigin(origin, this.allowedOrigins)) return undefined;
    return {
      'Access-Control-Allow-Origin': origin,
      Vary: 'Origin',
      'Access-Control-Expose-Headers':
        'X-Result-Count, Link, ETag, Location, X-Request-Id, X-Ignored, X-Tenantry-Version, Retry-After',
    };
  }

  /** Warns once about each origin whose pages cannot read responses, except the server's own host. */
  reportRejected({ origin }: IncomingHttpHeaders, bases: readonly string[]): void {
    if (origin === undefined || this.#reported.size >= maxReportedOrigins) return;
    const displayed = origin.slice(0, maxReportedLength);
    // The scheme is ignored: TLS may end at a proxy that is not trusted.
    const host = urlOf(origin)?.host;
    if (this.#reported.has(displayed) || bases.some((base) => urlOf(base)?.host === host)) return;
    this.#reported.add(displayed);
    this.log.warn(
      { origin: displayed },
      'web pages of this origin cannot read responses: allowed_origins does not list it (see the manual, clients)',
    );
  }
}

/** Whether a request is a CORS preflight. */
export const isPreflight = ({ headers, method }: IncomingMessage): boolean =>
  method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined;

/** The response to a preflight, in addition to the headers for allowed origins. */
export const preflightHeaders: Readonly<Record<string, string>> = {
  'Access-Control-Allow-Methods': 'GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS',
  'Access-Control-Allow-Headers':
    'authorization, content-type, if-match, if-none-match, last-event-id, x-tenantry-version',
  'Access-Control-Max-Age': '600',
};

/**
 * Whether an origin is in the list or matches a pattern: `*` matches any origin, `null` included; `*` as the port or as the
 * first label matches exactly one (core.md 1.11).
 */
const isAllowedOrigin = (origin: string, patterns: readonly string[]): boolean =>
  patterns.includes(origin) || patterns.some((pattern) => pattern.includes('*') && fits(origin, pattern));

function fits(origin: string, pattern: string): boolean {
  if (pattern === '*') return true;
  const [scheme, host, port] = partsOf(pattern);
  const [givenScheme, givenHost, givenPort] = partsOf(origin);
  if (scheme !== givenScheme || host === undefined || givenHost === undefined) return false;
  const isHost = host.startsWith('*.') ? givenHost.replace(/^[^.]+/, '*') === host : givenHost === host;
  return isHost && (port === '*' || port === givenPort);
}

/** Scheme, host and port of an origin or a pattern. */
const partsOf = (origin: string): readonly (string | undefined)[] =>
  /^([a-z][a-z0-9+.-]*):\/\/(\[[^\]]*\]|[^:/]*)(?::(\d+|\*))?$/.exec(origin)?.slice(1) ?? [];
