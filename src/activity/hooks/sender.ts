import type { Context } from '../../kernel/access/context.ts';
import type { HttpResponse } from '../../kernel/net/http-client.ts';
import type { Outcome } from '../../kernel/outbox/outcome.ts';
import type { DueDelivery } from './due.ts';
import { retryAfterOf } from './outcome.ts';
import { PostError } from './post.ts';

/** Sends deliveries of one kind. */
export interface Sender {
  /** Makes one attempt. Rejects only on a bug. */
  send(delivery: DueDelivery, context: Context): Promise<Outcome>;
  /** Aborts attempts in progress. */
  close(): void;
}

/** Maps a status to an outcome: 2xx means delivered, any other status a failed attempt. */
export function outcomeOf({ headers, status }: Pick<HttpResponse, 'headers' | 'status'>, now: number): Outcome {
  if (status >= 200 && status < 300) return { status: 'delivered', code: status };
  const redirect = status >= 300 && status < 400 ? ' Redirects are not followed.' : '';
  const error = `The receiver responded with ${status}.${redirect}`;
  return {
    status: 'failed',
    error,
    code: status,
    gone: status === 410,
    retryAfter: retryAfterOf(headers['retry-after'], now),
  };
}

/** Maps a network error to a failed attempt. Rethrows any other error. */
export function failureOf(error: unknown, now: number): Outcome {
  if (!(error instanceof PostError)) throw error;
  return { status: 'failed', error: error.message, retryAfter: retryAfterOf(error.retryAfter, now) };
}
