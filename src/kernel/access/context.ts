import type { App } from '../app.ts';
import type { IncomingRequest } from '../http/incoming-request.ts';
import type { Actor, Caller } from './caller.ts';

/** The actor and time of a change by a request, timer or command. Only requests have an actor. */
export interface Context {
  readonly app: App;
  readonly actor: Actor | null;
  /** The client's address; null outside requests. */
  readonly address: string | null;
  /** The kind of job that makes the change. */
  readonly job?: string;
  /** The time of the whole change, in microseconds. */
  readonly now: number;
}

/** The context of a request. */
export interface RequestContext extends Context {
  readonly incoming: IncomingRequest;
  /** Null on open endpoints. */
  readonly actor: Caller | null;
}

/** Returns a context without an actor, for timers and commands. */
export const systemContext = (app: App): Context => ({ app, actor: null, address: null, now: app.clock.now() });
