import type { App } from '../../kernel/app.ts';
import type { Database } from '../../kernel/db/database.ts';
import { sql } from '../../kernel/db/sql.ts';
import { isFor } from '../../kernel/durability/storage-error.ts';
import type { Forwarding } from '../../kernel/http/call.ts';
import { HttpError, leaseMissing } from '../../kernel/http/error.ts';
import { errorOf } from '../../kernel/present.ts';
import { Epochs } from './epochs.ts';
import { errorResponse, isWrite } from './requests.ts';
import { versionOf } from './version.ts';

/** Interval between two requests to a peer. */
const pollIntervalMs = 5000;

/** Returns the epoch of the promoted server that supersedes this database; null if there is none. */
export const fencedBy = (db: Database): number | null =>
  db.value<number | null>(sql`SELECT fenced FROM deployment`) ?? null;

/** Returns one line if the database is fenced, otherwise none. */
export function fenceProblems(db: Database): string[] {
  const epoch = fencedBy(db);
  return epoch === null
    ? []
    : [`another server was promoted instead of this one, in epoch ${epoch}: this server stores no changes`];
}

/** The engine that a fence protects. */
interface FencedEngine {
  readonly app: App;
  /** Stops all work except serving requests. */
  readonly pause: () => Promise<void>;
}

/** Stops a server from writing after another server was promoted instead. */
export class Fence {
  readonly #engine: FencedEngine;
  readonly #epochs = new Epochs();
  #timer: NodeJS.Timeout | undefined;
  #isFenced: boolean;
  #pausing: Promise<void> | undefined;
  readonly #unresponsivePeers = new Set<string>();

  constructor(engine: FencedEngine) {
    this.#engine = engine;
    this.#isFenced = fencedBy(engine.app.db) !== null;
    if (this.#isFenced) engine.app.log.error(fenceProblems(engine.app.db).join());
  }

  /** Polls the epochs of the peers, now and every five seconds. Resolves when all have responded, or after two seconds. */
  async start(): Promise<void> {
    await this.#pollPeers();
    if (this.#engine.app.config.peers.length > 0)
      this.#timer = setInterval(() => void this.#pollPeers(), pollIntervalMs).unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#pausing;
  }

  readonly elsewhere: Forwarding = (call) => {
    const { db } = this.#engine.app;
    const reported = this.#epochs.respond(this.#engine.app, call);
    if (reported?.isProven) this.receive(reported.epoch);
    if (!isWrite(call)) return undefined;
    // An unproven epoch only affects the request that reports it.
    const isSuperseded = reported !== undefined && reported.epoch > versionOf(db).epoch;
    if (this.#isFenced || isSuperseded) return Promise.resolve(errorResponse(fenced()));
    return isFor(this.#engine.app.db.trouble, 'lease') ? Promise.resolve(errorResponse(leaseMissing())) : undefined;
  };

  async #pollPeers(): Promise<void> {
    if (this.#isFenced) return;
    await Promise.all(this.#engine.app.config.peers.map((peer) => this.#poll(peer)));
  }

  async #poll(peer: string): Promise<void> {
    const { app } = this.#engine;
    try {
      const epoch = await this.#epochs.request(app, peer);
      this.#unresponsivePeers.delete(peer);
      this.receive(epoch);
    } catch (error) {
      if (!this.#unresponsivePeers.has(peer))
        app.log.warn({ peer, err: errorOf(error) }, 'peer did not report its epoch');
      this.#unresponsivePeers.add(peer);
    }
  }

  /** Permanently fences this server if the epoch is higher than its own. */
  receive(epoch: number): void {
    const { app, pause } = this.#engine;
    const { db, log } = app;
    if (this.#isFenced || !(epoch > versionOf(db).epoch)) return;
    this.#isFenced = true;
    try {
      db.writeUnguarded(() => db.run(sql`UPDATE deployment SET fenced = ${epoch}`));
    } catch (error) {
      // The peer will report it again after the next start.
      log.error({ err: error }, 'failed to store the promotion of another server');
    }
    log.error(fenceProblems(db).join());
    this.#pausing = pause();
  }
}

const fenced = (): HttpError =>
  new HttpError(503, { detail: 'Another server has been promoted in the place of this one, which takes no changes.' });
