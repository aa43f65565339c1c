import type { Call, Result } from '../../kernel/http/call.ts';
import type { HttpError } from '../../kernel/http/error.ts';
import { isReading, pathOf } from '../../kernel/http/incoming-request.ts';
import { json } from '../../kernel/http/reply.ts';

/** Downloads with an audit record. Only the primary can write records (audit.md 2). */
const recordedDownload = /^\/api\/(backups\/[^/]+\/content|audit\/export)\/$/;

/** Whether a request may write. This includes GET requests for logins, and downloads, which are recorded. */
export function isWrite({ message: { method = 'GET' }, target }: Call): boolean {
  const path = pathOf(target);
  return !isReading(method) || path.startsWith('/api-auth/') || recordedDownload.test(decoded(path));
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Converts an error to a response, for requests that have not been routed. */
export const errorResponse = ({ body, headers, status }: HttpError): Result => ({
  reply: json(body, status, headers),
  allow: '',
  route: '',
  caller: undefined,
});

/** Paths that every server decodes in the same way: printable ASCII without escaped separators, spaces or percent signs. */
const plainPath = /^[!-~]*$/;
const ambiguous = /[\\%#]/;
const dots = /^\.\.?(;|$)/;

/**
 * Whether a target stays below the path that it is appended to, however servers on the way resolve it. Some decode it before they
 * resolve dot segments, some treat a backslash as a slash, and some drop everything after a semicolon.
 */
export function staysBelow(target: string): boolean {
  const [path = ''] = target.split('?', 1);
  let decoded: string;
  try {
    decoded = decodeURIComponent(path);
  } catch {
    return false;
  }
  const segments = decoded.split('/');
  return (
    path.startsWith('/') &&
    plainPath.test(decoded) &&
    !ambiguous.test(decoded) &&
    segments.length === path.split('/').length &&
    !segments.some((segment) => dots.test(segment))
  );
}
