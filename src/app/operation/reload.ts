import type { Config } from '../../kernel/config/config.ts';
import { type Certificate, readCertificate } from '../../kernel/http/certificate.ts';
import type { HttpServer } from '../../kernel/http/http-server.ts';
import type { Log } from '../../kernel/log.ts';
import { errorOf } from '../../kernel/present.ts';
import type { Reading } from './samples.ts';

/** What a server shows its clients, by the files of its settings. */
export class ServedCertificate {
  #current: Certificate;

  /** Throws with a sentence where the files are of no use. */
  private constructor(
    private readonly files: { readonly cert: string; readonly key: string },
    private readonly log: Log,
  ) {
    this.#current = readCertificate(files);
    this.#warn();
  }

  /** That of the settings; undefined where they name none. */
  static of({ tls_cert_file: cert, tls_key_file: key }: Config, log: Log): ServedCertificate | undefined {
    return cert === null || key === null ? undefined : new ServedCertificate({ cert, key }, log);
  }

  get current(): Certificate {
    return this.#current;
  }

  /** Reads the files anew. Throws with a sentence where they are of no use; then everything stays as it was. */
  reload(listener: Pick<HttpServer, 'renew'>): void {
    this.#current = readCertificate(this.files);
    listener.renew(this.#current);
    this.log.info({ expires: new Date(this.#current.expires).toISOString() }, 'the certificate has been read anew');
    this.#warn();
  }

  readonly reading: Reading = {
    name: 'tenantry_tls_certificate_expiry_timestamp_seconds',
    help: 'When the certificate ends that clients are shown, in seconds since 1970.',
    type: 'gauge',
    read: () => [[this.#current.expires / 1000]],
  };

  #warn(): void {
    const { expires } = this.#current;
    if (expires < Date.now())
      this.log.warn({ expires: new Date(expires).toISOString() }, 'the certificate has expired: clients refuse it');
  }
}

/** Does each of these; what fails is told and has changed nothing. */
export function reloadAll(log: Log, steps: Readonly<Record<string, (() => void) | undefined>>): void {
  for (const [what, step] of Object.entries(steps)) {
    try {
      step?.();
    } catch (error) {
      log.error({ reason: errorOf(error).message }, `${what} stays as it was`);
    }
  }
}
