import { type Identity, type Protocol, type VendorRequest, type VendorResponse, VendorServer } from './server.ts';

/** An in-process imitation of a vendor: its protocol and its server. */
export abstract class StandIn implements Protocol {
  #server: VendorServer | undefined;

  /** `now` are milliseconds since 1970. */
  protected constructor(readonly now: () => number) {}

  /** Starts the server, with TLS if there is an identity. */
  protected static async startServer<S extends StandIn>(vendor: S, identity?: Identity): Promise<S> {
    vendor.#server = await VendorServer.start(vendor, identity);
    return vendor;
  }

  abstract route(request: VendorRequest): string;
  abstract reply(request: VendorRequest): VendorResponse;

  headers(): Readonly<Record<string, string>> {
    return { Date: new Date(this.now()).toUTCString() };
  }

  get server(): VendorServer {
    if (!this.#server) throw new Error('The stand-in has not been started.');
    return this.#server;
  }

  /** The address for settings. */
  get url(): string {
    return this.server.url;
  }

  close = (): Promise<void> => this.server.close();
}
