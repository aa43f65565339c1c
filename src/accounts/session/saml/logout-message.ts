import { inflateRawSync } from 'node:zlib';
import { minute, parseDatetime } from '../../../kernel/clock.ts';
import { checkTime, clockSkew } from './assertion.ts';
import { problems, RejectedMessage } from './refused-message.ts';
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
  /** What a request asks for, undefined for responses. */
  readonly asks?: { readonly nameId: string; readonly sessionIndexes: readonly string[]; readonly expires: number };
  /** What a response answers. */
  readonly responses?: { readonly inResponseTo: string; readonly isSuccess: boolean };
}

const success = 'urn:oasis:names:tc:SAML:2.0:status:Success';
/** How long a request counts that names no end. */
const requestValidity = 10 * minute;

/** The entity id of who says to have sent a message about a logout. Throws RefusedMessage when it is none. */
export function issuerOfLogout(raw: RawMessage): string {
  const issuer = childOf(readable(raw).root, 'assertion', 'Issuer');
  if (!issuer) throw new RejectedMessage('its Issuer is not known');
  return textOf(issuer);
}

/** A message about a logout, the keys of who says to have sent it (certificates, base64), and where such messages go. */
interface Check {
  readonly raw: RawMessage;
  readonly certificates: readonly string[];
  readonly destination: string;
  readonly now: number;
}

/** Reads and checks a message about a logout. Throws RefusedMessage and errors of signatures and XML. */
export function checkLogout({ certificates, destination, now, raw }: Check): LogoutMessage {
  const root = authentic(raw, certificates);
  const id = attributeOf(root, 'ID') ?? '';
  if (id === '' || id.length > 1024) throw new RejectedMessage('it has no usable ID');
  if (attributeOf(root, 'Destination') !== destination) throw new RejectedMessage('its Destination is another one');
  if (raw.parameter === 'SAMLResponse') return { id, responses: readResponse(root) };
  return { id, asks: readRequest(root, now) };
}

/** The signed message. */
function authentic(raw: RawMessage, certificates: readonly string[]): Element {
  const { root, text } = readable(raw);
  if (raw.query !== undefined) {
    verifyQuery(raw.query, raw.parameter, certificates);
    return root;
  }
  const signed = parseXml(signedText(text, root, certificates), logoutLimits);
  if (!isMessage(signed, raw.parameter)) throw new RejectedMessage('something else is signed');
  return signed;
}

function readable({ base64, parameter, query }: RawMessage): { readonly root: Element; readonly text: string } {
  try {
    const bytes = Buffer.from(base64, 'base64');
    const text = decodeXml(query === undefined ? bytes : inflated(bytes));
    const root = parseXml(text, logoutLimits);
    if (!isMessage(root, parameter)) throw new XmlError(`it is no ${parameter} about a logout`);
    return { root, text };
  } catch (error) {
    throw error instanceof XmlError ? new RejectedMessage(error.message, problems.unreadable) : error;
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

function readResponse(root: Element): NonNullable<LogoutMessage['responses']> {
  const status = childOf(root, 'protocol', 'Status');
  const [code] = status ? everyElement(status, 'StatusCode') : [];
  return {
    inResponseTo: attributeOf(root, 'InResponseTo') ?? '',
    isSuccess: code !== undefined && attributeOf(code, 'Value') === success,
  };
}

function readRequest(root: Element, now: number): NonNullable<LogoutMessage['asks']> {
  const name = childOf(root, 'assertion', 'NameID');
  if (!name) throw new RejectedMessage('it names nobody');
  const issued = parseDatetime(attributeOf(root, 'IssueInstant') ?? '') ?? 0;
  const end = attributeOf(root, 'NotOnOrAfter') === undefined ? issued + requestValidity : checkTime(root, now);
  if (now >= end + clockSkew) throw new RejectedMessage('it has expired');
  return {
    nameId: textOf(name),
    sessionIndexes: childrenOf(root, 'protocol', 'SessionIndex').map(textOf),
    expires: end + clockSkew,
  };
}
