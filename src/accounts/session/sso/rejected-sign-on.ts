/**
 * The reason why a response or message of an identity provider is rejected. `message` is for the log, `displayed` for the page of
 * failed logins or logouts.
 */
export class RejectedSignOn extends Error {
  constructor(
    message: string,
    readonly displayed: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The message after a logout in a browser without a session (services.md 11). */
export const noSession = 'You are not logged in any IdP/AA.';
