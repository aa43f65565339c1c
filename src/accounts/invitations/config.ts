import { day } from '../../kernel/clock.ts';
import type { ConfigOf, Settings } from '../../kernel/config/config.ts';
import { duration, flag, hostName, integer, list } from '../../kernel/config/setting.ts';

declare module '../../kernel/config/config.ts' {
  interface Config extends ConfigOf<typeof invitationSettings> {}
}

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
