import { minute, parseDatetime } from '../../../kernel/clock.ts';
import { RejectedMessage } from './rejected-message.ts';
import type { Subject } from './sessions.ts';
import { attributeOf, childOf, childrenOf, isNamed, textOf } from './xml.ts';

/** An identity provider's assertion about the user who logs in. */
export interface Assertion extends Subject {
  readonly id: string;
  /** First values of the attributes, by name. */
  readonly attributes: ReadonlyMap<string, string>;
  /** When the assertion becomes invalid. */
  readonly expires: number;
}

/** The required values of an assertion for this login. */
interface Expectation {
  readonly issuer: string;
  readonly entityId: string;
  readonly assertionConsumer: string;
  readonly requestId: string;
  readonly now: number;
}

/** Allowed clock difference between the identity provider and the service. */
export const clockSkew = 2 * minute;

const bearer = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';
/** Generous, because the standard limits a persistent name to 256. */
const maxNameLength = 1024;

/** Reads a signed assertion. Throws RejectedMessage if it is not valid for this login at this time. */
export function readAssertion(root: Element, expected: Expectation): Assertion {
  if (!isNamed(root, 'assertion', 'Assertion') || attributeOf(root, 'Version') !== '2.0')
    throw new RejectedMessage('it is not a SAML 2.0 assertion');
  const id = bounded(attributeOf(root, 'ID') ?? '', 'ID');
  if (id === '') throw new RejectedMessage('the assertion has no ID');
  const issuer = childOf(root, 'assertion', 'Issuer');
  if (!issuer || textOf(issuer) !== expected.issuer) throw new RejectedMessage('the assertion is from another issuer');
  const conditionsEnd = checkConditions(root, expected);
  const subject = childOf(root, 'assertion', 'Subject');
  if (!subject) throw new RejectedMessage('the assertion has no subject');
  const subjectEnd = checkConfirmation(subject, expected);
  const [statement] = childrenOf(root, 'assertion', 'AuthnStatement');
  if (!statement) throw new RejectedMessage('the assertion has no login statement');
  const name = childOf(subject, 'assertion', 'NameID');
  const part = (attribute: string): string | null => (name && attributeOf(name, attribute)) || null;
  return {
    id,
    nameId: (name && bounded(textOf(name), 'NameID')) || null,
    nameIdFormat: part('Format'),
    nameQualifier: part('NameQualifier'),
    spNameQualifier: part('SPNameQualifier'),
    sessionIndex: attributeOf(statement, 'SessionIndex') || null,
    attributes: attributesOf(root),
    expires: Math.min(conditionsEnd, subjectEnd) + clockSkew,
  };
}

/** Checks audience and time. Returns when the validity ends. */
function checkConditions(root: Element, { entityId, now }: Expectation): number {
  const conditions = childOf(root, 'assertion', 'Conditions');
  if (!conditions) throw new RejectedMessage('the assertion has no conditions');
  const restrictions = childrenOf(conditions, 'assertion', 'AudienceRestriction');
  const isOurs = (restriction: Element): boolean =>
    childrenOf(restriction, 'assertion', 'Audience').some((audience) => textOf(audience) === entityId);
  if (restrictions.length === 0 || !restrictions.every(isOurs))
    throw new RejectedMessage('the assertion is for another audience');
  return checkTime(conditions, now);
}

/** Throws RejectedMessage outside the range from NotBefore to NotOnOrAfter, allowing for clock skew. Returns NotOnOrAfter. */
export function checkTime(element: Element, now: number): number {
  const start = instantOf(element, 'NotBefore');
  const end = instantOf(element, 'NotOnOrAfter');
  if (end === undefined) throw new RejectedMessage(`${element.localName} has no end`);
  if (start !== undefined && now < start - clockSkew)
    throw new RejectedMessage(`${element.localName} is not valid yet`);
  if (now >= end + clockSkew) throw new RejectedMessage(`${element.localName} has expired`);
  return end;
}

function instantOf(element: Element, name: string): number | undefined {
  const text = attributeOf(element, name);
  const instant = text === undefined ? undefined : parseDatetime(text);
  if (text !== undefined && instant === undefined) throw new RejectedMessage(`${name} is not a valid time`);
  return instant;
}

/** Checks that the subject is confirmed for the bearer, this request and this recipient. Returns when the confirmation ends. */
function checkConfirmation(subject: Element, { assertionConsumer, now, requestId }: Expectation): number {
  const data = childrenOf(subject, 'assertion', 'SubjectConfirmation')
    .filter((confirmation) => attributeOf(confirmation, 'Method') === bearer)
    .flatMap((confirmation) => childrenOf(confirmation, 'assertion', 'SubjectConfirmationData'));
  const own = data.find(
    (item) => attributeOf(item, 'Recipient') === assertionConsumer && attributeOf(item, 'InResponseTo') === requestId,
  );
  if (!own) throw new RejectedMessage('the assertion is for another request or recipient');
  return checkTime(own, now);
}

function attributesOf(root: Element): Map<string, string> {
  const attributes = new Map<string, string>();
  const statements = childrenOf(root, 'assertion', 'AttributeStatement');
  for (const attribute of statements.flatMap((statement) => childrenOf(statement, 'assertion', 'Attribute'))) {
    const name = attributeOf(attribute, 'Name') ?? '';
    const [value] = childrenOf(attribute, 'assertion', 'AttributeValue');
    if (value && !attributes.has(name)) attributes.set(name, textOf(value));
  }
  return attributes;
}

/** Throws RejectedMessage for an implausible name. */
function bounded(text: string, label: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: written as character references they pass a parser
  if (text.length > maxNameLength || /[\0-\x1f\x7f]/.test(text))
    throw new RejectedMessage(`${label} is too long or has control characters`);
  return text;
}
