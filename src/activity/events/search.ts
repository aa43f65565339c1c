/**
 * The index of words. It follows the log instead of being written with it: an event that has just been recorded is entered
 * by a timer, together with others at a tenth of the cost, or by the first search that could find it.
 *
 * Eight thousand successive events form a volume, and a word is entered with the number of its volume behind it. When FTS5
 * merges its segments it cannot stop in the middle of a word, and "has" stands in nearly every event: without volumes one
 * step of a merge would keep the writer the longer the longer the log is. The word comes first, so that volumes of which
 * everything was removed, for which a step writes no page and hence does not end, lie among others.
 * See src/decisions/index-of-words.md.
 */
import { createHash } from 'node:crypto';
import type { Database } from '../../kernel/db/database.ts';
import { raw, sql } from '../../kernel/db/sql.ts';
import type { Level } from './catalogue.ts';
import { contextOf } from './damaged.ts';
import { searchableWords } from './words.ts';

/** A volume holds 2 to the power of this many events. */
const volumeBits = 13;
const volumeOf = (event: number): number => Math.floor(event / 2 ** volumeBits);

/** No word holds a bar. Between two texts stands the bar alone, so that no phrase is found across them. */
const inVolume = (volume: number, words: readonly string[]): string =>
  words.map((word) => `${entered(word)}|${volume}`).join(' ');

/** Bytes. FTS5 cuts what is longer than 32,768, the number of the volume first. */
const longestWord = 32_000;

/** A word as it is entered: a longer one by its digest, behind a bar, so that no word is equal to it. */
const entered = (word: string): string =>
  word.length * 3 <= longestWord || Buffer.byteLength(word) <= longestWord
    ? word
    : `|${createHash('sha256').update(word).digest('hex')}`;

const indexedAtOnce = 128;
/** For so many events entered one step of a merge is made, which writes so many pages before it stops at the next word. */
const eventsPerMerge = 32;
const mergedPages = 16;
/** Milliseconds after which no further step of a merge is begun. */
const mergingAtMost = 3;
const stepsPerCommit = 64;
/** So many words are looked for in every volume; four times as many only in those where they are found, and so on. */
const wordsEverywhere = 4;

/** What an event is found by. */
interface Searched {
  readonly id: number;
  readonly message: string;
  readonly level: Level;
  readonly context: string;
}

/**
 * Enters the words of the oldest events that are not in the index, a bounded number, and joins segments of the index in
 * proportion. Answers whether any are left.
 */
export function indexSome(db: Database): boolean {
  const last = indexedTo(db);
  if (isUpTo(db, last)) return false;
  db.write(() => {
    const events = db.all<Searched>(
      sql`SELECT id, message, level, context FROM event WHERE id > ${last} ORDER BY id LIMIT ${indexedAtOnce}`,
    );
    for (const event of events)
      db.run(sql`INSERT INTO event_words (rowid, words) VALUES (${event.id}, ${textOf(event)})`);
    mergeFor(db, events.length);
  });
  return !isUpTo(db, indexedTo(db));
}

/** Removes the words of events from the index, as far as they are in it. Must run inside a write. */
export function removeWords(db: Database, events: readonly Searched[]): void {
  const last = indexedTo(db);
  for (const event of events) {
    if (event.id <= last)
      db.run(sql`INSERT INTO event_words (event_words, rowid, words) VALUES ('delete', ${event.id}, ${textOf(event)})`);
  }
  mergeFor(db, events.length);
}

/** The words of an event as they are entered, and given back when they are removed. */
const textOf = ({ context, id, level, message }: Searched): string =>
  inVolume(volumeOf(id), searchableWords(message, level, contextOf(context) ?? {}));

/** Joins segments in proportion to so many events entered or removed. */
function mergeFor(db: Database, events: number): void {
  const started = performance.now();
  for (let i = 0; i < events && performance.now() - started < mergingAtMost; i += eventsPerMerge) if (!merge(db)) break;
}

/** Enters everything that is missing, before there is anybody to be kept waiting; what is interrupted goes on from where it was. */
export function indexAll(db: Database): void {
  // Where nothing can be stored, what was entered is taken back: it is entered later.
  for (let step = 1; !db.trouble && indexSome(db); step++) if (step % stepsPerCommit === 0) db.commit();
  db.commit();
}

/**
 * Id of the last event in the index, those that were removed aside. Events are entered in the order of their ids, and no id is
 * used twice: all that are missing come after it.
 */
const indexedTo = (db: Database): number =>
  db.value<number>(sql`SELECT rowid FROM event_words ORDER BY rowid DESC LIMIT 1`) ?? 0;

const isUpTo = (db: Database, event: number): boolean =>
  db.value(sql`SELECT 1 FROM event WHERE id > ${event} LIMIT 1`) === undefined;

/** Makes a step of joining segments. Answers whether there was anything to join. */
function merge(db: Database): boolean {
  const changes = (): number => db.scalar<number>(raw('SELECT total_changes()'));
  const before = changes();
  db.run(raw(`INSERT INTO event_words (event_words, rank) VALUES ('merge', ${mergedPages})`));
  // The command itself counts as a change.
  return changes() - before > 1;
}

/** What finds the events of whose texts one holds these words next to each other, in this order: a phrase for each volume, as FTS5 writes it. */
export function phrasesOf(db: Database, words: readonly string[]): string[] {
  db.withoutDeferral(() => {
    while (indexSome(db));
  });
  const first = volumeOf(db.value<number>(sql`SELECT min(id) FROM event`) ?? 0);
  const last = volumeOf(db.value<number>(sql`SELECT max(id) FROM event`) ?? 0);
  let volumes = Array.from({ length: last - first + 1 }, (_, i) => first + i);
  for (let length = wordsEverywhere; length < words.length; length *= 4) {
    const heads = volumes.map((volume) => [volume, phrase(volume, words.slice(0, length))]);
    volumes = db.deferrableValues<number>(sql`
      SELECT value ->> 0 FROM json_each(${JSON.stringify(heads)})
      WHERE EXISTS (SELECT 1 FROM event_words WHERE event_words MATCH value ->> 1)`);
  }
  return volumes.map((volume) => phrase(volume, words));
}

const phrase = (volume: number, words: readonly string[]): string => `"${inVolume(volume, words)}"`;
