import { errorOf } from '../present.ts';
import { HttpError, invalid, invalidRequest } from './error.ts';
import { type Pair, readMultipart } from './multipart.ts';
import { bodyListRule } from './query.ts';

/** The members of a request body. In a form every value is text, a file, or a list of them when the field is repeated. */
export interface Body {
  readonly form: boolean;
  readonly values: Readonly<Record<string, unknown>>;
}

/** A bare list as the body, for operations that accept one instead of their only field. */
export class ListBody {
  constructor(readonly items: readonly unknown[]) {}
}

const deepest = 64;
/** Maximum number of values in JSON or fields in a form. Reading more would block other requests (core.md 1.1 "Lists"). */
const maxValues = 200_000;
const maxMembers = 20_000;
const maxFields = 10_000;
const nothing: Body = { form: false, values: {} };

/** Parses a complete body. Throws (or rejects with) 415 or 400 (core.md 1.3). Only multipart is asynchronous. */
export function parseBody(content: Buffer, contentType: string | undefined): Body | ListBody | Promise<Body> {
  if (content.length === 0) return nothing;
  const named = contentType ?? '';
  const type = named.split(';', 1)[0]?.trim().toLowerCase();
  switch (type) {
    case 'application/json':
      return parseJson(content);
    case 'application/x-www-form-urlencoded':
      return { form: true, values: parseForm(decode(content, formError)) };
    case 'multipart/form-data':
      return parseMultipart(content, named);
    default:
      throw new HttpError(415, { detail: `Unsupported media type "${named}" in request.` });
  }
}

function parseJson(content: Buffer): Body | ListBody {
  const text = decode(content);
  const { depth, members, values } = measureJson(content);
  const tooDeep = depth > deepest ? parseError(`nested deeper than ${deepest} levels`) : undefined;
  if (values > maxValues) throw tooDeep ?? parseError(`more than ${maxValues} values`);
  if (members > maxMembers) throw tooDeep ?? parseError(`more than ${maxMembers} members of objects`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw parseError(errorOf(error).message);
  }
  if (tooDeep) throw tooDeep;
  if (value === null) throw invalidRequest('No data provided');
  if (Array.isArray(value)) return new ListBody(value);
  if (typeof value !== 'object') throw notAnObject(value);
  // Use a null prototype, so that keys such as "__proto__" or "constructor" are only data.
  return { form: false, values: Object.setPrototypeOf(value, null) };
}

/** The error for a JSON body that is not an object. */
export const notAnObject = (value: unknown): HttpError =>
  invalidRequest(`Invalid data. Expected a dictionary, but got ${kindName(value)}.`);

/** Returns the type name of a JSON value that existing clients know. */
export function kindName(value: unknown): string {
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'string') return 'str';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'float';
  return value === null ? 'NoneType' : 'dict';
}

const decoder = new TextDecoder('utf-8', { fatal: true });

function decode(content: Buffer, fail = parseError): string {
  try {
    return decoder.decode(content);
  } catch {
    throw fail('invalid UTF-8');
  }
}

const parseError = (text: string): HttpError => new HttpError(400, { detail: `JSON parse error - ${text}` });
const formError = (text: string): HttpError => new HttpError(400, { detail: `Form parse error - ${text}` });

const [quote, backslash, comma, colon, bracket, brace, bracketEnd, braceEnd] = [...'"\\,:[{]}'].map((sign) =>
  sign.charCodeAt(0),
);

/**
 * Returns the nesting depth of a JSON text, the number of object members, and the approximate number of
 * values, without parsing it.
 */
function measureJson(json: Buffer): { depth: number; members: number; values: number } {
  let depth = 0;
  let deepest = 0;
  let members = 0;
  let values = 0;
  let inText = false;
  for (let i = 0; i < json.length; i++) {
    const sign = json[i];
    if (inText) {
      if (sign === backslash) i++;
      else if (sign === quote) inText = false;
    } else if (sign === quote) inText = true;
    else if (sign === comma) values++;
    else if (sign === colon) members++;
    else if (sign === bracket || sign === brace) {
      values++;
      if (++depth > deepest) deepest = depth;
    } else if (sign === bracketEnd || sign === braceEnd) depth--;
  }
  // Members of the outermost value are on the first level.
  return { depth: deepest - 1, members, values };
}

/** The fields of a form (application/x-www-form-urlencoded). Throws 400. */
function parseForm(text: string): Record<string, unknown> {
  const counts = new Map<string, number>();
  const pairs: [string, string][] = [];
  let fields = 0;
  for (let start = 0; start < text.length; ) {
    const next = text.indexOf('&', start);
    const end = next < 0 ? text.length : next;
    const pair = text.slice(start, end);
    const equals = pair.indexOf('=');
    const name = formText(equals < 0 ? pair : pair.slice(0, equals));
    countField(counts, name);
    if (++fields > maxFields) throw formError(`more than ${maxFields} fields`);
    if (pair !== '') pairs.push([name, equals < 0 ? '' : formText(pair.slice(equals + 1))]);
    start = end + 1;
  }
  return toValues(pairs);
}

/** Decodes a name or value of a form. Throws 400 if its percent-encoded bytes are not UTF-8. */
function formText(encoded: string): string {
  if (!/[%+]/.test(encoded)) return encoded;
  try {
    // A percent sign that encodes nothing is literal.
    return decodeURIComponent(encoded.replaceAll('+', ' ').replace(/%(?![\da-f]{2})/gi, '%25'));
  } catch {
    throw formError('invalid UTF-8');
  }
}

/** Counts the items of a field. Throws 400 for too many. */
function countField(counts: Map<string, number>, name: string): void {
  const count = (counts.get(name) ?? 0) + 1;
  if (count > bodyListRule.maxValues) throw invalid({ [name]: [bodyListRule.message] });
  counts.set(name, count);
}

function toValues(pairs: Iterable<readonly [string, unknown]>): Record<string, unknown> {
  const values: Record<string, unknown> = Object.create(null);
  for (const [name, value] of pairs) {
    const existing = values[name];
    if (existing === undefined) values[name] = value;
    else if (Array.isArray(existing)) existing.push(value);
    else values[name] = [existing, value];
  }
  return values;
}

async function parseMultipart(content: Buffer, contentType: string): Promise<Body> {
  const counts = new Map<string, number>();
  const pairs: Pair[] = [];
  try {
    await readMultipart(content, contentType, (pair) => {
      countField(counts, pair[0]);
      pairs.push(pair);
    });
  } catch (error) {
    if (error instanceof HttpError) throw error;
    throw new HttpError(400, { detail: `Multipart form parse error - ${errorOf(error).message}` });
  }
  return { form: true, values: toValues(pairs) };
}
