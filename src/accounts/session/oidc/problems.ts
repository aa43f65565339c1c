import { errorOf } from '../../../kernel/present.ts';
import { RejectedSignOn } from '../sso/outcome.ts';

/** Messages for web clients at login_failed_url (services.md 11). */
export const problems = {
  refused: 'The identity provider refused the login.',
  unreachable: 'The identity provider cannot be reached.',
  invalid: 'OpenID Connect response has errors. Please check the logs',
  noUser: 'OpenID Connect authentication failed.',
} as const;

/** Creates the rejection of a login. `reason` is for the log. */
export const rejected = (problem: keyof typeof problems, reason: string, options?: ErrorOptions): RejectedSignOn =>
  new RejectedSignOn(reason, problems[problem], options);

/** The provider did not respond, or violated the protocol. */
export class ProviderError extends Error {}

/** An error and its cause, if it has one. */
export const withCause = (error: unknown): readonly unknown[] => [
  error,
  error instanceof Error ? error.cause : undefined,
];

/** Returns the ProviderError that an error is, or that caused it. */
export const providerErrorIn = (error: unknown): ProviderError | undefined =>
  withCause(error).find((item) => item instanceof ProviderError);

/** Converts an error of a step to the rejection of the login. */
export function rejectionOf(error: unknown): RejectedSignOn {
  if (error instanceof RejectedSignOn) return error;
  return rejected(error instanceof ProviderError ? 'unreachable' : 'invalid', reasonOf(error));
}

/** Returns the messages of an error and its causes. They contain no tokens, which libraries put only into other members. */
function reasonOf(error: unknown): string {
  const { cause, message } = errorOf(error);
  return cause instanceof Error && !message.includes(cause.message) ? `${message}: ${cause.message}` : message;
}
