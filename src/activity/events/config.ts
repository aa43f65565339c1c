import { day, second } from '../../kernel/clock.ts';
import type { ConfigOf, Settings } from '../../kernel/config/config.ts';
import { duration, integer } from '../../kernel/config/setting.ts';

declare module '../../kernel/config/config.ts' {
  interface Config extends ConfigOf<typeof eventSettings>, ConfigOf<typeof eventStreamSettings> {}
}

/** Settings of stored events. */
export const eventSettings = {
  events_retention: duration<null>(null, 'How long events are kept; default: for ever.'),
  failed_login_events_retention: duration<number>(90 * day, 'How long events of failed logins are kept.'),
} satisfies Settings;

/** Settings of event streams. */
export const eventStreamSettings = {
  event_stream_heartbeat: duration<number>(15 * second, 'Time between two heartbeats of a stream of events.'),
  event_streams_per_user: integer(5, 'Streams of events that a user may have open at a time.'),
  max_event_streams: integer(1000, 'Streams of events that are open at a time.'),
} satisfies Settings;
