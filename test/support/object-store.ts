/** An S3-compatible object store that checks signatures and fails on request. */
import { createHash } from 'node:crypto';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import aws4 from 'aws4';

/**
 * A status that replaces the response, or a connection that closes before or after the store executes the request, or in the
 * middle of an object.
 */
type Fault = number | 'cut' | 'cut after' | 'cut inside';

interface Upload {
  readonly key: string;
  readonly parts: Map<number, Buffer>;
  readonly began: string;
}

const etagOf = (content: Buffer): string => `"${createHash('md5').update(content).digest('hex')}"`;

export class ObjectStore {
  readonly objects = new Map<string, Buffer>();
  readonly uploads = new Map<string, Upload>();
  readonly credentials = { accessKeyId: 'key', secretAccessKey: 'secret' };
  /** Chooses the fault of a request such as `PUT part`, `POST complete` or `GET list`; undefined for none. */
  fault: (what: string, headers: IncomingHttpHeaders) => Fault | undefined = () => undefined;
  readonly requests: string[] = [];
  /** Whether writes honour If-Match and If-None-Match. */
  honorsConditions = true;
  #count = 0;

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async start(): Promise<ObjectStore> {
    let store: ObjectStore | undefined;
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => store?.respond(request, Buffer.concat(chunks), response));
      request.on('error', () => undefined);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    store = new ObjectStore(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    return store;
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.server.close(() => resolve());
      this.server.closeAllConnections();
    });
  }

  /** Command-line options for a backup to a bucket in this store. */
  options(bucket = 'backups/prod'): string[] {
    return ['--backup-target', `s3://${bucket}`, '--backup-s3-endpoint', this.url];
  }

  /** Settings of a lease in a bucket in this store. */
  leaseOptions(key = 'lease'): string[] {
    return ['--lease-url', `s3://leases/${key}`, '--backup-s3-endpoint', this.url];
  }

  get environment(): Record<string, string> {
    return { AWS_ACCESS_KEY_ID: this.credentials.accessKeyId, AWS_SECRET_ACCESS_KEY: this.credentials.secretAccessKey };
  }

  respond(request: IncomingMessage, body: Buffer, response: ServerResponse): unknown {
    const url = new URL(request.url ?? '', this.url);
    const key = decodeURIComponent(url.pathname).split('/').slice(2).join('/');
    const { searchParams: query } = url;
    const what = `${request.method} ${this.#kindOf(request.method ?? '', query)}`;
    this.requests.push(what);
    const fault = this.fault(what, request.headers);
    const send = (status: number, text = '', headers: Record<string, string> = {}): unknown =>
      fault === 'cut after' ? request.socket.destroy() : response.writeHead(status, headers).end(text);
    if (fault === 'cut') return request.socket.destroy();
    if (typeof fault === 'number')
      return send(fault, `<Error><Code>Fault${fault}</Code><Message>As the test wants</Message></Error>`);
    if (!this.#isSigned(request, body)) return send(403, '<Error><Code>SignatureDoesNotMatch</Code></Error>');
    const upload = query.get('uploadId') ?? '';
    switch (what) {
      case 'POST uploads': {
        const id = `upload-${++this.#count}`;
        this.uploads.set(id, { key, parts: new Map(), began: new Date().toISOString() });
        return send(200, `<R><UploadId>${id}</UploadId></R>`);
      }
      case 'PUT part': {
        this.uploads.get(upload)?.parts.set(Number(query.get('partNumber')), body);
        return send(200, '', { ETag: etagOf(body) });
      }
      case 'POST complete': {
        if (this.objects.has(key) && request.headers['if-none-match'] === '*') return send(412);
        const { parts } = this.uploads.get(upload) as Upload;
        this.objects.set(key, Buffer.concat([...parts].sort(([a], [b]) => a - b).map(([, part]) => part)));
        this.uploads.delete(upload);
        return send(200, '<R/>');
      }
      case 'DELETE upload':
        this.uploads.delete(upload);
        return send(204);
      case 'GET uploads':
        return send(
          200,
          `<R>${[...this.uploads].map(([id, { began, key: one }]) => `<Upload><Key>${one}</Key><UploadId>${id}</UploadId><Initiated>${began}</Initiated></Upload>`).join('')}</R>`,
        );
      case 'GET list': {
        const prefix = query.get('prefix') ?? '';
        const keys = [...this.objects].filter(([one]) => one.startsWith(prefix)).sort();
        const start = Number(query.get('continuation-token') ?? 0);
        // Small pages, so that lists have several.
        const page = keys.slice(start, start + 2);
        const isMore = start + 2 < keys.length;
        return send(
          200,
          `<R><IsTruncated>${isMore}</IsTruncated>${isMore ? `<NextContinuationToken>${start + 2}</NextContinuationToken>` : ''}${page.map(([one, { length }]) => `<Contents><Key>${one}</Key><Size>${length}</Size></Contents>`).join('')}</R>`,
        );
      }
      case 'PUT object': {
        const present = this.objects.get(key);
        const { 'if-match': tag, 'if-none-match': none } = request.headers;
        if (this.honorsConditions && none === '*' && present) return send(412);
        if (this.honorsConditions && tag !== undefined && (!present || tag !== etagOf(present)))
          return send(present ? 412 : 404);
        this.objects.set(key, body);
        return send(200, '', { ETag: etagOf(body) });
      }
      case 'GET object': {
        const object = this.objects.get(key);
        if (!object) return send(404, '<Error><Code>NoSuchKey</Code></Error>');
        const { 'if-match': tag, range = '' } = request.headers;
        if (tag !== undefined && tag !== etagOf(object)) return send(412);
        const from = Number(/^bytes=(\d+)-$/.exec(range)?.[1] ?? 0);
        const content = object.subarray(from);
        response.writeHead(from === 0 ? 200 : 206, { ETag: etagOf(object), 'Content-Length': content.length });
        if (fault !== 'cut inside') return response.end(content);
        return response.write(content.subarray(0, content.length / 2), () => request.socket.destroy());
      }
      default:
        this.objects.delete(key);
        return send(204);
    }
  }

  #kindOf(method: string, query: URLSearchParams): string {
    if (query.has('uploads')) return 'uploads';
    if (query.has('partNumber')) return 'part';
    if (query.has('uploadId')) return method === 'POST' ? 'complete' : 'upload';
    return query.has('list-type') ? 'list' : 'object';
  }

  /** Whether the signature (version 4) matches the credentials and the digest of the body. */
  #isSigned({ headers, method = '', url = '' }: IncomingMessage, body: Buffer): boolean {
    const digest = createHash('sha256').update(body).digest('hex');
    if (headers['x-amz-content-sha256'] !== digest) return false;
    const signedNames = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? '')?.[1]?.split(';') ?? [];
    const signed = aws4.sign(
      {
        service: 's3',
        region: 'us-east-1',
        host: String(headers.host),
        method,
        path: url,
        headers: Object.fromEntries(
          signedNames.filter((name) => name !== 'host').map((name) => [name, String(headers[name])]),
        ),
        ...(body.length > 0 && { body: body as unknown as string }),
      },
      this.credentials,
    );
    return (signed.headers as Record<string, string>).Authorization === headers.authorization;
  }
}
