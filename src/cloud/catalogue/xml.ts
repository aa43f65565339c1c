import { setImmediate as turn } from 'node:timers/promises';
import { withoutControls } from '../../kernel/control-characters.ts';

/* Answers in XML, as values like those of JSON. */

/** Most elements hold a text alone, and an answer has thousands of them. */
interface Element {
  members?: Map<string, unknown>;
  items?: unknown[];
  text: string;
}

/** Characters that are read before others get their turn. */
const portion = 16 * 1024;

/**
 * The root element of a document under its name: elements with elements in them are objects, those of `item` elements are
 * arrays, all others are texts; attributes are left out. An entity that the document itself declares is an error, so that
 * nothing grows by being read. Undefined when the text is no XML.
 */
export async function parsedXml(text: string, item: string): Promise<unknown> {
  const { parser } = (await import('sax')).default;
  const reader = parser(true, { position: false });
  const root: Element = { text: '' };
  const open: Element[] = [root];
  reader.onerror = (error) => {
    throw error;
  };
  reader.onopentag = () => open.push({ text: '' });
  reader.ontext = reader.oncdata = (part) => {
    const element = open.at(-1);
    if (element) element.text += part;
  };
  reader.onclosetag = (name) => {
    const element = open.pop();
    const parent = open.at(-1);
    if (!element || !parent) return;
    if (name === item) {
      parent.items ??= [];
      parent.items.push(readValue(element));
    } else {
      parent.members ??= new Map();
      parent.members.set(name, readValue(element));
    }
  };
  try {
    for (let at = 0; at < text.length; at += portion) {
      if (at > 0) await turn();
      reader.write(text.slice(at, at + portion));
    }
    reader.close();
  } catch {
    return undefined;
  }
  return root.members && readValue(root);
}

const readValue = ({ items, members, text }: Element): unknown =>
  items ?? (members ? Object.fromEntries(members) : withoutControls(copied(text.trim())));

/** A text of its own: a part of another one keeps all of that in memory. */
const copied = (text: string): string => Buffer.from(text).toString();
