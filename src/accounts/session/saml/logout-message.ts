import { inflateRawSync } from 'node:zlib';
import { minute, parseDatetime } from '../../../kernel/clock.ts';
import { checkTime, clockSkew } from './assertion.ts';
import { problems, RejectedMessage } from './rejected-message.ts';
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

/** A received logout message: compressed in a query with a detached signature, or posted. */
export interface RawMessage {
  readonly parameter: 'SAMLRequest' | 'SAMLResponse';
  readonly base64: string;
  /** The query string as received; undefined if the message was posted. */
  readonly query: string | undefined;
}

/** A verified logout request or response. */
export interface LogoutMessage {
  readonly id: string;
  readonly request?: { readonly nameId: string; readonly sessionIndexes: readonly string[]; readonly expires: number };
  readonly response?: { readonly inResponseTo: string; readonly isSuccess: boolean };
}

const success = 'urn:oasis:names:tc:SAML:2.0:status:Success';
/** Validity of a request that does not specify it. */
const requestValidity = 10 * minute;

/** Returns the claimed sender of a logout message. Throws RejectedMessage. */
export function issuerOfLogout(raw: RawMessage): string {
  const issuer = childOf(parseMessage(raw).root, 'assertion', 'Issuer');
  if (!issuer) throw new RejectedMessage('its Issuer is not known');
  return textOf(issuer);
}

/** A logout message, the certificates (base64) of its claimed sender, and the service's URL for such messages. */
interface LogoutCheck {
  readonly raw: RawMessage;
  readonly certificates: readonly string[];
  readonly destination: string;
  readonly now: number;
}

/** Parses and verifies a logout message. Throws RejectedMessage, SignatureError and XmlError. */
export function checkLogout({ certificates, destination, now, raw }: LogoutCheck): LogoutMessage {
  const root = verifiedRoot(raw, certificates);
  const id = attributeOf(root, 'ID') ?? '';
  if (id === '' || id.length > 1024) throw new RejectedMessage('it has no usable ID');
  if (attributeOf(root, 'Destination') !== destination) throw new RejectedMessage('its Destination is a different URL');
  if (raw.parameter === 'SAMLResponse') return { id, response: readResponse(root) };
  return { id, request: readRequest(root, now) };
}

/** Returns the signed message. */
function verifiedRoot(raw: RawMessage, certificates: readonly string[]): Element {
  const { root, text } = parseMessage(raw);
  if (raw.query !== undefined) {
    verifyQuery(raw.query, raw.parameter, certificates);
    return root;
  }
  const signed = parseXml(signedText(text, root, certificates), logoutLimits);
  if (!isMessage(signed, raw.parameter)) throw new RejectedMessage('the signature covers a different element');
  return signed;
}

function parseMessage({ base64, parameter, query }: RawMessage): { readonly root: Element; readonly text: string } {
  try {
    const bytes = Buffer.from(base64, 'base64');
    const text = decodeXml(query === undefined ? bytes : inflate(bytes));
    const root = parseXml(text, logoutLimits);
    if (!isMessage(root, parameter)) throw new XmlError(`it is not a logout ${parameter}`);
    return { root, text };
  } catch (error) {
    throw error instanceof XmlError ? new RejectedMessage(error.message, problems.unreadable) : error;
  }
}

const isMessage = (root: Element, parameter: RawMessage['parameter']): boolean =>
  isNamed(root, 'protocol', parameter === 'SAMLRequest' ? 'LogoutRequest' : 'LogoutResponse');

function inflate(bytes: Buffer): Buffer {
  try {
    return inflateRawSync(bytes, { maxOutputLength: logoutLimits.characters });
  } catch {
    throw new XmlError('it cannot be inflated, or is too large');
  }
}

function readResponse(root: Element): NonNullable<LogoutMessage['response']> {
  const status = childOf(root, 'protocol', 'Status');
  const [code] = status ? everyElement(status, 'StatusCode') : [];
  return {
    inResponseTo: attributeOf(root, 'InResponseTo') ?? '',
    isSuccess: code !== undefined && attributeOf(code, 'Value') === success,
  };
}

function readRequest(root: Element, now: number): NonNullable<LogoutMessage['request']> {
  const name = childOf(root, 'assertion', 'NameID');
  if (!name) throw new RejectedMessage('it has no subject');
  const issued = parseDatetime(attributeOf(root, 'IssueInstant') ?? '') ?? 0;
  const end = attributeOf(root, 'NotOnOrAfter') === undefined ? issued + requestValidity : checkTime(root, now);
  if (now >= end + clockSkew) throw new RejectedMessage('it has expired');
  return {
    nameId: textOf(name),
    sessionIndexes: childrenOf(root, 'protocol', 'SessionIndex').map(textOf),
    expires: end + clockSkew,
  };
}
