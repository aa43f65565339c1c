import { type Letter, letter } from '../../kernel/mail/letter.ts';
import { nameInMail } from '../../kernel/mail/names.ts';
import type { RoleScope } from '../roles/roles.ts';

/** What the mail of an invitation tells. */
interface LoggedFields {
  /** Who invites. */
  readonly sender: string;
  readonly structure: RoleScope;
  /** Name of the project or customer. */
  readonly name: string;
  readonly role: string;
  readonly link: string;
}

const types: Readonly<Record<RoleScope, string>> = { customer: 'organization', project: 'project' };

/** Roles as a newcomer understands them. */
const roleWords: Readonly<Record<RoleScope, Readonly<Record<string, string>>>> = {
  customer: { owner: 'owner', support: 'support' },
  project: { manager: 'project manager', admin: 'system administrator', support: 'system support' },
};

/** Subject and both parts of the mail (services.md 10.6). */
export function wordingOf({ link, name, role, sender, structure }: LoggedFields): Letter {
  const target = `${nameInMail(name)} ${types[structure]}`;
  const sentences = [
    'Hello!',
    `${nameInMail(sender)} has invited you to join ${target} in ${roleWords[structure][role]} role.`,
    'Please visit this page to sign up and accept your invitation:',
  ];
  return letter(`Invitation to ${target}`, sentences, link);
}
