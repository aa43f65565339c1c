/** What is kept of an attempt to deliver to a web hook, and told in its log (events.md 5.9). */
import { withoutControls } from '../../kernel/control-characters.ts';
import type { AddressRule } from '../../kernel/net/destination.ts';
import type { HttpAnswer } from '../../kernel/net/http-client.ts';

/** As the column `attempt` of a delivery holds it in JSON; without an answer there is only the first member. */
export interface Attempt {
  /** The instant of the attempt, which the request names as its timestamp. */
  readonly sent: number;
  /** Milliseconds until the answer had been read. */
  readonly duration?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The start of what a refusal says; null where it is no text, or not to be told. */
  readonly body?: string | null;
}

/** Headers that say how to go on, whoever answers. */
const always = ['content-type', 'date', 'retry-after'] as const;
/** Those that say who answers, and where else to ask. */
const ofOpen = [...always, 'location', 'server'] as const;
const headerAtMost = 200;
export const excerptAtMost = 1000;
/** Bytes that hold so many characters, whichever they are. */
const excerptBytes = 4 * excerptAtMost;

/** What is kept of an attempt that was answered; `tells` decides by the address whether the log may tell who answers, and what. */
export function attemptOf(sent: number, answer: HttpAnswer, duration: number, tells: AddressRule): Attempt {
  const isOpen = tells(answer.address);
  const headers: Record<string, string> = {};
  for (const name of isOpen ? ofOpen : always) {
    const text = answer.headers[name];
    if (typeof text === 'string') headers[name] = clean(text).slice(0, headerAtMost);
  }
  return { sent, duration: Math.round(duration), headers, body: isOpen ? excerptOf(answer) : null };
}

/** What a refusal says, as far as it is text; of a success nothing is kept. */
function excerptOf({ body, headers, status }: HttpAnswer): string | null {
  const isSuccess = status >= 200 && status < 300;
  const isText = /^(text\/|application\/([\w.-]+\+)?(json|xml)\b)/i.test(headers['content-type'] ?? '');
  const isEncoded = (headers['content-encoding'] ?? 'identity') !== 'identity';
  if (isSuccess || !isText || isEncoded) return null;
  return [...clean(body.toString('utf8', 0, excerptBytes))].slice(0, excerptAtMost).join('');
}

const clean = (text: string): string => withoutControls(text.replaceAll('\0', ''));
