import type { Database } from 'better-sqlite3';
import { newUuid, now } from './database.ts';

type Context = Readonly<Record<string, string>>;

/** Context keys with the uuid of an object of the event, and keys whose values are searched besides the message. */
const subjects = {
  user_uuid: 'user',
  affected_user_uuid: 'user',
  customer_uuid: 'customer',
  project_uuid: 'project',
} as const;
const searched = ['customer_abbreviation', 'project_name', 'user_full_name', 'user_native_name'] as const;

const wordsOf = (text: string): string =>
  (
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{Nd}_]+/gu) ?? []
  ).join(' ');

/** Records an event, the objects that it is about, and its words for the search. */
export function eventRecorder(db: Database): (type: string, message: string, context: Context) => void {
  const insert = db.prepare(
    "INSERT INTO event (uuid, at, type, level, message, context, actor) VALUES (?, ?, ?, 'info', ?, ?, ?)",
  );
  const subjectOf = db
    .prepare<[string, string], number>('SELECT id FROM event_subject WHERE kind = ? AND uuid = ?')
    .pluck();
  const addSubject = db.prepare('INSERT INTO event_subject (kind, uuid) VALUES (?, ?)');
  const addAbout = db.prepare('INSERT OR IGNORE INTO event_about (subject_id, at, event_id) VALUES (?, ?, ?)');
  const addWords = db.prepare('INSERT INTO event_words (rowid, words) VALUES (?, ?)');
  return (type, message, context) => {
    const at = now();
    const id = insert.run(
      newUuid(),
      at,
      type,
      message,
      JSON.stringify(context),
      context.user_username?.toLowerCase() ?? null,
    ).lastInsertRowid;
    for (const [key, kind] of Object.entries(subjects)) {
      const uuid = context[key];
      if (uuid) addAbout.run(subjectOf.get(kind, uuid) ?? addSubject.run(kind, uuid).lastInsertRowid, at, id);
    }
    const words = [message, ...searched.map((key) => context[key] ?? '')].map(wordsOf).filter((text) => text !== '');
    addWords.run(id, words.join(' | '));
  };
}
