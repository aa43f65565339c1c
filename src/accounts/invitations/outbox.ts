import type { Context } from '../../kernel/access/context.ts';
import type { App } from '../../kernel/app.ts';
import { sql } from '../../kernel/db/sql.ts';
import { type Letter, letter, nameInMail } from '../../kernel/mail/letter.ts';
import { MailOutbox } from '../../kernel/outbox/mail-outbox.ts';
import { afterAttempt, type Outcome } from '../../kernel/outbox/outcome.ts';
import type { RoleScope } from '../roles/roles.ts';
import { type InvitationRow, targetOf } from './invitations.ts';
import { linkOf } from './link-template.ts';

declare module '../../kernel/outbox/delivery-worker.ts' {
  interface Outboxes {
    readonly invitations: InvitationOutbox;
  }
}

/** A due mail with its invitation. */
interface DueMail {
  readonly id: number;
  readonly uuid: string;
  readonly attempts: number;
  readonly invitation: InvitationRow & { readonly link_template: string };
  /** Name of the project or customer. */
  readonly name: string;
  /** The encrypted secret of its link; null in mails from versions without secrets, whose links contain the uuid. */
  readonly secret: Uint8Array | null;
  /** Name of the inviter; null if the user was deleted. */
  readonly sender: string | null;
}

/** The mails of invitations. */
export class InvitationOutbox extends MailOutbox<DueMail> {
  readonly name = 'invitations';

  constructor(app: App) {
    super(app, 'invitation_mail', sql`invitation_id IS NOT NULL`);
  }

  override next(id: number, now: number): DueMail | undefined {
    const { db } = this.app;
    const mail = db.get<Omit<DueMail, 'invitation' | 'name'> & { invitation_id: number }>(sql`
      SELECT m.id, m.uuid, m.attempts, m.secret, m.invitation_id,
        coalesce(nullif(inviter.full_name, ''), inviter.username) AS sender
      FROM invitation_mail m
        JOIN invitation i ON i.id = m.invitation_id
        LEFT JOIN user inviter ON inviter.id = i.inviter_id
      WHERE m.id = ${id} AND m.status = 'pending' AND m.next_attempt <= ${now}`);
    if (!mail) return undefined;
    const invitation = db.one<DueMail['invitation']>(sql`SELECT * FROM invitation WHERE id = ${mail.invitation_id}`);
    const { scope, structure } = targetOf(invitation);
    const names = {
      customer: sql`SELECT name FROM customer WHERE id = ${scope}`,
      project: sql`SELECT name FROM project WHERE id = ${scope}`,
    };
    return { ...mail, invitation, name: db.scalar<string>(names[structure]) };
  }

  async send({ invitation, name, secret, sender, uuid }: DueMail, { now }: Context): Promise<Outcome> {
    const { role, structure } = targetOf(invitation);
    const key = secret === null ? invitation.uuid : this.app.secrets.open(secret, uuid);
    const link = linkOf(invitation.link_template, key);
    const wording = wordingOf({ sender: sender ?? this.app.config.product_name, structure, name, role, link });
    return this.post({ ...wording, to: invitation.email, id: uuid, at: now });
  }

  /** Stores the result, in the invitation only if it is final. */
  override settle(context: Context, mail: DueMail, outcome: Outcome): void {
    const { db } = this.app;
    // The mail was canceled during the attempt.
    if (db.value(sql`SELECT 1 FROM invitation_mail WHERE id = ${mail.id} AND status = 'pending'`) === undefined) return;
    const result = afterAttempt(context, mail, outcome);
    db.update('invitation_mail', mail.id, { ...result, ...(result.next_attempt === null && { secret: null }) });
    if (result.status === 'failed' || result.status === 'delivered')
      db.update('invitation', mail.invitation.id, { error_message: result.error_message });
  }
}

/** The values in the mail of an invitation. */
interface MailValues {
  /** Name of the inviter. */
  readonly sender: string;
  readonly structure: RoleScope;
  /** Name of the project or customer. */
  readonly name: string;
  readonly role: string;
  readonly link: string;
}

const types: Readonly<Record<RoleScope, string>> = { customer: 'organization', project: 'project' };

/** Names of the roles for new users. */
const roleWords: Readonly<Record<RoleScope, Readonly<Record<string, string>>>> = {
  customer: { owner: 'owner', support: 'support' },
  project: { manager: 'project manager', admin: 'system administrator', support: 'system support' },
};

/** Returns the subject and both parts of the mail (services.md 10.6). */
function wordingOf({ link, name, role, sender, structure }: MailValues): Letter {
  const target = `${nameInMail(name)} ${types[structure]}`;
  const sentences = [
    'Hello!',
    `${nameInMail(sender)} has invited you to join ${target} in ${roleWords[structure][role]} role.`,
    'Please visit this page to sign up and accept your invitation:',
  ];
  return letter(`Invitation to ${target}`, sentences, link);
}
