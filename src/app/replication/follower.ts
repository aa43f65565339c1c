import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from '../../kernel/app.ts';
import type { Config } from '../../kernel/config/config.ts';
import { HttpError } from '../../kernel/http/error.ts';
import type { Answer, Elsewhere, Exchange } from '../../kernel/http/exchange.ts';
import { pathOf } from '../../kernel/http/incoming-request.ts';
import { invalidTarget } from '../../kernel/http/own-answers.ts';
import type { Log } from '../../kernel/log.ts';
import { plainReason } from '../../kernel/plain-reason.ts';
import { errorOf, present } from '../../kernel/present.ts';
import { isHalfRunOut } from '../../kernel/security/tokens.ts';
import { withoutCredentials } from '../../kernel/url.ts';
import { lockFolder, prepareFolder, requireNoDatabase } from '../data/data-folder.ts';
import { Copies } from './copies.ts';
import { refusal, writes } from './elsewhere.ts';
import { Epochs, epochHeader } from './epochs.ts';
import { Primary } from './primary.ts';
import { staysBelow } from './target.ts';
import { hasReached, readVersion, textOf, type Version, versionHeader, versionOf } from './version.ts';

/** Milliseconds that a reader waits for a version. */
const patience = 3000;
/** Copies that are kept besides the one that is served: what was begun at one of them may still be going on. */
const kept = 1;

/** What `serve --follow` asks for. */
export interface Following {
  /** A folder in which another program keeps the database up to date, or the URL of a replica of Litestream. */
  readonly source: string;
  /** Where requests that change something go; null: they are refused. */
  readonly primary: string | null;
}

/** How far a follower is. */
export interface FollowerState {
  readonly version: string;
  /** Seconds since the source was last found to hold nothing newer than what is served; null: since before the start. */
  readonly seconds_behind: number | null;
}

interface Given extends Following {
  readonly config: Config;
  /** Its data folder. */
  readonly folder: string;
  readonly log: Log;
}

/** What serves the copies. */
interface Server {
  /** What is served now. */
  readonly app: App;
  /** Puts the copy of a data folder in its place. */
  readonly replace: (copy: string) => Promise<void>;
}

/**
 * Serves copies of a database, one after the other, for reading. What changes anything, and what logs in or out, goes to the
 * primary; so does a read that wants a version which no copy has within three seconds.
 */
export class Follower {
  readonly #given: Given;
  readonly #copies: Copies;
  readonly #primary: Primary | undefined;
  readonly #epochs = new Epochs();
  readonly #unlock: () => void;
  readonly #ending = new AbortController();
  #current: Promise<void> = Promise.resolve();
  #server: Server | undefined;
  /** Readers that wait for a version: each is called with that of a new copy. */
  readonly #waiting = new Set<(version: Version) => void>();
  /** When the copy that is served was begun to be made, or found to be current, by the monotonic clock. */
  #asOf: number | undefined;
  #lastFailure: string | undefined;

  /** Throws with a sentence when the folder cannot be used. */
  constructor(given: Given) {
    this.#given = given;
    const { config, folder, primary } = given;
    const addon = prepareFolder(config, folder);
    requireNoDatabase(folder);
    this.#unlock = lockFolder(folder, addon);
    this.#copies = new Copies(config, folder);
    this.#primary = primary === null ? undefined : new Primary(primary);
  }

  /** Opens a first copy, in its data folder. Rejects with a sentence. */
  async openFirst<T>(open: (copy: string) => Promise<T>): Promise<T> {
    const copy = await this.#takeFirst();
    return open(copy).catch((error: unknown) => {
      this.#copies.discard(copy);
      throw error;
    });
  }

  /** Copies the source; if it is unavailable, returns the newest copy. */
  async #takeFirst(): Promise<string> {
    const { log, source } = this.#given;
    const asOf = performance.now();
    try {
      const copy = present(await this.#copies.take(source));
      this.#asOf = asOf;
      return copy;
    } catch (error) {
      const { newest } = this.#copies;
      if (newest !== undefined) {
        this.#lastFailure = errorOf(error).message;
        log.warn({ err: error }, 'the source cannot be copied: the newest copy is served');
        return newest;
      }
      throw new Error(`cannot follow ${withoutCredentials(source)}: ${plainReason(error)}`, { cause: error });
    }
  }

  /** Starts to replace the copy that the server serves with newer ones. */
  start(server: Server): void {
    this.#server = server;
    this.#current = this.#follow(server);
  }

  /** Stops replacing copies. The server keeps serving the current one. */
  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#current;
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

  /** Why what is served is too old: the source could not be copied for ten times as long as that is done; undefined when it is not. */
  get trouble(): string | undefined {
    const { seconds_behind: behind } = this.state;
    const most = Math.max(10, (10 * this.#given.config.follow_interval) / 1_000_000);
    if (behind !== null && behind <= most) return undefined;
    const age = behind === null ? 'from before the start' : `${behind} seconds old`;
    return `is ${age}: ${this.#lastFailure ?? 'a copy takes long'}`;
  }

  readonly elsewhere: Elsewhere = (exchange, base) => {
    const app = this.#server?.app;
    if (app) this.#epochs.respond(app, exchange);
    const { headers } = exchange.message;
    // A stream would end with its copy.
    if (writes(exchange) || pathOf(exchange.target) === '/api/events/stream/') return this.#forward(exchange, base);
    // The primary is to know that the token is used; where it is away, its word of some time ago counts.
    if (this.#isHalfRunOut(headers.authorization))
      return this.#forward(exchange, base).then((answer) => (typeof answer === 'number' ? answer : undefined));
    const wanted = readVersion(headers[versionHeader.toLowerCase()]);
    if (wanted === undefined || hasReached(this.#version(), wanted)) return undefined;
    return this.#wait(wanted).then((hasCome) => (hasCome ? undefined : this.#forward(exchange, base)));
  };

  #isHalfRunOut(authorization: string | undefined): boolean {
    const app = this.#server?.app;
    return app !== undefined && isHalfRunOut(app, authorization, app.clock.now());
  }

  /** Resolves with true when a copy that has the version is served; with false when none has come in time. */
  #wait(wanted: Version): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (hasCome: boolean): void => {
        clearTimeout(timer);
        this.#waiting.delete(look);
        resolve(hasCome);
      };
      const look = (version: Version): void => {
        if (hasReached(version, wanted)) end(true);
      };
      const timer = setTimeout(() => end(false), patience);
      this.#waiting.add(look);
    });
  }

  async #forward(exchange: Exchange, base: string): Promise<Answer | number> {
    const { address, outgoing } = exchange;
    const app = this.#server?.app;
    const primary = this.#primary;
    if (!primary || !app) return refusal(readOnly());
    if (!staysBelow(exchange.target)) return invalidTarget;
    const further = {
      'X-Forwarded-For': address,
      'X-Forwarded-Proto': base.startsWith('https:') ? 'https' : 'http',
      // Of what the client says only what counts here: the primary believes it of a follower.
      'X-Forwarded-Host': new URL(base).host,
      // A primary that another server has taken the place of hears of it.
      [epochHeader]: this.#epochs.header(app, primary.url),
    };
    const response = await primary.forward(exchange, further);
    if (response) this.#hear(app, primary.url, response.epoch);
    return response || outgoing.headersSent ? (response?.status ?? 0) : refusal(away());
  }

  /** Proves the epoch of what is served to a primary whose own is lower. */
  #hear(app: App, url: string, header: unknown): void {
    const epoch = this.#epochs.read(app, url, header);
    if (epoch === undefined || epoch >= versionOf(app.db).epoch) return;
    // Where it cannot be reached now, the next request that goes there tries again.
    this.#epochs.ask(app, url).catch(() => undefined);
  }

  #version(): Version {
    return this.#server ? versionOf(this.#server.app.db) : { epoch: 0, number: 0 };
  }

  async #follow(server: Server): Promise<void> {
    const { config, log, source } = this.#given;
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
          this.#copies.removeOld(kept);
          const version = this.#version();
          for (const look of this.#waiting) look(version);
        }
        this.#asOf = asOf;
        this.#lastFailure = undefined;
      } catch (error) {
        if (signal.aborted) return;
        const { message } = errorOf(error);
        if (message !== this.#lastFailure) log.warn({ err: error }, 'the source cannot be copied');
        this.#lastFailure = message;
      }
    }
  }
}

const away = (): HttpError =>
  new HttpError(503, { detail: 'The primary server cannot be reached. Try again.' }, { 'Retry-After': '1' });

const readOnly = (): HttpError => new HttpError(503, { detail: 'This server only reads.' });
