/**
 * The full-text index of events. Recording an event does not update it. A timer, or the first search that could match, indexes
 * recent events in batches, at a tenth of the cost.
 *
 * Each 8,192 successive events form a volume, and every indexed word has its volume number as a suffix. FTS5 cannot stop merging
 * segments in the middle of a word, and nearly every event contains "has": without volumes, one merge step would block the writer
 * for longer and longer as the log grows. The word precedes the number, so that fully removed volumes are spread among others: a
 * merge step writes no pages for them and would not end.
 * See src/decisions/index-of-words.md.
 */
import { createHash } from 'node:crypto';
import type { Database } from '../../kernel/db/database.ts';
import { raw, sql } from '../../kernel/db/sql.ts';
import { importances, type Level } from './catalogue.ts';
import { contextOf } from './damaged.ts';

/** A volume has 2 to the power of this many events. */
const volumeBits = 13;
const volumeOf = (event: number): number => Math.floor(event / 2 ** volumeBits);

/** No word contains a bar. A bar alone separates two texts, so that no phrase matches across them. */
const inVolume = (volume: number, words: readonly string[]): string =>
  words.map((word) => `${indexedForm(word)}|${volume}`).join(' ');

/** Bytes. FTS5 truncates a term of more than 32,768, which would drop the volume number. */
const maxWordBytes = 32_000;

/** Returns the indexed form of a word. A long word becomes a bar and its digest, which no word can equal. */
const indexedForm = (word: string): string =>
  word.length * 3 <= maxWordBytes || Buffer.byteLength(word) <= maxWordBytes
    ? word
    : `|${createHash('sha256').update(word).digest('hex')}`;

const maxEventsPerBatch = 128;
/** Runs a merge step after this many indexed events. It writes this many pages, then stops at the next word. */
const eventsPerMerge = 32;
const pagesPerMerge = 16;
/** No merge step starts after this time. */
const maxMergeMs = 3;
const stepsPerCommit = 64;
/** Length of the phrase prefix to search in every volume. Prefixes four times as long are searched only in matching volumes. */
const prefixWords = 4;

/** The searched columns of an event. */
interface SearchableEvent {
  readonly id: number;
  readonly message: string;
  readonly level: Level;
  readonly context: string;
}

/**
 * Indexes a batch of the oldest events that are not in the index, and merges segments in proportion. Returns whether any
 * events remain.
 */
export function indexSome(db: Database): boolean {
  const last = indexedTo(db);
  if (isUpTo(db, last)) return false;
  db.write(() => {
    const events = db.all<SearchableEvent>(
      sql`SELECT id, message, level, context FROM event WHERE id > ${last} ORDER BY id LIMIT ${maxEventsPerBatch}`,
    );
    for (const event of events)
      db.run(sql`INSERT INTO event_words (rowid, words) VALUES (${event.id}, ${textOf(event)})`);
    mergeFor(db, events.length);
  });
  return !isUpTo(db, indexedTo(db));
}

/** Removes events from the index. Skips events that are not indexed yet. Must run inside a write. */
export function removeWords(db: Database, events: readonly SearchableEvent[]): void {
  const last = indexedTo(db);
  for (const event of events) {
    if (event.id <= last)
      db.run(sql`INSERT INTO event_words (event_words, rowid, words) VALUES ('delete', ${event.id}, ${textOf(event)})`);
  }
  mergeFor(db, events.length);
}

/** Returns the indexed text of an event. FTS5 needs the same text to remove it. */
const textOf = ({ context, id, level, message }: SearchableEvent): string =>
  inVolume(volumeOf(id), searchableWords(message, level, contextOf(context) ?? {}));

/** Merges segments in proportion to the number of events added or removed. */
function mergeFor(db: Database, events: number): void {
  const started = performance.now();
  for (let i = 0; i < events && performance.now() - started < maxMergeMs; i += eventsPerMerge) if (!merge(db)) break;
}

/** Indexes all remaining events, before the server accepts requests. An interrupted run resumes where it stopped. */
export function indexAll(db: Database): void {
  // If the disk cannot store the batches, they are rolled back and repeated later.
  for (let step = 1; !db.trouble && indexSome(db); step++) if (step % stepsPerCommit === 0) db.commit();
  db.commit();
}

/**
 * Returns the largest indexed event id. Events are indexed in id order and ids are never reused, so all other events have larger
 * ids.
 */
const indexedTo = (db: Database): number =>
  db.value<number>(sql`SELECT rowid FROM event_words ORDER BY rowid DESC LIMIT 1`) ?? 0;

const isUpTo = (db: Database, event: number): boolean =>
  db.value(sql`SELECT 1 FROM event WHERE id > ${event} LIMIT 1`) === undefined;

/** Runs one merge step. Returns whether there was anything to merge. */
function merge(db: Database): boolean {
  const changes = (): number => db.scalar<number>(raw('SELECT total_changes()'));
  const before = changes();
  db.run(raw(`INSERT INTO event_words (event_words, rank) VALUES ('merge', ${pagesPerMerge})`));
  // The command itself counts as a change.
  return changes() - before > 1;
}

/** Indexes all events, then returns an FTS5 phrase per volume that matches these words, adjacent and in order, in one text. */
export function phrasesOf(db: Database, words: readonly string[]): string[] {
  db.withoutDeferral(() => {
    while (indexSome(db));
  });
  const first = volumeOf(db.value<number>(sql`SELECT min(id) FROM event`) ?? 0);
  const last = volumeOf(db.value<number>(sql`SELECT max(id) FROM event`) ?? 0);
  let volumes = Array.from({ length: last - first + 1 }, (_, i) => first + i);
  for (let length = prefixWords; length < words.length; length *= 4) {
    const heads = volumes.map((volume) => [volume, phrase(volume, words.slice(0, length))]);
    volumes = db.deferrableValues<number>(sql`
      SELECT value ->> 0 FROM json_each(${JSON.stringify(heads)})
      WHERE EXISTS (SELECT 1 FROM event_words WHERE event_words MATCH value ->> 1)`);
  }
  return volumes.map((volume) => phrase(volume, words));
}

const phrase = (volume: number, words: readonly string[]): string => `"${inVolume(volume, words)}"`;

const normalized = (text: string): string => text.normalize('NFKC').toLowerCase();

/** Splits a text into words: runs of letters, marks, digits and `_` of its NFKC form in lower case (events.md 4.7). */
export const wordsOf = (text: string): string[] => normalized(text).match(/[\p{L}\p{M}\p{Nd}_]+/gu) ?? [];

/** Context keys that are searched, besides the message and the importance. */
const searchedKeys = ['customer_abbreviation', 'project_name', 'user_full_name', 'user_native_name'] as const;

/** Returns the words of all searched texts of an event; an empty word separates two texts. */
export function searchableWords(message: string, level: Level, context: Readonly<Record<string, string>>): string[] {
  let texts = `${message}\0${importances[level].name}`;
  for (const key of searchedKeys) if (context[key]) texts += `\0${context[key]}`;
  // Splitting all texts at once is cheaper. No text can contain a NUL.
  return (normalized(texts).match(/[\p{L}\p{M}\p{Nd}_]+|\0/gu) ?? []).map((word) => (word === '\0' ? '' : word));
}

/** Whether these words are adjacent and in order in one of the searched texts. */
export function containsPhrase(searchable: readonly string[], words: readonly string[]): boolean {
  const last = searchable.length - words.length;
  for (let start = 0; start <= last; start++) if (words.every((word, i) => searchable[start + i] === word)) return true;
  return false;
}
