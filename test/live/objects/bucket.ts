import aws4 from 'aws4';
import * as assert from 'uvu/assert';

/** An object store that runs on this machine. */
export interface Store {
  readonly name: string;
  readonly url: string;
  /** Environment variables with its credentials. */
  readonly environment: { readonly AWS_ACCESS_KEY_ID: string; readonly AWS_SECRET_ACCESS_KEY: string };
  /** Whether it rejects wrong signatures. */
  readonly verifiesSignatures: boolean;
}

/** A bucket, accessed by a client that shares no code with the program. */
export class Bucket {
  constructor(
    private readonly store: Store,
    readonly name: string,
  ) {}

  async create(): Promise<void> {
    assert.is((await this.#send('PUT', '')).status, 200);
  }

  /** Puts an object into the bucket. */
  async put(key: string, content: string): Promise<void> {
    assert.is((await this.#send('PUT', key, content)).status, 200);
  }

  async get(key: string): Promise<Buffer> {
    const response = await this.#send('GET', key);
    assert.is(response.status, 200, key);
    return Buffer.from(await response.arrayBuffer());
  }

  /** Returns the keys of all objects. */
  async keys(): Promise<string[]> {
    const text = await (await this.#send('GET', '?list-type=2')).text();
    return [...text.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = '']) => key).sort();
  }

  /** Counts the uploads that were neither completed nor aborted. */
  async uploads(): Promise<number> {
    const text = await (await this.#send('GET', '?uploads=')).text();
    return (text.match(/<UploadId>/g) ?? []).length;
  }

  #send(method: string, target: string, body?: string): Promise<Response> {
    const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = this.store.environment;
    const { host } = new URL(this.store.url);
    const path = `/${this.name}${target.startsWith('?') ? target : `/${target}`.replace(/\/$/, '')}`;
    const signed = aws4.sign(
      {
        service: 's3',
        region: 'us-east-1',
        host,
        method,
        path,
        headers: { 'Content-Type': 'text/plain' },
        ...(body !== undefined && { body }),
      },
      { accessKeyId, secretAccessKey },
    );
    const { Host: _, 'Content-Length': __, ...headers } = signed.headers as Record<string, string>;
    return fetch(this.store.url + path, { method, headers, ...(body !== undefined && { body }) });
  }
}
