import { createHash } from 'node:crypto';
import type { Reply } from './reply.ts';

const known = new WeakMap<Reply, string>();

/** The strong ETag of a reply: of its body, and of the headers of a page, which tell more than the body does. */
export function etagOf(reply: Reply): string {
  let etag = known.get(reply);
  if (etag === undefined) {
    const { body, headers } = reply;
    const digest = createHash('sha1').update(body);
    if (headers['X-Result-Count'] !== undefined) digest.update(` ${headers['X-Result-Count']} ${headers.Link ?? ''}`);
    etag = `"${digest.digest('base64')}"`;
    known.set(reply, etag);
  }
  return etag;
}

/** RFC 9110 13.1: whether If-None-Match or If-Match names the tag, `W/` ignored, or is `*`. */
export function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  return header.split(',').some((item) => item.trim().replace(/^W\//, '') === etag);
}
