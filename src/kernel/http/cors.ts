import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

/** The headers that let a page of an allowed origin read an answer; undefined for requests from elsewhere. */
export function corsHeaders(
  { origin }: IncomingHttpHeaders,
  allowedOrigins: readonly string[],
): Record<string, string> | undefined {
  if (origin === undefined || !isAllowedOrigin(origin, allowedOrigins)) return undefined;
  return {
    'Access-Control-Allow-Origin': origin,
    Vary: 'Origin',
    'Access-Control-Expose-Headers':
      'X-Result-Count, Link, ETag, Location, X-Request-Id, X-Ignored, X-Tenantry-Version, Retry-After',
  };
}

/** Whether a browser asks what it may send. */
export const isPreflight = ({ headers, method }: IncomingMessage): boolean =>
  method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;

/** The answer to such a question, on top of the headers that every answer to an allowed origin has. */
export const preflightHeaders: Readonly<Record<string, string>> = {
  'Access-Control-Allow-Methods': 'GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS',
  'Access-Control-Allow-Headers':
    'authorization, content-type, if-match, if-none-match, last-event-id, x-tenantry-version',
  'Access-Control-Max-Age': '600',
};

/**
 * Whether an origin is one of these, or fits a pattern: `*` is any, `null` included; `*` in the place of the port, or of the
 * first label, stands for exactly one (core.md 1.11).
 */
export const isAllowedOrigin = (origin: string, patterns: readonly string[]): boolean =>
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
