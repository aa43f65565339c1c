import type { Config } from '../../kernel/config/config.ts';
import { type Certificate, readCertificate } from '../../kernel/http/certificate.ts';
import type { HttpServer } from '../../kernel/http/http-server.ts';
import type { Log } from '../../kernel/log.ts';
import { errorOf } from '../../kernel/present.ts';
import type { Reading } from './samples.ts';

/** The TLS certificate of a server, from the files in its settings. */
export class ServedCertificate {
  #current: Certificate;

  /** Throws a readable error if the files are unusable. */
  private constructor(
    private readonly files: { readonly cert: string; readonly key: string },
    private readonly log: Log,
  ) {
    this.#current = readCertificate(files);
    this.#warn();
  }

  /** Returns the configured certificate; undefined without one. */
  static of({ tls_cert_file: cert, tls_key_file: key }: Config, log: Log): ServedCertificate | undefined {
    return cert === null || key === null ? undefined : new ServedCertificate({ cert, key }, log);
  }

  get current(): Certificate {
    return this.#current;
  }

  /** Reloads the files. If they are unusable, throws a readable error and keeps the current certificate. */
  reload(listener: Pick<HttpServer, 'renew'>): void {
    this.#current = readCertificate(this.files);
    listener.renew(this.#current);
    this.log.info({ expires: new Date(this.#current.expires).toISOString() }, 'certificate reloaded');
    this.#warn();
  }

  readonly reading: Reading = {
    name: 'tenantry_tls_certificate_expiry_timestamp_seconds',
    help: 'When the TLS certificate expires, in seconds since 1970.',
    type: 'gauge',
    read: () => [[this.#current.expires / 1000]],
  };

  #warn(): void {
    const { expires } = this.#current;
    if (expires < Date.now())
      this.log.warn({ expires: new Date(expires).toISOString() }, 'the certificate has expired: clients reject it');
  }
}

/** Runs all steps. Logs the ones that fail; those change nothing. */
export function reloadAll(log: Log, steps: Readonly<Record<string, (() => void) | undefined>>): void {
  for (const [subject, step] of Object.entries(steps)) {
    try {
      step?.();
    } catch (error) {
      log.error({ reason: errorOf(error).message }, `failed to reload ${subject}; the previous one stays in use`);
    }
  }
}
