import type { Request } from '../../../kernel/access/request.ts';
import type { Endpoint } from '../../../kernel/collection/endpoint.ts';
import type { Reply } from '../../../kernel/http/reply.ts';
import { escaped } from '../../../kernel/mail/letter.ts';
import { addressesOf, samlPath } from './endpoint.ts';
import { namespaces } from './xml-names.ts';

/** Algorithms that `xml-encryption` can decrypt, strongest first. */
const encryptions = [
  'http://www.w3.org/2009/xmlenc11#aes256-gcm',
  'http://www.w3.org/2009/xmlenc11#aes128-gcm',
  'http://www.w3.org/2001/04/xmlenc#aes256-cbc',
  'http://www.w3.org/2001/04/xmlenc#aes128-cbc',
  'http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p',
];

/** Returns the metadata of the service, without keys if none are configured. */
function describeService(request: Request): string {
  const { assertionConsumer, entityId, logout } = addressesOf(request);
  const { certificate } = request.app.samlKeys ?? {};
  const service = (name: string, binding: string, location: string, rest = ''): string =>
    `    <md:${name} Binding="urn:oasis:names:tc:SAML:2.0:bindings:${binding}" Location="${escaped(location)}"${rest}/>`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<md:EntityDescriptor xmlns:md="${namespaces.metadata}" xmlns:ds="${namespaces.signature}" entityID="${escaped(entityId)}">`,
    `  <md:SPSSODescriptor AuthnRequestsSigned="true" WantAssertionsSigned="true" protocolSupportEnumeration="${namespaces.protocol}">`,
    ...(certificate === undefined ? [] : [describeKey('signing', certificate), describeKey('encryption', certificate)]),
    service('SingleLogoutService', 'HTTP-Redirect', logout),
    service('SingleLogoutService', 'HTTP-POST', logout),
    service('AssertionConsumerService', 'HTTP-POST', assertionConsumer, ' index="1" isDefault="true"'),
    ...describeAttributes(request),
    '  </md:SPSSODescriptor>',
    '</md:EntityDescriptor>',
    '',
  ].join('\n');
}

function describeKey(use: 'signing' | 'encryption', certificate: string): string {
  const methods =
    use === 'encryption'
      ? encryptions.map((algorithm) => `\n      <md:EncryptionMethod Algorithm="${algorithm}"/>`).join('')
      : '';
  const info = `<ds:KeyInfo><ds:X509Data><ds:X509Certificate>${certificate}</ds:X509Certificate></ds:X509Data></ds:KeyInfo>`;
  return `    <md:KeyDescriptor use="${use}">\n      ${info}${methods}\n    </md:KeyDescriptor>`;
}

/** Returns the attributes that fill user fields. Only the username is required. */
function describeAttributes({ config }: Request): string[] {
  const mapping = Object.entries(config.saml_attribute_mapping ?? {});
  if (mapping.length === 0) return [];
  const requested = mapping.map(([name, fields]) => {
    const format = /^urn:|^https?:/.test(name) ? ' NameFormat="urn:oasis:names:tc:SAML:2.0:attrname-format:uri"' : '';
    return `      <md:RequestedAttribute Name="${escaped(name)}"${format} isRequired="${fields.includes('username')}"/>`;
  });
  return [
    '    <md:AttributeConsumingService index="1" isDefault="true">',
    `      <md:ServiceName xml:lang="en">${escaped(config.product_name)}</md:ServiceName>`,
    ...requested,
    '    </md:AttributeConsumingService>',
  ];
}

const xml = (body: string): Reply => ({
  status: 200,
  body,
  type: 'text/xml; charset=utf-8',
  headers: {},
  conditional: false,
});

/** GET /api-auth/saml2/metadata/ (services.md 11) */
export const samlMetadata: Endpoint = {
  path: `${samlPath}metadata/`,
  name: 'SAML Metadata',
  description: 'The metadata of the service for identity providers.',
  open: true,
  operations: {
    GET: {
      summary: 'Returns the metadata of the service as an XML document.',
      allowedFor: 'Any caller.',
      output: { status: 200, types: ['text/xml'] },
      handle: (request) => xml(describeService(request)),
    },
  },
};
