import { hash } from 'node:crypto';
import type { Reply } from './reply.ts';

/** The strong ETag of a reply: of its body, and of the headers of a page, which tell more than the body does. */
export function etagOf(reply: Reply): string {
  const count = reply.headers['X-Result-Count'];
  const content = count === undefined || typeof reply.body !== 'string' ? reply.body : `${count} ${reply.headers.Link} ${reply.body}`;
  return `"${hash('sha1', content, 'base64')}"`;
}

/** RFC 9110 13.1.2: whether If-None-Match names the tag, compared weakly, or is `*`. */
export function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  return header.split(',').some((item) => item.trim().replace(/^W\//, '') === etag);
}
