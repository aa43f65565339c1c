/**
 * The open event streams (events.md 4.8). Commits wake them. They share time slices and pause much longer after each slice, so
 * that requests stay fast with any number of streams. See src/decisions/bounded-turns.md.
 */
import { performance } from 'node:perf_hooks';
import type { Writable } from 'node:stream';
import type { App } from '../../kernel/app.ts';
import { HttpError, tooMany } from '../../kernel/http/error.ts';
import { ClientStopped, type EventStream, newestEvent } from './stream.ts';

declare module '../../kernel/app.ts' {
  interface App {
    readonly eventStreams: EventStreams;
  }
}

/** No further stream is served in a slice after this time. */
const maxSliceMs = 5;
/** The pause after a slice, as a multiple of its duration, and its limit. */
const pausePerWork = 30;
const maxPauseMs = 250;
const minHeartbeatMs = 10;

export class EventStreams {
  readonly #open = new Set<EventStream>();
  /** Streams that may have events to send, in the order of service. */
  readonly #behind = new Set<EventStream>();
  #newest = 0;
  #slice: NodeJS.Timeout | NodeJS.Immediate | undefined;
  #isPaused = false;
  #isWoken = false;
  #heartbeat: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(
    private readonly app: () => App,
    /** Applies due expiries, such as those of roles. */
    private readonly expireDue: (now: number) => void,
  ) {}

  /** The number of open streams. */
  get size(): number {
    return this.#open.size;
  }

  /** Registers a stream. `open` starts it once its head has been sent. Throws 429, 503. */
  add(stream: EventStream): void {
    const {
      event_stream_heartbeat: heartbeat,
      event_streams_per_user: each,
      max_event_streams: all,
    } = this.app().config;
    if (this.#isClosed || this.#open.size >= all) throw tooManyStreams();
    let own = 0;
    for (const { caller } of this.#open) if (caller.userId === stream.caller.userId) own++;
    if (own >= each) throw tooMany(`You have ${own} streams of events open already.`, heartbeat);
    this.#open.add(stream);
    this.#heartbeat ??= setInterval(() => this.#beat(), Math.max(minHeartbeatMs, heartbeat / 1000)).unref();
  }

  /** Starts to send events. */
  open(stream: EventStream, body: Writable): void {
    body.on('close', () => this.#leave(stream));
    body.on('error', () => this.#leave(stream));
    body.on('drain', () => {
      if (!this.#open.has(stream)) return;
      this.#behind.add(stream);
      this.wake();
    });
    if (!this.#open.has(stream)) body.destroy();
    else {
      this.#behind.add(stream);
      this.#guard(stream, () => stream.open(body));
    }
    this.wake();
  }

  /** Schedules a slice. Call it after committing an event or a change that affects streams. */
  wake(): void {
    if (this.#open.size === 0) return;
    this.#isWoken = true;
    if (!this.#isPaused) this.#slice ??= setImmediate(() => this.#runSlice());
  }

  /** Ends streams of callers who lost access, picks up events from other processes, and retries failed reads. */
  poll(): void {
    for (const stream of this.#open) this.#guard(stream, () => stream.check());
    if (this.#open.size > 0 && (this.#behind.size > 0 || newestEvent(this.app().db) !== this.#newest)) this.wake();
  }

  /** Ends all streams and rejects new ones. */
  close(): void {
    this.#isClosed = true;
    clearInterval(this.#heartbeat);
    for (const stream of this.#open) stream.close();
    this.#open.clear();
    this.#behind.clear();
  }

  #runSlice(): void {
    const started = performance.now();
    this.#slice = undefined;
    this.#isWoken = false;
    const { clock, db, log } = this.app();
    try {
      db.catchUp();
      this.expireDue(clock.now());
      // Send only events on disk: others could be lost in a crash.
      db.commit();
      const newest = newestEvent(db);
      if (newest !== this.#newest) for (const stream of this.#open) this.#behind.add(stream);
      this.#newest = newest;
      for (const stream of this.#behind) {
        this.#behind.delete(stream);
        this.#guard(stream, () => {
          if (stream.send(newest)) this.#behind.add(stream);
        });
        if (performance.now() - started > maxSliceMs) break;
      }
    } catch (error) {
      // The next poll retries.
      log.warn({ err: error }, 'failed to read events for streams');
      return;
    }
    this.#pause(Math.min(maxPauseMs, (performance.now() - started) * pausePerWork));
  }

  #pause(milliseconds: number): void {
    this.#isPaused = true;
    setTimeout(() => {
      this.#isPaused = false;
      if (this.#isWoken || this.#behind.size > 0) this.wake();
    }, milliseconds).unref();
  }

  #beat(): void {
    for (const stream of this.#open) this.#guard(stream, () => stream.sendHeartbeat());
  }

  /** Runs a step of a stream. Ends the stream on an error: a failure, loss of access, or a client that reads nothing. */
  #guard(stream: EventStream, work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!(error instanceof HttpError || error instanceof ClientStopped))
        this.app().log.error({ err: error }, 'an event stream failed');
      stream.close();
      this.#leave(stream);
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
