import { day } from '../../kernel/clock.ts';
import type { ConfigOf, Settings } from '../../kernel/config/config.ts';
import { duration, flag } from '../../kernel/config/setting.ts';

declare module '../../kernel/config/config.ts' {
  interface Config extends ConfigOf<typeof alertSettings> {}
}

/** The alert settings. */
export const alertSettings = {
  advisory_alerts: flag(false, 'Whether to raise alerts about customers without projects, services or resources.'),
  closed_alerts_lifetime: duration<number>(7 * day, 'How long closed alerts are stored.'),
} satisfies Settings;
