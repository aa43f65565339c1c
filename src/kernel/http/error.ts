import { second } from '../clock.ts';

/** Messages by field or parameter. Items of lists may have nested messages. */
export type Messages = Readonly<Record<string, unknown>>;

/** An error response: a status and a JSON body (core.md 1.3). */
export class HttpError extends Error {
  constructor(
    readonly status: number,
    readonly body: unknown,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(`HTTP ${status}`);
  }
}

/** 400: messages by field, or by query parameter. */
export const invalid = (messages: Messages): HttpError => new HttpError(400, messages);

/** 400: a message about the request as a whole. */
export const invalidRequest = (message: string): HttpError => invalid({ non_field_errors: [message] });

type Results<Parts extends readonly (() => unknown)[]> = { [Index in keyof Parts]: ReturnType<Parts[Index]> };

/**
 * Returns the results of all functions in order. Throws a single 400 with all invalid fields, or else with errors about the
 * request as a whole.
 */
export function collectErrors<const Parts extends readonly (() => unknown)[]>(...parts: Parts): Results<Parts>;
export function collectErrors(...parts: readonly (() => unknown)[]): readonly unknown[] {
  const result: Record<string, unknown> = {};
  const results = parts.map((part) => {
    try {
      return part();
    } catch (error) {
      if (!(error instanceof HttpError) || error.status !== 400) throw error;
      return void Object.assign(result, error.body);
    }
  });
  const { non_field_errors: general, ...messages } = result;
  if (Object.keys(messages).length > 0) throw invalid(messages);
  if (general !== undefined) throw invalid({ non_field_errors: general });
  return results;
}

/** 401: no valid token, or a failed login; `wait` is the time in microseconds until the next attempt is allowed. */
export const unauthenticated = (body: unknown, wait?: number): HttpError =>
  new HttpError(401, body, { 'WWW-Authenticate': 'Token', ...(wait !== undefined && retryAfter(wait)) });

/** 403: the caller can see the object but may not do this. */
export const forbidden = (detail = 'You do not have permission to perform this action.'): HttpError =>
  new HttpError(403, { detail });

/** 404: the object is missing or invisible to the caller. */
export const notFound = (detail = 'Not found.'): HttpError => new HttpError(404, { detail });

/** 412: the object does not match If-Match. */
export const changedMeanwhile = (): HttpError =>
  new HttpError(412, { detail: 'The object has been changed since you read it.' });

/** 429: too many requests; `wait` is the time in microseconds until the next one is allowed. */
export const tooMany = (detail: string, wait: number): HttpError => new HttpError(429, { detail }, retryAfter(wait));

/** 507: the disk is full; nothing was changed. */
export const outOfStorage = (): HttpError => new HttpError(507, { detail: 'Out of storage.' });

/** 503: another process has been writing for too long; nothing was changed. */
export const writerBusy = (): HttpError =>
  new HttpError(503, { detail: 'The data is being written by another process. Try again.' }, retryAfter(second));

/** 503: another server may hold the lease (core.md 14.8). */
export const leaseMissing = (): HttpError =>
  new HttpError(
    503,
    { detail: 'This server does not hold the lease and does not accept changes.' },
    retryAfter(10 * second),
  );

/** 503: too many long reads are running. */
export const tooManyReads = (): HttpError =>
  new HttpError(503, { detail: 'Too many long lists are being read at once. Try again.' }, retryAfter(second));

/** 503: a read exceeded the time limit. */
export const readTooLong = (): HttpError =>
  new HttpError(503, { detail: 'Reading this takes too long. Ask for less of it.' });

const retryAfter = (wait: number): Readonly<Record<string, string>> => ({
  'Retry-After': String(Math.max(1, Math.ceil(wait / second))),
});

/** 409: the state of the object, or a quota, does not allow it. */
export const conflict = (detail: string): HttpError => new HttpError(409, { detail });

/** Throws 409 with the reason, if there is one. */
export function reject(reason: string | undefined): void {
  if (reason !== undefined) throw conflict(reason);
}
