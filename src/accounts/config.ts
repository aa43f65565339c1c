import { day, minute } from '../kernel/clock.ts';
import type { ConfigOf, Settings } from '../kernel/config/config.ts';
import { duration, flag, hostName, integer, list, oneOf, optionalInteger } from '../kernel/config/setting.ts';

declare module '../kernel/config/config.ts' {
  interface Config
    extends ConfigOf<typeof roleSettings>,
      ConfigOf<typeof userSettings>,
      ConfigOf<typeof apiKeySettings>,
      ConfigOf<typeof invitationSettings> {}
}

/** Settings for the rights of owners and managers. */
export const roleSettings = {
  owners_can_manage_customers: flag(false, 'Owners may change and delete their own customers.'),
  owners_can_manage_owners: flag(false, 'Owners may grant and revoke roles in their own customers.'),
  managers_can_manage_admins: flag(
    false,
    'Project managers may grant, change and revoke the role of administrator in their own projects.',
  ),
} satisfies Settings;

/** The settings of users, passwords and tokens. */
export const userSettings = {
  user_competences: list([], "Choices of a user's competence."),
  password_min_length: integer(7, 'Minimum length of a new password, in characters.', 7, 1000),
  password_refuse_weak: flag(
    false,
    'Rejects new passwords that contain the username or are on a list of common passwords.',
  ),
  password_requires_current: flag(
    false,
    'Requires the current password when users change their own password or email.',
  ),
  token_lifetime_max: optionalInteger(
    'Maximum token lifetime, in seconds, that users other than staff may choose; default: unlimited.',
    60,
  ),
  users_visible: oneOf(
    ['all', 'connected'],
    'all',
    'Which users a user can list: all, or connected (only people in shared customers and projects; others are found by exact name).',
  ),
  native_name_enabled: flag(false, 'Whether web clients show native names.'),
} satisfies Settings;

const keyLifetime = duration<number | null>(365 * day, 'Maximum lifetime of an API key; empty: no maximum.', {
  min: minute,
});

/** The API key settings. */
export const apiKeySettings = {
  api_keys_enabled: flag(true, 'Whether API keys can be created and used.'),
  api_keys_per_user: integer(20, 'Maximum number of unexpired API keys of a user.'),
  api_key_lifetime_max: { ...keyLifetime, read: (text: string) => (text === '' ? null : keyLifetime.read(text)) },
} satisfies Settings;

/** The invitation settings. */
export const invitationSettings = {
  link_template_hosts: list(
    [],
    'Hosts that links in invitations may name; an entry with a port allows only that port. Default: the hosts of base_url, login_completed_url and allowed_origins if any of these is set, otherwise any.',
    hostName,
  ),
  invitation_mail_limit: integer(100, 'Maximum invitation mails per user and hour; staff have no limit.'),
  invitation_lifetime: duration<number>(7 * day, 'How long an invitation can be accepted.'),
  invitation_accept_by_uuid: flag(
    true,
    'Whether an invitation can be accepted by its uuid, which inviters can see, as well as by the secret in its mail.',
  ),
  invitation_signup: flag(
    true,
    'Whether accepting an invitation creates an account for recipients without one; requires LOCAL_SIGNIN.',
  ),
  validate_invitation_email: flag(
    false,
    'Whether only a user whose verified email is that of the invitation can accept it.',
  ),
} satisfies Settings;
