import { StringDecoder } from 'node:string_decoder';
import { withoutControls } from '../../kernel/control-characters.ts';
import { nextTurn } from '../../kernel/next-turn.ts';

/* Parses XML responses into JSON-like values. */

/** Most elements contain only text, and a response has thousands of them. */
class Element {
  members: Map<string, unknown> | undefined = undefined;
  items: unknown[] | undefined = undefined;
  text = '';
}

/** Number of bytes to parse before yielding the event loop. */
const bytesPerSlice = 16 * 1024;

/**
 * Parses a UTF-8 document. Returns the root element under its name; undefined for invalid XML. Elements with child elements
 * become objects, or arrays if the children are named `item`; all others become strings. Ignores attributes. Rejects entities
 * declared in the document, which could expand without limit.
 */
export async function parsedXml(document: Buffer, item: string): Promise<unknown> {
  const { parser } = (await import('sax')).default;
  const reader = parser(true, { position: false });
  const root = new Element();
  const open: Element[] = [root];
  reader.onerror = (error) => {
    throw error;
  };
  reader.onopentag = () => open.push(new Element());
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
    // Parse in pieces: the entire text would be a large object that stays in memory until a full garbage collection.
    const decoder = new StringDecoder('utf8');
    for (let offset = 0; offset < document.length; offset += bytesPerSlice) {
      if (offset > 0) await nextTurn();
      reader.write(decoder.write(document.subarray(offset, offset + bytesPerSlice)));
    }
    reader.write(decoder.end());
    reader.close();
  } catch {
    return undefined;
  }
  const { members } = root;
  // The parser may stay in memory until it is collected; its content must not.
  root.members = undefined;
  open.length = 0;
  return members && Object.fromEntries(members);
}

const readValue = ({ items, members, text }: Element): unknown =>
  items ?? (members ? Object.fromEntries(members) : withoutControls(copied(text.trim())));

/** Copies a string, because a substring keeps the entire original in memory. */
const copied = (text: string): string => Buffer.from(text).toString();
