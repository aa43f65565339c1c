/** Error classes of drivers (providers.md 2 "Error class"). */
export type ErrorClass =
  | 'unauthorized'
  | 'not_found'
  | 'invalid'
  | 'conflict'
  | 'limited'
  | 'unavailable'
  | 'malformed';

/** A rejection or failure by a provider. `message` is the vendor's message without secrets. */
export class ProviderError extends Error {
  constructor(
    readonly type: ErrorClass,
    message: string,
    /** Milliseconds to wait at the provider's request, if it is limited or unavailable. */
    readonly retryAfter?: number,
    /** HTTP status of the response, if there was one. */
    readonly status?: number,
    /** `cause`: the NoResponseError of a call without a response. */
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Returns the result of a call, or undefined if the object does not exist at the provider. */
export async function ifExists<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ProviderError && error.type === 'not_found') return undefined;
    throw error;
  }
}

/** Returns the error of a permanently rejected call; undefined on success. Throws temporary errors. */
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
