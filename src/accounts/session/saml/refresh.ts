import { createHash, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { App } from '../../../kernel/app.ts';
import { ConfigError, environmentName } from '../../../kernel/config/config.ts';
import { HttpClient } from '../../../kernel/net/http-client.ts';
import { errorOf } from '../../../kernel/present.ts';
import { withoutCredentials } from '../../../kernel/url.ts';
import { askOfMetadata } from './ask.ts';
import { hasProviders, keepSources, noteFailure, replaceProviders } from './identity-providers.ts';
import { readPem } from './service-keys.ts';

/** A place that metadata comes from, as the settings name it. */
interface Source {
  /** Its name in the database. */
  readonly name: string;
  /** How the operator knows it. */
  readonly label: string;
  readonly read: () => Promise<Buffer>;
  /** Base64 of the certificate that must have signed it; files are trusted as they are. */
  readonly signer?: string;
}

/** Bounds of reading metadata from the web: bytes, and milliseconds until it is connected and read. */
const metadataLimits = { maxBytes: 4 * 1024 * 1024, connectTimeout: 5000, timeout: 30_000 };

/**
 * Keeps the identity providers in step with the metadata that the settings name: files when the service starts, everything
 * in the background when the timer says so. What cannot be read is logged, and what it told before stays.
 */
export class MetadataRefresher {
  readonly #files: readonly Source[];
  readonly #urls: readonly Source[];
  /** Digest of the last good document of each source: the same again needs no work. */
  readonly #applied = new Map<string, string>();
  #running: Promise<void> | undefined;
  #isClosed = false;

  /** Throws ConfigError when a certificate of the settings cannot be read. */
  constructor(private readonly app: App) {
    const { config } = app;
    const isOn = config.authentication_methods.includes('SAML2');
    this.#files = isOn
      ? config.saml_idp_metadata_files.map((file) => ({ name: file, label: file, read: () => readFile(file) }))
      : [];
    this.#urls = isOn
      ? config.saml_idp_metadata_urls.map(({ cert_file: certificate, url }) => this.#remote(url, certificate))
      : [];
  }

  /** Forgets what is no longer configured and reads the files. Rejects with ConfigError when nothing is known from one. */
  async start(): Promise<void> {
    const { db } = this.app;
    db.write(() =>
      keepSources(
        db,
        [...this.#files, ...this.#urls].map(({ name }) => name),
      ),
    );
    for (const source of this.#files) {
      const failure = await this.#refresh(source);
      if (failure !== undefined && !hasProviders(db, source.name))
        throw new ConfigError(`${environmentName('saml_idp_metadata_files')}: ${source.label}: ${failure}`);
    }
  }

  /** Reads everything again, unless that is being done. */
  poll(): void {
    if (this.#files.length + this.#urls.length > 0) this.#running ??= this.#refreshAll();
  }

  /** Resolves when nothing is being read. */
  async idle(): Promise<void> {
    await this.#running;
  }

  /** What is being read is no longer written. */
  close(): void {
    this.#isClosed = true;
  }

  async #refreshAll(): Promise<void> {
    for (const source of [...this.#files, ...this.#urls]) await this.#refresh(source);
    this.#running = undefined;
  }

  /** Answers what was wrong, as a sentence; undefined when all is well. */
  async #refresh(source: Source): Promise<string | undefined> {
    const { clock, db, log } = this.app;
    try {
      const bytes = await source.read();
      const digest = createHash('sha256').update(bytes).digest('hex');
      if (this.#isClosed || this.#applied.get(source.name) === digest) return undefined;
      const providers = await askOfMetadata(this.app, { bytes, now: clock.now(), signer: source.signer });
      if (this.#isClosed) return undefined;
      const others = db.write(() => replaceProviders(db, source.name, providers, clock.now()));
      if (others.length > 0)
        log.warn(
          { source: source.label, providers: others.slice(0, 20) },
          'identity providers are known from other metadata',
        );
      this.#applied.set(source.name, digest);
      return undefined;
    } catch (error) {
      const { message } = errorOf(error);
      if (this.#isClosed) return message;
      log.error({ source: source.label, reason: message }, 'metadata of identity providers could not be refreshed');
      db.write(() => noteFailure(db, source.name, message.slice(0, 500)));
      this.#applied.delete(source.name);
      return message;
    }
  }

  #remote(url: string, certificateFile: string): Source {
    const { raw, fingerprint256 } = readPem(
      'saml_idp_metadata_urls',
      certificateFile,
      (pem) => new X509Certificate(pem),
    );
    // The address is the operator's own choice: it may be in the operator's own network.
    const { resolve } = this.app;
    const http = new HttpClient({ resolve, allows: () => true, ...metadataLimits });
    const read = async (): Promise<Buffer> => {
      const { body, ending, status } = await http.send({
        method: 'GET',
        url: new URL(url),
        headers: { Accept: 'application/samlmetadata+xml, text/xml, application/xml' },
      });
      if (status !== 200) throw new Error(`the answer had status ${status}`);
      if (ending !== 'complete') throw new Error(`the answer was ${ending}`);
      return body;
    };
    // Bound to the certificate: what another one signed is not kept when it is replaced.
    return {
      name: `${url} ${fingerprint256.replaceAll(':', '').toLowerCase()}`,
      label: withoutCredentials(url),
      read,
      signer: raw.toString('base64'),
    };
  }
}
