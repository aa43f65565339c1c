import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from '../../kernel/app.ts';
import type { Config } from '../../kernel/config/config.ts';
import type { Call, Forwarding, Result } from '../../kernel/http/call.ts';
import { HttpError } from '../../kernel/http/error.ts';
import { pathOf } from '../../kernel/http/incoming-request.ts';
import { invalidTarget } from '../../kernel/http/rejection.ts';
import type { Log } from '../../kernel/log.ts';
import { errorOf, plainReason, present } from '../../kernel/present.ts';
import { isHalfRunOut } from '../../kernel/security/tokens.ts';
import { withoutCredentials } from '../../kernel/url.ts';
import { lockFolder, prepareFolder, requireNoDatabase } from '../data/data-folder.ts';
import { Copies } from './copies.ts';
import { Epochs, epochHeader } from './epochs.ts';
import { Primary } from './primary.ts';
import { errorResponse, isWrite, staysBelow } from './requests.ts';
import { hasReached, readVersion, textOf, type Version, versionHeader, versionOf } from './version.ts';

/** How long a request waits for a version. */
const maxWaitMs = 3000;
/** Number of copies to keep besides the served one. Running requests may still use the previous one. */
const previousCopies = 1;

/** The options of `serve --follow`. */
export interface FollowOptions {
  /** A folder in which another program updates the database, or the URL of a Litestream replica. */
  readonly source: string;
  /** The server that receives writes; null rejects them. */
  readonly primary: string | null;
}

/** The progress of a follower. */
export interface FollowerState {
  readonly version: string;
  /** Seconds since the served copy was known to be current; null before the first copy after the start. */
  readonly seconds_behind: number | null;
}

interface FollowerOptions extends FollowOptions {
  readonly config: Config;
  /** The data folder of the follower. */
  readonly folder: string;
  readonly log: Log;
}

/** The server that serves the copies. */
interface CopyServer {
  /** The instance that serves the current copy. */
  readonly app: App;
  /** Replaces that instance with one for the copy in a data folder. */
  readonly replace: (copy: string) => Promise<void>;
}

/**
 * Serves successive copies of a database for reading. Forwards writes, logins and logouts to the primary, as well as reads that
 * require a version which no copy reaches within three seconds.
 */
export class Follower {
  readonly #options: FollowerOptions;
  readonly #copies: Copies;
  readonly #primary: Primary | undefined;
  readonly #epochs = new Epochs();
  readonly #unlock: () => void;
  readonly #ending = new AbortController();
  #current: Promise<void> = Promise.resolve();
  #server: CopyServer | undefined;
  /** Callbacks of requests that wait for a version, called with the version of each new copy. */
  readonly #waiting = new Set<(version: Version) => void>();
  /** When the served copy was taken or last found to be current (monotonic clock). */
  #asOf: number | undefined;
  #lastFailure: string | undefined;

  /** Throws a readable error if the folder is unusable. */
  constructor(options: FollowerOptions) {
    this.#options = options;
    const { config, folder, primary } = options;
    const addon = prepareFolder(config, folder);
    requireNoDatabase(folder);
    this.#unlock = lockFolder(folder, addon);
    this.#copies = new Copies(config, folder, true);
    this.#primary = primary === null ? undefined : new Primary(primary);
  }

  /** Opens the first copy in its data folder. Rejects with a readable error. */
  async openFirst<T>(open: (copy: string) => Promise<T>): Promise<T> {
    const copy = await this.#takeFirst();
    return open(copy).catch((error: unknown) => {
      this.#copies.discard(copy);
      throw error;
    });
  }

  /** Copies the source, or returns the newest copy if the source is unavailable. */
  async #takeFirst(): Promise<string> {
    const { log, source } = this.#options;
    const asOf = performance.now();
    try {
      const copy = present(await this.#copies.take(source));
      this.#asOf = asOf;
      return copy;
    } catch (error) {
      const { newest } = this.#copies;
      if (newest !== undefined) {
        this.#lastFailure = errorOf(error).message;
        log.warn({ err: error }, 'failed to copy the source; serving the newest copy');
        return newest;
      }
      throw new Error(`cannot follow ${withoutCredentials(source)}: ${plainReason(error)}`, { cause: error });
    }
  }

  /** Starts replacing the served copy with newer ones. */
  start(server: CopyServer): void {
    this.#server = server;
    this.#current = this.#follow(server);
  }

  /** Stops replacing copies. The server keeps serving the current one. */
  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#current;
    await this.#copies.close();
  }

  /** Closes the connections to the primary and unlocks the data folder. */
  close(): void {
    this.#primary?.close();
    this.#unlock();
  }

  get state(): FollowerState {
    return {
      version: textOf(this.#version()),
      seconds_behind: this.#asOf === undefined ? null : Math.round((performance.now() - this.#asOf) / 100) / 10,
    };
  }

  /** Explains why the served copy is too old (no copy succeeded for ten intervals); undefined if it is recent enough. */
  get problem(): string | undefined {
    const { seconds_behind: behind } = this.state;
    const maxSeconds = Math.max(10, (10 * this.#options.config.follow_interval) / 1_000_000);
    if (behind !== null && behind <= maxSeconds) return undefined;
    const age = behind === null ? 'from before the start' : `${behind} seconds old`;
    return `is ${age}: ${this.#lastFailure ?? 'the current copy takes long'}`;
  }

  readonly elsewhere: Forwarding = (call, base) => {
    const app = this.#server?.app;
    if (app) this.#epochs.respond(app, call);
    const { headers } = call.message;
    // A stream from a copy would end when the copy is replaced.
    if (isWrite(call) || pathOf(call.target) === '/api/events/stream/') return this.#forward(call, base);
    // The primary must record the use of the token. If it is unreachable, the copy serves the request.
    if (this.#isHalfRunOut(headers.authorization))
      return this.#forward(call, base).then((response) => (typeof response === 'number' ? response : undefined));
    const required = readVersion(headers[versionHeader.toLowerCase()]);
    if (required === undefined || hasReached(this.#version(), required)) return undefined;
    return this.#wait(required).then((hasVersion) => (hasVersion ? undefined : this.#forward(call, base)));
  };

  #isHalfRunOut(authorization: string | undefined): boolean {
    const app = this.#server?.app;
    return app !== undefined && isHalfRunOut(app, authorization, app.clock.now());
  }

  /** Resolves with true when a copy with the version is served, or with false after the timeout. */
  #wait(required: Version): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (hasVersion: boolean): void => {
        clearTimeout(timer);
        this.#waiting.delete(check);
        resolve(hasVersion);
      };
      const check = (version: Version): void => {
        if (hasReached(version, required)) end(true);
      };
      const timer = setTimeout(() => end(false), maxWaitMs);
      this.#waiting.add(check);
    });
  }

  async #forward(call: Call, base: string): Promise<Result | number> {
    const { address, outgoing } = call;
    const app = this.#server?.app;
    const primary = this.#primary;
    if (!primary || !app) return errorResponse(readOnly());
    if (!staysBelow(call.target)) return invalidTarget;
    const headers = {
      'X-Forwarded-For': address,
      'X-Forwarded-Proto': base.startsWith('https:') ? 'https' : 'http',
      // Forward only values that this server accepts from the client, because the primary trusts a follower.
      'X-Forwarded-Host': new URL(base).host,
      // Informs a superseded primary that another server was promoted.
      [epochHeader]: this.#epochs.header(app, primary.url),
    };
    const response = await primary.forward(call, headers);
    if (response) this.#receive(primary.url, response.epoch);
    return response || outgoing.headersSent ? (response?.status ?? 0) : errorResponse(unreachable());
  }

  /** Proves the epoch of the served copy to a primary with a lower epoch. */
  #receive(url: string, header: unknown): void {
    // Use the current copy: the one that was served when the request arrived may be closed.
    const app = this.#server?.app;
    if (!app) return;
    const epoch = this.#epochs.read(app, url, header);
    if (epoch === undefined || epoch >= versionOf(app.db).epoch) return;
    // On failure, the next forwarded request tries again.
    this.#epochs.request(app, url).catch(() => undefined);
  }

  #version(): Version {
    return this.#server ? versionOf(this.#server.app.db) : { epoch: 0, number: 0 };
  }

  async #follow(server: CopyServer): Promise<void> {
    const { config, log, source } = this.#options;
    const { signal } = this.#ending;
    while (!signal.aborted) {
      await sleep(config.follow_interval / 1000, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      const asOf = performance.now();
      try {
        const copy = await this.#copies.take(source, signal);
        if (copy !== undefined) {
          await server.replace(copy).catch((error: unknown) => {
            this.#copies.discard(copy);
            throw error;
          });
          this.#copies.removeOld(previousCopies);
          const version = this.#version();
          for (const check of this.#waiting) check(version);
        }
        this.#asOf = asOf;
        this.#lastFailure = undefined;
      } catch (error) {
        if (signal.aborted) return;
        const { message } = errorOf(error);
        if (message !== this.#lastFailure) log.warn({ err: error }, 'failed to copy the source');
        this.#lastFailure = message;
      }
    }
  }
}

const unreachable = (): HttpError =>
  new HttpError(503, { detail: 'The primary server cannot be reached. Try again.' }, { 'Retry-After': '1' });

const readOnly = (): HttpError => new HttpError(503, { detail: 'This server only reads.' });
