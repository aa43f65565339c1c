/** Shared code of the single sign-on endpoints. */
import type { Request } from '../../../kernel/access/request.ts';
import { describeFields } from '../../../kernel/collection/endpoint.ts';
import {
  FieldError,
  type Fields,
  type IsRequired,
  type WritableField,
  wrap,
} from '../../../kernel/collection/field.ts';
import { text } from '../../../kernel/collection/values.ts';
import { present } from '../../../kernel/present.ts';
import { requireMethod, serviceBase } from '../login-steps.ts';
import type { IdentityProvider } from './identity-providers.ts';
import type { Setup } from './library.ts';

export const samlPath = '/api-auth/saml2/';

/** The URLs of the service at identity providers. */
interface ServiceAddresses {
  /** Also the URL of its metadata. */
  readonly entityId: string;
  /** Receives responses to logins. */
  readonly assertionConsumer: string;
  /** Receives messages about logouts. */
  readonly logout: string;
}

/** Returns the URLs of the service at identity providers. Throws 400 (see `serviceBase`). */
export function addressesOf(request: Pick<Request, 'base' | 'config'>): ServiceAddresses {
  const start = `${serviceBase(request)}${samlPath}`;
  return {
    entityId: `${start}metadata/`,
    assertionConsumer: `${start}login/complete/`,
    logout: `${start}logout/complete/`,
  };
}

/** Generates the ID of a message. */
export const newMessageId = ({ app }: Request): string => `_${app.random(20).toString('hex')}`;

/** Returns the setup of the library for this request and an identity provider. Throws 400. */
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

const notBase64 = 'This field should be a valid Base64 encoded string.';
const maxMessageLength = 256 * 1024;

/** Maximum size of a body with such a message. A form may percent-encode its base64. */
export const maxMessageBodyBytes = 512 * 1024;

/** A SAML message in base64. Removes line breaks. */
export const messageField = <const W extends { readonly required: boolean }>(
  writing: W,
): WritableField<string, IsRequired<W>> =>
  wrap(
    text({ max: maxMessageLength, lines: 'verbatim', example: 'PHNhbWxwOlJlc3BvbnNlLz4=', ...writing }),
    (parse) => (value, request, form) => {
      const joined = parse(value, request, form).replace(/\s+/g, '');
      if (joined.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(joined)) throw new FieldError([notBase64]);
      return joined;
    },
  );
