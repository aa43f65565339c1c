import type { Endpoint } from '../../../kernel/collection/endpoint.ts';
import { oidcBackchannelLogout } from './backchannel-logout.ts';
import { oidcComplete } from './complete.ts';
import { oidcLogin } from './login.ts';
import { oidcLogout } from './logout.ts';

/** Login by OpenID Connect (services.md 11.1). */
export const oidcEndpoints: readonly Endpoint[] = [oidcLogin, oidcComplete, oidcLogout, oidcBackchannelLogout];
