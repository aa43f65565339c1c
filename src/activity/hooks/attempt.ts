/** The stored details of a web hook delivery attempt, for the delivery log (events.md 5.9). */
import { withoutControls } from '../../kernel/control-characters.ts';
import type { AddressRule } from '../../kernel/net/destination.ts';
import type { HttpResponse } from '../../kernel/net/http-client.ts';

/** The JSON in the column `attempt` of a delivery. Without a response it has only `sent`. */
export interface Attempt {
  /** Time of the attempt, which is also the request's timestamp. */
  readonly sent: number;
  /** Milliseconds until the response was read. */
  readonly duration?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Start of the body of an unsuccessful response; null if it is not text or must stay hidden. */
  readonly body?: string | null;
}

/** Headers to store for any address. */
const publicHeaders = ['content-type', 'date', 'retry-after'] as const;
/** Headers to store only for public addresses, because they identify the server and other addresses. */
const identifyingHeaders = [...publicHeaders, 'location', 'server'] as const;
const maxHeaderLength = 200;
export const maxExcerptLength = 1000;
/** Enough bytes for the excerpt, because a UTF-8 character has at most 4. */
const maxExcerptBytes = 4 * maxExcerptLength;

/** Builds the details of an attempt with a response. `mayReveal` decides by address whether to store headers and body. */
export function attemptOf(sent: number, response: HttpResponse, duration: number, mayReveal: AddressRule): Attempt {
  const isOpen = mayReveal(response.address);
  const headers: Record<string, string> = {};
  for (const name of isOpen ? identifyingHeaders : publicHeaders) {
    const text = response.headers[name];
    if (typeof text === 'string') headers[name] = clean(text).slice(0, maxHeaderLength);
  }
  return { sent, duration: Math.round(duration), headers, body: isOpen ? excerptOf(response) : null };
}

/** Returns the start of the body of an unsuccessful response, if it is text. */
function excerptOf({ body, headers, status }: HttpResponse): string | null {
  const isSuccess = status >= 200 && status < 300;
  const isText = /^(text\/|application\/([\w.-]+\+)?(json|xml)\b)/i.test(headers['content-type'] ?? '');
  const isEncoded = (headers['content-encoding'] ?? 'identity') !== 'identity';
  if (isSuccess || !isText || isEncoded) return null;
  return [...clean(body.toString('utf8', 0, maxExcerptBytes))].slice(0, maxExcerptLength).join('');
}

const clean = (text: string): string => withoutControls(text.replaceAll('\0', ''));
