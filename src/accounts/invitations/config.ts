import { day } from '../../kernel/clock.ts';
import type { ConfigOf, Settings } from '../../kernel/config/config.ts';
import { duration, flag, hostName, integer, list } from '../../kernel/config/setting.ts';

declare module '../../kernel/config/config.ts' {
  interface Config extends ConfigOf<typeof invitationSettings> {}
}

/** Settings of invitations. */
export const invitationSettings = {
  link_template_hosts: list(
    [],
    'Hosts that the links in invitations may name, with a port only that one; default: those of base_url, login_completed_url and allowed_origins, where any of these is set, else any.',
    hostName,
  ),
  invitation_mail_limit: integer(100, 'Invitation mails that a user other than staff may cause in an hour.'),
  invitation_lifetime: duration<number>(7 * day, 'How long an invitation can be accepted.'),
  invitation_accept_by_uuid: flag(
    true,
    'The uuid of an invitation, which those who may invite see, accepts it like the secret in its mail.',
  ),
  invitation_signup: flag(
    true,
    'Whoever has the mail of an invitation and no account makes one by accepting it; needs LOCAL_SIGNIN.',
  ),
  validate_invitation_email: flag(
    false,
    'An invitation is accepted only by a user whose verified email is that of the invitation.',
  ),
} satisfies Settings;
