/** The classes of errors that drivers tell (providers.md 2 "Error class"). */
export type ErrorClass =
  | 'unauthorized'
  | 'not_found'
  | 'invalid'
  | 'conflict'
  | 'limited'
  | 'unavailable'
  | 'malformed';

/** A provider's refusal or failure. The message is the vendor's text, without secrets. */
export class ProviderError extends Error {
  constructor(
    readonly type: ErrorClass,
    message: string,
    /** Milliseconds the provider asks to wait, when limited or unavailable. */
    readonly retryAfter?: number,
    /** Status of the answer that tells it, where it was one over HTTP. */
    readonly status?: number,
  ) {
    super(message);
  }
}

/** What a call answers, or undefined when the provider has no such object. */
export async function ifThere<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ProviderError && error.type === 'not_found') return undefined;
    throw error;
  }
}

/** What the provider refuses a call with, once it has read it; undefined when it does not. */
export async function rejectionOf(call: () => Promise<unknown>): Promise<ProviderError | undefined> {
  try {
    await call();
    return undefined;
  } catch (error) {
    if (error instanceof ProviderError && error.status !== undefined && error.status < 500 && error.type !== 'limited')
      return error;
    throw error;
  }
}
