import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { passkeyLogin, passkeyLoginOptions } from './factors/passkey-login.ts';
import { secondLogin, secondLoginOptions } from './factors/second-login.ts';
import { forgotPassword, resetPassword } from './forgotten-password.ts';
import { initialPassword } from './initial-link.ts';
import { login, logout } from './login.ts';
import { oidcBackchannelLogout } from './oidc/backchannel-logout.ts';
import { oidcComplete } from './oidc/complete.ts';
import { oidcLogin } from './oidc/login.ts';
import { oidcLogout } from './oidc/logout.ts';
import { recoverLogin } from './recovery.ts';
import { samlLoginComplete } from './saml/complete.ts';
import { samlLogin } from './saml/login.ts';
import { samlLogout } from './saml/logout.ts';
import { samlLogoutComplete } from './saml/logout-complete.ts';
import { samlMetadata } from './saml/metadata.ts';
import { samlProviders } from './saml/providers.ts';

/**
 * The endpoints for logging in and out, with a password, by SAML 2.0 and by OpenID Connect (services.md 11), and for setting a
 * first or forgotten password.
 */
export const loginEndpoints: readonly Endpoint[] = [
  login,
  logout,
  forgotPassword,
  resetPassword,
  initialPassword,
  secondLogin,
  secondLoginOptions,
  passkeyLoginOptions,
  passkeyLogin,
  recoverLogin,
  samlLogin,
  samlLoginComplete,
  samlLogout,
  samlLogoutComplete,
  samlMetadata,
  samlProviders,
  oidcLogin,
  oidcComplete,
  oidcLogout,
  oidcBackchannelLogout,
];
