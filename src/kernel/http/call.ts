import type { ServerResponse } from 'node:http';
import type { AccessLog, RequestInfo } from './access-log.ts';
import { chosenEncoding, compress, isCompressible } from './encoding.ts';
import type { Expectation } from './expectation.ts';
import { encodedTag, etagOf, matches, type Reply } from './reply.ts';

/** The result of a request: the reply, and the fields of its log line. */
export interface Result {
  readonly reply: Reply;
  /** The Allow header of an existing path; empty otherwise. */
  readonly allow: string;
  /** The pattern of the path, such as /api/keys/:uuid/. */
  readonly route: string;
  /** Uuid of the caller, if they are known. */
  readonly caller: string | undefined;
  /** The names in the request that were ignored, for X-Ignored. */
  readonly ignored?: string | undefined;
  /** Whether the path may contain a secret, which is never logged. */
  readonly hidesPath?: boolean;
}

/** A request as node:http passes it, and the destination of its response. */
export interface Call extends RequestInfo {
  readonly outgoing: ServerResponse;
  readonly expectation: Expectation;
  /** CORS headers for pages of allowed origins. */
  readonly cors: Readonly<Record<string, string>> | undefined;
}

/**
 * Checks whether another server responds to the request. Resolves with the status that was sent, with a response to send, or with
 * undefined if this server responds. Most requests resolve immediately.
 */
export type Forwarding = (call: Call, base: string) => Promise<Result | number | undefined> | undefined;

/**
 * Sends a response with the common headers and logs its line. `replacement` may replace the response after its
 * body has been compressed, because that takes time.
 */
export function send(call: Call, response: Result, log: AccessLog, replacement?: () => Result | undefined): void {
  const { cors, message } = call;
  const { reply } = response;
  const { body } = reply;
  let { status } = reply;
  const headers: string[] = ['X-Request-Id', call.id, 'X-Content-Type-Options', 'nosniff'];
  if (response.allow !== '') headers.push('Allow', response.allow);
  pushAll(headers, reply.headers);
  if (response.ignored !== undefined && status < 400) headers.push('X-Ignored', response.ignored);
  const vary = cors?.Vary ? [cors.Vary] : [];
  if (cors) pushAll(headers, cors, 'Vary');
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
  const compressible = isCompressible(reply.type, length);
  const encoding = compressible ? chosenEncoding(message.headers['accept-encoding']) : undefined;
  if (compressible) vary.push('Accept-Encoding');
  if (vary.length > 0) headers.push('Vary', vary.join(', '));
  if (reply.conditional && status === 200 && (message.method === 'GET' || message.method === 'HEAD')) {
    const etag = etagOf(reply);
    headers.push('ETag', encodedTag(etag, encoding));
    if (!reply.headers['Cache-Control']) headers.push('Cache-Control', 'private, no-cache');
    if (matches(message.headers['if-none-match'], etag)) status = 304;
  } else {
    headers.push('Cache-Control', 'no-store');
  }
  if (reply.stream) {
    headers.push('Content-Type', reply.type);
    call.outgoing.writeHead(status, headers);
    log.logResponse(call, response, status);
    if (message.method === 'HEAD') call.outgoing.end();
    else reply.stream(call.outgoing);
    return;
  }
  const write = (content: string | Uint8Array): void => {
    call.outgoing.writeHead(status, headers);
    if (message.method === 'HEAD') call.outgoing.end();
    else call.outgoing.end(content);
    log.logResponse(call, response, status);
  };
  if (status === 204 || status === 304) {
    write('');
    return;
  }
  headers.push('Content-Type', reply.type);
  if (encoding === undefined) {
    headers.push('Content-Length', String(length));
    write(body);
    return;
  }
  const writeCompressed = (compressed: Uint8Array): void => {
    const other = replacement?.();
    if (other) {
      send(call, other, log);
      return;
    }
    headers.push('Content-Encoding', encoding, 'Content-Length', String(compressed.length));
    write(compressed);
  };
  if (reply.compressed) reply.compressed.get(encoding, body, writeCompressed);
  else compress(encoding, body, writeCompressed);
}

function pushAll(list: string[], headers: Reply['headers'], except?: string): void {
  for (const [name, value] of Object.entries(headers)) if (name !== except) list.push(name, value);
}
