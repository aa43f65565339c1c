import { createHash, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { App } from '../../../kernel/app.ts';
import { type Config, ConfigError, environmentName } from '../../../kernel/config/config.ts';
import { HttpClient } from '../../../kernel/net/http-client.ts';
import type { Resolver } from '../../../kernel/net/resolver.ts';
import { errorOf } from '../../../kernel/present.ts';
import { withoutCredentials } from '../../../kernel/url.ts';
import { hasProviders, removeOtherSources, replaceProviders, storeFailure } from './identity-providers.ts';
import { readMetadataOnThread } from './saml-thread.ts';
import { readPem } from './service-keys.ts';

/** A configured file or URL with metadata. */
export interface MetadataSource {
  /** The name in the database. */
  readonly name: string;
  /** The name in the log. */
  readonly label: string;
  readonly read: () => Promise<Buffer>;
  /** The certificate (base64) that must have signed it; undefined for files, which are trusted. */
  readonly signer?: string;
}

/** Limits for metadata from URLs: bytes, and milliseconds to connect and to read. */
const metadataLimits = { maxBytes: 4 * 1024 * 1024, connectTimeout: 5000, timeout: 30_000 };

/**
 * Updates the identity providers from the configured metadata: from files at start, and from all sources in the background. If a
 * source cannot be read, logs the error and keeps its previous identity providers.
 */
export class MetadataRefresher {
  readonly #files: readonly MetadataSource[];
  readonly #urls: readonly MetadataSource[];
  /** Digest of the last valid document of each source. An unchanged document is skipped. */
  readonly #applied = new Map<string, string>();
  #running: Promise<void> | undefined;
  #isClosed = false;

  /** Throws ConfigError if a certificate is unreadable. */
  constructor(private readonly app: App) {
    ({ files: this.#files, urls: this.#urls } = metadataSources(app.config, app.resolve));
  }

  /** Removes unconfigured sources and reads the files. Rejects with ConfigError if a file has no identity provider. */
  async start(): Promise<void> {
    const { db } = this.app;
    db.write(() =>
      removeOtherSources(
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

  /** Starts reading all sources, unless a read is in progress. */
  poll(): void {
    if (this.#files.length + this.#urls.length > 0) this.#running ??= this.#refreshAll();
  }

  /** Resolves when no source is being read. */
  async idle(): Promise<void> {
    await this.#running;
  }

  /** Discards the results of reads in progress. */
  close(): void {
    this.#isClosed = true;
  }

  async #refreshAll(): Promise<void> {
    for (const source of [...this.#files, ...this.#urls]) await this.#refresh(source);
    this.#running = undefined;
  }

  /** Reads a source. Returns an error message, or undefined on success. */
  async #refresh(source: MetadataSource): Promise<string | undefined> {
    const { clock, db, log } = this.app;
    try {
      const bytes = await source.read();
      const digest = createHash('sha256').update(bytes).digest('hex');
      if (this.#isClosed || this.#applied.get(source.name) === digest) return undefined;
      const providers = await readMetadataOnThread(this.app, { bytes, now: clock.now(), signer: source.signer });
      if (this.#isClosed) return undefined;
      const others = db.write(() => replaceProviders(db, source.name, providers, clock.now()));
      if (others.length > 0)
        log.warn(
          { source: source.label, providers: others.slice(0, 20) },
          'ignored identity providers that other metadata already has',
        );
      this.#applied.set(source.name, digest);
      return undefined;
    } catch (error) {
      const { message } = errorOf(error);
      if (this.#isClosed) return message;
      log.error({ source: source.label, reason: message }, 'failed to refresh SAML metadata');
      db.write(() => storeFailure(db, source.name, message.slice(0, 500)));
      this.#applied.delete(source.name);
      return message;
    }
  }
}

/** Returns the configured sources; none unless SAML is enabled. Throws ConfigError if a certificate is unreadable. */
export function metadataSources(
  { authentication_methods: methods, saml_idp_metadata_files: files, saml_idp_metadata_urls: urls }: Config,
  resolve: Resolver,
): { readonly files: readonly MetadataSource[]; readonly urls: readonly MetadataSource[] } {
  if (!methods.includes('SAML2')) return { files: [], urls: [] };
  return {
    files: files.map((file) => ({ name: file, label: file, read: () => readFile(file) })),
    urls: urls.map(({ cert_file: certificate, url }) => remoteSource(url, certificate, resolve)),
  };
}

function remoteSource(url: string, certificateFile: string, resolve: Resolver): MetadataSource {
  const { raw, fingerprint256 } = readPem('saml_idp_metadata_urls', certificateFile, (pem) => new X509Certificate(pem));
  // The operator chose the URL, so it may be in a private network.
  const http = new HttpClient({ resolve, allows: () => true, ...metadataLimits });
  const read = async (): Promise<Buffer> => {
    const { body, ending, status } = await http.send({
      method: 'GET',
      url: new URL(url),
      headers: { Accept: 'application/samlmetadata+xml, text/xml, application/xml' },
    });
    if (status !== 200) throw new Error(`the response had status ${status}`);
    if (ending !== 'complete') throw new Error(`the response was ${ending}`);
    return body;
  };
  // The name contains the certificate, so that replacing it removes the identity providers that the old one signed.
  return {
    name: `${url} ${fingerprint256.replaceAll(':', '').toLowerCase()}`,
    label: withoutCredentials(url),
    read,
    signer: raw.toString('base64'),
  };
}
