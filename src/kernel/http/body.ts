import { errorOf } from '../present.ts';
import { HttpError, invalidRequest } from './error.ts';

/** A file of a multipart body. */
export class UploadedFile {
  constructor(
    readonly name: string,
    readonly type: string,
    readonly content: Buffer,
  ) {}
}

/** The members of a request body. In a form every value is text, a file, or a list of them when the field is repeated. */
export interface Body {
  readonly form: boolean;
  readonly values: Readonly<Record<string, unknown>>;
}

const deepest = 64;
const nothing: Body = { form: false, values: {} };

/** Reads a complete body. Throws (or rejects) 415, 400 as core.md 1.3 says. Only multipart is asynchronous. */
export function parseBody(content: Buffer, contentType: string | undefined): Body | Promise<Body> {
  if (content.length === 0) return nothing;
  const named = contentType ?? '';
  const type = named.split(';', 1)[0]?.trim().toLowerCase();
  switch (type) {
    case 'application/json':
      return { form: false, values: parseJson(content) };
    case 'application/x-www-form-urlencoded':
      return { form: true, values: gather(new URLSearchParams(decode(content))) };
    case 'multipart/form-data':
      return parseMultipart(content, named);
    default:
      throw new HttpError(415, { detail: `Unsupported media type "${named}" in request.` });
  }
}

function parseJson(content: Buffer): Record<string, unknown> {
  const text = decode(content);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw parseError(errorOf(error).message);
  }
  rejectDepth(value);
  if (value === null) throw invalidRequest('No data provided');
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw invalidRequest(`Invalid data. Expected a dictionary, but got ${kindName(value)}.`);
  }
  // A null prototype: a key such as "__proto__" or "constructor" is data here, never a way into the program.
  return Object.assign(Object.create(null), value);
}

/** The name existing clients know for the kind of a JSON value. */
export function kindName(value: unknown): string {
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'string') return 'str';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'float';
  return value === null ? 'NoneType' : 'dict';
}

function decode(content: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    throw parseError('invalid UTF-8');
  }
}

const parseError = (text: string): HttpError => new HttpError(400, { detail: `JSON parse error - ${text}` });

/** Throws 400 for JSON nested deeper than anything the API knows; walks without recursion. */
function rejectDepth(value: unknown): void {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > deepest) throw parseError(`nested deeper than ${deepest} levels`);
    const next: unknown[] = [];
    for (const item of level) {
      if (typeof item !== 'object' || item === null) continue;
      for (const member of Array.isArray(item) ? item : Object.values(item)) {
        if (typeof member === 'object' && member !== null) next.push(member);
      }
    }
    level = next;
  }
}

function gather(pairs: Iterable<readonly [string, unknown]>): Record<string, unknown> {
  const values: Record<string, unknown> = Object.create(null);
  for (const [name, value] of pairs) {
    const present = values[name];
    if (present === undefined) values[name] = value;
    else if (Array.isArray(present)) present.push(value);
    else values[name] = [present, value];
  }
  return values;
}

async function parseMultipart(content: Buffer, contentType: string): Promise<Body> {
  // Loaded when it is first needed: most deployments start and never see such a body.
  const { Busboy } = await import('@fastify/busboy');
  return new Promise((resolve, reject) => {
    const malformed = (error: unknown): void =>
      reject(new HttpError(400, { detail: `Multipart form parse error - ${errorOf(error).message}` }));
    const pairs: [string, unknown][] = [];
    try {
      const limits = {
        fields: 200,
        files: 10,
        parts: 210,
        headerPairs: 50,
        fieldNameSize: 200,
        fieldSize: content.length,
        fileSize: content.length,
      };
      const reader = new Busboy({ headers: { 'content-type': contentType }, limits });
      reader.on('field', (name, value) => pairs.push([name, value]));
      reader.on('file', (name, stream, filename, _encoding, type) => {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('error', malformed);
        stream.on('end', () => {
          // A file input in which nothing was chosen sends no name and no bytes: nothing is given.
          if (filename || chunks.length > 0)
            pairs.push([name, new UploadedFile(filename ?? '', type, Buffer.concat(chunks))]);
        });
      });
      reader.on('error', malformed);
      reader.on('finish', () => resolve({ form: true, values: gather(pairs) }));
      reader.end(content);
    } catch (error) {
      malformed(error);
    }
  });
}
