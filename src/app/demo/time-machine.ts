import { expireRoles, nextExpiry } from '../../accounts/roles/roles.ts';
import { ProviderWorker } from '../../cloud/operations/worker.ts';
import { scheduleSyncs } from '../../cloud/sync/sync.ts';
import { systemContext } from '../../kernel/access/context.ts';
import { Request } from '../../kernel/access/request.ts';
import type { App } from '../../kernel/app.ts';
import { hour, minute, type SettableClock, settableClock } from '../../kernel/clock.ts';
import type { Endpoint, Method } from '../../kernel/collection/endpoint.ts';
import { sql } from '../../kernel/db/sql.ts';
import { HttpError } from '../../kernel/http/error.ts';
import { IncomingRequest, pathOf } from '../../kernel/http/incoming-request.ts';
import { Router } from '../../kernel/http/router.ts';
import { Timer } from '../../kernel/jobs/timer.ts';
import { TokenUse } from '../../kernel/security/token-use.ts';
import { authenticate, revokeTokensOf } from '../../kernel/security/tokens.ts';
import { parts } from '../compose/api.ts';
import { housekeeping } from '../compose/housekeeping.ts';
import type { Seed } from './seed.ts';

/** Somebody who uses the API of the past. */
export interface Visitor {
  readonly username: string;
  /** The address they call from. */
  readonly address: string;
}

/** A representation as the API answers it. */
export type Answer = Readonly<Record<string, unknown>> & { readonly url: string; readonly uuid: string };

interface Call {
  readonly by?: Visitor;
  readonly body?: Readonly<Record<string, unknown>>;
  /** What the operation would have prepared outside of its transaction. */
  readonly prepared?: unknown;
}

/** After so long without a request somebody logs in again; no token lives shorter. */
const session = 30 * minute;

/**
 * A deployment in its own past: requests at chosen instants, through the endpoints that serve everybody, with uuids from a
 * seed. Whatever a deployment does by itself happens on the way from one instant to the next, its work at providers included.
 */
export class TimeMachine {
  readonly app: App;
  readonly #clock: SettableClock;
  readonly #router: Router<Endpoint>;
  readonly #timer: Timer;
  readonly #worker: ProviderWorker;
  /** When the house was kept last. */
  #kept = 0;
  readonly #sessions = new Map<Visitor, { token: string; last: number }>();

  constructor(present: App, seed: Seed, start: number) {
    this.#clock = settableClock(start);
    this.app = {
      ...present,
      // Every half hour of years would be too often; see `synchronise`.
      config: { ...present.config, settings_sync_interval: Number.MAX_SAFE_INTEGER },
      clock: this.#clock,
      random: seed.bytes,
      tokenUse: new TokenUse(),
      // What is believable to have happened, a failed synchronisation, warns nobody.
      log: present.log.child({}, { level: present.log.isLevelEnabled('error') ? 'error' : 'silent' }),
      // Nobody's initial password is changed here.
      passwordChanged: () => undefined,
    };
    this.#timer = new Timer(this.app, housekeeping(present.catalogue));
    // All of the past is one transaction: nobody waits for parts of it, or for a turn between them.
    const turn = async (): Promise<void> => undefined;
    this.#worker = new ProviderWorker(this.app, (callback) => callback(), turn);
    this.#router = new Router(parts(present.catalogue));
  }

  /** Lets the time pass until an instant: roles end at theirs, and jobs make their steps, a second apart as they would. */
  async passTo(instant: number): Promise<void> {
    const { db } = this.app;
    for (;;) {
      const [expiry, step] = [nextExpiry(db) ?? Number.POSITIVE_INFINITY, this.#nextStep()];
      if (Math.min(expiry, step) > instant) break;
      if (expiry <= step) {
        this.#clock.set(expiry);
        db.write(() => expireRoles(systemContext(this.app)));
      } else {
        this.#clock.set(step);
        this.#worker.tick();
        await this.#worker.idle();
      }
    }
    this.#clock.set(instant);
    // Housekeeping every second of two years would do nothing but take its time.
    if (instant - this.#kept < hour) return;
    this.#kept = instant;
    this.#timer.tick();
  }

  /** When the worker looks for jobs next and finds one; infinite without any. */
  #nextStep(): number {
    const due = this.app.db.value<number | null>(sql`SELECT min(due) FROM job`) ?? Number.POSITIVE_INFINITY;
    return Math.max(due, this.#clock.now() + this.app.config.job_tick);
  }

  /** Schedules a synchronisation of every provider. */
  synchronise(): void {
    const { app } = this;
    scheduleSyncs(systemContext({ ...app, config: { ...app.config, settings_sync_interval: 0 } }));
  }

  /** Sends a request on behalf of a visitor, who logs in first unless that was lately. Throws when it is refused. */
  send<A extends Answer = Answer>(method: Method, link: string, { by, body = {}, prepared }: Call = {}): A {
    const token = by && this.#tokenOf(by);
    return this.#perform(method, link, { body, prepared, address: by?.address ?? '', token });
  }

  /** The objects of a list, as a visitor sees them; `path` with its query. */
  list(path: string, by: Visitor): readonly Answer[] {
    const token = this.#tokenOf(by);
    return this.#perform('GET', `${path}${path.includes('?') ? '&' : '?'}page_size=300`, {
      body: {},
      prepared: undefined,
      address: by.address,
      token,
    });
  }

  /** A login; with a wrong password it fails, as the API would have it. */
  logIn(visitor: Visitor, password: 'right' | 'wrong' = 'right'): void {
    const user = password === 'right' ? this.#idOf(visitor) : undefined;
    const prepared = { username: visitor.username, user };
    const { token } = this.#perform<{ token?: string }>('POST', '/api-auth/password/', {
      body: {},
      prepared,
      address: visitor.address,
    });
    if (token !== undefined) this.#sessions.set(visitor, { token, last: this.#clock.now() });
  }

  logOut(visitor: Visitor): void {
    this.send('POST', '/api-auth/logout/', { by: visitor });
    this.#sessions.delete(visitor);
  }

  /** Ends every session: tokens made from a seed that others know must not let anybody in. */
  close(visitors: readonly Visitor[]): void {
    const { db } = this.app;
    this.app.tokenUse.save(db);
    const now = this.#clock.now();
    for (const visitor of visitors) {
      const user = this.#idOf(visitor);
      if (user !== undefined) revokeTokensOf({ app: this.app, actor: null, address: null, now }, user);
    }
  }

  #tokenOf(visitor: Visitor): string {
    const known = this.#sessions.get(visitor);
    const now = this.#clock.now();
    if (!known || now - known.last > session) this.logIn(visitor);
    const current = this.#sessions.get(visitor);
    if (!current) throw new Error(`${visitor.username} cannot log in`);
    current.last = now;
    return current.token;
  }

  /** The answer is what the API documents for the path. */
  #perform<A>(
    method: Method,
    link: string,
    call: { body: object; prepared: unknown; address: string; token?: string | undefined },
  ): A {
    const base = this.app.config.base_url ?? 'http://localhost';
    const path = link.startsWith(base) ? link.slice(base.length) : link;
    const match = this.#router.find(pathOf(path));
    const operation = match?.endpoint.operations[method];
    if (!match || !operation) throw new Error(`There is no ${method} ${path}`);
    const headers = {
      'content-type': 'application/json',
      ...(call.token !== undefined && { authorization: `Token ${call.token}` }),
    };
    const incoming = new IncomingRequest('', method, path, headers, call.address, base).receive(
      Buffer.from(JSON.stringify(call.body)),
    );
    const now = this.#clock.now();
    try {
      const actor = match.endpoint.open ? null : authenticate(this.app, incoming, now);
      const reply = operation.handle(new Request(this.app, incoming, match.params, actor, now), call.prepared);
      return JSON.parse(reply.body.toString() || '{}');
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      throw new Error(`${method} ${path} with ${JSON.stringify(call.body)} was refused: ${JSON.stringify(error.body)}`);
    }
  }

  #idOf({ username }: Visitor): number | undefined {
    return this.app.db.value<number>(sql`SELECT id FROM user WHERE username = ${username}`);
  }
}
