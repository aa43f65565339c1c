import type { App } from '../../kernel/access/app.ts';
import type { Database } from '../../kernel/db/database.ts';
import { sql } from '../../kernel/db/sql.ts';
import { HttpError } from '../../kernel/http/error.ts';
import type { Elsewhere, Exchange } from '../../kernel/http/exchange.ts';
import { errorOf } from '../../kernel/present.ts';
import { refusal, writes } from './elsewhere.ts';
import { versionOf } from './version.ts';

/*
 * Each promotion of a copy raises the epoch of its database. Servers tell each other theirs in a header of any request and of
 * its answer, sealed with the encryption keys, so that only who has the same data can say it. Whoever hears of a higher epoch
 * writes it down, and from then on neither writes for anybody nor sends anything.
 */

/** The header with the epoch of a server. */
export const epochHeader = 'X-Tenantry-Epoch';
/** What epochs are sealed for. */
const purpose = 'epoch';

/** Milliseconds between two questions to the peers, and those that one of them may take. */
const askEvery = 5000;
const patience = 2000;

/** The epoch of a server as it tells others. */
export const sealedEpoch = ({ db, secrets }: Pick<App, 'db' | 'secrets'>): string =>
  secrets.seal(String(versionOf(db).epoch), purpose).toString('base64url');

/** The epoch that a server with the same data tells; undefined where that is not what a header says. */
function openEpoch(
  { secrets }: Pick<App, 'secrets'>,
  header: string | readonly string[] | null | undefined,
): number | undefined {
  if (typeof header !== 'string') return undefined;
  try {
    return Number(secrets.open(Buffer.from(header, 'base64url'), purpose));
  } catch {
    return undefined;
  }
}

/** Answers whoever tells an epoch with that of this server; what was told. */
export function exchangeEpochs(app: App, { message, outgoing }: Exchange): number | undefined {
  const told = openEpoch(app, message.headers[epochHeader.toLowerCase()]);
  if (told !== undefined) outgoing.setHeader(epochHeader, sealedEpoch(app));
  return told;
}

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
    const told = exchangeEpochs(this.#guarded.app, exchange);
    if (told !== undefined) this.#hear(told);
    return this.#isFenced && writes(exchange) ? Promise.resolve(refusal(fenced())) : undefined;
  };

  async #askAll(): Promise<void> {
    if (this.#isFenced) return;
    await Promise.all(this.#guarded.app.config.peers.map((peer) => this.#ask(peer)));
  }

  async #ask(peer: string): Promise<void> {
    const { app } = this.#guarded;
    try {
      const answer = await fetch(peer, {
        method: 'HEAD',
        headers: { [epochHeader]: sealedEpoch(app) },
        redirect: 'manual',
        signal: AbortSignal.timeout(patience),
      });
      const told = openEpoch(app, answer.headers.get(epochHeader));
      if (told === undefined) throw new Error('it does not tell the epoch of this data');
      this.#silent.delete(peer);
      this.#hear(told);
    } catch (error) {
      if (!this.#silent.has(peer)) app.log.warn({ peer, err: errorOf(error) }, 'a peer does not tell its epoch');
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
