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

/** An API user and their IP address. */
export interface Visitor {
  readonly username: string;
  readonly address: string;
}

/** An object as returned by the API. */
export type Representation = Readonly<Record<string, unknown>> & { readonly url: string; readonly uuid: string };

interface Content {
  readonly body?: object;
  /** Values that the operation would prepare before its transaction. */
  readonly prepared?: unknown;
}

/** Idle lifetime of a session, at most the minimum lifetime of a token. */
const sessionLifetime = 30 * minute;

/**
 * Runs a deployment in its own past: handles requests at chosen instants with uuids from a seed, and does the deployment's
 * background work between them, including operations at providers.
 */
export class TimeMachine {
  readonly app: App;
  readonly #clock: SettableClock;
  readonly #router: Router<Endpoint>;
  readonly #timer: Timer;
  readonly #worker: ProviderWorker;
  #lastHousekeeping = 0;
  readonly #sessions = new Map<Visitor, { token: string; last: number }>();

  constructor(present: App, seed: Seed, start: number) {
    this.#clock = settableClock(start);
    this.app = {
      ...present,
      // Sync only on request: the default interval would cause tens of thousands of syncs in two years.
      config: { ...present.config, settings_sync_interval: Number.MAX_SAFE_INTEGER },
      clock: this.#clock,
      random: seed.bytes,
      tokenUse: new TokenUse(),
      // The history includes deliberate failures, such as failed syncs, that should not warn the operator.
      log: present.log.child({}, { level: present.log.isLevelEnabled('error') ? 'error' : 'silent' }),
      passwordChanged: () => undefined,
    };
    this.#timer = new Timer(this.app, housekeeping(present.catalogue));
    // The history is one transaction, so no other work competes for time.
    this.#worker = new ProviderWorker(
      this.app,
      (callback) => callback(),
      async () => undefined,
    );
    this.#router = new Router(parts(present.catalogue));
  }

  /** Advances the clock. Roles expire and jobs run at their instants. */
  async passTo(instant: number): Promise<void> {
    const { config, db } = this.app;
    for (;;) {
      const due = db.value<number | null>(sql`SELECT min(due) FROM job`) ?? Number.POSITIVE_INFINITY;
      const step = Math.max(due, this.#clock.now() + config.job_tick);
      const expiry = nextExpiry(db) ?? Number.POSITIVE_INFINITY;
      if (Math.min(expiry, step) > instant) break;
      this.#clock.set(Math.min(expiry, step));
      if (expiry <= step) db.write(() => expireRoles(systemContext(this.app)));
      else {
        this.#worker.tick();
        await this.#worker.idle();
      }
    }
    this.#clock.set(instant);
    if (instant - this.#lastHousekeeping < hour) return;
    this.#lastHousekeeping = instant;
    this.#timer.tick();
  }

  /** Schedules a sync of every provider. */
  synchronise(): void {
    const { app } = this;
    scheduleSyncs(systemContext({ ...app, config: { ...app.config, settings_sync_interval: 0 } }));
  }

  /** Sends a request, logging the visitor in first if their session has ended. Throws if the request is rejected. */
  send(method: Method, link: string, by: Visitor, content: Content = {}): Representation {
    return this.#perform(method, link, by, { ...content, token: this.#tokenOf(by) });
  }

  /** Lists objects as a visitor sees them. `path` may include a query. */
  list(path: string, by: Visitor): readonly Representation[] {
    return this.#perform('GET', `${path}${path.includes('?') ? '&' : '?'}page_size=300`, by, {
      token: this.#tokenOf(by),
    });
  }

  /** Logs a visitor in, or records a failed login with the wrong password. */
  logIn(visitor: Visitor, password: 'right' | 'wrong' = 'right'): void {
    const { username } = visitor;
    const prepared = { username, user: password === 'right' ? this.#idOf(visitor) : undefined };
    const { token } = this.#perform<{ token?: string }>('POST', '/api-auth/password/', visitor, { prepared });
    if (token !== undefined) this.#sessions.set(visitor, { token, last: this.#clock.now() });
  }

  logOut(visitor: Visitor): void {
    this.send('POST', '/api-auth/logout/', visitor);
    this.#sessions.delete(visitor);
  }

  /** Ends all sessions, because their tokens derive from a public seed. */
  close(visitors: readonly Visitor[]): void {
    this.app.tokenUse.save(this.app.db);
    const context = { app: this.app, actor: null, address: null, now: this.#clock.now() };
    for (const user of visitors.map((visitor) => this.#idOf(visitor)))
      if (user !== undefined) revokeTokensOf(context, user);
  }

  #tokenOf(visitor: Visitor): string {
    const now = this.#clock.now();
    if (now - (this.#sessions.get(visitor)?.last ?? 0) > sessionLifetime) this.logIn(visitor);
    const session = this.#sessions.get(visitor);
    if (!session) throw new Error(`${visitor.username} cannot log in`);
    session.last = now;
    return session.token;
  }

  /** `T` is the documented response type of the path. */
  #perform<T>(
    method: Method,
    link: string,
    { address }: Visitor,
    { body = {}, prepared, token }: Content & { token?: string },
  ): T {
    const base = this.app.config.base_url ?? 'http://localhost';
    const path = link.startsWith(base) ? link.slice(base.length) : link;
    const match = this.#router.find(pathOf(path));
    const operation = match?.endpoint.operations[method];
    if (!match || !operation) throw new Error(`${method} ${path} does not exist`);
    const type = { 'content-type': 'application/json' };
    const headers = token === undefined ? type : { ...type, authorization: `Token ${token}` };
    const content = Buffer.from(JSON.stringify(body));
    const incoming = new IncomingRequest('', method, path, headers, address, base).receive(content);
    const now = this.#clock.now();
    try {
      const actor = match.endpoint.open ? null : authenticate(this.app, incoming, now);
      const reply = operation.handle(new Request(this.app, incoming, match.params, actor, now), prepared);
      return JSON.parse(reply.body.toString() || '{}');
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      throw new Error(`${method} ${path} with ${content} was refused: ${JSON.stringify(error.body)}`);
    }
  }

  #idOf({ username }: Visitor): number | undefined {
    return this.app.db.value<number>(sql`SELECT id FROM user WHERE username = ${username}`);
  }
}
