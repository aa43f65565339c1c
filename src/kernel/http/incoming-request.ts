import type { IncomingHttpHeaders } from 'node:http';
import { type Body, ListBody, notAnObject, parseBody } from './body.ts';
import { HttpError } from './error.ts';
import { Query } from './query.ts';

/** Returns the path of a target with a trailing slash, which clients may omit (core.md 1.1). */
export function pathOf(target: string): string {
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  return path.endsWith('/') ? path : `${path}/`;
}

/** Whether a method is safe (only reads). */
export const isReading = (method: string): boolean => method === 'GET' || method === 'HEAD' || method === 'OPTIONS';

/** 415, with the codings that a body may have (RFC 9110 15.5.16). */
const unsupportedEncoding = (encoding: string): HttpError =>
  new HttpError(
    415,
    { detail: `Unsupported content encoding "${encoding}" in request.` },
    { 'Accept-Encoding': 'identity' },
  );

const noContent = Buffer.alloc(0);

/** A request from the network; its body arrives last. */
export class IncomingRequest {
  readonly path: string;
  readonly query: Query;
  /** Whether the client has disconnected. */
  isGone: () => boolean = () => false;
  /** Whether it is repeated if its changes are rolled back with those of other requests, because nothing of it was committed. */
  isRepeatable = false;
  /** The raw body; null if it exceeded the limit. */
  #content: Buffer | null = noContent;
  #body: Body | ListBody | HttpError | undefined;

  constructor(
    /** Unique in this deployment; sent back as X-Request-Id. */
    readonly id: string,
    readonly method: string,
    target: string,
    readonly headers: IncomingHttpHeaders,
    /** The client's address, behind trusted proxies the one they report. */
    readonly address: string,
    /** Base URL of links (scheme and host), without a trailing slash. */
    readonly base: string,
  ) {
    const mark = target.indexOf('?');
    this.path = pathOf(target);
    this.query = new Query(mark < 0 ? '' : target.slice(mark + 1));
  }

  /** Sets the raw body; null if it exceeded the limit. */
  receive(content: Buffer | null): this {
    this.#content = content;
    return this;
  }

  /** Reads the body, if that needs waiting; errors in it are thrown when `body` is read. */
  async prepareBody(): Promise<void> {
    this.#body = await this.#read();
  }

  /** The body's members; a list counts as the member that `listMember` names, if it names one. Throws 413, 415, 400. */
  body(listMember?: () => string | undefined): Body {
    const body = this.#body ?? this.#read();
    if (body instanceof Promise) throw new Error('A body that needs waiting was asked for before it was prepared');
    this.#body = body;
    if (body instanceof HttpError) throw body;
    if (!(body instanceof ListBody)) return body;
    const member = listMember?.();
    if (member === undefined) throw notAnObject(body.items);
    return { form: false, values: { [member]: body.items } };
  }

  /** Whether the body must be read asynchronously, by `prepareBody`. */
  get isMultipart(): boolean {
    return /^\s*multipart\//i.test(this.headers['content-type'] ?? '');
  }

  #read(): Body | ListBody | HttpError | Promise<Body | HttpError> {
    if (this.#content === null) return new HttpError(413, { detail: 'Request body is too large.' });
    const encoding = this.headers['content-encoding'] ?? '';
    if (this.#content.length > 0 && !/^(\s*identity\s*(,|$))*$/i.test(encoding)) return unsupportedEncoding(encoding);
    try {
      const body = parseBody(this.#content, this.headers['content-type']);
      return body instanceof Promise ? body.catch((error: HttpError) => error) : body;
    } catch (error) {
      if (error instanceof HttpError) return error;
      throw error;
    }
  }
}
