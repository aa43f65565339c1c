import type { Endpoint } from '../../../kernel/collection/endpoint.ts';
import { oidcComplete } from './complete.ts';
import { oidcLogin } from './login.ts';

/** Login by OpenID Connect (services.md 11). */
export const oidcEndpoints: readonly Endpoint[] = [oidcLogin, oidcComplete];
