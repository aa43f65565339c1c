import { type App, version } from '../../../kernel/app.ts';
import { minute } from '../../../kernel/clock.ts';
import { missingLease } from '../../../kernel/durability/storage-error.ts';
import { HttpClient } from '../../../kernel/net/http-client.ts';
import { readSinkHeader } from '../config.ts';
import type { Batch, Sink } from './sink.ts';

/** Timeout of a request, and maximum size of a response. */
const timeout = 10_000;
const maxBytes = 64 * 1024;

/** `audit_sink_url`: posts batches as NDJSON. The operator chose the URL, so it may be in a private network. */
export class UrlSink implements Sink {
  readonly name = 'url';
  readonly maxRetryDelay = 5 * minute;
  readonly #client: HttpClient;

  constructor(
    private readonly app: App,
    private readonly url: URL,
  ) {
    const { db, resolve } = app;
    const pausedBy = (): string | undefined => missingLease(db.trouble);
    this.#client = new HttpClient({ resolve, allows: () => true, timeout, maxBytes, keepAlive: true, pausedBy });
  }

  async send({ key, records }: Batch): Promise<void> {
    const { audit_sink_header_file: headerFile } = this.app.config;
    const { status } = await this.#client.send({
      method: 'POST',
      url: this.url,
      headers: {
        'User-Agent': `Tenantry/${version}`,
        // Read it for each batch, so that a token can be replaced without a restart.
        ...(headerFile !== null && readSinkHeader(headerFile)),
        'Content-Type': 'application/x-ndjson',
        'Idempotency-Key': key,
      },
      body: records.map(({ line }) => `${line}\n`).join(''),
    });
    if (status < 200 || status > 299) throw new Error(`The receiver responded with ${status}.`);
  }

  close(): void {
    this.#client.close();
  }
}
