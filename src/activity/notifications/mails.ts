/** Mails about notifications: immediate ones, and one a day for the rest (events.md 8.4). */
import type { Context } from '../../kernel/access/context.ts';
import type { Request } from '../../kernel/access/request.ts';
import type { App } from '../../kernel/app.ts';
import { sql } from '../../kernel/db/sql.ts';
import { escaped, type Letter, nameInMail, withoutLinks } from '../../kernel/mail/letter.ts';
import { MailOutbox } from '../../kernel/outbox/mail-outbox.ts';
import type { Outcome } from '../../kernel/outbox/outcome.ts';
import { kindOf, type Language, languages, type NotificationKind, type Translations } from './catalogue.ts';
import { messageOf } from './notify.ts';
import { UnsubscribeLinks } from './unsubscribe-links.ts';

declare module '../../kernel/outbox/delivery-worker.ts' {
  interface Outboxes {
    readonly notifications: NotificationOutbox;
  }
}

interface DueMail {
  readonly id: number;
  readonly uuid: string;
  readonly kind: 'immediate' | 'gathered' | 'daily';
  readonly attempts: number;
  readonly user_id: number;
}

/** The recipient of a mail, if they can receive it. */
interface Addressee {
  readonly email: string;
  readonly language: string;
}

interface Item {
  readonly kind: NotificationKind;
  readonly detail: string;
  readonly context: string;
  readonly created: number;
}

/** A mail lists this many notifications and counts the others. */
const maxItems = 100;

export class NotificationOutbox extends MailOutbox<DueMail> {
  readonly name = 'notifications';

  constructor(app: App) {
    super(app, 'notification_mail');
  }

  async send(mail: DueMail, { now }: Context): Promise<Outcome> {
    const { app } = this;
    const user = app.db.get<Addressee>(sql`
      SELECT email, preferred_language AS language FROM user
      WHERE id = ${mail.user_id} AND is_active AND email_verified AND email <> ''`);
    if (!user) return { status: 'skipped', error: 'The user has no verified address.' };
    const { items, others } = itemsOf(app, mail);
    if (items.length === 0) return { status: 'skipped', error: 'The user can no longer see what it is about.' };
    const language = languages.find((known) => known === user.language) ?? 'en';
    return this.post({
      ...letterOf(app, { mail, items, others, language }),
      to: user.email,
      id: mail.uuid,
      at: now,
      headers: links.headers(app, mail),
    });
  }
}

/** Returns the notifications of a mail that the user may currently see, and the number of unlisted ones. */
function itemsOf({ db, eventAudience }: App, { id, user_id: user }: DueMail): { items: Item[]; others: number } {
  const all = db.all<Item & { customer: string | null; project: string | null }>(sql`
    SELECT kind, detail, context, created, context ->> 'customer_uuid' AS customer, context ->> 'project_uuid' AS project
    FROM notification WHERE mail_id = ${id} ORDER BY id`);
  const isMember = (customer: string, project: string): boolean =>
    db.value(sql`
      SELECT 1 FROM user u
      WHERE u.id = ${user} AND (u.is_staff OR u.is_support OR ${eventAudience.isMember(customer, project)})`) !==
    undefined;
  const isStaff = db.value(sql`SELECT 1 FROM user WHERE id = ${user} AND is_staff`) !== undefined;
  const visible = all.filter(({ customer, kind, project }) => {
    if (kindOf(kind).isForStaff && !isStaff) return false;
    return customer === null || isMember(customer, project ?? '');
  });
  return { items: visible.slice(0, maxItems), others: Math.max(0, visible.length - maxItems) };
}

interface Content {
  readonly mail: DueMail;
  readonly items: readonly Item[];
  readonly others: number;
  readonly language: Language;
}

const subjects: Readonly<Record<'gathered' | 'daily', Translations>> = {
  gathered: { en: 'Notifications from {product}', et: 'Teavitused: {product}' },
  daily: { en: 'Daily notifications from {product}', et: 'Päeva teavitused: {product}' },
};

const more: Translations = { en: 'and {count} more', et: 'ja veel {count}' };

/** Renders subject and both parts of a mail. Sanitises and truncates names from users. */
function letterOf({ config }: App, { items, language, mail, others }: Content): Letter {
  const [first] = items;
  const product = config.product_name;
  const subject =
    mail.kind === 'immediate' && first
      ? `${product}: ${kindOf(first.kind).title[language]}`
      : subjects[mail.kind === 'daily' ? 'daily' : 'gathered'][language].replace('{product}', () => product);
  const lines = items.map((item) => ({ at: timeOf(item.created), text: textOf(item, language) }));
  const rest = others === 0 ? '' : more[language].replace('{count}', String(others));
  const link = config.base_url === null ? '' : `${config.base_url}/#/notifications`;
  const href = escaped(link);
  const parts = [lines.map(({ at, text }) => `${at} ${text}`).join('\n'), rest, link].filter((part) => part !== '');
  return {
    subject,
    text: `${parts.join('\n\n')}\n`,
    html: [
      `<h1>${escaped(subject)}</h1>`,
      `<ul>\n${lines.map(({ at, text }) => `<li>${escaped(text)} <time>${at}</time></li>\n`).join('')}</ul>`,
      ...(rest ? [`<p>${rest}</p>`] : []),
      ...(link ? [`<p><a href="${href}">${href}</a></p>`] : []),
      '',
    ].join('\n'),
  };
}

/** Returns the message of a notification with sanitised names. */
function textOf({ context, detail, kind }: Item, language: Language): string {
  const values: Record<string, string> = JSON.parse(context);
  const safe = Object.fromEntries(
    Object.entries(values).map(([key, value]) => [
      key,
      key === 'error_message' ? withoutLinks(value) : nameInMail(value),
    ]),
  );
  return messageOf(kind, language, { ...safe, detail: withoutLinks(detail) }).replace(/\s+/g, ' ');
}

/** Formats an instant like `2026-01-05 04:47`, in UTC. */
const timeOf = (at: number): string => new Date(at / 1000).toISOString().slice(0, 16).replace('T', ' ');

export const unsubscribePath = '/notifications/unsubscribe/';

const links = new UnsubscribeLinks<{ uuid: string }, { id: number; uuid: string }>({
  path: unsubscribePath,
  purpose: 'unsubscribe notifications',
  find: ({ db }, uuid) => db.get(sql`SELECT id, uuid FROM notification_mail WHERE uuid = ${uuid}`),
  digested: ({ uuid }) => uuid,
});

/** Whether an unsubscribe link is valid. */
export const isSubscribed = ({ app }: Request, secret: string): boolean => links.targetOf(app, secret) !== undefined;

/** Unsubscribes from all kinds in the mail that contained the link. Returns whether the link is valid. */
export function unsubscribe({ app, db }: Request, secret: string): boolean {
  const mail = links.targetOf(app, secret);
  if (!mail) return false;
  db.run(sql`
    INSERT INTO notification_preference (user_id, kind, preference)
    SELECT DISTINCT user_id, kind, 'none' FROM notification WHERE mail_id = ${mail.id}
    ON CONFLICT (user_id, kind) DO UPDATE SET preference = 'none'`);
  return true;
}
