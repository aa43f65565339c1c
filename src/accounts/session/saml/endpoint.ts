/** The common parts of the endpoints of single sign-on. */
import ipaddr from 'ipaddr.js';
import type { Request } from '../../../kernel/access/request.ts';
import { describeFields } from '../../../kernel/collection/endpoint.ts';
import type { Fields } from '../../../kernel/collection/field.ts';
import { HttpError } from '../../../kernel/http/error.ts';
import { hostOf } from '../../../kernel/net/destination.ts';
import { present } from '../../../kernel/present.ts';
import { requireMethod } from '../login-steps.ts';
import type { IdentityProvider } from './identity-providers.ts';
import type { Setup } from './library.ts';

export const samlPath = '/api-auth/saml2/';

/** The addresses by which identity providers know the service. */
interface ServiceAddresses {
  /** Also the URL of its metadata. */
  readonly entityId: string;
  /** Receives responses to logins. */
  readonly assertionConsumer: string;
  /** Receives messages about logouts. */
  readonly logout: string;
}

/**
 * Returns the addresses below the setting base_url. Without it, returns those of the request if its host is this machine: with
 * another Host header, assertions for that host would be valid here. Throws 400.
 */
export function addressesOf({ base, config }: Pick<Request, 'base' | 'config'>): ServiceAddresses {
  if (config.base_url === null && !isLoopback(base)) {
    throw new HttpError(400, {
      detail: 'Single sign-on needs the setting base_url unless the service is addressed as localhost.',
    });
  }
  const start = `${base}${samlPath}`;
  return {
    entityId: `${start}metadata/`,
    assertionConsumer: `${start}login/complete/`,
    logout: `${start}logout/complete/`,
  };
}

function isLoopback(base: string): boolean {
  const host = hostOf(new URL(base));
  return host === 'localhost' || (ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback');
}

/** Returns the ID of a new message. */
export const newMessageId = ({ app }: Request): string => `_${app.random(20).toString('hex')}`;

/** Returns the set-up of the library for this request and an identity provider. Throws 400. */
export function setupOf(request: Request, provider: IdentityProvider): Setup {
  const { assertionConsumer, entityId } = addressesOf(request);
  return { provider, entityId, assertionConsumer, privateKey: present(request.app.samlKeys).privateKey };
}

/** Creates the `actions` of OPTIONS for an endpoint with these fields. They throw 401 if single sign-on is disabled. */
export const samlActions =
  (fields: Fields) =>
  (request: Request): Readonly<Record<string, unknown>> => {
    requireMethod(request, 'SAML2');
    return { POST: describeFields(fields, request, 'create') };
  };
