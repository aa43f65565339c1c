/** Email hooks whose receivers are asked first (events.md 5.10). */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Context } from '../../kernel/access/context.ts';
import type { Request } from '../../kernel/access/request.ts';
import { type App, newUuid } from '../../kernel/app.ts';
import { day, hour } from '../../kernel/clock.ts';
import type { Config } from '../../kernel/config/config.ts';
import { foldedEmail } from '../../kernel/db/email-address.ts';
import { removeStep } from '../../kernel/db/removal.ts';
import { sql } from '../../kernel/db/sql.ts';
import { tooMany } from '../../kernel/http/error.ts';
import { digestOf, knownDigestOf } from '../../kernel/security/digests.ts';
import { newMailedSecret } from '../../kernel/security/mailed-secrets.ts';
import { cancelDeliveries, queueConfirmation } from './queue.ts';

/** How long the link of a mail works. */
const lifetime = 7 * day;
/** An address is asked once in this span, whoever wants to write to it. */
const askedAgainAfter = day;
/** So many mails in this span may an author cause. */
const mailsAtMost = 10;
const mailSpan = hour;

export const confirmPath = '/hooks/confirm/';
export const unsubscribePath = '/hooks/unsubscribe/';

/** An email hook, as far as its receiver matters. */
interface Receiver {
  readonly id: number;
  readonly uuid: string;
  /** Its author. */
  readonly user_id: number;
  readonly email: string;
}

/** Whether nobody needs to be asked: it is the author's own verified address, or the author is staff. */
export const isTrusted = ({ db }: Pick<Request, 'db'>, author: number, email: string): boolean =>
  db.value(sql`
    SELECT 1 FROM user
    WHERE id = ${author} AND (is_staff OR (email_verified AND email_folded = ${foldedEmail(email)}))`) !== undefined;

/** The address of the page that asks; undefined where neither setting gives one. */
function confirmationUrl(config: Config, secret: string): string | undefined {
  const { base_url: base, email_hook_confirmation_url: page } = config;
  if (page !== null) return page.replaceAll('{secret}', secret);
  return base === null ? undefined : `${base}${confirmPath}${secret}/`;
}

/** Queues the mail that asks the receiver, unless the address has been asked today. Throws 429 when its author has caused too many. */
export function askReceiver(request: Request, hook: Receiver): void {
  const { app, config, db, now } = request;
  if (confirmationUrl(config, '') === undefined) return;
  const folded = foldedEmail(hook.email);
  const asked = sql`
    SELECT 1 FROM hook_confirmation
    WHERE email_folded = ${folded} AND created > ${now - askedAgainAfter}`;
  if (db.value(asked) !== undefined) return;
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
    LIMIT ${mailsAtMost}`);
  if (recent.length < mailsAtMost) return;
  throw tooMany('Too many mails. Try again later.', (recent.at(-1) ?? now) - (now - mailSpan));
}

const digestOfLink = (secret: string): Buffer => createHash('sha256').update(secret).digest();

/** What a mail is made of that asks; undefined when it has nobody to ask any more. */
export function confirmationOf(app: App, id: number): { readonly email: string; readonly link: string } | undefined {
  const row = app.db.get<{ uuid: string; email: string; secret: Uint8Array }>(sql`
    SELECT uuid, email, secret FROM hook_confirmation WHERE id = ${id} AND secret IS NOT NULL`);
  const link = row && confirmationUrl(app.config, app.secrets.open(row.secret, row.uuid));
  return row && link !== undefined ? { email: row.email, link } : undefined;
}

/** Forgets the secret of a mail that will not be sent again. */
export const forgetSecret = ({ db }: App, id: number): void => db.update('hook_confirmation', id, { secret: null });

/** The hook that a link asks about: of an address that it still has, asked within the lifetime and not answered yet. */
function askedHook({ db, now }: Request, secret: string): { id: number; hook_id: number } | undefined {
  return db.get(sql`
    SELECT c.id, c.hook_id FROM hook_confirmation c JOIN hook h ON h.id = c.hook_id AND h.email = c.email
    WHERE c.digest = ${digestOfLink(secret)} AND c.used IS NULL AND c.created > ${now - lifetime}`);
}

/** Whether a link of a mail that asks is one that works. */
export const isAsked = (request: Request, secret: string): boolean => askedHook(request, secret) !== undefined;

/** What follows from the receiver's consent: from now on the hook gets events. Answers whether the link is one that works. */
export function confirm(request: Request, secret: string): boolean {
  const { db, now } = request;
  const asked = askedHook(request, secret);
  if (!asked) return false;
  db.update('hook_confirmation', asked.id, { used: now, secret: null });
  db.update('hook', asked.hook_id, { is_confirmed: 1, modified: now });
  return true;
}

/** In the address of a page, a hook is named by its uuid, and the receiver known by a digest of both: its first 16 bytes. */
const textOf = (digest: Buffer): string => digest.toString('hex', 0, 16);
const purpose = 'unsubscribe';
const receiver = (hook: string, email: string): string => `${hook} ${email}`;

/** The headers by which mail programs offer to end the mails of a hook (RFC 8058); none without base_url. */
export function unsubscribeHeaders(app: App, hook: string, email: string): Readonly<Record<string, string>> {
  const { base_url: base } = app.config;
  if (base === null) return {};
  return {
    'List-Unsubscribe': `<${base}${unsubscribePath}${hook}${textOf(digestOf(app, purpose, receiver(hook, email)))}/>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  };
}

function subscribedHook({ app, db }: Request, secret: string): Receiver | undefined {
  const [, uuid = '', digest = ''] = /^([0-9a-f]{32})([0-9a-f]{32})$/.exec(secret) ?? [];
  const hook = db.get<Receiver>(sql`SELECT id, uuid, user_id, email FROM hook WHERE uuid = ${uuid} AND kind = 'email'`);
  const known = hook && knownDigestOf(app, purpose, receiver(uuid, hook.email));
  return known && timingSafeEqual(Buffer.from(digest), Buffer.from(textOf(known))) ? hook : undefined;
}

/** Whether a link that ends the mails of a hook is one that works. */
export const isSubscribed = (request: Request, secret: string): boolean =>
  subscribedHook(request, secret) !== undefined;

/** Ends the mails of a hook, until its receiver wants them again. Answers whether the link is one that works. */
export function unsubscribe(request: Request, secret: string): boolean {
  const hook = subscribedHook(request, secret);
  if (!hook) return false;
  request.db.update('hook', hook.id, { is_active: 0, is_confirmed: 0, modified: request.now });
  cancelDeliveries(request, sql`id = ${hook.id}`, 'The receiver has unsubscribed.');
  return true;
}

/** Removes what is older than the links work and the limits look back, a bounded number at a time. Answers whether it was that many. */
export const removeOldConfirmations = ({ app: { db }, now }: Context): boolean =>
  removeStep(
    (limit) =>
      db.run(sql`
        DELETE FROM hook_confirmation WHERE id IN (
          SELECT id FROM hook_confirmation WHERE created <= ${now - lifetime} LIMIT ${limit}
        )`).changes,
  );
