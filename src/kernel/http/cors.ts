import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

/** The headers that let a page of an allowed origin read an answer; undefined for requests from elsewhere. */
export function corsHeaders(
  { origin }: IncomingHttpHeaders,
  allowedOrigins: readonly string[],
): Record<string, string> | undefined {
  if (origin === undefined || !allowedOrigins.includes(origin)) return undefined;
  return {
    'Access-Control-Allow-Origin': origin,
    Vary: 'Origin',
    'Access-Control-Expose-Headers': 'X-Result-Count, Link, ETag, Location',
  };
}

/** Whether a browser asks what it may send. */
export const isPreflight = ({ headers, method }: IncomingMessage): boolean =>
  method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;

/** The answer to such a question, on top of the headers that every answer to an allowed origin has. */
export const preflightHeaders: Readonly<Record<string, string>> = {
  'Access-Control-Allow-Methods': 'GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS',
  'Access-Control-Allow-Headers': 'authorization, content-type, if-none-match',
  'Access-Control-Max-Age': '600',
};
