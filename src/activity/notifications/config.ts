import type { ConfigOf, Settings } from '../../kernel/config/config.ts';
import { integer, requiredText } from '../../kernel/config/setting.ts';

declare module '../../kernel/config/config.ts' {
  interface Config extends ConfigOf<typeof notificationSettings> {}
}

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
