import type { Context } from '../../kernel/access/context.ts';
import { type App, newUuid } from '../../kernel/app.ts';
import { day, hour, minute } from '../../kernel/clock.ts';
import { any, raw, type Sql, sql } from '../../kernel/db/sql.ts';
import type { Task } from '../../kernel/jobs/timer.ts';
import { selfChecks } from '../../kernel/verification.ts';
import { type Level, rendered } from '../events/catalogue.ts';
import { requireDeclaredKeys } from '../events/context.ts';
import type { EventContext } from '../scopes/scope.ts';
import { defaultPreference, kindOf, type Language, type NotificationKind, type Preference } from './catalogue.ts';

/** A notification for some users, passed to reactions in the same transaction. */
export interface SentNotification {
  readonly kind: NotificationKind;
  readonly level: Level;
  readonly message: string;
  readonly context: Readonly<Record<string, string>>;
  /** Ids of the recipients. */
  readonly users: readonly number[];
}

declare module '../../kernel/app.ts' {
  interface Reactions {
    readonly notified: (context: Context, notification: SentNotification) => void;
  }
}

interface Details {
  /** The context. Null and undefined omit a key. */
  readonly context: EventContext;
  /** Selects the ids of the recipients. Inactive users are excluded. */
  readonly users: Sql;
  /** The subject, such as a uuid. Users get at most one mail an hour per kind and subject. */
  readonly about: string;
  /** The part of the message that is not in the context. */
  readonly detail?: string;
  /** The level, for kinds that do not define it. */
  readonly level?: Level;
}

interface Recipient {
  readonly id: number;
  readonly is_service_account: number;
  readonly preference: Preference | null;
}

/**
 * Notifies users in the transaction of the cause (events.md 7): stores a notification for each and queues immediate mails. A
 * notification never causes another one.
 */
export function notify(context: Context, kind: NotificationKind, details: Details): void {
  const { app, now } = context;
  const { db } = app;
  const recipients = db.all<Recipient>(sql`
    SELECT u.id, u.is_service_account, p.preference
    FROM user u LEFT JOIN notification_preference p ON p.user_id = u.id AND p.kind = ${kind}
    WHERE u.id IN (${details.users}) AND u.is_active
    ORDER BY u.id`);
  if (recipients.length === 0) return;
  const { about, detail = '', level = kindOf(kind).level ?? 'info' } = details;
  const values = textsOf(details.context);
  if (selfChecks.eventContexts) requireDeclaredKeys(kind, kindOf(kind).context, values);
  const message = messageOf(kind, 'en', { ...values, detail });
  for (const { id: user, is_service_account: hasNoMails, preference } of recipients) {
    const preferred = hasNoMails ? 'none' : (preference ?? defaultPreference(kind, level));
    const mail = mailFor(context, { user, kind, about, preference: preferred });
    db.insert('notification', {
      uuid: newUuid(app),
      user_id: user,
      kind,
      level,
      message,
      detail,
      context: JSON.stringify(values),
      about,
      created: now,
      waits: Number(mail === 'daily'),
      mail_id: typeof mail === 'number' ? mail : null,
    });
  }
  app.reactions.notified(context, { kind, level, message, context: values, users: recipients.map(({ id }) => id) });
}

/** Renders the message of a notification in a language. */
export const messageOf = (
  kind: NotificationKind,
  language: Language,
  values: Readonly<Record<string, string>>,
): string =>
  rendered(
    kindOf(kind).message[language],
    Object.fromEntries(Object.entries(values).map(([key, value]) => [key, formats[key]?.(value) ?? value])),
  );

const withoutZeroDecimal = (value: string): string => value.replace(/\.0$/, '');

/** Display formats of context values. */
const formats: Readonly<Record<string, (value: string) => string>> = {
  quota_usage: withoutZeroDecimal,
  quota_limit: withoutZeroDecimal,
  free_bytes: (value) => `${Math.floor(Number(value) / 1e6)} MB`,
};

const textsOf = (context: EventContext): Record<string, string> =>
  Object.fromEntries(
    Object.entries(context).flatMap(([key, value]) =>
      value === null || value === undefined ? [] : [[key, String(value)]],
    ),
  );

interface Addressed {
  readonly user: number;
  readonly kind: NotificationKind;
  readonly about: string;
  readonly preference: Preference;
}

/** Returns the id of the mail for a notification, or its preference if the mail is not immediate. */
function mailFor(context: Context, { about, kind, preference, user }: Addressed): number | 'daily' | 'none' {
  if (preference !== 'immediate') return preference;
  const { app, now } = context;
  const { db, config } = app;
  const hasMail = db.value(sql`
    SELECT 1 FROM notification
    WHERE user_id = ${user} AND kind = ${kind} AND about = ${about} AND mail_id IS NOT NULL AND created > ${now - hour}
    LIMIT 1`);
  if (hasMail !== undefined) return 'daily';
  const recent = db.values<number>(sql`
    SELECT created FROM notification_mail
    WHERE user_id = ${user} AND kind = 'immediate' AND created > ${now - hour}
    ORDER BY created`);
  if (recent.length < config.notification_mail_limit) return queueMail(context, user, 'immediate', now);
  const gathered = db.value<number>(sql`
    SELECT id FROM notification_mail WHERE user_id = ${user} AND kind = 'gathered' AND status = 'pending' AND attempts = 0`);
  return gathered ?? queueMail(context, user, 'gathered', (recent[0] ?? now) + hour);
}

/** Queues a mail to a user for the time `at`. Returns its id. */
export function queueMail(
  context: Context,
  user: number,
  kind: 'immediate' | 'gathered' | 'daily',
  at: number,
): number {
  const { app, now } = context;
  const id = app.db.insert('notification_mail', {
    uuid: newUuid(app),
    user_id: user,
    kind,
    created: now,
    next_attempt: at,
  });
  if (at <= now) app.db.onceStored(() => app.wakeOutbox('notifications', [id]));
  return id;
}

/** Selects the ids of staff. */
export const staffUsers: Sql = raw('SELECT id FROM user WHERE is_staff');

/**
 * Selects the ids of the users responsible for an object, by its context (events.md 1.3): the managers of its project or
 * customer, or the user that it is or belongs to, or staff.
 */
export function responsibleFor({ eventAudience }: App, context: Readonly<Record<string, unknown>>): Sql {
  const { customer_uuid: customer, project_uuid: project, user_uuid: user } = context;
  if (typeof customer === 'string') return eventAudience.managers(customer, typeof project === 'string' ? project : '');
  return typeof user === 'string' ? sql`SELECT id FROM user WHERE uuid = ${user}` : staffUsers;
}

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
