/** The server's messages of failed logins and logouts. A link could bring any other text. */
export const loginFailures: ReadonlySet<string> = new Set([
  'The identity provider refused the login.',
  'The identity provider cannot be reached.',
  'OpenID Connect response has errors. Please check the logs',
  'OpenID Connect authentication failed.',
  'This endpoint is for anonymous users only.',
  'Identity provider does not support available bindings.',
  'SAML2 response has errors.',
  'SAML response has errors. Please check the logs',
  'SAML2 authentication failed.',
  'You are not logged in any IdP/AA.',
  'You cannot be logged out.',
]);
