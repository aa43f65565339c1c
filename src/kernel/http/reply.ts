import { createHash } from 'node:crypto';
import type { Writable } from 'node:stream';
import type { CompressedForms, Encoding } from './encoding.ts';

/** The result of a handler. The listener sends it when its transaction has committed. */
export interface Reply {
  readonly status: number;
  /** Already encoded; empty for 204. */
  readonly body: string | Uint8Array;
  readonly type: string;
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Lists, details and images carry an ETag and respond 304 to a matching If-None-Match. They depend only on the data,
   * the caller and the URL, and are cached while these are the same.
   */
  readonly conditional: boolean;
  /** The time at which the document changes even if the data does not, if it depends on the clock. */
  readonly until?: number | undefined;
  /** The compressed forms of a body that is sent more than once. */
  readonly compressed?: CompressedForms;
  /** Its ETag, if not computed from the body. */
  readonly etag?: string;
  /** Streams the body after the head has been sent, instead of `body`. Ends the stream unless the client does. */
  readonly stream?: (body: Writable) => void;
  /** The part that is cached independently of the URL: all of it, or its bytes. */
  readonly cacheable?: 'all' | 'body';
}

const jsonType = 'application/json';
const none: Readonly<Record<string, string>> = {};

/** 200 with JSON text from the database (a list or an object) and an ETag. */
export const document = (text: string, headers: Readonly<Record<string, string>> = none, until?: number): Reply => ({
  status: 200,
  body: text,
  type: jsonType,
  headers,
  conditional: true,
  until,
});

/** Like `document`, for a page of cached objects with its bytes and its ETag. */
export const page = (
  { body, compressed }: Required<Pick<Reply, 'body' | 'compressed'>>,
  etag: string,
  headers: Reply['headers'],
): Reply => ({ status: 200, body, type: jsonType, headers, conditional: true, compressed, etag, cacheable: 'body' });

/** The same for content that must not be cached, such as a token. */
export const secret = (text: string, headers: Readonly<Record<string, string>> = none): Reply => ({
  status: 200,
  body: text,
  type: jsonType,
  headers,
  conditional: false,
});

/** Any status with a value as JSON, without an ETag. */
export const json = (value: unknown, status = 200, headers: Readonly<Record<string, string>> = none): Reply => ({
  status,
  body: JSON.stringify(value),
  type: jsonType,
  headers,
  conditional: false,
});

/** 200 with the JSON text of an object that was changed. */
export const changed = (text: string): Reply => ({
  status: 200,
  body: text,
  type: jsonType,
  headers: none,
  conditional: false,
});

/** 201 with the JSON text of the new object; its `url` becomes the Location header. */
export const created = (text: string, location: string): Reply => ({
  status: 201,
  body: text,
  type: jsonType,
  headers: { Location: location },
  conditional: false,
});

/** 204 without a body. */
export const empty = (status = 204): Reply => ({ status, body: '', type: jsonType, headers: none, conditional: false });

/** 302: redirects the browser, which sends no Referer. */
export const redirect = (location: string, headers: Readonly<Record<string, string>> = none): Reply => ({
  status: 302,
  body: '',
  type: 'text/plain; charset=utf-8',
  headers: { Location: location, 'Referrer-Policy': 'no-referrer', ...headers },
  conditional: false,
});

/** 200 with a body that is written piece by piece. */
export const streamed = (
  type: string,
  stream: (body: Writable) => void,
  headers: Readonly<Record<string, string>> = none,
): Reply => ({ status: 200, body: '', type, headers, conditional: false, stream });

/** The same reply with the bytes of its body. */
export const encoded = (reply: Reply): Reply =>
  typeof reply.body === 'string' ? { ...reply, body: Buffer.from(reply.body) } : reply;

const known = new WeakMap<Reply, string>();

/** The strong ETag of a reply: of its body, and of the headers of a page, which contain more than the body. */
export function etagOf(reply: Reply): string {
  let etag = reply.etag ?? known.get(reply);
  if (etag === undefined) {
    const { body, headers } = reply;
    etag = headers['X-Result-Count'] === undefined ? tagOf(body) : tagOf(body, pageHeadersOf(headers));
    known.set(reply, etag);
  }
  return etag;
}

const pageHeadersOf = (headers: Reply['headers']): string => ` ${headers['X-Result-Count']} ${headers.Link ?? ''}`;

/** Returns the strong ETag of these parts. */
export function tagOf(...parts: readonly (string | Uint8Array)[]): string {
  const digest = createHash('sha1');
  for (const part of parts) digest.update(part);
  return `"${digest.digest('base64')}"`;
}

/** The ETag of a body that is sent in a content coding: a strong tag names one sequence of bytes (RFC 9110 8.8.3.3). */
export const encodedTag = (etag: string, encoding: Encoding | undefined): string =>
  encoding === undefined ? etag : `${etag.slice(0, -1)}-${encoding}"`;

/**
 * The suffixes of codings: our own, and those of proxies that compress. Apache appends `-gzip` or `-br` also to the tag of a
 * 304, so that there may be several.
 */
const codingSuffixes = /(?:(?:--?|;)(?:x-)?(?:gzip|br|zstd|deflate)){1,4}(?="$)/;

/** RFC 9110 13.1: whether If-None-Match or If-Match names the tag, `W/` and suffixes of codings ignored, or is `*`. */
export function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  return header.split(',').some((item) => item.trim().replace(/^W\//, '').replace(codingSuffixes, '') === etag);
}
