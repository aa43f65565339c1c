/** The common parts of the endpoints of single sign-on. */
import type { Request } from '../../../kernel/access/request.ts';
import { describeFields } from '../../../kernel/collection/endpoint.ts';
import type { Fields } from '../../../kernel/collection/field.ts';
import { present } from '../../../kernel/present.ts';
import { requireMethod } from '../login-steps.ts';
import { serviceBase } from '../sso/address.ts';
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

/** Returns the addresses of the service at identity providers. Throws 400 (see `serviceBase`). */
export function addressesOf(request: Pick<Request, 'base' | 'config'>): ServiceAddresses {
  const start = `${serviceBase(request)}${samlPath}`;
  return {
    entityId: `${start}metadata/`,
    assertionConsumer: `${start}login/complete/`,
    logout: `${start}logout/complete/`,
  };
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
