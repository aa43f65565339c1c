/** A stream of events: what one caller is told, event by event, as server-sent events (events.md 4.8). */
import type { Writable } from 'node:stream';
import type { Caller } from '../../kernel/access/caller.ts';
import { seesAll } from '../../kernel/access/caller.ts';
import { Request } from '../../kernel/access/request.ts';
import { textsWithChosen } from '../../kernel/collection/chosen.ts';
import type { Database } from '../../kernel/db/database.ts';
import { all, type Sql, sql } from '../../kernel/db/sql.ts';
import { unauthenticated } from '../../kernel/http/error.ts';
import { ownerOf } from '../../kernel/security/tokens.ts';
import type { Level } from './catalogue.ts';
import { contextOf, despiteDamage } from './damaged.ts';
import { represent } from './events.ts';
import { conditionsOf, selected } from './filters.ts';
import { count, pageIds } from './query-plan.ts';
import { isVisible } from './visibility.ts';
import { holdsPhrase, searchableWords, wordsOf } from './words.ts';

/** The media type of server-sent events. */
export const eventStreamType = 'text/event-stream';

/** So many events of everybody are looked at in a step, and so many are told. */
const lookedAtAtOnce = 1000;
const toldAtOnce = 50;
/** Whoever is so many events of everybody behind is told that there is a gap, and goes on from now. */
const mostBehind = 10_000;
/** Milliseconds after which a client should come back when a stream has ended. */
const comeBack = 3000;

/** Id of the event that was recorded last. */
export const newestEvent = (db: Database): number => db.value<number | null>(sql`SELECT max(id) FROM event`) ?? 0;

interface Found {
  readonly id: number;
  readonly uuid: string;
  readonly message: string;
  readonly level: Level;
  readonly context: string;
}

export class EventStream {
  readonly #conditions: readonly Sql[];
  readonly #phrase: readonly string[] | undefined;
  #body: Writable | undefined;
  /** Id of the last event that was looked at. */
  #upTo = 0;
  /** Whether the client has taken everything, or something, since the last heartbeat. */
  #isRead = true;

  /** Throws 400 for parameters that are not valid. */
  constructor(private readonly request: Request) {
    this.#conditions = conditionsOf(request);
    // What is wrong with the members that are asked for is 400 before the stream begins.
    textsWithChosen(request, []);
    const search = request.query.one('search') ?? '';
    if (search.trim() !== '') this.#phrase = wordsOf(search);
  }

  get caller(): Caller {
    return this.request.caller;
  }

  /** Begins with the event after the one that the client has, else with the next. */
  open(body: Writable): boolean {
    const { db } = this.request;
    this.#body = body;
    body.on('drain', () => (this.#isRead = true));
    db.commit();
    const newest = newestEvent(db);
    const last = this.request.incoming.headers['last-event-id'];
    const known = typeof last === 'string' && last !== '' ? placeOf(db, last, newest) : undefined;
    this.#upTo = known ?? newest;
    const id = known === undefined ? this.#latest() : last;
    body.write(`retry: ${comeBack}\n${id === undefined ? '' : `id: ${id}\n`}\n`);
    if (last !== undefined && known === undefined) this.#tellGap(newest);
    return true;
  }

  /** Tells the next events. Answers whether there may be more that the client takes. Throws 401 when the token has ended. */
  tell(newest: number): boolean {
    const body = this.#body;
    if (!body || body.writableNeedDrain || this.#upTo >= newest) return false;
    const request = this.#now();
    if (newest - this.#upTo > mostBehind) this.#tellGap(newest);
    const to = Math.min(newest, this.#upTo + lookedAtAtOnce);
    const found = despiteDamage((asked) => this.#next(asked, to))(request);
    const frames = found.texts.map(([uuid, text]) => `id: ${uuid}\ndata: ${text}\n\n`);
    if (frames.length > 0) body.write(frames.join(''));
    this.#upTo = found.upTo;
    return this.#upTo < newest && !body.writableNeedDrain;
  }

  /** Shows that the connection lives, or ends one that takes nothing. Throws 401 when the token has ended. */
  beat(): boolean {
    this.#now();
    const body = this.#body;
    // It was never opened, or nothing has been read for a whole heartbeat.
    if (!body || (body.writableNeedDrain && !this.#isRead)) throw unauthenticated({});
    this.#isRead = !body.writableNeedDrain;
    if (this.#isRead) body.write(': \n\n');
    return false;
  }

  /** Ends it; what the client has not taken yet is lost to it. */
  close(): void {
    if (this.#body?.writableNeedDrain) this.#body.destroy();
    else this.#body?.end();
  }

  #tellGap(newest: number): void {
    this.#upTo = newest;
    this.#body?.write('event: gap\ndata: {"detail":"Events are missing here. Read the list."}\n\n');
  }

  /** The request as of now. Throws 401 when its token has ended, or its caller has other rights than it had. */
  #now(): Request {
    const { app, caller, incoming, params, query } = this.request;
    const now = app.clock.now();
    const present = ownerOf(app, caller.token, now);
    if (present.isStaff !== caller.isStaff || present.isSupport !== caller.isSupport) throw unauthenticated({});
    return new Request(app, incoming, params, present, now, query);
  }

  /** Uuid of the latest event that the caller sees and asks for. */
  #latest(): string | undefined {
    return despiteDamage((request: Request) => {
      const { db } = request;
      const selection = selected(request);
      const [id] = pageIds(db, selection, { number: 1, size: 1, offset: 0, last: 1 }, count(db, selection), 'DESC');
      return id === undefined ? undefined : db.value<string>(sql`SELECT uuid FROM event WHERE id = ${id}`);
    })(this.request);
  }

  /** The next events up to an id, with their uuids, and where it was looked up to. */
  #next(
    request: Request,
    to: number,
  ): { readonly texts: readonly (readonly [uuid: string, text: string])[]; readonly upTo: number } {
    const { caller, db } = request;
    const conditions = [...this.#conditions, ...(seesAll(caller) ? [] : [isVisible(caller)])];
    // By id: an index on another column may look better to SQLite.
    const rows = db.all<Found>(sql`
      SELECT e.id, e.uuid, e.message, e.level, e.context FROM event e NOT INDEXED
      WHERE e.id > ${this.#upTo} AND e.id <= ${to} AND ${all(conditions)}
      ORDER BY e.id LIMIT ${toldAtOnce}`);
    const told = rows.filter((row) => this.#holds(row));
    const ids = JSON.stringify(told.map(({ id }) => id));
    const texts = told.length === 0 ? [] : textsWithChosen(request, represent(request, ids));
    const last = rows[toldAtOnce - 1];
    return { texts: told.map(({ uuid }, i) => [uuid, texts[i] ?? ''] as const), upTo: last?.id ?? to };
  }

  /** Whether the words that are searched for follow each other in an event; the index of words may not have it yet. */
  #holds({ context, level, message }: Found): boolean {
    const phrase = this.#phrase;
    if (!phrase) return true;
    return phrase.length > 0 && holdsPhrase(searchableWords(message, level, contextOf(context) ?? {}), phrase);
  }
}

/**
 * Id of the event with a uuid among those from which a stream can resume; undefined if it is none of them. Nothing is
 * derived from the time in the uuid: the event may carry another one, and old uuids have none.
 */
function placeOf(db: Database, uuid: string, newest: number): number | undefined {
  if (!/^[0-9a-f]{32}$/.test(uuid)) return undefined;
  return db.value<number>(sql`
    SELECT id FROM event WHERE id >= ${newest - mostBehind} AND uuid = ${uuid} ORDER BY id DESC LIMIT 1`);
}
