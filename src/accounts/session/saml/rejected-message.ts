/** Messages that web clients get at login_failed_url and logout_failed_url (services.md 11). */
export const problems = {
  anonymousOnly: 'This endpoint is for anonymous users only.',
  noBinding: 'Identity provider does not support available bindings.',
  unreadable: 'SAML2 response has errors.',
  rejected: 'SAML response has errors. Please check the logs',
  noUser: 'SAML2 authentication failed.',
  noSession: 'You are not logged in any IdP/AA.',
  noLogout: 'You cannot be logged out.',
} as const;

/** The reason why a message of an identity provider is rejected. `message` is for the log, `displayed` for the browser. */
export class RejectedMessage extends Error {
  constructor(
    message: string,
    readonly displayed: string = problems.rejected,
  ) {
    super(message);
  }
}
