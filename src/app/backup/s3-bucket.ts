import type { Config } from '../../kernel/config/config.ts';
import { credentialsOf } from './config.ts';

/** Default timeout of a request. */
const defaultTimeoutMs = 120_000;

/** A request for an object, or for the bucket itself without a key. */
export interface S3Request {
  readonly method: string;
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

/** Returns the text of the first element with this name in an XML response; undefined without one. */
export const tagIn = (text: string, tag: string): string | undefined =>
  new RegExp(`<${tag}>([^<]*)</${tag}>`)
    .exec(text)?.[1]
    ?.replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&apos;|&#39;/g, "'")
    .replace(/&amp;/g, '&');

/** A bucket in the object store that the settings name. */
export class S3Bucket {
  readonly #origin: URL;
  readonly #isPathStyle: boolean;
  readonly #region: string;
  readonly #credentials: ReturnType<typeof credentialsOf>;

  /** Throws ConfigError without credentials, naming the setting that needs them. */
  constructor(
    config: Config,
    private readonly bucket: string,
    setting: string,
  ) {
    const { backup_s3_endpoint: endpoint, backup_s3_path_style: isPathStyle, backup_s3_region: region } = config;
    this.#region = region;
    this.#isPathStyle = isPathStyle ?? endpoint !== null;
    this.#credentials = credentialsOf(config, setting);
    this.#origin = new URL(endpoint ?? `https://s3.${region}.amazonaws.com`);
    if (!this.#isPathStyle) this.#origin.hostname = `${bucket}.${this.#origin.hostname}`;
  }

  /** Host and port of the object store. */
  get host(): string {
    return this.#origin.host;
  }

  /** Signs and sends a request. Resolves with a response of any status. The signal also aborts its body. */
  async send(
    { body, headers = {}, key = '', method, query = {} }: S3Request,
    timeoutMs = defaultTimeoutMs,
    signal = AbortSignal.timeout(timeoutMs),
  ): Promise<Response> {
    const { sign } = (await import('aws4')).default;
    const encode = (text: string): string =>
      encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
    const parameters = Object.entries(query).map(([name, value]) => `${encode(name)}=${encode(value)}`);
    const base = this.#origin.pathname.replace(/\/$/, '');
    const keyPath = key.split('/').map(encode).join('/');
    const bucketPath = this.#isPathStyle ? `/${this.bucket}` : '';
    const path = `${base}${bucketPath}/${keyPath}${parameters.length > 0 ? `?${parameters.sort().join('&')}` : ''}`;
    const signed = sign(
      {
        service: 's3',
        region: this.#region,
        host: this.#origin.host,
        method,
        path,
        // Without a type, the signer labels every body a form.
        headers: { ...(body && { 'Content-Type': 'application/octet-stream' }), ...headers },
        ...(body && { body: body as unknown as string }),
      },
      this.#credentials,
    );
    const { Host: _, host: __, 'Content-Length': ___, ...sent } = signed.headers as Record<string, string>;
    return fetch(new URL(path, this.#origin), {
      method,
      headers: sent,
      redirect: 'error',
      signal,
      ...(body && { body: new Uint8Array(body.buffer, body.byteOffset, body.length) as BodyInit }),
    });
  }
}
