/**
 * The streams of events that are open (events.md 4.8). They are woken by commits and take turns: after a while of reading they
 * rest for many times as long, so that however many there are, requests hardly notice. See
 * src/decisions/streams-take-turns.md.
 */
import { performance } from 'node:perf_hooks';
import type { Writable } from 'node:stream';
import type { App } from '../../kernel/app.ts';
import { HttpError, tooMany } from '../../kernel/http/error.ts';
import { type EventStream, newestEvent } from './stream.ts';

declare module '../../kernel/app.ts' {
  interface App {
    readonly eventStreams: EventStreams;
  }
}

/** Milliseconds after which no further stream is looked at in a turn of the event loop. */
const turnAtMost = 5;
/** How many times as long as a turn took it is rested after it, and in milliseconds at most. */
const restPerWork = 30;
const restAtMost = 250;
/** Fastest heartbeat, in milliseconds. */
const heartbeatAtLeast = 10;

export class EventStreams {
  readonly #open = new Set<EventStream>();
  /** Streams that may have something to tell, the next one first. */
  readonly #behind = new Set<EventStream>();
  #newest = 0;
  #turn: NodeJS.Timeout | NodeJS.Immediate | undefined;
  #isResting = false;
  #isWoken = false;
  #heartbeat: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(
    private readonly app: () => App,
    /** Ends what is due to end, such as roles. */
    private readonly expireDue: (now: number) => void,
  ) {}

  /** How many there are. */
  get size(): number {
    return this.#open.size;
  }

  /** Takes one more, which is opened when its head has been sent. Throws 429, 503. */
  add(stream: EventStream): void {
    const {
      event_stream_heartbeat: heartbeat,
      event_streams_per_user: each,
      max_event_streams: all,
    } = this.app().config;
    if (this.#isClosed || this.#open.size >= all) throw tooManyStreams();
    let own = 0;
    for (const { caller } of this.#open) if (caller.id === stream.caller.id) own++;
    if (own >= each) throw tooMany(`You have ${own} streams of events open already.`, heartbeat);
    this.#open.add(stream);
    this.#heartbeat ??= setInterval(() => this.#beat(), Math.max(heartbeatAtLeast, heartbeat / 1000)).unref();
  }

  /** Begins to tell. */
  open(stream: EventStream, body: Writable): void {
    body.on('close', () => this.#leave(stream));
    body.on('error', () => this.#leave(stream));
    body.on('drain', () => {
      if (!this.#open.has(stream)) return;
      this.#behind.add(stream);
      this.wake();
    });
    if (!this.#open.has(stream)) body.destroy();
    else if (this.#guard(stream, () => stream.open(body))) this.#behind.add(stream);
    this.wake();
  }

  /** An event has been committed, or something else that streams tell or heed. */
  wake(): void {
    if (this.#open.size === 0) return;
    this.#isWoken = true;
    if (!this.#isResting) this.#turn ??= setImmediate(() => this.#take());
  }

  /** Looks for what other processes have written, and for what could not be read before. */
  poll(): void {
    if (this.#open.size > 0 && (this.#behind.size > 0 || newestEvent(this.app().db) !== this.#newest)) this.wake();
  }

  /** Ends all of them; further ones are refused. */
  close(): void {
    this.#isClosed = true;
    clearInterval(this.#heartbeat);
    for (const stream of this.#open) stream.close();
    this.#open.clear();
    this.#behind.clear();
  }

  #take(): void {
    const started = performance.now();
    this.#turn = undefined;
    this.#isWoken = false;
    const { clock, db, log } = this.app();
    try {
      db.catchUp();
      this.expireDue(clock.now());
      // What is not on disk yet may never have happened.
      db.commit();
      const newest = newestEvent(db);
      if (newest !== this.#newest) for (const stream of this.#open) this.#behind.add(stream);
      this.#newest = newest;
      for (const stream of this.#behind) {
        this.#behind.delete(stream);
        if (this.#guard(stream, () => stream.tell(newest))) this.#behind.add(stream);
        if (performance.now() - started > turnAtMost) break;
      }
    } catch (error) {
      // Told again with the next poll.
      log.warn({ err: error }, 'streams of events wait');
      return;
    }
    this.#rest(Math.min(restAtMost, (performance.now() - started) * restPerWork));
  }

  #rest(milliseconds: number): void {
    this.#isResting = true;
    setTimeout(() => {
      this.#isResting = false;
      if (this.#isWoken || this.#behind.size > 0) this.wake();
    }, milliseconds).unref();
  }

  #beat(): void {
    for (const stream of this.#open) this.#guard(stream, () => stream.beat());
  }

  /** What a stream answers; where it throws, because its reader may read no more or for a fault, it ends. */
  #guard(stream: EventStream, work: () => boolean): boolean {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof HttpError)) this.app().log.error({ err: error }, 'a stream of events failed');
      stream.close();
      this.#leave(stream);
      return false;
    }
  }

  #leave(stream: EventStream): void {
    this.#open.delete(stream);
    this.#behind.delete(stream);
    if (this.#open.size > 0) return;
    clearInterval(this.#heartbeat);
    this.#heartbeat = undefined;
  }
}

const tooManyStreams = (): HttpError =>
  new HttpError(503, { detail: 'Too many streams of events at once. Try again.' }, { 'Retry-After': '1' });
