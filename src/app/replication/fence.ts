import type { App } from '../../kernel/app.ts';
import type { Database } from '../../kernel/db/database.ts';
import { sql } from '../../kernel/db/sql.ts';
import { HttpError } from '../../kernel/http/error.ts';
import type { Elsewhere } from '../../kernel/http/exchange.ts';
import { errorOf } from '../../kernel/present.ts';
import { refusal, writes } from './elsewhere.ts';
import { Epochs } from './epochs.ts';
import { versionOf } from './version.ts';

/** Milliseconds between two questions to the peers. */
const askEvery = 5000;

/** The epoch of the server that has taken the place of the one whose database this is; null: none has. */
export const fencedBy = (db: Database): number | null =>
  db.value<number | null>(sql`SELECT fenced FROM deployment`) ?? null;

/** What is said of a database that is fenced, as a list of lines. */
export function fenceTroubles(db: Database): string[] {
  const epoch = fencedBy(db);
  return epoch === null
    ? []
    : [`another server has been promoted in the place of this one, in epoch ${epoch}: nothing is written here`];
}

/** What a fence guards. */
interface Guarded {
  readonly app: App;
  /** Ends whatever is done without being asked. */
  readonly rest: () => Promise<void>;
}

/** Keeps a server from writing when another has been promoted in its place. */
export class Fence {
  readonly #guarded: Guarded;
  readonly #epochs = new Epochs();
  #timer: NodeJS.Timeout | undefined;
  #isFenced: boolean;
  #resting: Promise<void> | undefined;
  #silent = new Set<string>();

  constructor(guarded: Guarded) {
    this.#guarded = guarded;
    this.#isFenced = fencedBy(guarded.app.db) !== null;
    if (this.#isFenced) guarded.app.log.error(fenceTroubles(guarded.app.db).join());
  }

  /** Asks the peers, now and every five seconds. Resolves when they have answered, or two seconds have passed. */
  async begin(): Promise<void> {
    await this.#askAll();
    if (this.#guarded.app.config.peers.length > 0)
      this.#timer = setInterval(() => void this.#askAll(), askEvery).unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#resting;
  }

  readonly elsewhere: Elsewhere = (exchange) => {
    const { db } = this.#guarded.app;
    const reported = this.#epochs.respond(this.#guarded.app, exchange);
    if (reported?.isProven) this.#hear(reported.epoch);
    if (!writes(exchange)) return undefined;
    // What a server has not proven counts for its own request alone.
    const isSuperseded = reported !== undefined && reported.epoch > versionOf(db).epoch;
    return this.#isFenced || isSuperseded ? Promise.resolve(refusal(fenced())) : undefined;
  };

  async #askAll(): Promise<void> {
    if (this.#isFenced) return;
    await Promise.all(this.#guarded.app.config.peers.map((peer) => this.#ask(peer)));
  }

  async #ask(peer: string): Promise<void> {
    const { app } = this.#guarded;
    try {
      const epoch = await this.#epochs.ask(app, peer);
      this.#silent.delete(peer);
      this.#hear(epoch);
    } catch (error) {
      if (!this.#silent.has(peer)) app.log.warn({ peer, err: errorOf(error) }, 'peer did not report its epoch');
      this.#silent.add(peer);
    }
  }

  #hear(epoch: number): void {
    const { app, rest } = this.#guarded;
    const { db, log } = app;
    if (this.#isFenced || !(epoch > versionOf(db).epoch)) return;
    this.#isFenced = true;
    try {
      db.write(() => db.run(sql`UPDATE deployment SET fenced = ${epoch}`));
      db.store();
    } catch (error) {
      // It is told again after the next start.
      log.error({ err: error }, 'that another server was promoted cannot be stored');
    }
    log.error(fenceTroubles(db).join());
    this.#resting = rest();
  }
}

const fenced = (): HttpError =>
  new HttpError(503, { detail: 'Another server has been promoted in the place of this one, which takes no changes.' });
