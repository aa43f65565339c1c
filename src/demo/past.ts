import type { Deployment } from '../access/deployment.ts';
import { Request } from '../access/request.ts';
import { TokenUse, authenticate, revokeTokensOf } from '../access/tokens.ts';
import { endpoints } from '../api.ts';
import { type SettableClock, minute, settableClock } from '../clock.ts';
import type { Endpoint, Method } from '../collection/endpoint.ts';
import { sql } from '../db/sql.ts';
import { HttpError } from '../http/error.ts';
import { Incoming } from '../http/incoming.ts';
import { Router } from '../http/router.ts';
import { expireRoles, nextExpiry } from '../permissions/roles.ts';
import { housekeeping } from '../work/housekeeping.ts';
import { Timer } from '../work/timer.ts';
import type { Seed } from './seed.ts';

/** Somebody who uses the API of the past. */
export interface Visitor {
  readonly username: string;
  /** The address he calls from. */
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
 * seed. Whatever a deployment does by itself happens on the way from one instant to the next. Works inside one write.
 */
export class Past {
  readonly deployment: Deployment;
  readonly #clock: SettableClock;
  readonly #router = new Router<Endpoint>();
  readonly #timer: Timer;
  readonly #sessions = new Map<Visitor, { token: string; last: number }>();

  constructor(present: Deployment, seed: Seed, start: number) {
    this.#clock = settableClock(start);
    this.deployment = {
      ...present,
      clock: this.#clock,
      random: seed.bytes,
      tokenUse: new TokenUse(),
      // Nobody's initial password is changed here.
      passwordChanged: () => undefined,
    };
    this.#timer = new Timer(this.deployment, housekeeping);
    for (const endpoint of endpoints) this.#router.add(endpoint);
  }

  /** Lets the time pass until an instant; roles end at theirs. */
  passTo(instant: number): void {
    const { db } = this.deployment;
    for (let due = nextExpiry(db); due !== undefined && due <= instant; due = nextExpiry(db)) {
      this.#clock.set(due);
      expireRoles({ deployment: this.deployment, actor: null, address: null, now: due });
    }
    this.#clock.set(instant);
    this.#timer.tick();
  }

  /** Sends a request on behalf of a visitor, who logs in first when he has not done so lately. Throws when it is refused. */
  send(method: Method, link: string, { by, body = {}, prepared }: Call = {}): Answer {
    const token = by && this.#tokenOf(by);
    return this.#perform(method, link, { body, prepared, address: by?.address ?? '', token }) as Answer;
  }

  /** A login; with a wrong password it fails, as the API would have it. */
  logIn(visitor: Visitor, password: 'right' | 'wrong' = 'right'): void {
    const user = password === 'right' ? this.#idOf(visitor) : undefined;
    const prepared = { username: visitor.username, user };
    const { token } = this.#perform('POST', '/api-auth/password/', { body: {}, prepared, address: visitor.address }) as { token?: string };
    if (token !== undefined) this.#sessions.set(visitor, { token, last: this.#clock.now() });
  }

  logOut(visitor: Visitor): void {
    this.send('POST', '/api-auth/logout/', { by: visitor });
    this.#sessions.delete(visitor);
  }

  /** Ends every session: tokens made from a seed that others know must not let anybody in. */
  close(visitors: readonly Visitor[]): void {
    const { db } = this.deployment;
    this.deployment.tokenUse.save(db);
    const now = this.#clock.now();
    for (const visitor of visitors) {
      const user = this.#idOf(visitor);
      if (user !== undefined) revokeTokensOf({ deployment: this.deployment, actor: null, address: null, now }, user);
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

  #perform(method: Method, link: string, call: { body: object; prepared: unknown; address: string; token?: string | undefined }): unknown {
    const base = this.deployment.config.base_url ?? 'http://localhost';
    const path = link.startsWith(base) ? link.slice(base.length) : link;
    const match = this.#router.find(path);
    const operation = match?.endpoint.operations[method];
    if (!match || !operation) throw new Error(`There is no ${method} ${path}`);
    const headers = { 'content-type': 'application/json', ...(call.token !== undefined && { authorization: `Token ${call.token}` }) };
    const incoming = new Incoming('', method, path, headers, call.address, base, Buffer.from(JSON.stringify(call.body)));
    const now = this.#clock.now();
    const actor = match.endpoint.open ? null : authenticate(this.deployment, incoming, now);
    try {
      const reply = operation.handle(new Request(this.deployment, incoming, match.params, actor, now), call.prepared as never);
      return reply.body === '' ? {} : JSON.parse(reply.body.toString());
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      throw new Error(`${method} ${path} with ${JSON.stringify(call.body)} was refused: ${JSON.stringify(error.body)}`);
    }
  }

  #idOf({ username }: Visitor): number | undefined {
    return this.deployment.db.value<number>(sql`SELECT id FROM user WHERE username = ${username}`);
  }
}
