import { type FileHandle, open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { ReadableStreamReadResult } from 'node:stream/web';
import { setTimeout as wait } from 'node:timers/promises';
import { day } from '../../kernel/clock.ts';
import type { Config } from '../../kernel/config/config.ts';
import { errorOf, plainReason } from '../../kernel/present.ts';
import { type BackupTarget, isBackupOf, type StoredFile } from './backup-target.ts';
import { s3Location } from './config.ts';
import { S3Bucket, type S3Request, tagIn } from './s3-bucket.ts';

/** Minimum size of an upload part. Parts grow with the file, because an upload has at most 10,000 of them. */
const minPartBytes = 8 * 1024 * 1024;
const maxParts = 9_000;
/** Timeout of a download that receives no data. A complete download can take hours. */
const idleTimeoutMs = 120_000;

/** Delay before each retry of a failed request. */
const retryPausesMs = [500, 2_000, 8_000];

interface S3Response {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** An object being downloaded. Reading rejects when the store sends nothing for two minutes. */
interface Download {
  readonly etag: string;
  readonly read: () => Promise<ReadableStreamReadResult<Uint8Array>>;
}

/** An error response of the object store. */
class S3Error extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    action: string,
    text: string,
  ) {
    super(`${action}: the object store responds with ${status}${code && ` ${code}`}${messageIn(text)}`);
  }
}

/** Whether a retry would get the same response. Only 429 and server errors are worth a retry, except 501 and 507 (the store is full). */
const finalStatus = (status: number): boolean => (status < 500 && status !== 429) || status === 501 || status === 507;

/** Fills a buffer with the bytes of a file from `start`, because a read may return fewer. Rejects if the file is shorter. */
async function fill(buffer: Buffer, handle: FileHandle, start: number): Promise<void> {
  for (let at = 0; at < buffer.length; ) {
    const { bytesRead } = await handle.read(buffer, at, buffer.length - at, start + at);
    if (bytesRead === 0) throw new Error('the file was truncated during the upload');
    at += bytesRead;
  }
}

const messageIn = (text: string): string => {
  const message = tagIn(text, 'Message');
  return message === undefined ? '' : ` (${message.slice(0, 200)})`;
};

/** Backups in a bucket of Amazon S3 or a compatible object store, in constant memory. */
export class S3Target implements BackupTarget {
  readonly kind = 's3';
  readonly #bucket: S3Bucket;
  readonly #prefix: string;

  /** Throws ConfigError. */
  constructor(
    config: Config,
    readonly place: string,
  ) {
    const { bucket, prefix } = s3Location(place);
    this.#bucket = new S3Bucket(config, bucket, 'backup_target');
    this.#prefix = prefix;
  }

  async put(name: string, file: string): Promise<void> {
    const key = this.#prefix + name;
    const handle = await open(file);
    try {
      const { size } = await handle.stat();
      const partBytes = Math.max(minPartBytes, Math.ceil(size / maxParts));
      const started = await this.#send('start an upload', { method: 'POST', key, query: { uploads: '' } });
      const upload = tagIn(started.text, 'UploadId');
      if (upload === undefined) throw new Error('the object store names no upload');
      try {
        const etags: string[] = [];
        for (let start = 0; start < size || start === 0; start += partBytes) {
          const body = Buffer.alloc(Math.min(partBytes, size - start));
          await fill(body, handle, start);
          const query = { partNumber: String(etags.length + 1), uploadId: upload };
          const { headers } = await this.#send('upload a part', { method: 'PUT', key, query, body });
          etags.push(headers.get('etag') ?? '');
        }
        await this.#complete(key, upload, etags).catch((error: unknown) => this.#requireStored(name, size, error));
      } catch (error) {
        await this.#abort(key, upload);
        throw error;
      }
      await this.#compare(name, size);
    } finally {
      await handle.close();
    }
  }

  /** Completes an upload unless the key exists. Stores that do not support the condition ignore it. */
  async #complete(key: string, upload: string, etags: readonly string[]): Promise<void> {
    const parts = etags.map(
      (etag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>${etag.replace(/"/g, '&quot;')}</ETag></Part>`,
    );
    const request: S3Request = {
      method: 'POST',
      key,
      query: { uploadId: upload },
      body: Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`),
    };
    const conditional = { ...request, headers: { 'If-None-Match': '*' } };
    const complete = (one: S3Request): Promise<S3Response> => this.#send('complete the upload', one);
    const { text } = await complete(conditional).catch((error: unknown) => {
      if (error instanceof S3Error && error.status === 409) return complete(conditional);
      if (error instanceof S3Error && error.status === 501) return complete(request);
      throw error;
    });
    // The store reports an error after the start of the response with status 200.
    if (text.includes('<Error>')) throw new S3Error(200, tagIn(text, 'Code') ?? '', 'complete the upload', text);
  }

  /**
   * Rejects with `error` unless the store lists the file with its size. If it does, an earlier request completed the upload and
   * only its response was lost: the store no longer knows the upload, or reports that the key exists.
   */
  async #requireStored(name: string, size: number, error: unknown): Promise<void> {
    const isRepeated = error instanceof S3Error && (error.status === 404 || error.status === 412);
    if (!isRepeated || !(await this.list()).some((one) => one.name === name && one.size === size)) throw error;
  }

  /** Rejects and removes the file unless the store lists it with its size. */
  async #compare(name: string, size: number): Promise<void> {
    try {
      const stored = (await this.list()).find((one) => one.name === name);
      if (stored?.size !== size)
        throw new Error(`cannot write ${this.place}: the object store has ${stored?.size ?? 0} of ${size} bytes`);
    } catch (error) {
      await this.remove(name).catch(() => undefined);
      throw error;
    }
  }

  /** Never rejects: `removeRemains` tries again a day later. */
  async #abort(key: string, upload: string): Promise<void> {
    await this.#send('abort the upload', { method: 'DELETE', key, query: { uploadId: upload } }).catch(() => undefined);
  }

  async list(): Promise<readonly StoredFile[]> {
    const files: StoredFile[] = [];
    for (let token: string | undefined; ; ) {
      const { text } = await this.#send('list the backups', {
        method: 'GET',
        query: { 'list-type': '2', prefix: this.#prefix, ...(token !== undefined && { 'continuation-token': token }) },
      });
      for (const [, content = ''] of text.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
        const key = tagIn(content, 'Key') ?? '';
        files.push({ name: key.slice(this.#prefix.length), size: Number(tagIn(content, 'Size')) });
      }
      if (tagIn(text, 'IsTruncated') !== 'true') return files;
      token = tagIn(text, 'NextContinuationToken');
    }
  }

  async get(name: string): Promise<Readable> {
    const key = this.#prefix + name;
    return Readable.from(this.#contentOf(key, await this.#open(key)), { objectMode: false });
  }

  /** Yields the bytes of an object. Resumes after a lost connection, unless the object has changed. */
  async *#contentOf(key: string, first: Download): AsyncGenerator<Uint8Array> {
    let download = first;
    let [position, attempt] = [0, 0];
    for (;;) {
      try {
        for (;;) {
          const { done, value } = await download.read();
          if (done) return;
          position += value.length;
          attempt = 0;
          yield value;
        }
      } catch (error) {
        const pause = retryPausesMs[attempt++];
        if (pause === undefined) throw this.#sentence('read the backup', error);
        await wait(pause);
        if (position > 0) download = await this.#open(key, position, first.etag);
        else download = await this.#open(key);
      }
    }
  }

  /** Opens an object for reading, from a position if its tag is still the same. Rejects with a readable error. */
  #open(key: string, position = 0, etag = ''): Promise<Download> {
    const headers = position === 0 ? {} : { Range: `bytes=${position}-`, 'If-Match': etag };
    return this.#repeat('read the backup', async () => {
      const abort = new AbortController();
      const within = async <T>(work: Promise<T>): Promise<T> => {
        const timer = setTimeout(() => abort.abort(new Error('no response')), idleTimeoutMs);
        return work.finally(() => clearTimeout(timer));
      };
      const response = await within(this.#bucket.send({ method: 'GET', key, headers }, idleTimeoutMs, abort.signal));
      if (response.status !== (position === 0 ? 200 : 206) || !response.body)
        throw await this.#errorOf('read the backup', response);
      const reader = response.body.getReader();
      return { etag: response.headers.get('etag') ?? '', read: () => within(reader.read()) };
    });
  }

  async remove(name: string): Promise<void> {
    await this.#send('remove a backup', { method: 'DELETE', key: this.#prefix + name });
  }

  async write(name: string, content: string): Promise<void> {
    const body = Buffer.from(content);
    await this.#send('write a verification', { method: 'PUT', key: this.#prefix + name, body });
  }

  /** Aborts uploads that began more than a day ago. */
  async removeRemains(installation: string): Promise<string | undefined> {
    let text: string;
    try {
      ({ text } = await this.#send('list the uploads', {
        method: 'GET',
        query: { uploads: '', prefix: this.#prefix },
      }));
    } catch (error) {
      // Credentials may lack this right, and not every store has this request.
      if (error instanceof S3Error && finalStatus(error.status)) return error.message;
      throw error;
    }
    for (const [, content = ''] of text.matchAll(/<Upload>(.*?)<\/Upload>/gs)) {
      const [key, upload, began] = ['Key', 'UploadId', 'Initiated'].map((tag) => tagIn(content, tag) ?? '');
      const isOurs = isBackupOf(installation, key?.slice(this.#prefix.length) ?? '');
      if (isOurs && upload && Date.now() - Date.parse(began ?? '') > day / 1000) await this.#abort(key ?? '', upload);
    }
    return undefined;
  }

  #send(action: string, request: S3Request): Promise<S3Response> {
    return this.#repeat(action, async () => {
      const response = await this.#bucket.send(request);
      if (response.status >= 300) throw await this.#errorOf(action, response);
      return { status: response.status, headers: response.headers, text: await response.text() };
    });
  }

  /** Retries work until it succeeds or no retries are left. Rejects with a readable error. */
  async #repeat<T>(action: string, work: () => Promise<T>): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await work();
      } catch (error) {
        const pause = retryPausesMs[attempt];
        const isFinal = error instanceof S3Error && finalStatus(error.status);
        if (pause === undefined || isFinal) throw this.#sentence(action, error);
        await wait(pause);
      }
    }
  }

  #sentence(action: string, error: unknown): Error {
    if (error instanceof S3Error) return error;
    const cause = errorOf(error).cause ?? error;
    return new Error(`cannot ${action} at ${this.#bucket.host}: ${plainReason(cause)}`, { cause: error });
  }

  async #errorOf(action: string, response: Response): Promise<S3Error> {
    const text = await response.text().catch(() => '');
    return new S3Error(response.status, tagIn(text, 'Code') ?? '', `cannot ${action} in ${this.place}`, text);
  }
}
