import type { Context } from '../../kernel/access/context.ts';
import type { HttpAnswer } from '../../kernel/net/http-client.ts';
import type { Outcome } from '../../kernel/outbox/outcome.ts';
import type { DueDelivery } from './due.ts';
import { retryAfterOf } from './outcome.ts';
import { PostError } from './post.ts';

/** Sends deliveries of one kind. */
export interface Sender {
  /** One attempt. Rejects only on a fault of the program. */
  send(delivery: DueDelivery, context: Context): Promise<Outcome>;
  /** Breaks off what is under way. */
  close(): void;
}

/** What a status means: 2xx is delivered, everything else a failed attempt. */
export function outcomeOf({ headers, status }: Pick<HttpAnswer, 'headers' | 'status'>, now: number): Outcome {
  if (status >= 200 && status < 300) return { status: 'delivered', code: status };
  const redirect = status >= 300 && status < 400 ? ' Redirects are not followed.' : '';
  const error = `The receiver answered ${status}.${redirect}`;
  return {
    status: 'failed',
    error,
    code: status,
    gone: status === 410,
    retryAfter: retryAfterOf(headers['retry-after'], now),
  };
}

/** A failed attempt that got no answer of the receiver's. Throws what is not about the network. */
export function failureOf(error: unknown, now: number): Outcome {
  if (!(error instanceof PostError)) throw error;
  return { status: 'failed', error: error.message, retryAfter: retryAfterOf(error.retryAfter, now) };
}
