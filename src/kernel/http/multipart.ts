import { isUtf8 } from 'node:buffer';
import { nextSlice } from '../next-turn.ts';

/*
 * Forms as multipart/form-data (RFC 7578). Names, file names and values without an explicit charset are UTF-8.
 */

/** A file of a multipart body. */
export class UploadedFile {
  constructor(
    readonly name: string,
    readonly type: string,
    readonly content: Buffer,
  ) {}
}

/** A field or a file of a form, with its name. */
export type Pair = readonly [name: string, value: string | UploadedFile];

const maxFields = 2000;
const maxFiles = 10;
const maxHeaderBytes = 16 * 1024;
/** RFC 2046 5.1.1. */
const maxBoundaryLength = 70;
/** Number of parts read in one slice, about a millisecond of work. */
const partsPerSlice = 200;

const lineBreak = '\r\n';
const headEnd = Buffer.from('\r\n\r\n');

/**
 * Reads the parts of a form in slices, between which other requests run. `add` receives each part and may
 * throw. Rejects with an Error that describes the error in the form, and with what `add` throws.
 */
export async function readMultipart(content: Buffer, contentType: string, add: (pair: Pair) => void): Promise<void> {
  const boundary = parametersOf(contentType).get('boundary') ?? '';
  if (boundary === '' || boundary.length > maxBoundaryLength) throw new Error('the boundary is missing or too long');
  const delimiter = Buffer.from(`${lineBreak}--${boundary}`, 'latin1');
  let [fields, files] = [0, 0];
  for (let count = 0, offset = startOf(content, delimiter); ; count++) {
    if (count > 0 && count % partsPerSlice === 0) await nextSlice();
    const start = afterDelimiter(content, offset);
    if (start === undefined) return;
    offset = content.indexOf(delimiter, start);
    if (offset < 0) throw new Error('unexpected end of the form');
    const [name, value] = readPart(content.subarray(start, offset));
    if (value instanceof UploadedFile ? ++files > maxFiles : ++fields > maxFields)
      throw new Error(`more than ${maxFields} fields or ${maxFiles} files`);
    // A file input without a chosen file sends a file without a name and without bytes.
    if (!(value instanceof UploadedFile) || value.name !== '' || value.content.length > 0) add([name, value]);
    offset += delimiter.length;
  }
}

/** Returns the end of the first delimiter, which needs no line break before it. Throws if there is none. */
function startOf(content: Buffer, delimiter: Buffer): number {
  const first = delimiter.subarray(lineBreak.length);
  if (content.subarray(0, first.length).equals(first)) return first.length;
  const offset = content.indexOf(delimiter);
  if (offset < 0) throw new Error('unexpected end of the form');
  return offset + delimiter.length;
}

/** Returns the position of the line break after a delimiter; undefined after the last one. Throws if anything else follows. */
function afterDelimiter(content: Buffer, offset: number): number | undefined {
  if (content.toString('latin1', offset, offset + 2) === '--') return undefined;
  let start = offset;
  while (content[start] === 0x20 || content[start] === 0x09) start++;
  if (content.toString('latin1', start, start + 2) === lineBreak) return start;
  throw new Error(start >= content.length ? 'unexpected end of the form' : 'malformed delimiter');
}

/** Reads a part, from the line break before its headers. */
function readPart(part: Buffer): Pair {
  const end = part.indexOf(headEnd);
  if (end < 0) throw new Error('a part without headers');
  if (end > maxHeaderBytes) throw new Error('the headers of a part are too large');
  const headers = headersOf(decoded(part.subarray(0, end)));
  const content = part.subarray(end + headEnd.length);
  const disposition = headers.get('content-disposition') ?? '';
  const parameters = parametersOf(disposition);
  const name = parameters.get('name');
  if (name === undefined || !/^form-data\s*(;|$)/i.test(disposition))
    throw new Error('a part without "Content-Disposition: form-data" and a name');
  const input = headers.get('content-type') ?? 'text/plain';
  const type = (input.split(';', 1)[0] ?? '').trim().toLowerCase();
  const fileName = parameters.get('filename');
  if (fileName !== undefined || type === 'application/octet-stream')
    return [name, new UploadedFile(fileName?.replace(/^.*[/\\]/s, '') ?? '', type, content)];
  return [name, decoded(content, input.includes(';') ? parametersOf(input).get('charset') : undefined)];
}

/** The headers of a part by their names in lower case. */
function headersOf(head: string): Map<string, string> {
  const headers = new Map<string, string>();
  for (const line of head
    .replace(/\r\n[ \t]+/g, ' ')
    .split(lineBreak)
    .slice(1)) {
    const colon = line.indexOf(':');
    if (colon < 1 || /[\r\n]/.test(line)) throw new Error('malformed header of a part');
    headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
  return headers;
}

/** Parameters of a header: quoted, unquoted, or with a charset (RFC 5987), which some clients use for non-ASCII text. */
function parametersOf(header: string): Map<string, string> {
  const parameters = new Map<string, string>();
  for (const [, name = '', quoted, plain = ''] of header.matchAll(
    /;\s*([^=;\s"]+)=(?:"((?:\\.|[^"\\])*)"|([^;]*))/gs,
  )) {
    // A backslash before any other character belongs to the path of a file.
    const value = quoted?.replace(/\\(["\\])/g, '$1') ?? plain.trim();
    const extended = name.endsWith('*') ? /^([^']*)'[^']*'(.*)$/s.exec(value) : null;
    const key = name.toLowerCase().replace(/\*$/, '');
    if (extended) parameters.set(key, percentDecoded(extended[2] ?? '', extended[1]));
    else if (!parameters.has(key)) parameters.set(key, value);
  }
  return parameters;
}

const percentDecoded = (text: string, charset: string | undefined): string =>
  decoded(
    Buffer.from(
      text.replace(/%([\da-f]{2})/gi, (_, digits) => String.fromCharCode(Number.parseInt(digits, 16))),
      'latin1',
    ),
    charset,
  );

/** Decodes bytes. Throws if they are invalid in this charset. */
function decoded(bytes: Buffer, charset = 'utf-8'): string {
  if (/^utf-?8$/i.test(charset)) {
    if (isUtf8(bytes)) return bytes.toString('utf8');
    throw new Error('invalid UTF-8');
  }
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes);
  } catch {
    throw new Error(`text that is not in its charset "${charset}"`);
  }
}
