/**
 * Compares responses with the OpenAPI document. A response with undocumented members or without required ones fails the test.
 */

import { execFileSync } from 'node:child_process';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { builtProgram } from './program.ts';

// biome-ignore lint/suspicious/noExplicitAny: a document is any JSON
type Node = any;

/**
 * Returns the document with closed objects, so that a member without a schema is an error. `partial` omits `required`, for
 * responses with selected keys only; the rest of an object may then match several kinds.
 */
function closed(node: Node, partial: boolean): Node {
  if (Array.isArray(node)) return node.map((item) => closed(item, partial));
  if (node === null || typeof node !== 'object') return node;
  const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, closed(value, partial)]));
  const isObject = typeof copy.properties === 'object' && copy.type === 'object';
  if (isObject && copy.additionalProperties === undefined) copy.additionalProperties = false;
  if (isObject && partial) delete copy.required;
  if (partial && copy.oneOf) {
    copy.anyOf = copy.oneOf;
    delete copy.oneOf;
  }
  return copy;
}

/** Compiled schemas by path in the document. */
class Schemas {
  // Optimising the code does not pay: most schemas validate only a few responses per process.
  readonly #ajv = new Ajv2020({ strict: false, allErrors: false, validateSchema: false, code: { optimize: false } });
  readonly #compiled = new Map<string, ValidateFunction>();

  constructor(document: Node, partial: boolean) {
    addFormats.default(this.#ajv);
    this.#ajv.addSchema({ $id: 'document', ...closed(document, partial) });
  }

  at(place: string): ValidateFunction {
    const known = this.#compiled.get(place);
    if (known) return known;
    const compiled = this.#ajv.compile({ $ref: `document#${place}` });
    this.#compiled.set(place, compiled);
    return compiled;
  }
}

const pointer = (...keys: readonly string[]): string =>
  keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

class Contract {
  readonly #document: Node;
  /** Paths by their number of segments, with the patterns that match them. */
  readonly #paths: readonly { readonly path: string; readonly pattern: RegExp }[];
  readonly #whole: Schemas;
  #partial: Schemas | undefined;
  /** Returns the path in the document that matches a request path. Cached by the path without its uuids. */
  readonly #described = new Map<string, string | undefined>();

  constructor(document: Node) {
    this.#document = document;
    this.#paths = Object.keys(this.#document.paths).map((path) => ({
      path,
      pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
    }));
    this.#whole = new Schemas(this.#document, false);
  }

  /** Throws when a response does not match the document. */
  check(method: string, { pathname: path, search }: URL, status: number, type: string, body: unknown): void {
    const document = this.#document;
    const described = this.#describedPath(path);
    const operation = described && document.paths[described][method.toLowerCase()];
    // Undocumented operations are rejected, and 304 has no body.
    if (!operation || status === 304) return;
    const known = operation.responses[status] ?? (status >= 500 ? operation.responses.default : undefined);
    const what = `${method} ${described} ${status}`;
    if (!known) throw new Error(`${what}: the document has no such status; the response was ${JSON.stringify(body)}`);
    const place = known.$ref
      ? known.$ref.slice(1)
      : pointer('paths', described, method.toLowerCase(), 'responses', String(status));
    const { content } = known.$ref ? document.components.responses[known.$ref.split('/').at(-1)] : known;
    if (!content) {
      if (body !== undefined)
        throw new Error(`${what}: the document has no body, but the response had ${JSON.stringify(body)}`);
      return;
    }
    const media = type.split(';')[0] as string;
    if (!content[media]) throw new Error(`${what}: the document has no ${media}`);
    if (!content[media].schema) return;
    const validate = this.#schemas(search).at(place + pointer('content', media, 'schema'));
    if (validate(body)) return;
    const { instancePath, message, params } = validate.errors?.[0] ?? {};
    throw new Error(
      `${what}: the body ${instancePath} ${message} (${JSON.stringify(params)}), but was ${JSON.stringify(body)?.slice(0, 600)}`,
    );
  }

  /** Throws if a webhook request does not match the document. Form and Slack bodies have no schema. */
  checkDelivery(headers: Readonly<Record<string, unknown>>, body: string): void {
    const { parameters } = this.#document.components;
    for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature'])
      if (!new RegExp(parameters[name].schema.pattern).test(String(headers[name])))
        throw new Error(`${name} of a delivery does not match the document: ${headers[name]}`);
    if (headers['content-type'] !== 'application/json') return;
    const message = JSON.parse(body);
    if (Object.keys(message).join() === 'text') return;
    const media = ['requestBody', 'content', 'application/json', 'schema'];
    const validate = this.#whole.at(pointer('webhooks', message.type, 'post', ...media));
    if (validate(message)) return;
    const { instancePath, message: problem, params } = validate.errors?.[0] ?? {};
    throw new Error(
      `a delivery: ${instancePath} ${problem} (${JSON.stringify(params)}), but was ${body.slice(0, 900)}`,
    );
  }

  #describedPath(path: string): string | undefined {
    const kind = path.replace(/[0-9a-f]{32}/g, '*');
    if (this.#described.has(kind)) return this.#described.get(kind);
    // OpenAPI: literal paths take precedence over templates.
    const template = this.#document.paths[kind] ? kind : this.#paths.find(({ pattern }) => pattern.test(kind))?.path;
    this.#described.set(kind, template);
    return template;
  }

  /** Selects the schemas for a query: those without `required` if it selects fields. */
  #schemas(search: string): Schemas {
    if (!/[?&]fields?=/.test(search)) return this.#whole;
    this.#partial ??= new Schemas(this.#document, true);
    return this.#partial;
  }
}

/** The contract of the built program, parsed on first use. */
let builtIn: Contract | undefined;
const programContract = (): Contract => {
  const print = [builtProgram, 'openapi'];
  builtIn ??= new Contract(JSON.parse(execFileSync(process.execPath, print, { encoding: 'utf8', maxBuffer: 1e8 })));
  return builtIn;
};

/** The contracts of servers with other provider types, by origin. */
const others = new Map<string, Contract>();

/**
 * Compares the responses of a server with the document that it serves. Call the returned function when the server closes: another
 * one may get its port.
 */
export async function checkByOwnDocument(url: string): Promise<() => void> {
  const { origin } = new URL(url);
  others.set(origin, new Contract(await (await fetch(`${origin}/docs/?format=openapi`)).json()));
  return () => void others.delete(origin);
}

/** Throws if a response does not match the document of its server. */
export const checkResponse = (method: string, url: URL, status: number, type: string, body: unknown): void =>
  (others.get(url.origin) ?? programContract()).check(method, url, status, type, body);

/** Throws if a webhook request of the built program does not match the document. */
export const checkDelivery = (headers: Readonly<Record<string, unknown>>, body: string): void =>
  programContract().checkDelivery(headers, body);
