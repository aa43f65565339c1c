import type { Endpoint } from '../../../kernel/collection/endpoint.ts';
import { samlLoginComplete } from './complete.ts';
import { samlLogin } from './login.ts';
import { samlLogout } from './logout.ts';
import { samlLogoutComplete } from './logout-complete.ts';
import { samlMetadata } from './metadata.ts';
import { samlProviders } from './providers.ts';

/** Login by SAML 2.0 (services.md 11). */
export const samlEndpoints: readonly Endpoint[] = [
  samlLogin,
  samlLoginComplete,
  samlLogout,
  samlLogoutComplete,
  samlMetadata,
  samlProviders,
];
