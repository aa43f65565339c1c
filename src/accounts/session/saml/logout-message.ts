import { inflateRawSync } from 'node:zlib';
import type { Request } from '../../../kernel/access/request.ts';
import { minute } from '../../../kernel/clock.ts';
import { parseDatetime } from '../../../kernel/collection/datetime.ts';
import { addressesOf } from './addresses.ts';
import { checkTime, clockSkew } from './assertion.ts';
import { findIdentityProvider, type IdentityProvider } from './identity-providers.ts';
import { problems, RefusedMessage } from './outcome.ts';
import { signedText, verifyQuery } from './signatures.ts';
import {
  attributeOf,
  childOf,
  childrenOf,
  decodeXml,
  everyElement,
  isNamed,
  logoutLimits,
  parseXml,
  textOf,
  XmlError,
} from './xml.ts';

/** A message about a logout as it came in: in the query, compressed, with its signature beside it, or posted. */
export interface RawMessage {
  readonly parameter: 'SAMLRequest' | 'SAMLResponse';
  readonly base64: string;
  /** The query as it was written; undefined: it was posted. */
  readonly query: string | undefined;
}

/** A message that its identity provider has signed and sent to us. */
export interface LogoutMessage {
  readonly id: string;
  readonly provider: IdentityProvider;
  /** What a request asks for, undefined for responses. */
  readonly asks?: { readonly nameId: string; readonly sessionIndexes: readonly string[]; readonly expires: number };
  /** What a response answers. */
  readonly answers?: { readonly inResponseTo: string; readonly isSuccess: boolean };
}

const success = 'urn:oasis:names:tc:SAML:2.0:status:Success';
/** How long a request counts that names no end. */
const requestValidity = 10 * minute;

/** Reads and checks a message about a logout. Throws RefusedMessage and errors of signatures and XML. */
export function readLogoutMessage(request: Request, raw: RawMessage): LogoutMessage {
  const { provider, root } = authentic(request, raw);
  const id = attributeOf(root, 'ID') ?? '';
  if (id === '' || id.length > 1024) throw new RefusedMessage('it has no usable ID');
  if (attributeOf(root, 'Destination') !== addressesOf(request).logout)
    throw new RefusedMessage('its Destination is another one');
  if (raw.parameter === 'SAMLResponse') return { id, provider, answers: readAnswer(root) };
  return { id, provider, asks: readRequest(root, request.now) };
}

/** The signed message and who signed it. */
function authentic(request: Request, raw: RawMessage): { readonly root: Element; readonly provider: IdentityProvider } {
  const { root, text } = readable(raw);
  const issuer = childOf(root, 'assertion', 'Issuer');
  const provider = issuer && findIdentityProvider(request.db, textOf(issuer));
  if (!provider) throw new RefusedMessage('its Issuer is not known');
  if (raw.query !== undefined) {
    verifyQuery(raw.query, raw.parameter, provider.certificates);
    return { root, provider };
  }
  const signed = parseXml(signedText(text, root, provider.certificates), logoutLimits);
  if (!isMessage(signed, raw.parameter)) throw new RefusedMessage('something else is signed');
  return { root: signed, provider };
}

function readable({ base64, parameter, query }: RawMessage): { readonly root: Element; readonly text: string } {
  try {
    const bytes = Buffer.from(base64, 'base64');
    const text = decodeXml(query === undefined ? bytes : inflated(bytes));
    const root = parseXml(text, logoutLimits);
    if (!isMessage(root, parameter)) throw new XmlError(`it is no ${parameter} about a logout`);
    return { root, text };
  } catch (error) {
    throw error instanceof XmlError ? new RefusedMessage(error.message, problems.unreadable) : error;
  }
}

const isMessage = (root: Element, parameter: RawMessage['parameter']): boolean =>
  isNamed(root, 'protocol', parameter === 'SAMLRequest' ? 'LogoutRequest' : 'LogoutResponse');

function inflated(bytes: Buffer): Buffer {
  try {
    return inflateRawSync(bytes, { maxOutputLength: logoutLimits.characters });
  } catch {
    throw new XmlError('it cannot be inflated, or is too large');
  }
}

function readAnswer(root: Element): NonNullable<LogoutMessage['answers']> {
  const status = childOf(root, 'protocol', 'Status');
  const [code] = status ? everyElement(status, 'StatusCode') : [];
  return {
    inResponseTo: attributeOf(root, 'InResponseTo') ?? '',
    isSuccess: code !== undefined && attributeOf(code, 'Value') === success,
  };
}

function readRequest(root: Element, now: number): NonNullable<LogoutMessage['asks']> {
  const name = childOf(root, 'assertion', 'NameID');
  if (!name) throw new RefusedMessage('it names nobody');
  const issued = parseDatetime(attributeOf(root, 'IssueInstant') ?? '') ?? 0;
  const end = attributeOf(root, 'NotOnOrAfter') === undefined ? issued + requestValidity : checkTime(root, now);
  if (now >= end + clockSkew) throw new RefusedMessage('it has expired');
  return {
    nameId: textOf(name),
    sessionIndexes: childrenOf(root, 'protocol', 'SessionIndex').map(textOf),
    expires: end + clockSkew,
  };
}
