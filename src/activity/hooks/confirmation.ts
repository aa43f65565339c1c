/** Confirmation of email hooks by their receivers (events.md 5.10). */
import { createHash } from 'node:crypto';
import type { Context } from '../../kernel/access/context.ts';
import type { Request } from '../../kernel/access/request.ts';
import { type App, newUuid } from '../../kernel/app.ts';
import { day, hour } from '../../kernel/clock.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import type { Config } from '../../kernel/config/config.ts';
import { foldedEmail } from '../../kernel/db/email-address.ts';
import { sql } from '../../kernel/db/sql.ts';
import { removeStep } from '../../kernel/db/writer.ts';
import { tooMany } from '../../kernel/http/error.ts';
import { newMailedSecret } from '../../kernel/security/digests.ts';
import { mailPage, unsubscribePage } from '../notifications/mail-pages.ts';
import { UnsubscribeLinks } from '../notifications/unsubscribe-links.ts';
import { cancelDeliveries, queueConfirmation } from './queue.ts';

/** Lifetime of a link. */
const lifetime = 7 * day;
/** Minimum time between two mails to one address, for the hooks of all users. */
const minInterval = day;
/** Maximum number of mails that an author may cause within `mailSpan`. */
const maxMails = 10;
const mailSpan = hour;

const confirmPath = '/hooks/confirm/';
const unsubscribePath = '/hooks/unsubscribe/';

/** An email hook with its receiver. */
interface Receiver {
  readonly id: number;
  readonly uuid: string;
  /** The author of the hook. */
  readonly user_id: number;
  readonly email: string;
}

/** Whether no confirmation is needed: the address is the author's verified one, or the author is staff. */
export const isTrusted = ({ db }: Pick<Request, 'db'>, author: number, email: string): boolean =>
  db.value(sql`
    SELECT 1 FROM user
    WHERE id = ${author} AND (is_staff OR (email_verified AND email_folded = ${foldedEmail(email)}))`) !== undefined;

/** Returns the URL of the confirmation page; undefined if neither setting is set. */
function confirmationUrl(config: Config, secret: string): string | undefined {
  const { base_url: base, email_hook_confirmation_url: page } = config;
  if (page !== null) return page.replaceAll('{secret}', secret);
  return base === null ? undefined : `${base}${confirmPath}${secret}/`;
}

/** Queues the confirmation mail, unless the address got one within a day. Throws 429 if the author has caused too many. */
export function requestConfirmation(request: Request, hook: Receiver): void {
  const { app, config, db, now } = request;
  if (confirmationUrl(config, '') === undefined) return;
  const folded = foldedEmail(hook.email);
  const recentMail = sql`
    SELECT 1 FROM hook_confirmation
    WHERE email_folded = ${folded} AND created > ${now - minInterval}`;
  if (db.value(recentMail) !== undefined) return;
  rejectTooMany(request, hook.user_id);
  const secret = newMailedSecret(app);
  const uuid = newUuid(app);
  const id = db.insert('hook_confirmation', {
    uuid,
    hook_id: hook.id,
    user_id: hook.user_id,
    email: hook.email,
    email_folded: folded,
    digest: digestOfLink(secret),
    secret: app.secrets.seal(secret, uuid),
    created: now,
  });
  queueConfirmation(request, hook.id, id);
}

function rejectTooMany({ db, now }: Request, author: number): void {
  const recent = db.values<number>(sql`
    SELECT created FROM hook_confirmation
    WHERE user_id = ${author} AND created > ${now - mailSpan}
    ORDER BY created DESC
    LIMIT ${maxMails}`);
  if (recent.length < maxMails) return;
  throw tooMany('Too many mails. Try again later.', (recent.at(-1) ?? now) - (now - mailSpan));
}

const digestOfLink = (secret: string): Buffer => createHash('sha256').update(secret).digest();

/** Returns address and link of a confirmation mail; undefined if it is no longer needed. */
export function confirmationOf(app: App, id: number): { readonly email: string; readonly link: string } | undefined {
  const row = app.db.get<{ uuid: string; email: string; secret: Uint8Array }>(sql`
    SELECT uuid, email, secret FROM hook_confirmation WHERE id = ${id} AND secret IS NOT NULL`);
  const link = row && confirmationUrl(app.config, app.secrets.open(row.secret, row.uuid));
  return row && link !== undefined ? { email: row.email, link } : undefined;
}

/** Deletes the secret of a mail that will not be sent again. */
export const deleteSecret = ({ db }: App, id: number): void => db.update('hook_confirmation', id, { secret: null });

/** Finds the hook of a valid, unused confirmation link, if the hook still has the address. */
function hookOfLink({ db, now }: Request, secret: string): { id: number; hook_id: number } | undefined {
  return db.get(sql`
    SELECT c.id, c.hook_id FROM hook_confirmation c JOIN hook h ON h.id = c.hook_id AND h.email = c.email
    WHERE c.digest = ${digestOfLink(secret)} AND c.used IS NULL AND c.created > ${now - lifetime}`);
}

/** Whether a confirmation link is valid. */
const isConfirmable = (request: Request, secret: string): boolean => hookOfLink(request, secret) !== undefined;

/** Records the receiver's consent, which enables deliveries. Returns whether the link is valid. */
function confirm(request: Request, secret: string): boolean {
  const { db, now } = request;
  const confirmation = hookOfLink(request, secret);
  if (!confirmation) return false;
  db.update('hook_confirmation', confirmation.id, { used: now, secret: null });
  db.update('hook', confirmation.hook_id, { is_confirmed: 1, modified: now });
  return true;
}

/** Unsubscribe links in the mails of a hook. */
export const unsubscribeLinks = new UnsubscribeLinks<Pick<Receiver, 'uuid' | 'email'>, Receiver>({
  path: unsubscribePath,
  purpose: 'unsubscribe',
  find: ({ db }, uuid) =>
    db.get<Receiver>(sql`SELECT id, uuid, user_id, email FROM hook WHERE uuid = ${uuid} AND kind = 'email'`),
  digested: ({ email, uuid }) => `${uuid} ${email}`,
});

/** Whether an unsubscribe link is valid. */
const isSubscribed = ({ app }: Request, secret: string): boolean =>
  unsubscribeLinks.targetOf(app, secret) !== undefined;

/** Stops the mails of a hook until its receiver confirms again. Returns whether the link is valid. */
function unsubscribe(request: Request, secret: string): boolean {
  const hook = unsubscribeLinks.targetOf(request.app, secret);
  if (!hook) return false;
  request.db.update('hook', hook.id, { is_active: 0, is_confirmed: 0, modified: request.now });
  cancelDeliveries(request, sql`id = ${hook.id}`, 'The receiver has unsubscribed.');
  return true;
}

/** Removes a batch of confirmations older than a link's lifetime, which exceeds all limits. Returns whether it was full. */
export const removeOldConfirmations = ({ app: { db }, now }: Context): boolean =>
  removeStep(
    (limit) =>
      db.run(sql`
        DELETE FROM hook_confirmation WHERE id IN (
          SELECT id FROM hook_confirmation WHERE created <= ${now - lifetime} LIMIT ${limit}
        )`).changes,
  );

/** /hooks/confirm/<secret>/ and /hooks/unsubscribe/<secret>/ (events.md 5.10). */
export const hookPages: readonly Endpoint[] = [
  mailPage({
    path: confirmPath,
    name: 'Hook Confirmation',
    question: {
      en: 'Shall notifications be sent to your email address?',
      et: 'Kas saata teavitused sinu e-posti aadressile?',
    },
    button: { en: 'Yes, send notifications', et: 'Jah, saada teavitused' },
    done: {
      en: 'Notifications will be sent to your email address.',
      et: 'Teavitused saadetakse sinu e-posti aadressile.',
    },
    isValid: isConfirmable,
    act: confirm,
  }),
  unsubscribePage({ path: unsubscribePath, name: 'Hook Unsubscription', isValid: isSubscribed, act: unsubscribe }),
];
