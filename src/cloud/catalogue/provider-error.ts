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
