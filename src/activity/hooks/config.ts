import { day } from '../../kernel/clock.ts';
import type { ConfigOf, Settings } from '../../kernel/config/config.ts';
import {
  duration,
  integer,
  networks,
  ports,
  redirectAddress,
  remoteAddress,
  secret,
  text,
} from '../../kernel/config/setting.ts';

declare module '../../kernel/config/config.ts' {
  interface Config extends ConfigOf<typeof hookSettings>, ConfigOf<typeof pushSettings> {}
}

/** The hook settings. */
export const hookSettings = {
  hook_delivery_retention: duration<number>(30 * day, 'How long finished deliveries of hooks are stored.'),
  hooks_per_user: integer(50, 'Maximum hooks of all kinds per user; staff have no limit.'),
  email_hook_confirmation_url: redirectAddress(
    'Page where the owner of an address agrees to the mails of a hook; contains {secret}. Default: a page of this server if base_url is set.',
    ['secret'],
  ),
  hook_mail_limit: integer(
    200,
    "Maximum mails from a user's hooks per hour. One mail at the end of the hour lists the other events.",
  ),
  hooks_allowed_networks: networks(
    'Private and local networks that hooks may send to; default: none, but loopback in memory and with --demo.',
  ),
  hooks_allowed_ports: ports('Ports below 1024, besides 80 and 443, that hooks may send to.'),
} satisfies Settings;

/** The push notification settings. */
export const pushSettings = {
  push_gateway_url: remoteAddress('URL of the push gateway; default with a service account: Firebase.', [
    'http:',
    'https:',
  ]),
  push_server_key_android: secret(text(null, 'Server key for Android devices at the push gateway.')),
  push_server_key_ios: secret(text(null, 'Server key for iOS devices at the push gateway.')),
  push_service_account: text(null, 'JSON key file of a service account; used instead of server keys.'),
  push_title: text(null, 'Title of push notifications; default: the product name and "notification".'),
} satisfies Settings;
