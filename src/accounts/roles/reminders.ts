import { isReminderDue, notify, responsibleFor, weekAndDay } from '../../activity/notifications/notify.ts';
import type { Context } from '../../kernel/access/context.ts';
import { isoTime } from '../../kernel/clock.ts';
import { raw, sql } from '../../kernel/db/sql.ts';
import { type ActiveRole, activeRolesIn, roleContext, scopeName } from './roles.ts';

/** Reminds users, and the managers of the customer or project, of roles that expire soon. */
export function remindOfRoles(context: Context): void {
  const { app, now } = context;
  const { db } = app;
  for (const structure of ['customer', 'project'] as const) {
    const due = db.all<ActiveRole & { expires: number }>(sql`
      SELECT id, ${raw(`${structure}_id`)} AS scope, user_id, role, expires FROM ${activeRolesIn(structure)}
      WHERE expires <= ${now + Math.max(...weekAndDay)}
        AND ${isReminderDue(raw('expires'), raw('ifnull(reminded, created)'), weekAndDay, now)}
      ORDER BY expires, id`);
    for (const role of due) {
      const details = roleContext(db, structure, role);
      db.update(`${structure}_role`, role.id, { reminded: now });
      notify(context, 'role_expiring', {
        context: { ...details, expiration_time: isoTime(role.expires) },
        users: sql`SELECT ${role.user_id} UNION ${responsibleFor(app, details)}`,
        about: `${structure} role ${role.id}`,
        detail: scopeName(details).structure_name ?? '',
      });
    }
  }
}
