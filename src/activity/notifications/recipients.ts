import type { App } from '../../kernel/app.ts';
import { raw, type Sql, sql } from '../../kernel/db/sql.ts';

/** Selects the ids of staff. */
export const staffUsers: Sql = raw('SELECT id FROM user WHERE is_staff');

/**
 * Selects the ids of the users who are responsible for an object, by its context (events.md 1.3): the managers of its project
 * or customer, or else the user that it is or belongs to, or else staff.
 */
export function responsibleFor({ eventAudience }: App, context: Readonly<Record<string, unknown>>): Sql {
  const { customer_uuid: customer, project_uuid: project, user_uuid: user } = context;
  if (typeof customer === 'string') return eventAudience.managers(customer, typeof project === 'string' ? project : '');
  return typeof user === 'string' ? sql`SELECT id FROM user WHERE uuid = ${user}` : staffUsers;
}
