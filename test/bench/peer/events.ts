import type { Database } from 'better-sqlite3';
import { newUuid, now } from './database.ts';

/** Records what happened; null leaves a key of the context out. */
export function eventRecorder(db: Database): (type: string, message: string, context: Readonly<Record<string, string | null>>) => void {
  const insert = db.prepare("INSERT INTO event (uuid, at, type, level, message, context) VALUES (?, ?, ?, 'info', ?, ?)");
  return (type, message, context) => {
    const kept = Object.fromEntries(Object.entries(context).filter(([, value]) => value !== null));
    insert.run(newUuid(), now(), type, message, JSON.stringify(kept));
  };
}
