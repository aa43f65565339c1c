import { X509Certificate } from 'node:crypto';
import { parseDatetime } from '../../../kernel/clock.ts';
import { urlOf } from '../../../kernel/url.ts';
import type { IdentityProvider } from './identity-providers.ts';
import { signedText } from './signatures.ts';
import {
  attributeOf,
  childOf,
  childrenOf,
  decodeXml,
  everyElement,
  isNamed,
  metadataLimits,
  parseXml,
  textOf,
  XmlError,
} from './xml.ts';
import { namespaces } from './xml-names.ts';

const redirectBinding = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect';
const maxEntityIdLength = 1024;
const maxNameLength = 250;
const maxKeys = 10;

/** A metadata document, the certificate (base64) that must have signed it, if required, and the current time. */
interface Metadata {
  readonly bytes: Uint8Array;
  readonly signer: string | undefined;
  readonly now: number;
}

/** Parses the identity providers of a metadata document. Throws XmlError or SignatureError. */
export function readMetadata({ bytes, now, signer }: Metadata): IdentityProvider[] {
  const text = decodeXml(bytes);
  const document = parseXml(text, metadataLimits);
  const root = signer === undefined ? document : parseXml(signedText(text, document, [signer]), metadataLimits);
  if (!isNamed(root, 'metadata', 'EntitiesDescriptor') && !isNamed(root, 'metadata', 'EntityDescriptor'))
    throw new XmlError('it is not SAML 2.0 metadata');
  rejectExpired(root, now);
  const entities = everyElement(root, 'EntityDescriptor').filter(
    (element) => element.namespaceURI === namespaces.metadata,
  );
  const providers = new Map(
    entities.flatMap((entity) => readEntity(entity, now)).map((provider) => [provider.entityId, provider]),
  );
  if (providers.size === 0) throw new XmlError('it has no identity provider with a signing key');
  return [...providers.values()];
}

function rejectExpired(element: Element, now: number): void {
  if (isExpired(element, now)) throw new XmlError('it is no longer valid');
}

function isExpired(element: Element, now: number): boolean {
  const until = attributeOf(element, 'validUntil');
  return until !== undefined && (parseDatetime(until) ?? 0) <= now;
}

/** Returns the identity provider of an entity; none for services and unusable entities. */
function readEntity(entity: Element, now: number): IdentityProvider[] {
  const entityId = attributeOf(entity, 'entityID') ?? '';
  const role = childrenOf(entity, 'metadata', 'IDPSSODescriptor').find(supportsSaml2);
  if (!role || entityId === '' || entityId.length > maxEntityIdLength || isExpired(entity, now) || isExpired(role, now))
    return [];
  const certificates = signingCertificates(role);
  if (certificates.length === 0) return [];
  const logout = redirectService(role, 'SingleLogoutService');
  return [
    {
      entityId,
      name: displayName(entity, role) ?? entityId,
      loginUrl: webAddress(redirectService(role, 'SingleSignOnService'), 'Location'),
      logoutUrl: webAddress(logout, 'Location'),
      logoutResponseUrl: webAddress(logout, 'ResponseLocation'),
      certificates,
    },
  ];
}

const supportsSaml2 = (role: Element): boolean =>
  (attributeOf(role, 'protocolSupportEnumeration') ?? '').split(/\s+/).includes(namespaces.protocol);

const redirectService = (role: Element, name: string): Element | undefined =>
  childrenOf(role, 'metadata', name).find((service) => attributeOf(service, 'Binding') === redirectBinding);

/** Returns the http or https URL to which a service redirects browsers. */
function webAddress(service: Element | undefined, attribute: string): string | null {
  const url = urlOf((service && attributeOf(service, attribute)) ?? '');
  return url && /^https?:$/.test(url.protocol) ? url.href : null;
}

/** Returns the display name of the identity provider or of its organisation, preferably in English. */
function displayName(entity: Element, role: Element): string | undefined {
  const extensions = childOf(role, 'metadata', 'Extensions');
  const displayed = (extensions ? childrenOf(extensions, 'display', 'UIInfo') : []).flatMap((info) =>
    childrenOf(info, 'display', 'DisplayName'),
  );
  const organization = childOf(entity, 'metadata', 'Organization');
  const named = organization
    ? [
        ...childrenOf(organization, 'metadata', 'OrganizationDisplayName'),
        ...childrenOf(organization, 'metadata', 'OrganizationName'),
      ]
    : [];
  for (const names of [displayed, named]) {
    const english = names.find((name) => attributeOf(name, 'xml:lang')?.toLowerCase().startsWith('en'));
    const name = textOf(english ?? names[0] ?? entity.ownerDocument.createElement('none'));
    if (name !== '') return [...name.replace(/\s+/g, ' ')].slice(0, maxNameLength).join('');
  }
  return undefined;
}

function signingCertificates(role: Element): string[] {
  const keys = childrenOf(role, 'metadata', 'KeyDescriptor').filter(
    (key) => (attributeOf(key, 'use') ?? 'signing') === 'signing',
  );
  const result = keys
    .flatMap((key) => everyElement(key, 'X509Certificate'))
    .map((element) => textOf(element).replace(/\s+/g, ''));
  return [...new Set(result.filter(isRsaCertificate))].slice(0, maxKeys);
}

function isRsaCertificate(base64: string): boolean {
  try {
    return new X509Certificate(Buffer.from(base64, 'base64')).publicKey.asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}
