import type { Context } from '../../kernel/access/context.ts';
import type { App } from '../../kernel/app.ts';
import { type Sql, sql } from '../../kernel/db/sql.ts';
import { removeStep } from '../../kernel/db/writer.ts';
import type { Level } from './catalogue.ts';
import { contextOf } from './damaged.ts';
import { removeFromAll, removeSubjects } from './record.ts';
import { removeWords } from './search.ts';

interface OldEvent {
  readonly id: number;
  readonly at: number;
  readonly message: string;
  readonly level: Level;
  readonly context: string;
}

/** Removes a batch of events older than events_retention. Returns whether the batch was full. */
export function removeOldEvents({ app: { config, db }, now }: Context): boolean {
  const { events_retention: retention } = config;
  return retention !== null && removeEvents(db, sql`at < ${now - retention}`);
}

/** Removes a batch of failed logins older than failed_login_events_retention. Returns whether it was full. */
export function removeOldFailedLogins({ app: { config, db }, now }: Context): boolean {
  const { failed_login_events_retention: retention } = config;
  return removeEvents(db, sql`type = 'auth_login_failed_with_username' AND at < ${now - retention}`);
}

function removeEvents(db: App['db'], condition: Sql): boolean {
  return removeStep((limit) => {
    const old = db.all<OldEvent>(sql`
      SELECT id, at, message, level, context FROM event
      WHERE ${condition}
      ORDER BY at, id
      LIMIT ${limit}`);
    removeWords(db, old);
    for (const { at, context, id } of old) {
      const parsed = contextOf(context);
      if (parsed) removeSubjects(db, parsed, at, id);
      else removeFromAll(db, at, id);
      db.run(sql`DELETE FROM event WHERE id = ${id}`);
    }
    return old.length;
  });
}
