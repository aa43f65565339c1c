import { isReminderDue, monthWeekAndDay, notify, responsibleFor } from '../../activity/notifications/notify.ts';
import type { Context } from '../../kernel/access/context.ts';
import { isoTime } from '../../kernel/clock.ts';
import { raw, type Sql, sql } from '../../kernel/db/sql.ts';

interface ExpiringKey {
  readonly id: number;
  readonly uuid: string;
  readonly name: string;
  readonly user_id: number;
  readonly expires: number;
}

/** Selects the ids of the users who manage the customer or project of a service account; none for a person. */
function managersOf({ app }: Context, owner: number): Sql {
  const place = app.db.get<{ customer_uuid: string; project_uuid: string | null }>(sql`
    SELECT c.uuid AS customer_uuid, p.uuid AS project_uuid
    FROM service_account a LEFT JOIN project p ON p.id = a.project_id
      JOIN customer c ON c.id = ifnull(a.customer_id, p.customer_id)
    WHERE a.user_id = ${owner}`);
  return place ? responsibleFor(app, place) : raw('SELECT NULL WHERE FALSE');
}

/** Reminds the owners of API keys that expire soon (events.md 8.1). */
export function remindOfApiKeys(context: Context): void {
  const { app, now } = context;
  const { db } = app;
  const due = db.all<ExpiringKey>(sql`
    SELECT id, uuid, name, user_id, expires FROM api_key
    WHERE ended IS NULL AND revoked IS NULL AND expires <= ${now + Math.max(...monthWeekAndDay)}
      AND ${isReminderDue(raw('expires'), raw('ifnull(reminded, issued)'), monthWeekAndDay, now)}
    ORDER BY expires, id`);
  for (const { expires, id, name, user_id: owner, uuid } of due) {
    db.update('api_key', id, { reminded: now });
    notify(context, 'api_key_expiring', {
      context: { api_key_uuid: uuid, api_key_name: name, expires: isoTime(expires) },
      users: sql`SELECT ${owner} UNION ${managersOf(context, owner)}`,
      about: uuid,
    });
  }
}
