import { noSession, RejectedSignOn } from '../sso/rejected-sign-on.ts';

/** Messages that web clients get at login_failed_url and logout_failed_url (services.md 11). */
export const problems = {
  anonymousOnly: 'This endpoint is for anonymous users only.',
  noBinding: 'Identity provider does not support available bindings.',
  unreadable: 'SAML2 response has errors.',
  rejected: 'SAML response has errors. Please check the logs',
  noUser: 'SAML2 authentication failed.',
  noSession,
  noLogout: 'You cannot be logged out.',
} as const;

/** The reason why a message of an identity provider is rejected. `message` is for the log, `displayed` for the browser. */
export class RejectedMessage extends RejectedSignOn {
  constructor(message: string, displayed: string = problems.rejected) {
    super(message, displayed);
  }
}
