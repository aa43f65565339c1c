/** Sends the events that one caller can see as server-sent events (events.md 4.8). */
import type { Writable } from 'node:stream';
import { type Caller, seesAll } from '../../kernel/access/caller.ts';
import { Request } from '../../kernel/access/request.ts';
import { textsWithChosen } from '../../kernel/collection/representation.ts';
import type { Database } from '../../kernel/db/database.ts';
import { all, type Sql, sql } from '../../kernel/db/sql.ts';
import { unauthenticated } from '../../kernel/http/error.ts';
import { ownerOf } from '../../kernel/security/tokens.ts';
import type { Level } from './catalogue.ts';
import { contextOf, despiteDamage } from './damaged.ts';
import { represent } from './events.ts';
import { conditionsOf, selected } from './filters.ts';
import { count, pageIds } from './query-plan.ts';
import { containsPhrase, searchableWords, wordsOf } from './search.ts';
import { isVisible } from './visibility.ts';

/** The media type of server-sent events. */
export const eventStreamType = 'text/event-stream';

/** Maximum number of events that a step reads, and of matching events that it sends. */
const maxReadPerStep = 1000;
const maxSentPerStep = 50;
/** A stream that is further behind, counting all events, sends a gap and continues from the newest event. */
const maxLag = 10_000;
/** When a client should reconnect after the stream has ended. */
const reconnectDelayMs = 3000;

/** Returns the id of the newest event; 0 if the log is empty. */
export const newestEvent = (db: Database): number => db.value<number | null>(sql`SELECT max(id) FROM event`) ?? 0;

interface EventRow {
  readonly id: number;
  readonly uuid: string;
  readonly message: string;
  readonly level: Level;
  readonly context: string;
}

/** The client of a stream has read nothing between two heartbeats. */
export class ClientStopped extends Error {}

export class EventStream {
  readonly #conditions: readonly Sql[];
  readonly #phrase: readonly string[] | undefined;
  #body: Writable | undefined;
  /** Id of the last event that was read. */
  #position = 0;
  /** Whether the client has read anything since the last heartbeat, or has read everything. */
  #hasRead = true;

  /** Throws 400 for invalid parameters. */
  constructor(private readonly request: Request) {
    this.#conditions = conditionsOf(request);
    // Reject an invalid selection of members with 400 before the stream starts.
    textsWithChosen(request, []);
    const search = request.query.one('search') ?? '';
    if (search.trim() !== '') this.#phrase = wordsOf(search);
  }

  get caller(): Caller {
    return this.request.caller;
  }

  /** Starts after the event in Last-Event-ID or, without one, with the next event. */
  open(body: Writable): void {
    const { db } = this.request;
    this.#body = body;
    body.on('drain', () => (this.#hasRead = true));
    db.commit();
    const newest = newestEvent(db);
    const last = this.request.incoming.headers['last-event-id'];
    const known = typeof last === 'string' && last !== '' ? resumePosition(db, last, newest) : undefined;
    this.#position = known ?? newest;
    const id = known === undefined ? this.#latest() : last;
    body.write(`retry: ${reconnectDelayMs}\n${id === undefined ? '' : `id: ${id}\n`}\n`);
    if (last !== undefined && known === undefined) this.#sendGap(newest);
  }

  /** Sends the next events. Returns whether more can be sent now. Throws 401 if the token has expired. */
  send(newest: number): boolean {
    const body = this.#body;
    if (!body || body.writableNeedDrain || this.#position >= newest) return false;
    const request = this.#currentRequest();
    if (newest - this.#position > maxLag) this.#sendGap(newest);
    const to = Math.min(newest, this.#position + maxReadPerStep);
    const batch = despiteDamage((current) => this.#next(current, to))(request);
    const frames = batch.texts.map(([uuid, text]) => `id: ${uuid}\ndata: ${text}\n\n`);
    if (frames.length > 0) body.write(frames.join(''));
    this.#position = batch.position;
    return this.#position < newest && !body.writableNeedDrain;
  }

  /** Throws 401 or 403 if the caller may no longer read the stream. */
  check(): void {
    this.#currentRequest();
  }

  /** Sends a heartbeat. Throws 401 if the token has expired, and `ClientStopped` if the client reads nothing. */
  sendHeartbeat(): void {
    this.#currentRequest();
    const body = this.#body;
    // The stream was never opened, or the client has read nothing since the last heartbeat.
    if (!body || (body.writableNeedDrain && !this.#hasRead)) throw new ClientStopped();
    this.#hasRead = !body.writableNeedDrain;
    if (this.#hasRead) body.write(': \n\n');
  }

  /** Ends the stream. Drops unread data. */
  close(): void {
    if (this.#body?.writableNeedDrain) this.#body.destroy();
    else this.#body?.end();
  }

  #sendGap(newest: number): void {
    this.#position = newest;
    this.#body?.write('event: gap\ndata: {"detail":"Events are missing here. Read the list."}\n\n');
  }

  /** Returns the request as of now. Throws 401 if the token has expired, rights have changed, or a second factor is due. */
  #currentRequest(): Request {
    const { app, caller, incoming, params, query } = this.request;
    const now = app.clock.now();
    const owner = ownerOf(app, caller.token, now, incoming.address);
    const hasChanged = owner.isStaff !== caller.isStaff || owner.isSupport !== caller.isSupport;
    if (hasChanged || owner.mustEnrol) throw unauthenticated({});
    return new Request(app, incoming, params, owner, now, query);
  }

  /** Returns the uuid of the latest matching event that the caller can see. */
  #latest(): string | undefined {
    return despiteDamage((request: Request) => {
      const { db } = request;
      const selection = selected(request);
      const [id] = pageIds(db, selection, { number: 1, size: 1, offset: 0, last: 1 }, count(db, selection), 'DESC');
      return id === undefined ? undefined : db.value<string>(sql`SELECT uuid FROM event WHERE id = ${id}`);
    })(this.request);
  }

  /** Returns the next matching events up to an id, with their uuids, and the id of the last read event. */
  #next(
    request: Request,
    to: number,
  ): { readonly texts: readonly (readonly [uuid: string, text: string])[]; readonly position: number } {
    const { caller, db } = request;
    const conditions = [...this.#conditions, ...(seesAll(caller) ? [] : [isVisible(request)])];
    // NOT INDEXED makes SQLite read by id instead of using an index on another column.
    const rows = db.all<EventRow>(sql`
      SELECT e.id, e.uuid, e.message, e.level, e.context FROM event e NOT INDEXED
      WHERE e.id > ${this.#position} AND e.id <= ${to} AND ${all(conditions)}
      ORDER BY e.id LIMIT ${maxSentPerStep}`);
    const matches = rows.filter((row) => this.#matchesSearch(row));
    const ids = JSON.stringify(matches.map(({ id }) => id));
    const texts = matches.length === 0 ? [] : textsWithChosen(request, represent(request, ids));
    const last = rows[maxSentPerStep - 1];
    return { texts: matches.map(({ uuid }, i) => [uuid, texts[i] ?? ''] as const), position: last?.id ?? to };
  }

  /** Whether an event contains the searched phrase. The search index may not have the event yet. */
  #matchesSearch({ context, level, message }: EventRow): boolean {
    const phrase = this.#phrase;
    if (!phrase) return true;
    return phrase.length > 0 && containsPhrase(searchableWords(message, level, contextOf(context) ?? {}), phrase);
  }
}

/**
 * Returns the id of the event with a uuid, if a stream can still resume from it. Does not rely on the time in the uuid, which may
 * differ from the event's and is missing in old uuids.
 */
function resumePosition(db: Database, uuid: string, newest: number): number | undefined {
  if (!/^[0-9a-f]{32}$/.test(uuid)) return undefined;
  return db.value<number>(sql`
    SELECT id FROM event WHERE id >= ${newest - maxLag} AND uuid = ${uuid} ORDER BY id DESC LIMIT 1`);
}
