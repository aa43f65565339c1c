import { day, second } from '../../kernel/clock.ts';
import type { ConfigOf, Settings } from '../../kernel/config/config.ts';
import { duration, integer } from '../../kernel/config/setting.ts';

declare module '../../kernel/config/config.ts' {
  interface Config extends ConfigOf<typeof eventSettings>, ConfigOf<typeof eventStreamSettings> {}
}

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
