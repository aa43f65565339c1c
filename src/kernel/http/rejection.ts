import type { Socket } from 'node:net';
import type { Result } from './call.ts';
import { preflightHeaders } from './cors.ts';
import { empty, json, type Reply } from './reply.ts';

/** The response to a connection that the HTTP parser rejected: too large, too slow, or not HTTP. */
interface Rejection {
  readonly status: number;
  readonly reason: string;
  readonly detail: string;
}

/** An error of the HTTP parser, with the bytes that it could not parse. */
export type ParserError = NodeJS.ErrnoException & { readonly rawPacket?: Buffer };

/** The response to an error of the HTTP parser. */
function denialOf(error: NodeJS.ErrnoException): Rejection {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return { status: 431, reason: 'Request Header Fields Too Large', detail: 'Request headers are too large.' };
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 408, reason: 'Request Timeout', detail: 'Request took too long.' };
    case 'ERR_SSL_HTTP_REQUEST':
      return { status: 400, reason: 'Bad Request', detail: 'This port speaks https.' };
    default:
      return { status: 400, reason: 'Bad Request', detail: 'Malformed HTTP request.' };
  }
}

/**
 * Writes the response, since there is no request object to reply to, and ends the connection. A response to HEAD has no
 * body. Returns the status.
 */
export function writeRejection(socket: Socket, error: ParserError, id: string): number {
  const { status, reason, detail } = denialOf(error);
  const isHead = error.rawPacket?.toString('latin1', 0, 5) === 'HEAD ';
  const body = JSON.stringify({ detail });
  const headers = [
    `HTTP/1.1 ${status} ${reason}`,
    `X-Request-Id: ${id}`,
    'X-Content-Type-Options: nosniff',
    'Cache-Control: no-store',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${headers.join('\r\n')}\r\n\r\n${isHead ? '' : body}`);
  return status;
}

// Responses of the listener itself, which need no application.

/** The log fields and route of a response to a request without a known route. */
export const unrouted = { allow: '', route: '', caller: undefined };
export const preflight: Result = {
  ...unrouted,
  reply: { status: 204, body: '', type: '', headers: preflightHeaders, conditional: false },
};
/** The response to a preflight from an origin that is not allowed: without CORS headers, so that browsers name the cause. */
export const rejectedPreflight: Result = { ...unrouted, reply: empty() };
export const invalidHost: Result = { ...unrouted, reply: json({ detail: 'Invalid Host header.' }, 400) };
export const invalidTarget: Result = { ...unrouted, reply: json({ detail: 'Invalid request target.' }, 400) };
export const noSpace = json({ detail: 'Too many uploads at once. Try again.' }, 503, { 'Retry-After': '1' });

export const internalError = (id: string): Reply => json({ detail: 'Internal server error.', request_id: id }, 500);
