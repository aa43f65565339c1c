import { day, second } from '../kernel/clock.ts';
import type { ConfigOf, Settings } from '../kernel/config/config.ts';
import {
  duration,
  flag,
  integer,
  networks,
  ports,
  redirectAddress,
  remoteAddress,
  requiredText,
  secret,
  text,
} from '../kernel/config/setting.ts';

declare module '../kernel/config/config.ts' {
  interface Config
    extends ConfigOf<typeof alertSettings>,
      ConfigOf<typeof eventSettings>,
      ConfigOf<typeof eventStreamSettings>,
      ConfigOf<typeof notificationSettings>,
      ConfigOf<typeof hookSettings>,
      ConfigOf<typeof pushSettings> {}
}

/** The alert settings. */
export const alertSettings = {
  advisory_alerts: flag(false, 'Whether to raise alerts about customers without projects, services or resources.'),
  closed_alerts_lifetime: duration<number>(7 * day, 'How long closed alerts are stored.'),
} satisfies Settings;

/** The settings of stored events. */
export const eventSettings = {
  events_retention: duration<null>(null, 'How long events are stored; default: for ever.'),
  failed_login_events_retention: duration<number>(90 * day, 'How long events of failed logins are stored.'),
} satisfies Settings;

/** The settings of event streams. */
export const eventStreamSettings = {
  event_stream_heartbeat: duration<number>(15 * second, 'Interval between heartbeats of an event stream.'),
  event_streams_per_user: integer(5, 'Maximum open event streams per user.'),
  max_event_streams: integer(1000, 'Maximum open event streams in total.'),
} satisfies Settings;

/** The notification settings. */
export const notificationSettings = {
  notification_mail_limit: integer(
    20,
    'Maximum notification mails to a user per hour. One mail at the end of the hour lists the others.',
  ),
  notification_hour: integer(7, 'Hour of the day at which the daily mail is sent.', 0, 23),
  notification_time_zone: {
    ...requiredText('UTC', 'Time zone of notification_hour, such as Europe/Tallinn.'),
    read: (zone: string) => {
      try {
        new Intl.DateTimeFormat('en', { timeZone: zone });
      } catch {
        throw new Error('must be a time zone of the IANA database, such as Europe/Tallinn');
      }
      return zone;
    },
  },
} satisfies Settings;

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
