import { day, minute } from '../../kernel/clock.ts';
import { any, type Sql, sql } from '../../kernel/db/sql.ts';
import type { Task } from '../../kernel/jobs/timer.ts';

/** How long before an expiry to send reminders. */
type Leads = readonly number[];

/**
 * Condition: a reminder of the expiry `ends` is due and its time is after `reminded`, up to which reminders have been sent. If
 * several are due, one is sent (events.md 8.2).
 */
export const isReminderDue = (ends: Sql, reminded: Sql, leads: Leads, now: number): Sql =>
  sql`${ends} > ${now} AND ${any(
    leads.map((lead) => sql`(${ends} - ${lead} <= ${now} AND ${ends} - ${lead} > ${reminded})`),
  )}`;

/** A task that sends reminders. Like removals, it waits after a clock jump. */
export const reminding = (name: string, run: Task['run']): Task => ({
  name,
  every: minute,
  removes: true,
  run: (context) => context.app.db.write(() => run(context)),
});

export const weekAndDay: Leads = [7 * day, day];
export const monthWeekAndDay: Leads = [30 * day, ...weekAndDay];
