/** Requests for a fuzzer, determined by the seed and their number. */
import { Dice } from './dice.ts';
import type { ApiDocument, Operation, Parameter, Schema } from './document.ts';
import { jsonText, type Objects, RawJson, usualWords, Values } from './values.ts';

export interface FuzzRequest {
  readonly number: number;
  /** Index of the sender. */
  readonly sender: number;
  readonly method: string;
  /** Includes the query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

/** An unpaired surrogate has no percent-encoding. */
const wellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, '\ufffd');

const methods = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND'];

/** Generates requests from a document for this many senders. Omits requests that remove objects of `protectedUrls`. */
export class RequestMaker {
  constructor(
    private readonly document: ApiDocument,
    private readonly objects: Objects,
    private readonly senders: number,
    private readonly seed: string,
    private readonly protectedUrls: ReadonlySet<string>,
    private readonly words = usualWords,
  ) {}

  /** Returns the request with this number. It is always the same. */
  make(number: number): FuzzRequest {
    const dice = new Dice(`${this.seed}:${number}`);
    const { operations } = this.document;
    // Take the operations in order, so that even few requests include all of them.
    const operation = operations[number % operations.length] as Operation;
    return new Making(dice, this.document, this.objects, operation, this.protectedUrls, this.words).request(
      number,
      // Staff come first and have the most rights.
      dice.happens(0.45) ? 0 : dice.whole(0, this.senders - 1),
    );
  }
}

class Making {
  readonly #values: Values;

  constructor(
    private readonly dice: Dice,
    private readonly document: ApiDocument,
    private readonly objects: Objects,
    private readonly operation: Operation,
    private readonly protectedUrls: ReadonlySet<string>,
    words: readonly string[],
  ) {
    this.#values = new Values(dice, document, objects, words);
  }

  request(number: number, sender: number): FuzzRequest {
    const { dice, operation } = this;
    const path = this.#path();
    const wanted = dice.happens(0.03) ? dice.pick(methods) : operation.method;
    const isProtected = this.protectedUrls.has(path.replace(/^(\/api\/users\/[^/]+\/).*$/, '$1'));
    // Otherwise most objects would be deleted.
    const isSpared = (wanted === 'DELETE' || path.endsWith('/unlink/')) && dice.happens(0.8);
    const method = isSpared ? 'OPTIONS' : isProtected && wanted !== 'HEAD' ? 'GET' : wanted;
    const takesBody = !['GET', 'HEAD', 'OPTIONS', 'TRACE'].includes(method);
    const [type, body] = takesBody ? this.#body() : [undefined, undefined];
    return {
      number,
      sender,
      method,
      target: path + this.#query(),
      headers: { ...this.#headers(), ...(type !== undefined && { 'Content-Type': type }) },
      body,
    };
  }

  #path(): string {
    const { dice, objects, operation } = this;
    const collection = /^\/api\/[\w-]+\//.exec(operation.path)?.[0] ?? '';
    const known = objects.get(collection) ?? [];
    if (known.length > 0 && operation.path.startsWith(`${collection}{key}/`) && dice.happens(0.85))
      return this.#filled(operation.path.replace(`${collection}{key}/`, dice.pick(known)));
    return this.#filled(operation.path);
  }

  /** Returns the path with a value for each name in braces. */
  #filled = (path: string): string =>
    path.replace(/\{\w+\}/g, () => encodeURIComponent(this.#values.uuid()).replace(/^\.{1,2}$/, '%2e') || 'x');

  #query(): string {
    const { dice, operation } = this;
    const named = operation.parameters.filter((parameter) => parameter.in === 'query');
    const pairs: string[] = [];
    if (named.length > 0) for (let i = dice.whole(0, 4); i > 0; i--) pairs.push(...this.#parameter(dice.pick(named)));
    if (dice.happens(0.05))
      pairs.push(dice.pick(['%', '%ff=%fe', '&&==', 'nmae=x', '=', 'a[b]=c', 'page=0', '+=+', '%00=1']));
    return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
  }

  #parameter({ name, schema }: Parameter): string[] {
    const { dice } = this;
    const times = dice.happens(0.1) ? dice.pick([2, 3, 101, 120]) : 1;
    return Array.from({ length: times }, () => {
      const value = this.#chosenMember(name) ?? this.#parameterText(schema);
      return dice.happens(0.02) ? name : `${encodeURIComponent(name)}=${value}`;
    });
  }

  /** If the parameter takes names of members, use a member of the response. */
  #chosenMember(name: string): string | undefined {
    const { statuses } = this.operation;
    const isChoice = /^fields?$/.test(name) && statuses.length > 0 && !this.#values.isOdd();
    return isChoice ? encodeURIComponent(this.dice.pick(statuses)) : undefined;
  }

  #parameterText(schema: Schema): string {
    const { dice } = this;
    if (dice.happens(0.02)) return dice.pick(['%', '%ff', '%f0%28', '+', '%2C%2C', ',,,', 'x'.repeat(9000)]);
    const value = this.#values.isOdd() ? this.#values.oddText() : this.#values.valid(schema);
    const written = Array.isArray(value) ? value.join(',') : value instanceof RawJson ? value.text : String(value);
    return encodeURIComponent(wellFormed(written));
  }

  #headers(): Record<string, string> {
    const { dice } = this;
    const headers: Record<string, string> = { 'X-Forwarded-For': `2001:db8:${dice.hex(4)}:${dice.hex(4)}::1` };
    const sometimes = (name: string, values: readonly string[]): void => {
      if (dice.happens(0.03)) headers[name] = dice.pick(values);
    };
    sometimes('Accept', ['*/*', 'text/html', 'application/xml;q=0.1', ',,;q=', 'image/*']);
    sometimes('Accept-Encoding', ['gzip', 'br', 'gzip;q=0, *', 'deflate, , br;q=2']);
    sometimes('If-Match', ['*', '"x"', 'W/"x"', 'x', '"a", "b"', `"${'x'.repeat(3000)}"`]);
    sometimes('If-None-Match', ['*', '"x"', 'W/"', ',']);
    sometimes('Range', ['bytes=0-1', 'bytes=-', 'x']);
    sometimes('Origin', ['null', 'https://example.invalid', 'x']);
    sometimes('Host', [
      'localhost',
      '127.0.0.1:1',
      '[::1]',
      'example.invalid',
      'xn--a',
      '1.2.3.999',
      'localhost:99999',
    ]);
    sometimes('X-Forwarded-Host', ['example.invalid', 'a, b', ':', '[']);
    sometimes('X-Forwarded-Proto', ['https', 'http, https', 'gopher']);
    sometimes('X-Request-Id', ['x'.repeat(300), 'a b', '{}']);
    sometimes('X-Hook-Secret', ['x', '']);
    sometimes('Content-Encoding', ['gzip', 'identity', 'x']);
    sometimes('Expect', ['100-continue']);
    return headers;
  }

  #body(): [type: string | undefined, body: Buffer | undefined] {
    const { dice, operation } = this;
    const { body = {} } = operation;
    const types = Object.keys(body);
    if (types.length === 0)
      return dice.happens(0.2)
        ? ['application/json', Buffer.from(jsonText(this.#values.odd()))]
        : [undefined, undefined];
    if (dice.happens(0.02))
      return [
        dice.pick([
          undefined,
          'text/plain',
          'application/xml',
          'multipart/form-data',
          'application/json; charset=x',
          ';',
        ]),
        Buffer.from('{}'),
      ];
    const type = dice.happens(0.75) ? (types[0] as string) : dice.pick(types);
    const schema = body[type] ?? {};
    if (type === 'multipart/form-data') return this.#multipart(schema);
    const value = this.#values.valid(schema);
    if (type === 'application/x-www-form-urlencoded') return [type, Buffer.from(this.#form(value))];
    return [type, this.#json(value)];
  }

  #json(value: unknown): Buffer {
    const { dice } = this;
    const text = jsonText(dice.happens(0.04) ? this.#values.odd() : value);
    if (!dice.happens(0.03)) return Buffer.from(text);
    return dice.pick([
      Buffer.from(text.slice(0, Math.floor(text.length / 2))),
      Buffer.from(`${text}${text}`),
      Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xff, 0xc0, 0x80]), Buffer.from('"}')]),
      Buffer.from(`\ufeff${text}`),
      Buffer.from(`{"a":${'['.repeat(100_000)}`),
      Buffer.from(''),
      Buffer.from(text, 'utf16le'),
    ]);
  }

  /** Represents members as names and texts. Items of lists have the name of the list. */
  #members(value: unknown): [name: string, text: string][] {
    if (typeof value !== 'object' || value === null || value instanceof RawJson) return [['x', jsonText(value)]];
    return Object.entries(value).flatMap(([name, member]) =>
      [member]
        .flat()
        .slice(0, 1200)
        .map((item): [string, string] => [
          name,
          wellFormed(typeof item === 'string' ? item : item === null ? '' : jsonText(item)),
        ]),
    );
  }

  #form = (value: unknown): string =>
    this.#members(value)
      .map(([name, text]) => `${encodeURIComponent(name)}=${encodeURIComponent(text)}`)
      .join('&');

  #multipart(schema: Schema): [string, Buffer] {
    const { dice } = this;
    const boundary = `b${dice.hex(8)}`;
    const { properties = {} } = this.document.resolved(schema);
    const parts = this.#members(this.#values.valid(schema)).map(([name, text]) => {
      const isFile = properties[name]?.format === 'binary' || dice.happens(0.05);
      const file = isFile
        ? `; filename="${dice.pick(['a.png', '../x', 'é.gif', 'a"b'])}"\r\nContent-Type: image/png`
        : '';
      return `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${isFile && dice.happens(0.5) ? '\x89PNG\r\n\x1a\n' : text}\r\n`;
    });
    const end = dice.happens(0.05) ? '' : `--${boundary}--\r\n`;
    return [`multipart/form-data; boundary=${boundary}`, Buffer.from(parts.join('') + end, 'latin1')];
  }
}
