import { createHash } from 'node:crypto';
import type { Encoding } from './encoding.ts';
import type { Reply } from './reply.ts';

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

/** The strong ETag of something that consists of these. */
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
