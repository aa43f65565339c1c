import type { Context } from '../../kernel/access/context.ts';
import { day, hour, minute, second } from '../../kernel/clock.ts';
import { sql } from '../../kernel/db/sql.ts';
import { removeStep } from '../../kernel/db/writer.ts';
import type { StoredInstants } from '../../kernel/jobs/clock-watch.ts';
import { dueInstants } from '../../kernel/outbox/outcome.ts';
import { queueMail } from './notify.ts';

/** How long to store notifications, and how many per user. */
export const notificationLifetime = 30 * day;
export const maxStored = 1000;

/**
 * Queues the daily mails at the configured hour: one for each user with older waiting notifications. Later ones wait for the next
 * day.
 */
export function queueDailyMails(context: Context): void {
  const { app, now } = context;
  const { db, config } = app;
  const due = lastOccurrence(now, config.notification_hour, config.notification_time_zone);
  const users = db.values<number>(
    sql`SELECT DISTINCT user_id FROM notification WHERE waits AND created < ${due} LIMIT 500`,
  );
  for (const user of users) {
    const mail = queueMail(context, user, 'daily', now);
    db.run(sql`
      UPDATE notification SET waits = 0, mail_id = ${mail} WHERE user_id = ${user} AND waits AND created < ${due}`);
  }
}

/** Formats by time zone. Creating one takes longer than all other work of an idle minute. */
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known) return known;
  const format = new Intl.DateTimeFormat('en', {
    timeZone,
    hourCycle: 'h23',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  formats.set(timeZone, format);
  return format;
}

/** Returns the last instant at or before `now` at which clocks in a time zone showed this hour. */
export function lastOccurrence(now: number, hourOfDay: number, timeZone: string): number {
  const format = formatOf(timeZone);
  const sinceMidnight = (instant: number): number => {
    const parts = Object.fromEntries(
      format.formatToParts(instant / 1000).map(({ type, value }) => [type, Number(value)]),
    );
    return (parts.hour ?? 0) * hour + (parts.minute ?? 0) * minute + (parts.second ?? 0) * second;
  };
  const elapsed = (sinceMidnight(now) - hourOfDay * hour + day) % day;
  const guess = now - (now % second) - elapsed;
  // An offset change in between, such as to summer time, shifts the guess by the same amount.
  const error = sinceMidnight(guess) - hourOfDay * hour;
  const corrected = guess - (Math.abs(error) <= 2 * hour ? error : 0);
  return corrected <= now ? corrected : corrected - day;
}

/** Removes a batch of old notifications and of those above the maximum per user. Returns whether it was full. */
export const removeOldNotifications = ({ app: { db }, now }: Context): boolean =>
  removeStep(
    (limit) =>
      db.run(sql`
        DELETE FROM notification WHERE id IN (
          SELECT id FROM notification WHERE created < ${now - notificationLifetime}
          UNION
          SELECT n.id FROM (SELECT user_id FROM notification GROUP BY user_id HAVING count(*) > ${maxStored}) u
          JOIN notification n ON n.user_id = u.user_id
          WHERE n.id < (
            SELECT id FROM notification WHERE user_id = u.user_id ORDER BY id DESC LIMIT 1 OFFSET ${maxStored - 1})
          LIMIT ${limit})`).changes,
  );

/** Removes a batch of finished mails, whose unsubscribe links then stop working. Returns whether it was full. */
export const removeOldNotificationMails = ({ app: { db }, now }: Context): boolean =>
  removeStep(
    (limit) =>
      db.run(sql`
        DELETE FROM notification_mail WHERE id IN (
          SELECT id FROM notification_mail WHERE finished < ${now - notificationLifetime} LIMIT ${limit})`).changes,
  );

export const notificationInstants: readonly StoredInstants[] = [
  { table: 'notification', column: 'created', ahead: 0 },
  { table: 'notification_mail', column: 'created', ahead: 0 },
  { table: 'notification_mail', column: 'finished', ahead: 0 },
  dueInstants('notification_mail'),
];
