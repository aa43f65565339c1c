import { DOMParser } from '@xmldom/xmldom';
import { errorOf } from '../../../kernel/present.ts';
import { namespaces } from './xml-names.ts';

/** A document that is no XML, or not what was expected; `message` says why. */
export class XmlError extends Error {}

/**
 * How large a document may be. What checks signatures takes a time that grows with the square of the elements beside each
 * other, and the parser with that of the namespaces.
 */
interface XmlLimits {
  readonly characters: number;
  readonly elements: number;
  readonly namespaces: number;
}

/** Bounds of a message: several times what large organisations send, and at worst a tenth of a second to check. */
export const messageLimits: XmlLimits = { characters: 192 * 1024, elements: 1500, namespaces: 1000 };
/** Bounds of a message about a logout, which is a few lines: nothing of a session must be known to send one. */
export const logoutLimits: XmlLimits = { ...messageLimits, elements: 300 };
/** Bounds of metadata: a federation of a thousand identity providers. */
export const metadataLimits: XmlLimits = { characters: 4 * 1024 * 1024, elements: 200_000, namespaces: 20_000 };

const deepest = 50;
/** On average. */
const attributesAnElement = 4;

type Namespace = keyof typeof namespaces;

/** Bytes of a message as text, with the line ends that XML counts (XML 1.0 2.11). Throws XmlError. */
export function decodeXml(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(/\r\n?/g, '\n');
  } catch {
    throw new XmlError('it is not UTF-8');
  }
}

/**
 * The root of a document. Whatever could cost more than reading it is refused before it is parsed: document type
 * definitions and so entities, processing instructions, too many tags. Throws XmlError.
 */
export function parseXml(text: string, limits: XmlLimits): Element {
  rejectExcess(text, limits);
  let root: Element | null;
  try {
    root = new DOMParser({ errorHandler: rejectError }).parseFromString(text, 'text/xml').documentElement;
  } catch (error) {
    throw error instanceof XmlError ? error : new XmlError(errorOf(error).message);
  }
  if (!root) throw new XmlError('it has no root');
  rejectTree(root, limits);
  return root;
}

/** The parser would go on after most of its errors. */
const rejectError = (_level: string, message: unknown): never =>
  reject(
    `it is no XML: ${String(message)
      .replace(/\n.*$/s, '')
      .replace(/^.*it is no XML: |^\[[^\]]*\]\s*/, '')}`,
  );

function reject(message: string): never {
  throw new XmlError(message.slice(0, 200));
}

function rejectExcess(text: string, { characters, elements, namespaces: declarations }: XmlLimits): void {
  if (text.length > characters) reject(`it has more than ${characters} characters`);
  // Neither stands in a well-formed document but as what it is, or inside of a comment or CDATA, which nobody misses.
  if (/<!doctype|<!entity/i.test(text)) reject('it has a document type definition');
  if (text.includes('<?', 1)) reject('it has processing instructions');
  // Two tags an element, and some comments.
  if (hasMore(text, '<', 2 * elements + 100)) reject(`it has more than ${elements} elements`);
  if (hasMore(text, 'xmlns', declarations)) reject(`it declares more than ${declarations} namespaces`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are no characters of XML
  if (/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/.test(text)) reject('it has control characters');
}

function hasMore(text: string, part: string, limit: number): boolean {
  let count = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) if (++count > limit) return true;
  return false;
}

/** What reads the tree later calls itself for every level of it. */
function rejectTree(root: Element, { elements }: XmlLimits): void {
  let level: Element[] = [root];
  let count = 0;
  let attributes = 0;
  for (let depth = 1; level.length > 0; depth++) {
    count += level.length;
    for (const element of level) attributes += element.attributes.length;
    if (count > elements) reject(`it has more than ${elements} elements`);
    if (attributes > elements * attributesAnElement)
      reject(`it has more than ${elements * attributesAnElement} attributes`);
    if (depth > deepest) reject(`it is nested deeper than ${deepest} levels`);
    level = level.flatMap((element) => elementsOf(element));
  }
}

function elementsOf(parent: Element): Element[] {
  const result: Element[] = [];
  for (let node = parent.firstChild; node; node = node.nextSibling) if (isElement(node)) result.push(node);
  return result;
}

/** Whether a node is an element: of all kinds of nodes these alone have the type 1. */
export const isElement = (node: Node): node is Element => node.nodeType === 1;

/** Whether an element has this name. */
export const isNamed = (element: Element, namespace: Namespace, name: string): boolean =>
  element.localName === name && element.namespaceURI === namespaces[namespace];

/** The children of an element with this name. */
export const childrenOf = (parent: Element, namespace: Namespace, name: string): Element[] =>
  elementsOf(parent).filter((element) => isNamed(element, namespace, name));

/** The only child of this name; undefined when there is none. Throws XmlError when there are more. */
export function childOf(parent: Element, namespace: Namespace, name: string): Element | undefined {
  const [first, second] = childrenOf(parent, namespace, name);
  if (second) throw new XmlError(`${parent.localName} has more than one ${name}`);
  return first;
}

/** All text inside of an element, trimmed; comments in between are left out and cut nothing off. */
export const textOf = (element: Element): string => (element.textContent ?? '').trim();

/** An attribute; undefined when it is not there. */
export const attributeOf = (element: Element, name: string): string | undefined =>
  element.hasAttribute(name) ? (element.getAttribute(name) ?? undefined) : undefined;

/** Every element with this local name in a tree, the root included, whatever its namespace. */
export const everyElement = (root: Element, name: string): Element[] => [
  ...(root.localName === name ? [root] : []),
  ...Array.from(root.getElementsByTagNameNS('*', name)),
];
