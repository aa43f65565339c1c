import type { Socket } from 'node:net';

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
