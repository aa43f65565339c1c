import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../../kernel/config/config.ts';
import { errorOf, plainReason } from '../../kernel/present.ts';
import { S3Bucket, tagIn } from '../backup/s3-bucket.ts';

/** Timeout of a request. Several requests fit between a renewal and the deadline. */
const timeoutMs = 4000;
/** Delay between attempts of the check at start, and their maximum number. */
const checkPauseMs = 500;
const maxChecks = 5;

/** The lease object. `renewals` makes the bytes of each renewal different. */
export interface LeaseObject {
  /** Incremented by each acquisition. */
  readonly epoch: number;
  /** Identifies one run of one server; null after a release. */
  readonly holder: string | null;
  /** Seconds without a change after which another server may replace the object. */
  readonly ttl: number;
  readonly renewals?: number;
  /** True while a command such as `promote` replaces the data. The previous holder waits for its result. */
  readonly isTakeOver?: boolean;
}

/** The lease object in the store, with its ETag for conditional writes. */
export interface StoredLease {
  readonly lease: LeaseObject;
  readonly etag: string;
}

/** A response of the store with any status. */
interface StoreResponse {
  readonly status: number;
  readonly etag: string;
  readonly text: string;
}

/** The store operations that a lease uses. */
export type Leases = Pick<LeaseStore, 'read' | 'write'>;

/** Returns the bucket and the key of a lease URL. Throws a readable error. */
export function leaseLocation(url: string): { readonly bucket: string; readonly key: string } {
  const [, bucket, key] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])\/(.*[^/])$/.exec(url) ?? [];
  if (bucket === undefined || key === undefined) throw new Error('must be s3://BUCKET/KEY');
  return { bucket, key };
}

/** The lease object of the setting `lease_url`, in an object store with conditional writes. */
export class LeaseStore {
  readonly #bucket: S3Bucket;
  readonly #key: string;

  /** Throws ConfigError without credentials. */
  constructor(config: Config, url: string) {
    const { bucket, key } = leaseLocation(url);
    this.#bucket = new S3Bucket(config, bucket, 'lease_url');
    this.#key = key;
  }

  /** Returns the object; undefined if there is none. Rejects with a readable error. */
  async read(): Promise<StoredLease | undefined> {
    const { etag, status, text } = await this.#send('GET', this.#key);
    if (status === 404) return undefined;
    if (status !== 200) throw unexpected('read', status, text);
    return { lease: readLease(text), etag };
  }

  /**
   * Writes the object if it still has the ETag or, for an undefined ETag, if it does not exist. Returns the new ETag, or
   * undefined if the condition failed. Rejects with a readable error if the outcome is unknown or the store rejects the request.
   */
  async write(lease: LeaseObject, etag: string | undefined): Promise<string | undefined> {
    const result = await this.#put(this.#key, JSON.stringify(lease), conditionOf(etag));
    if (result.status === 412 || (etag !== undefined && result.status === 404)) return undefined;
    if (result.status !== 200) throw unexpected('write', result.status, result.text);
    return result.etag;
  }

  /** Tests with another object that the store honors both conditions. Rejects with a readable error if not, or on no response. */
  async check(): Promise<void> {
    const key = `${this.#key}-test`;
    for (let attempt = 1; ; attempt++) {
      try {
        if (await this.#honorsConditions(key)) return;
      } catch (error) {
        if (attempt === maxChecks || error instanceof Unconditional) throw error;
      }
      // Another server may be testing the same object.
      if (attempt === maxChecks) throw new Unconditional();
      await sleep(checkPauseMs);
    }
  }

  /** Also returns false if another server changed the object meanwhile. */
  async #honorsConditions(key: string): Promise<boolean> {
    const [first, second] = [randomBytes(8).toString('hex'), randomBytes(8).toString('hex')];
    const created = await this.#put(key, first, {});
    if (created.status !== 200) throw unexpected('write', created.status, created.text);
    for (const condition of [conditionOf(undefined), conditionOf(`"${second}"`)]) {
      const { status, text } = await this.#put(key, second, condition);
      if (status === 200 || status === 501) throw new Unconditional();
      if (![404, 409, 412].includes(status)) throw unexpected('write', status, text);
    }
    return (await this.#put(key, second, conditionOf(created.etag))).status === 200;
  }

  #put(key: string, content: string, headers: Readonly<Record<string, string>>): Promise<StoreResponse> {
    return this.#send('PUT', key, Buffer.from(content), headers);
  }

  async #send(
    method: string,
    key: string,
    body?: Buffer,
    headers?: Readonly<Record<string, string>>,
  ): Promise<StoreResponse> {
    try {
      const request = { method, key, ...(body && { body }), ...(headers && { headers }) };
      const response = await this.#bucket.send(request, timeoutMs);
      return { status: response.status, etag: response.headers.get('etag') ?? '', text: await response.text() };
    } catch (error) {
      const reason = plainReason(errorOf(error).cause ?? error);
      throw new Error(`the object store of lease_url at ${this.#bucket.host} does not respond: ${reason}`, {
        cause: error,
      });
    }
  }
}

/** Thrown if a store writes an object although the condition fails. */
class Unconditional extends Error {
  constructor() {
    super('The object store of lease_url does not honor conditional writes.');
  }
}

const conditionOf = (etag: string | undefined): Readonly<Record<string, string>> =>
  etag === undefined ? { 'If-None-Match': '*' } : { 'If-Match': etag };

const unexpected = (action: string, status: number, text: string): Error =>
  new Error(
    `cannot ${action} the object of lease_url: the object store responds with ${status} ${tagIn(text, 'Code') ?? ''}`.trim(),
  );

function readLease(text: string): LeaseObject {
  try {
    const { epoch, holder, isTakeOver, renewals, ttl } = JSON.parse(text) as Record<string, unknown>;
    if (Number.isSafeInteger(epoch) && Number.isFinite(ttl) && (holder === null || typeof holder === 'string'))
      return {
        epoch: Number(epoch),
        holder,
        ttl: Number(ttl),
        renewals: Number(renewals ?? 0),
        isTakeOver: isTakeOver === true,
      };
  } catch {
    // The error below names the object.
  }
  throw new Error('the object of lease_url is no lease: name another key');
}
