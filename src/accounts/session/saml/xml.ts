import { DOMParser } from '@xmldom/xmldom';
import { errorOf } from '../../../kernel/present.ts';
import { namespaces } from './xml-names.ts';

/** Thrown for a document that is not XML or of an unexpected kind. */
export class XmlError extends Error {}

/**
 * Size limits of a document. Checking signatures takes time quadratic in the number of sibling elements, and parsing takes time
 * quadratic in the number of namespaces.
 */
interface XmlLimits {
  readonly characters: number;
  readonly elements: number;
  readonly namespaces: number;
}

/** Limits of a message: several times what large organisations send, and at most a tenth of a second to check. */
export const messageLimits: XmlLimits = { characters: 192 * 1024, elements: 1500, namespaces: 1000 };
/** Limits of a logout message, which has only a few lines. Anyone can send one, even without a session. */
export const logoutLimits: XmlLimits = { ...messageLimits, elements: 300 };
/** Limits of metadata: a federation of a thousand identity providers. */
export const metadataLimits: XmlLimits = { characters: 4 * 1024 * 1024, elements: 200_000, namespaces: 20_000 };

const maxDepth = 50;
/** Average per element. */
const maxAttributesPerElement = 4;

type Namespace = keyof typeof namespaces;

/** Decodes a message and normalises its line ends (XML 1.0 2.11). Throws XmlError. */
export function decodeXml(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(/\r\n?/g, '\n');
  } catch {
    throw new XmlError('it is not UTF-8');
  }
}

/**
 * Returns the root of a document. Before parsing, rejects anything that could be expensive: document type definitions (and with
 * them entities), processing instructions, too many tags. Throws XmlError.
 */
export function parseXml(text: string, limits: XmlLimits): Element {
  rejectExcess(text, limits);
  let root: Element | null;
  try {
    root = new DOMParser({ errorHandler: rejectError }).parseFromString(text, 'text/xml').documentElement;
  } catch (error) {
    throw error instanceof XmlError ? error : new XmlError(errorOf(error).message);
  }
  if (!root) throw new XmlError('it has no root element');
  rejectTree(root, limits);
  return root;
}

/** Stops the parser, which would continue after most errors. */
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
  // In a well-formed document, these strings are declarations, or in comments or CDATA, which no real message needs.
  if (/<!doctype|<!entity/i.test(text)) reject('it has a document type definition');
  if (text.includes('<?', 1)) reject('it has processing instructions');
  // Allow two tags per element, and some comments.
  if (hasMore(text, '<', 2 * elements + 100)) reject(`it has more than ${elements} elements`);
  if (hasMore(text, 'xmlns', declarations)) reject(`it declares more than ${declarations} namespaces`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are not XML characters
  if (/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/.test(text)) reject('it has control characters');
}

function hasMore(text: string, part: string, limit: number): boolean {
  let count = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) if (++count > limit) return true;
  return false;
}

/** Limits the depth, because later readers of the tree are recursive. */
function rejectTree(root: Element, { elements }: XmlLimits): void {
  let level: Element[] = [root];
  let count = 0;
  let attributes = 0;
  for (let depth = 1; level.length > 0; depth++) {
    count += level.length;
    for (const element of level) attributes += element.attributes.length;
    if (count > elements) reject(`it has more than ${elements} elements`);
    if (attributes > elements * maxAttributesPerElement)
      reject(`it has more than ${elements * maxAttributesPerElement} attributes`);
    if (depth > maxDepth) reject(`it is nested deeper than ${maxDepth} levels`);
    level = level.flatMap((element) => elementsOf(element));
  }
}

function elementsOf(parent: Element): Element[] {
  const result: Element[] = [];
  for (let node = parent.firstChild; node; node = node.nextSibling) if (isElement(node)) result.push(node);
  return result;
}

/** Whether a node is an element (node type 1). */
export const isElement = (node: Node): node is Element => node.nodeType === 1;

/** Whether an element has this name. */
export const isNamed = (element: Element, namespace: Namespace, name: string): boolean =>
  element.localName === name && element.namespaceURI === namespaces[namespace];

/** Returns the children of an element with this name. */
export const childrenOf = (parent: Element, namespace: Namespace, name: string): Element[] =>
  elementsOf(parent).filter((element) => isNamed(element, namespace, name));

/** Returns the only child with this name; undefined if there is none. Throws XmlError if there are several. */
export function childOf(parent: Element, namespace: Namespace, name: string): Element | undefined {
  const [first, second] = childrenOf(parent, namespace, name);
  if (second) throw new XmlError(`${parent.localName} has more than one ${name}`);
  return first;
}

/** Returns all text in an element, trimmed. Comments are skipped and do not truncate it. */
export const textOf = (element: Element): string => (element.textContent ?? '').trim();

/** Returns an attribute; undefined if it is missing. */
export const attributeOf = (element: Element, name: string): string | undefined =>
  element.hasAttribute(name) ? (element.getAttribute(name) ?? undefined) : undefined;

/** Returns every element with this local name in a tree, including the root, in any namespace. */
export const everyElement = (root: Element, name: string): Element[] => [
  ...(root.localName === name ? [root] : []),
  ...Array.from(root.getElementsByTagNameNS('*', name)),
];
